#include "katana/base/system/alternate_stack.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "katana/base/system/last_words.hpp"
#include "katana/base/system/quiet_thread.hpp"

namespace katana {
namespace {

bool has_stack() {
  stack_t present{};
  return ::sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE) == 0;
}

TEST(AlternateStack, is_that_of_its_thread_as_long_as_it_lives) {
  std::thread([] {
    const bool before = has_stack();  // a sanitizer gives each thread one
    {
      const AlternateStack stack;
      EXPECT_TRUE(stack.is_set());
      EXPECT_TRUE(has_stack());
    }
    EXPECT_EQ(has_stack(), before);
  }).join();
}

TEST(AlternateStack, that_a_thread_has_is_kept) {
  std::thread([] {
    const AlternateStack outer;
    stack_t first{};
    ::sigaltstack(nullptr, &first);
    {
      const AlternateStack inner;
      EXPECT_TRUE(inner.is_set());
    }
    stack_t after{};
    ::sigaltstack(nullptr, &after);
    EXPECT_EQ(first.ss_sp, after.ss_sp);
    EXPECT_TRUE(has_stack());
  }).join();
}

TEST(QuietThread, has_an_alternate_stack_and_takes_the_signal_for_its_stack) {
  quiet_thread([] {
    EXPECT_TRUE(has_stack());
    sigset_t blocked;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    EXPECT_FALSE(::sigismember(&blocked, stack_signal()));
    EXPECT_TRUE(::sigismember(&blocked, SIGTERM));
  }).join();
}

// Each in a child: the process keeps one line for ever.
int status_of(void (*work)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(LastWords, are_those_of_the_thread_that_said_them_first) {
  EXPECT_EQ(status_of([] {
              if (!last_words_of(::gettid()).empty()) ::_exit(1);
              say_last_words("katana: test");
              say_last_words("katana: another");
              if (last_words_of(::gettid()) != "katana: test") ::_exit(2);
              if (!last_words_of(::gettid() + 1).empty()) ::_exit(3);
            }),
            0);
}

TEST(LastWords, that_are_long_are_cut) {
  EXPECT_EQ(status_of([] {
              say_last_words(std::string(2 * last_words_bytes_max, 'x'));
              if (last_words_of(::gettid()).size() != last_words_bytes_max) ::_exit(1);
            }),
            0);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
