#include "katana/stores/database/postgres/notification_hub.hpp"

#include <algorithm>
#include <utility>

namespace katana::database::postgres {
namespace {

Error closed_error() { return Error(Kind::cancelled, "the notifications are closed"); }

}  // namespace

void NotificationHub::subscribe(NotificationQueue& queue) {
  const std::lock_guard lock(mutex_);
  Channel& channel = channels_[queue.channel];
  channel.queues.push_back(&queue);
  if (channel.listening) push_gap(queue);
  wake_();
}

void NotificationHub::leave(NotificationQueue& queue) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(channels_.find(queue.channel)->second.queues, &queue);
  wake_();
}

std::optional<database::Result<Notification>> NotificationHub::take(NotificationQueue& queue) {
  const std::lock_guard lock(mutex_);
  if (has_item(queue)) {
    Notification first = std::move(queue.items.front());
    queue.items.pop_front();
    return first;
  }
  if (closed_) return std::unexpected(closed_error());
  return std::nullopt;
}

bool NotificationHub::wait(NotificationQueue& queue, Work& work) {
  const std::lock_guard lock(mutex_);
  if (has_item(queue) || closed_) return false;
  queue.waiting = &work;
  return true;
}

void NotificationHub::withdraw(NotificationQueue& queue, Work& work) noexcept {
  const std::unique_lock lock(mutex_);
  if (queue.waiting == &work) {
    queue.waiting = nullptr;
    work.unexpect();
    work.waiting = {};
  } else if (work.waiting) {
    // The work is completed and on its way: the next call gets its notification.
    auto& arrival = static_cast<Arrival&>(work.outcome);
    if (arrival.notification) queue.items.push_front(*std::move(arrival.notification));
  }
  work.abandon();
}

// Adds an item that says may_have_missed, unless there is one already.
void NotificationHub::push_gap(NotificationQueue& queue) {
  queue.needs_gap = false;
  if (queue.handler) return queue.handler({.may_have_missed = true});
  if (queue.items.empty() || !queue.items.back().may_have_missed) {
    queue.items.push_back({.may_have_missed = true});
  }
  hand_over(queue);
}

void NotificationHub::hand_over(NotificationQueue& queue) noexcept {
  if (queue.waiting == nullptr || (queue.items.empty() && !closed_)) return;
  Work& work = *std::exchange(queue.waiting, nullptr);
  auto& arrival = static_cast<Arrival&>(work.outcome);
  if (queue.items.empty()) {
    arrival.error = closed_error();
  } else {
    arrival.notification = std::move(queue.items.front());
    queue.items.pop_front();
  }
  Completions().add(work);
}

std::vector<std::string> NotificationHub::missing() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, channel] : channels_) {
    if (!channel.listening && !channel.queues.empty()) names.push_back(name);
  }
  return names;
}

// Erases channels before the server gets UNLISTEN. The server listens again for a subscriber that
// comes from here on. It does not share a channel that the server is about to leave.
std::vector<std::string> NotificationHub::take_surplus() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  std::erase_if(channels_, [&names](const auto& each) {
    const auto& [name, channel] = each;
    if (channel.queues.empty() && channel.listening) names.push_back(name);
    return channel.queues.empty();
  });
  return names;
}

void NotificationHub::note_listening(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto channel = channels_.find(name);
  if (channel == channels_.end()) return;
  channel->second.listening = true;
  for (NotificationQueue* const queue : channel->second.queues) {
    if (queue->needs_gap) push_gap(*queue);
  }
}

std::string NotificationHub::listening_to() const {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::ranges::find_if(channels_, [](const auto& each) { return each.second.listening; });
  return found == channels_.end() ? std::string() : found->first;
}

void NotificationHub::note_session() {
  const std::lock_guard lock(mutex_);
  ++statistics_.sessions;
  statistics_.listening = true;
}

void NotificationHub::note_loss(std::string why) {
  const std::lock_guard lock(mutex_);
  statistics_.listening = false;
  failure_ = std::move(why);
  for (auto& [name, channel] : channels_) {
    channel.listening = false;
    for (NotificationQueue* const queue : channel.queues) queue->needs_gap = true;
  }
}

// False: no caller listens. Channels are erased, as in take_surplus(): a subscriber that comes
// after that waits for another session.
bool NotificationHub::wanted() {
  const std::lock_guard lock(mutex_);
  if (somebody_listens()) return true;
  channels_.clear();
  return false;
}

bool NotificationHub::somebody_listens() const {
  return std::ranges::any_of(channels_,
                             [](const auto& each) { return !each.second.queues.empty(); });
}

void NotificationHub::deliver(std::string_view name, Notification notification) {
  const std::lock_guard lock(mutex_);
  ++statistics_.received;
  const auto channel = channels_.find(name);
  if (channel == channels_.end()) return;
  for (NotificationQueue* const queue : channel->second.queues) {
    if (queue->needs_gap) continue;  // subscribed before the server said that it listens
    if (queue->handler) {
      queue->handler(notification);
      continue;
    }
    if (queue->items.size() >= queue_max_) {
      ++statistics_.dropped;
      push_gap(*queue);
      continue;
    }
    queue->items.push_back(notification);
    hand_over(*queue);
  }
}

void NotificationHub::close() noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (auto& [name, channel] : channels_) {
    for (NotificationQueue* const queue : channel.queues) hand_over(*queue);
  }
  wake_();
}

bool NotificationHub::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

katana::Result<void> NotificationHub::health() const {
  const std::lock_guard lock(mutex_);
  if (statistics_.listening || !somebody_listens()) return {};
  return katana::fail(Code::unavailable, "notifications may be missed: " + failure_);
}

NotificationStatistics NotificationHub::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
