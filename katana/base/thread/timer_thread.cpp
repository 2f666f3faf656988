#include "katana/base/thread/timer_thread.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/quiet_thread.hpp"

namespace katana::thread {

TimerThread::TimerThread(ManualClock* clock, std::function<Instant(Instant)> keep)
    : clock_(clock), keep_(std::move(keep)) {}

Instant TimerThread::now() const noexcept {
  return clock_ != nullptr ? clock_->now() : monotonic_now();
}

Result<void> TimerThread::start(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (started_ || stopping_) return {};
  if (clock_ != nullptr) {
    clock_->attach(*this);
  } else {
    try {
      thread_ = quiet_thread([this] { loop(); });
    } catch (const std::system_error& error) {
      return fail(Code::unavailable, "no thread for the timed work of pool '" + name +
                                         "': " + error.what() + ". Raise the limit of threads");
    }
    (void)pthread_setname_np(thread_.native_handle(), (name.substr(0, 10) + "/time").c_str());
  }
  started_ = true;
  return {};
}

void TimerThread::look_again() noexcept {
  if (clock_ != nullptr) return;  // a ManualClock asks at every step
  const std::lock_guard lock(mutex_);
  asked_ = true;
  changed_.notify_one();
}

void TimerThread::stop() noexcept {
  bool started;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    started = std::exchange(started_, false);
    changed_.notify_one();
  }
  if (!started) return;
  if (clock_ != nullptr) {
    clock_->detach(*this);
  } else {
    thread_.join();
  }
}

void TimerThread::loop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    asked_ = false;
    lock.unlock();
    const Instant next = keep_(now());
    lock.lock();
    const auto ready = [this] { return asked_ || stopping_; };
    if (next == never) {
      changed_.wait(lock, ready);
    } else {
      changed_.wait_for(lock, std::chrono::nanoseconds((next - now()).ns), ready);
    }
  }
}

void ManualClock::attach(TimerThread& timer_thread) {
  const std::lock_guard lock(mutex_);
  timer_threads_.push_back(&timer_thread);
}

void ManualClock::detach(TimerThread& timer_thread) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(timer_threads_, &timer_thread);
}

void ManualClock::advance(Duration duration) {
  const std::lock_guard lock(mutex_);
  const Instant target = now() + duration;
  while (true) {
    Instant next = never;
    for (TimerThread* const timer_thread : timer_threads_) {
      timer_thread->next_ = timer_thread->keep_(now());
      next = std::min(next, timer_thread->next_);
    }
    if (now() == target) return;
    now_ns_.store(std::min(next, target).ns, std::memory_order_release);
  }
}

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
