#include "katana/base/system/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <ctime>

// Declared as in unistd.h: katana/base makes no other call of that header.
extern "C" long syscall(long number, ...) noexcept;

namespace katana {

static_assert(sizeof(FutexWord) == 4, "the kernel looks at 32 bits");

void futex_wait(const FutexWord& word, std::uint32_t expected, Duration timeout) noexcept {
  const timespec limit{timeout.ns / 1'000'000'000, timeout.ns % 1'000'000'000};
  // All results mean the same: check the word again.
  (void)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected,
                timeout < Duration{} ? nullptr : &limit, nullptr, 0);
}

void futex_wake(const FutexWord* word, int count) noexcept {
  (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
