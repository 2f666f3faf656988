#include "katana/net/reactor/shared_wait.hpp"

#include <memory>

#include "katana/base/coroutine/deadline.hpp"
#include "katana/base/memory/recycler.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/misuse.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::net {

void SharedWaiter::end() noexcept {
  home_.unexpect_open_ended();
  std::destroy_at(this);
  recycler::release(this, sizeof(SharedWaiter));
}

void SharedWaiter::arrive(Message& message) noexcept {
  auto& self = static_cast<SharedWaiter&>(message);
  SharedWait* const owner = self.owner_;
  const Waiting waiting = self.waiting_;
  self.end();
  if (owner == nullptr) return;
  owner->waiter_ = nullptr;
  owner->cancel();
  if (!owner->waits_again(waiting)) waiting.resume();
}

void wake(SharedWaiter& waiter) noexcept {
  if (&waiter.home_ == Executor::current()) {
    waiter.at_turn_end_ = true;
    waiter.home_.at_turn_end(waiter);
  } else {
    waiter.home_.post(waiter);
  }
}

SharedWaiter& take_first(SharedWaiter::List& list) noexcept {
  SharedWaiter& first = list.pop_front();
  first.listed_ = false;
  return first;
}

void SharedWait::begin(std::coroutine_handle<> waiting, SharedWaiter::List& list, Lock& mutex) {
  deadline_ = current_deadline;
  begin_again(waiting, list, mutex);
}

void SharedWait::begin_again(const Waiting& waiting, SharedWaiter::List& list, Lock& mutex) {
  Executor* const home = Executor::current();
  if (home == nullptr) [[unlikely]] {
    throw_misuse("what other threads do was awaited on a thread without a reactor",
                 "await it in a handler or another coroutine that a reactor runs; of a cache get() "
                 "and put() may be called on any thread");
  }
  waiter_ = new (recycler::allocate(sizeof(SharedWaiter))) SharedWaiter(*home, *this, waiting);
  // Open-ended: this executor itself may cause the event.
  home->expect_open_ended();
  list_ = &list;
  mutex_ = &mutex;
  list.push_back(*waiter_);
  Reactor* const reactor = Reactor::current();
  if (reactor != nullptr && deadline_ != never) reactor->timers().arm(*this, deadline_);
}

bool SharedWait::leave_list() noexcept {
  const std::scoped_lock lock(*mutex_);
  if (!waiter_->listed_) return false;
  list_->remove(*waiter_);
  waiter_->listed_ = false;
  return true;
}

bool SharedWait::withdraw() noexcept {
  if (waiter_ == nullptr) return false;
  cancel();
  if (leave_list()) {
    std::exchange(waiter_, nullptr)->end();
    return false;
  }
  // Its message is in transit, or waits for the end of the turn.
  SharedWaiter& waiter = *std::exchange(waiter_, nullptr);
  waiter.owner_ = nullptr;
  if (waiter.at_turn_end_) {
    waiter.home_.forget_at_turn_end(waiter);
    waiter.end();
  }
  return true;
}

void SharedWait::on_time(TimerEntry& entry) noexcept {
  auto& self = static_cast<SharedWait&>(entry);
  if (self.waiter_ == nullptr || !self.leave_list()) return;  // it was woken in time
  const Waiting waiting = self.waiter_->waiting_;
  std::exchange(self.waiter_, nullptr)->end();
  self.is_late_ = true;
  waiting.resume();
}

void SharedEvent::set() noexcept {
  SharedWaiter::List woken;
  {
    const std::scoped_lock lock(mutex_);
    is_set_ = true;
    while (!list_.empty()) woken.push_back(take_first(list_));
  }
  while (!woken.empty()) wake(woken.pop_front());
}

bool SharedEvent::Wait::await_suspend(std::coroutine_handle<> waiting) {
  const std::scoped_lock lock(event_.mutex_);
  if (event_.is_set_) return false;
  begin(waiting, event_.list_, event_.mutex_);
  return true;
}

bool SharedPlaces::Acquire::await_suspend(std::coroutine_handle<> waiting) {
  const std::scoped_lock lock(of_.mutex_);
  if (of_.free_ > 0) {
    --of_.free_;
    return false;
  }
  if (of_.list_.size() >= of_.waiting_max_) {
    is_refused_ = true;
    return false;
  }
  begin(waiting, of_.list_, of_.mutex_);
  return true;
}

Result<SharedPlaces::Place> SharedPlaces::Acquire::await_resume() {
  if (is_refused_) return fail(Code::resource_exhausted);
  if (is_late()) return fail(Code::deadline_exceeded);
  return Place(of_);
}

void SharedPlaces::give_back() noexcept {
  SharedWaiter* next = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    if (list_.empty()) {
      ++free_;
      return;
    }
    next = &take_first(list_);
  }
  wake(*next);
}

std::size_t SharedPlaces::waiting() const {
  const std::scoped_lock lock(mutex_);
  return list_.size();
}

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
