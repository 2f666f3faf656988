#include "katana/app/sandbox/refused_calls.hpp"

#include <fmt/format.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <system_error>

#include "katana/app/sandbox/call_lists.hpp"
#include "katana/base/system/printing.hpp"

namespace katana::sandbox {
namespace {

// Numbers beyond share the last place.
std::array<std::atomic<std::uint64_t>, 512> counters;

std::atomic<std::uint64_t>& counter_of(int number) noexcept {
  const auto place = static_cast<std::size_t>(number);
  return counters[place < counters.size() ? place : counters.size() - 1];
}

// Sets the result that the thread finds for its call.
void set_result(ucontext_t& context, long result) noexcept {
#if defined(__x86_64__)
  context.uc_mcontext.gregs[REG_RAX] = result;
#elif defined(__aarch64__)
  context.uc_mcontext.regs[0] = static_cast<unsigned long long>(result);
#else
  (void)context;
  (void)result;
#endif
}

// Writes the line of a refused call, in a signal handler: no format, no allocation.
void tell(int number) noexcept {
  char text[128];
  char* end = text;
  const auto add = [&end](std::string_view part) {
    std::memcpy(end, part.data(), part.size());
    end += part.size();
  };
  add("sandbox: system call ");
  char digits[12];
  char* first = digits + sizeof digits;
  for (unsigned left = static_cast<unsigned>(number); first > digits; left /= 10) {
    *--first = static_cast<char>('0' + left % 10);
    if (left < 10) break;
  }
  add({first, static_cast<std::size_t>(digits + sizeof digits - first)});
  if (const std::string_view name = name_of_call(number); !name.empty()) {
    add(" (");
    add(name);
    add(")");
  }
  add(" was refused (process.sandbox)\n");
  // The call that was refused may be one of a reactor, which does not wait for a reader.
  print_without_waiting(STDERR_FILENO, {text, static_cast<std::size_t>(end - text)});
}

void on_refused(int, siginfo_t* info, void* context) noexcept {
  const int error = errno;
  if (counter_of(info->si_syscall).fetch_add(1, std::memory_order_relaxed) == 0) {
    tell(info->si_syscall);
  }
  set_result(*static_cast<ucontext_t*>(context), -EPERM);
  errno = error;
}

}  // namespace

Result<void> watch_refused_calls() {
  struct sigaction action{};
  action.sa_sigaction = on_refused;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  if (::sigaction(SIGSYS, &action, nullptr) == 0) return {};
  return fail(Code::internal,
              fmt::format("set the handler of SIGSYS: {}", std::generic_category().message(errno)));
}

std::uint64_t refused_calls() noexcept {
  std::uint64_t sum = 0;
  for (const auto& each : counters) sum += each.load(std::memory_order_relaxed);
  return sum;
}

std::uint64_t refused_calls(int number) noexcept {
  return counter_of(number).load(std::memory_order_relaxed);
}

std::string_view name_of_call(int number) noexcept {
  for (const NamedCall& each : named_calls) {
    if (each.number == number) return each.name;
  }
  return {};
}

}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
