#include <cxxabi.h>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <typeinfo>

#include "katana/base/system/alternate_stack.hpp"
#include "katana/base/system/failure.hpp"
#include "katana/base/system/last_words.hpp"
#include "katana/observe/log/live_logs.hpp"
#include "katana/observe/log/log.hpp"

namespace katana::log {

namespace {

constexpr std::array<int, 5> crash_signals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

std::array<struct sigaction, crash_signals.size()> earlier{};
constinit std::atomic<bool> crashing{false};

void on_crash(int signal, siginfo_t* info, void*) {
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
  // The instruction that failed fails again, and the previous handler sees where and why. A signal
  // that was sent is sent again: it is delivered once this handler returns.
  if (info->si_code <= 0 || signal == SIGABRT) raise(signal);
}

// Without memory for more: the name of the type, as the compiler writes it (St9bad_alloc).
void say_type_alone() noexcept {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  constexpr Bytes begin = "katana: terminated by ";
  const Bytes name = type != nullptr ? Bytes(type->name()) : Bytes("an exception");
  std::array<char, 256> line;
  const std::size_t name_bytes = std::min(name.size(), line.size() - begin.size());
  std::memcpy(line.data(), begin.data(), begin.size());
  std::memcpy(line.data() + begin.size(), name.data(), name_bytes);
  say_last_words({line.data(), begin.size() + name_bytes});
}

// The library's own handler prints by stdio, which waits for ever on an unread standard error.
// There would be no signal and no last records.
[[noreturn]] void on_terminate() noexcept {
  const std::exception_ptr thrown = std::current_exception();
  try {
    say_last_words(thrown == nullptr ? std::string("katana: terminated without an exception")
                                     : fmt::format("katana: terminated by {}: {}",
                                                   type_name(thrown), describe(thrown)));
  } catch (...) {
    say_type_alone();
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
  AlternateStack stack;
  if (!stack.is_set()) return failed("sigaltstack");
  stack.keep();
  if (installed.exchange(true)) return {};
  std::set_terminate(on_terminate);
  struct sigaction action{};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_ONSTACK | SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  for (std::size_t index = 0; index < crash_signals.size(); ++index) {
    if (sigaction(crash_signals[index], &action, &earlier[index]) != 0) return failed("sigaction");
  }
  return {};
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
