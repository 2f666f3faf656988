#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "katana/base/system/failure.hpp"
#include "katana/base/system/printing.hpp"
#include "katana/observe/log/live_logs.hpp"
#include "katana/observe/log/log.hpp"

namespace katana::log {

namespace {

constexpr std::array<int, 5> crash_signals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr std::size_t stack_bytes = 64 * 1024;

std::array<struct sigaction, crash_signals.size()> earlier{};
constinit std::atomic<bool> crashing{false};

void on_crash(int signal) {
  const int number = errno;
  // A second crash, of another thread or of this one within the handler, does not wait again.
  if (!crashing.exchange(true)) {
    for (std::atomic<LiveLog*>& place : live_logs()) {
      if (LiveLog* const log = place.load(std::memory_order_acquire)) log->flush_in_crash(signal);
    }
  }
  for (std::size_t index = 0; index < crash_signals.size(); ++index) {
    if (crash_signals[index] == signal) sigaction(signal, &earlier[index], nullptr);
  }
  errno = number;
  raise(signal);  // delivered to the previous handler, once this one returns
}

// The library's own handler prints by stdio, which waits for ever on an unread standard error.
// There would be no signal and no last records.
[[noreturn]] void on_terminate() noexcept {
  const std::exception_ptr thrown = std::current_exception();
  try {
    print_error_line(thrown == nullptr ? std::string("katana: terminated without an exception")
                                       : fmt::format("katana: terminated by {}: {}",
                                                     type_name(thrown), describe(thrown)),
                     last_words_max);
  } catch (...) {
    // Without memory for the line nothing is printed.
  }
  std::abort();
}

Result<void> failed(Bytes what) {
  return fail(Code::internal, fmt::format("log: the crash handler cannot be installed: {}: {}",
                                          what, std::strerror(errno)));
}

}  // namespace

Result<void> flush_on_crash() {
  static std::atomic<bool> installed{false};
  stack_t stack{};
  if (sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_DISABLE) != 0) {
    stack.ss_sp = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);  // stays for as long as its thread may crash
    if (stack.ss_sp == MAP_FAILED) return failed("mmap");
    stack.ss_size = stack_bytes;
    stack.ss_flags = 0;
    if (sigaltstack(&stack, nullptr) != 0) return failed("sigaltstack");
  }
  if (installed.exchange(true)) return {};
  std::set_terminate(on_terminate);
  struct sigaction action{};
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (std::size_t index = 0; index < crash_signals.size(); ++index) {
    if (sigaction(crash_signals[index], &action, &earlier[index]) != 0) return failed("sigaction");
  }
  return {};
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
