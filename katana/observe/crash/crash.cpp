#include "katana/observe/crash/crash.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <system_error>

#include "katana/base/system/alternate_stack.hpp"
#include "katana/base/system/futex.hpp"
#include "katana/base/system/last_words.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/printing.hpp"
#include "katana/observe/crash/recent_records.hpp"
#include "katana/observe/crash/report_name.hpp"
#include "katana/observe/crash/report_writer.hpp"
#include "katana/observe/crash/signal_names.hpp"
#include "katana/observe/crash/stack.hpp"
#include "katana/observe/crash/thread_stacks.hpp"
#include "katana/observe/log/live_logs.hpp"

namespace katana::crash {
namespace {

constexpr std::array<int, 6> crash_signals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS};
constexpr Duration other_crash_wait_max = seconds(10);
constexpr std::size_t modules_max = 64;

// A text of fixed size: the handler must not read a string that is being replaced.
template <std::size_t N>
struct FixedText {
  std::array<char, N> bytes{};
  std::size_t used = 0;

  void set(Bytes text) noexcept {
    used = std::min(text.size(), N);
    std::memcpy(bytes.data(), text.data(), used);
  }
  Bytes text() const noexcept { return {bytes.data(), used}; }
};

constinit FixedText<64> program_name;
constinit FixedText<64> version_name;
constinit FixedText<1024> folder_path;
constinit std::atomic<int> folder_descriptor{-1};
constinit Instant installed_at{};
constinit std::array<struct sigaction, crash_signals.size()> earlier_actions{};
constinit std::array<std::atomic<bool>, crash_signals.size()> handled_signals{};

// The state of the one report that a process writes.
constinit std::atomic<pid_t> reporter{0};  // the thread that writes it
constinit FutexWord finished{0};
constinit ReportWriter out;
constinit ThreadState crashed_thread;
constinit std::array<Module, modules_max> seen_modules{};
constinit std::size_t seen_modules_count = 0;

struct Crash {
  int signal;
  const siginfo_t* info;
  void* context;
  pid_t thread;
};

void note_module(const Module& module) noexcept {
  for (std::size_t index = 0; index < seen_modules_count; ++index) {
    if (seen_modules[index].begin == module.begin) return;
  }
  if (seen_modules_count < seen_modules.size()) seen_modules[seen_modules_count++] = module;
}

void write_build_id(const Module& module) noexcept {
  if (module.build_id.empty()) {
    out.word("-");
  } else {
    out.hex_bytes(module.build_id.substr(0, 32));
  }
}

void write_frame(std::uintptr_t address) noexcept {
  out.word("frame 0x");
  out.hex(address);
  Module module;
  if (find_module(address, module)) {
    note_module(module);
    out.word(" ");
    write_build_id(module);
    out.word(" +0x");
    out.hex(address - module.bias);
    out.word(" ");
    out.value(module.path, 512);
  } else {
    out.word(" - - -");
  }
  out.end_line();
}

void write_thread(pid_t thread, const ThreadState* state, bool crashed) noexcept {
  out.word("thread ");
  out.number(thread);
  out.word(crashed ? " crashed " : " runs ");
  char name[16];
  out.value({name, name_of_thread(thread, name)});
  out.end_line();
  if (state == nullptr) {
    out.word("no-answer\n");
    return;
  }
  out.word(state->text.text());
  for (std::size_t index = 0; index < state->stack.count; ++index) {
    write_frame(state->stack.addresses[index]);
  }
  if (state->stack.cut) out.word("more-frames\n");
}

void write_line(Bytes word, Bytes value, std::size_t bytes_max = 256) noexcept {
  if (value.empty()) return;
  out.word(word);
  out.value(value, bytes_max);
  out.end_line();
}

void write_number(Bytes word, std::int64_t value) noexcept {
  out.word(word);
  out.number(value);
  out.end_line();
}

void write_named(Bytes word, int number, Bytes name) noexcept {
  out.word(word);
  out.number(number);
  out.word(" ");
  out.word(name);
  out.end_line();
}

void write_head(const Crash& crash) noexcept {
  out.word(report_begin);
  out.end_line();
  write_line("program ", program_name.text());
  write_line("version ", version_name.text());
  Module module;
  if (find_module(reinterpret_cast<std::uintptr_t>(&write_head), module)) {
    out.word("build-id ");
    write_build_id(module);
    out.end_line();
    note_module(module);
  }
  write_number("process ", ::getpid());
  out.word("time ");
  out.word(time_text(std::time(nullptr)).text());
  out.end_line();
  write_number("uptime-ms ", (monotonic_now() - installed_at).count_ms());
  write_named("signal ", crash.signal, signal_name(crash.signal));
  write_named("code ", crash.info->si_code, code_name(crash.signal, crash.info->si_code));
  // Other codes are of kill() and raise(), which have no address.
  if (crash.info->si_code > 0 && crash.signal != SIGABRT) {
    out.word("address 0x");
    out.hex(reinterpret_cast<std::uintptr_t>(crash.info->si_addr));
    out.end_line();
  }
  write_line("reason ", last_words_of(crash.thread), last_words_bytes_max);
}

void flush_logs(const Crash& crash) noexcept {
  for (std::atomic<log::LiveLog*>& place : log::live_logs()) {
    if (log::LiveLog* const log = place.load(std::memory_order_acquire)) {
      log->flush_in_crash(crash.signal);
    }
  }
}

void write_modules() noexcept {
  for (std::size_t index = 0; index < seen_modules_count; ++index) {
    const Module& module = seen_modules[index];
    out.word("module 0x");
    out.hex(module.begin);
    out.word(" 0x");
    out.hex(module.end);
    out.word(" ");
    write_build_id(module);
    out.word(" ");
    out.value(module.path, 512);
    out.end_line();
  }
}

void write_crashed_thread(const Crash& crash) noexcept {
  capture_thread(crashed_thread, crash.context);
  write_thread(crash.thread, &crashed_thread, true);
}

void write_other_threads(const Crash&) noexcept {
  ask_other_threads(
      [](pid_t thread, const ThreadState* state) { write_thread(thread, state, false); });
}

struct Step {
  void (*write)(const Crash& crash);
  std::size_t bytes_max;
};

// In the order of the report. The first parts matter most, and are on the disk before the rest.
constexpr Step steps[] = {
    {write_head, 8 * 1024},
    {write_crashed_thread, 56 * 1024},
    {[](const Crash&) { write_sections(out); }, 24 * 1024},
    {write_other_threads, 96 * 1024},
    {flush_logs, 0},
    {[](const Crash&) { write_recent_records(out); }, 40 * 1024},
    {[](const Crash&) { write_modules(); }, 30 * 1024},
};
constexpr std::size_t mark_bytes_max = 128;  // of "fault …" or "end"

constexpr std::size_t bytes_max_of_steps() {
  std::size_t sum = mark_bytes_max;
  for (const Step& step : steps) sum += step.bytes_max + mark_bytes_max;
  return sum;
}
static_assert(bytes_max_of_steps() <= report_bytes_max);

int open_report() noexcept {
  const int at = folder_descriptor.load(std::memory_order_relaxed);
  if (at < 0) return STDERR_FILENO;
  const NameText name = report_name(program_name.text(), std::time(nullptr), ::getpid());
  const int file =
      ::openat(at, name.bytes.data(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  out.begin(STDERR_FILENO);
  out.allow(line_bytes_max);
  if (file < 0) {
    out.word("katana: the crash report cannot be written, and follows here: errno ");
    out.number(errno);
  } else {
    // A program that starts meanwhile does not read it: the lock is held until this process ends.
    (void)::flock(file, LOCK_EX | LOCK_NB);
    out.word("katana: crashed; the report is ");
    out.value(folder_path.text(), 1024);
    out.word("/");
    out.word(name.text());
  }
  out.end_line();
  out.flush();
  return file < 0 ? STDERR_FILENO : file;
}

void write_report(const Crash& crash) noexcept {
  out.begin(open_report());
  struct Argument {
    const Crash& crash;
    const Step& step;
  };
  for (const Step& step : steps) {
    Argument argument{crash, step};
    out.allow(step.bytes_max);
    const bool whole = guarded(
        [](void* given) {
          const Argument& each = *static_cast<Argument*>(given);
          each.step.write(each.crash);
        },
        &argument);
    out.drop_line();
    out.allow(mark_bytes_max);
    if (!whole) out.word("fault the lines that should follow made a fault\n");
    out.flush();
  }
  out.allow(mark_bytes_max);
  out.word(report_end);
  out.end_line();
  out.flush();
}

// The handler of before gets the signal. A fault of the processor happens again when the handler
// returns; a signal that was sent is sent again.
void pass_on(int signal, const siginfo_t& info) noexcept {
  for (std::size_t index = 0; index < crash_signals.size(); ++index) {
    if (crash_signals[index] == signal) ::sigaction(signal, &earlier_actions[index], nullptr);
  }
  if (info.si_code <= 0 || signal == SIGABRT || signal == SIGSYS) ::raise(signal);
}

void on_crash(int signal, siginfo_t* info, void* context) {
  if (is_guarded()) leave_guarded();
  const int number = errno;
  const pid_t self = ::gettid();
  pid_t other = 0;
  if (reporter.compare_exchange_strong(other, self)) {
    write_report({signal, info, context, self});
    finished.store(1);
    futex_wake(&finished, INT32_MAX);
  } else if (other != self) {
    // Two threads crash at once: the process must not end before the first is done.
    const Instant end = monotonic_now() + other_crash_wait_max;
    for (Instant now = monotonic_now(); finished.load() == 0 && now < end; now = monotonic_now()) {
      futex_wait(finished, 0, end - now);
    }
  }
  errno = number;
  pass_on(signal, *info);
}

constinit std::array<struct sigaction, 2> actions_before_faults{};

void on_fault(int signal, siginfo_t* info, void*) {
  if (is_guarded()) leave_guarded();
  ::sigaction(signal, &actions_before_faults[signal == SIGBUS ? 1 : 0], nullptr);
  if (info->si_code <= 0) ::raise(signal);
}

Error failed(Bytes what, int number) {
  return {Code::internal,
          fmt::format("crash reports: {}: {}", what, std::generic_category().message(number))};
}

Result<void> set_handlers() {
  struct sigaction action{};
  action.sa_sigaction = on_crash;
  // SA_NODEFER: a fault inside of the handler is a call of the handler, and not the end.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (std::size_t index = 0; index < crash_signals.size(); ++index) {
    if (handled_signals[index].exchange(true)) continue;
    struct sigaction present{};
    ::sigaction(crash_signals[index], nullptr, &present);
    // A sandbox emulates refused calls by it: they are no crash.
    const bool is_default = (present.sa_flags & SA_SIGINFO) == 0 && present.sa_handler == SIG_DFL;
    if (crash_signals[index] == SIGSYS && !is_default) continue;
    if (::sigaction(crash_signals[index], &action, &earlier_actions[index]) != 0) {
      return std::unexpected(failed("set a handler", errno));
    }
  }
  return {};
}

}  // namespace

void watch_faults() noexcept {
  static constinit std::atomic<bool> watched{false};
  if (handled_signals[0].load() || watched.exchange(true)) return;
  struct sigaction action{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGSEGV, &action, &actions_before_faults[0]);
  ::sigaction(SIGBUS, &action, &actions_before_faults[1]);
}

Result<void> install(const Options& options) {
  int opened = -1;
  if (!options.folder.empty()) {
    opened = ::open(options.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) {
      return std::unexpected(failed(fmt::format("open the folder '{}'", options.folder), errno));
    }
  }
  program_name.set(options.program);
  version_name.set(options.version);
  folder_path.set(options.folder);
  if (const int before = folder_descriptor.exchange(opened); before >= 0) ::close(before);
  installed_at = monotonic_now();
  prepare_unwinder();
  AlternateStack stack;
  stack.keep();
  (void)watch_stack_signal();  // else the report has the stack of the crashed thread alone
  return set_handlers();
}

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
