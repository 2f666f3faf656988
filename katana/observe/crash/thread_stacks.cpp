#include "katana/observe/crash/thread_stacks.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/system/alternate_stack.hpp"
#include "katana/base/system/futex.hpp"
#include "katana/base/system/monotonic_clock.hpp"

namespace katana::crash {
namespace {

// The states of the one question that is asked at a time. The word has the thread, too: an answer
// that comes late is then none to the question for another thread.
constexpr std::uint32_t idle = 0, asked = 1, answering = 2, answered = 3;
constexpr std::uint32_t word(std::uint32_t state, pid_t thread) {
  return static_cast<std::uint32_t>(thread) << 2 | state;  // a pid has 22 bits
}

constinit FutexWord question{idle};
constinit ThreadState answer;
constinit std::atomic<OnTimer> timer_function{nullptr};

void on_stack_signal(int, siginfo_t* info, void* context) {
  const int number = errno;
  if (info->si_code == SI_TIMER) {
    if (const OnTimer on_timer = timer_function.load()) on_timer(*info, context);
    errno = number;
    return;
  }
  const pid_t self = ::gettid();
  std::uint32_t expected = word(asked, self);
  // A late signal, or one that another process sent, finds no question for this thread.
  if (info->si_pid == ::getpid() &&
      question.compare_exchange_strong(expected, word(answering, self))) {
    capture_thread(answer, context);
    question.store(word(answered, self));
    futex_wake(&question, 1);
  }
  errno = number;
}

// True: the thread has answered.
bool ask(pid_t thread, Instant until) noexcept {
  question.store(word(asked, thread));
  if (::syscall(SYS_tgkill, ::getpid(), thread, stack_signal()) == 0) {
    for (Instant now = monotonic_now(); now < until; now = monotonic_now()) {
      const std::uint32_t state = question.load();
      if (state == word(answered, thread)) break;
      futex_wait(question, state, until - now);
    }
  }
  std::uint32_t expected = word(asked, thread);
  question.compare_exchange_strong(expected, idle);
  return question.load() == word(answered, thread);
}

pid_t number_of(const char* name) noexcept {
  pid_t number = 0;
  for (; *name >= '0' && *name <= '9'; ++name) number = number * 10 + (*name - '0');
  return *name == '\0' ? number : 0;
}

// The entries of a directory as the kernel gives them; opendir() allocates.
struct Entry {
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short bytes;
  unsigned char type;
  char name[1];
};

}  // namespace

bool watch_stack_signal() noexcept {
  struct sigaction present{};
  if (::sigaction(stack_signal(), nullptr, &present) != 0) return false;
  const bool is_ours =
      (present.sa_flags & SA_SIGINFO) != 0 && present.sa_sigaction == on_stack_signal;
  if (is_ours) return true;
  if ((present.sa_flags & SA_SIGINFO) != 0 || present.sa_handler != SIG_DFL) return false;
  struct sigaction action{};
  action.sa_sigaction = on_stack_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return ::sigaction(stack_signal(), &action, nullptr) == 0;
}

void set_on_timer(OnTimer on_timer) noexcept { timer_function.store(on_timer); }

void capture_thread(ThreadState& state, void* context) noexcept {
  state.text.clear();
  capture_stack(state.stack, context);
  (void)guarded(
      [](void* argument) {
        ThreadText& text = *static_cast<ThreadText*>(argument);
        if (const Activity* const activity = current_activity) {
          if (activity->site != nullptr) {
            text.add("on ");
            text.add(Bytes(*activity->site).substr(0, 256));
            text.end_line();
          }
          if (!activity->name.empty()) {
            text.add("request ");
            text.add(activity->name.substr(0, 128));
            text.end_line();
          }
        }
        if (const ThreadFacts facts = thread_facts()) facts(text);
      },
      &state.text);
}

void ask_other_threads(OnThread on_thread) noexcept {
  const int folder = ::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  const pid_t own = ::gettid();
  const Instant end = monotonic_now() + all_wait_max;
  alignas(Entry) static constinit char buffer[4096]{};
  ssize_t count = 0;
  while ((count = ::syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0) {
    for (ssize_t at = 0; at < count;) {
      const auto* const entry = reinterpret_cast<const Entry*>(buffer + at);
      at += entry->bytes;
      const pid_t thread = number_of(entry->name);
      if (thread <= 0 || thread == own) continue;
      const Instant now = monotonic_now();
      // One that has begun its answer and not ended it keeps the place of the answer.
      const bool has_time = now < end && (question.load() & 3) != answering;
      const bool told = has_time && ask(thread, std::min(end, now + answer_wait_max));
      on_thread(thread, told ? &answer : nullptr);
    }
  }
  ::close(folder);
}

std::size_t name_of_thread(pid_t thread, char (&name)[16]) noexcept {
  char path[64] = "/proc/self/task/";
  char* at = path + std::strlen(path);
  char digits[12];
  int count = 0;
  for (pid_t left = thread; left > 0; left /= 10) {
    digits[count++] = static_cast<char>('0' + left % 10);
  }
  while (count > 0) *at++ = digits[--count];
  std::memcpy(at, "/comm", sizeof "/comm");
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t read = ::read(file, name, sizeof name);
  ::close(file);
  std::size_t size = read > 0 ? static_cast<std::size_t>(read) : 0;
  if (size > 0 && name[size - 1] == '\n') --size;
  return size;
}

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
