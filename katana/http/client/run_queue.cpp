#include "katana/http/client/run_queue.hpp"

#include <utility>

#include "katana/base/system/check.hpp"

namespace katana::client {

void Runnable::leave_list() noexcept {
  if (list_ != nullptr) list_->remove(*this);
}

void RunList::push_back(Runnable& runnable) noexcept {
  runnable.list_ = this;
  list_.push_back(runnable);
}

void RunList::push_front(Runnable& runnable) noexcept {
  runnable.list_ = this;
  list_.push_front(runnable);
}

void RunList::remove(Runnable& runnable) noexcept {
  runnable.list_ = nullptr;
  list_.remove(runnable);
}

Runnable& RunList::pop_front() noexcept {
  KATANA_REQUIRE(!empty());
  Runnable& runnable = list_.pop_front();
  runnable.list_ = nullptr;
  return runnable;
}

void RunQueue::run_later(Runnable& runnable) noexcept {
  if (!runnable.is_listed()) first_.push_back(runnable);
  schedule();
}

void RunQueue::resume_later(Runnable& runnable) noexcept {
  second_.push_back(runnable);
  schedule();
}

void RunQueue::schedule() noexcept {
  if (!std::exchange(scheduled_, true)) reactor_.defer(work_);
}

void RunQueue::run_all(Message& message) noexcept {
  RunQueue& self = static_cast<Work&>(message).queue;
  self.scheduled_ = false;
  run(self.first_);
  run(self.second_);
  if (!self.second_.empty()) self.schedule();
}

// A coroutine may destroy others that are in the list.
void RunQueue::run(RunList& list) noexcept {
  for (std::size_t count = list.size(); count > 0 && !list.empty(); --count) list.pop_front().run();
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
