#include "katana/base/system/alarm.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

namespace katana {

Alarm::~Alarm() {
  if (timer_ >= 0) ::close(timer_);
}

Result<void> Alarm::open() {
  timer_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  if (timer_ >= 0) return {};
  return fail(Code::resource_exhausted,
              "cannot create a timer: " + std::generic_category().message(errno));
}

void Alarm::move_to(Instant due) noexcept {
  if (!is_open()) return;
  const std::lock_guard lock(mutex_);
  if (due.ns >= due_ns_.load(std::memory_order_relaxed)) return;
  due_ns_.store(due.ns, std::memory_order_seq_cst);
  // A time of zero would stop the timer.
  const std::int64_t at_ns = std::max<std::int64_t>(due.ns, 1);
  const itimerspec when{.it_interval = {},
                        .it_value = {at_ns / 1'000'000'000, at_ns % 1'000'000'000}};
  (void)::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr);  // the arguments are valid
}

bool Alarm::wait() noexcept {
  if (has_ended_.load(std::memory_order_acquire)) return false;
  std::uint64_t expirations = 0;
  while (::read(timer_, &expirations, sizeof expirations) < 0 && errno == EINTR) {
  }
  due_ns_.store(never.ns, std::memory_order_seq_cst);
  return !has_ended_.load(std::memory_order_seq_cst);
}

void Alarm::end() noexcept {
  has_ended_.store(true, std::memory_order_seq_cst);
  set(Instant{0});
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
