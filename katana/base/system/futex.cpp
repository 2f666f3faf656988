#include "katana/base/system/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <ctime>

// As unistd.h declares it, whose other calls katana/base does not make.
extern "C" long syscall(long number, ...) noexcept;

namespace katana {

static_assert(sizeof(FutexWord) == 4, "the kernel looks at 32 bits");

void futex_wait(const FutexWord& word, std::uint32_t expected, Duration timeout) noexcept {
  const timespec limit{timeout.ns / 1'000'000'000, timeout.ns % 1'000'000'000};
  // Every result means the same: look again.
  (void)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected,
                timeout < Duration{} ? nullptr : &limit, nullptr, 0);
}

void futex_wake(const FutexWord* word, int count) noexcept {
  (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
