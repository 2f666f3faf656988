#include "katana/log/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace katana::log {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4, "the kernel looks at 32 bits");

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, Duration limit) noexcept {
  const timespec relative = {limit.ns / 1'000'000'000, limit.ns % 1'000'000'000};
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected,
          &relative, nullptr, 0);
}

void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr,
          nullptr, 0);
}

}  // namespace katana::log
