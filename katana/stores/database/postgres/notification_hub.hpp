// NotificationHub: the queues of all subscriptions of one Notifications, between the thread that
// listens and the coroutines that read.
//
// Owns       nothing of its queues, which belong to their subscriptions.
// Thread     any.
// Allocates  the items.
// Fails      never.
// Invariant  a queue is in its channel's list from subscribe() to leave(), and its handler is not
//            called any more when that returns. A work that waits is
//            completed under the mutex, so that a reader that finds it gone finds its item.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "katana/stores/database/call.hpp"
#include "katana/stores/database/postgres/notification.hpp"

namespace katana::database::postgres {

// The notifications of one subscription or one handler.
struct NotificationQueue {
  std::string channel;                  // to which it listens
  std::deque<Notification> items = {};  // not read yet
  bool needs_gap = true;                // nothing was told since the session began
  Work* waiting = nullptr;              // a next() that has no item yet
  OnNotification handler = {};          // called in place of keeping items
};

// The outcome that a next() waits for.
class Arrival final : public Outcome {
 public:
  TypeMismatch take(const Row&) override { return {}; }
  void clear() noexcept override {}
  std::optional<Notification> notification;  // empty: the subscription was closed
};

class NotificationHub {
 public:
  NotificationHub(std::size_t queue_max, std::function<void()> wake)
      : queue_max_(queue_max), wake_(std::move(wake)) {}

  // ---- for subscriptions
  void subscribe(NotificationQueue& queue);
  void leave(NotificationQueue& queue) noexcept;
  // Takes the next item. No value: there is none yet.
  std::optional<database::Result<Notification>> take(NotificationQueue& queue);
  // False: there is an item by now, or it was closed.
  bool wait(NotificationQueue& queue, Work& work);
  // Withdraws a work that is not awaited any more.
  void withdraw(NotificationQueue& queue, Work& work) noexcept;

  // ---- for the thread that listens
  // Channels that are wanted and not yet listened to.
  std::vector<std::string> missing();
  // Channels that are not wanted any more. They are forgotten here, and to be left by UNLISTEN.
  std::vector<std::string> take_surplus();
  void note_listening(const std::string& channel);
  // One of the channels to which the server listens; empty: there is none.
  std::string listening_to() const;
  void note_session();
  void note_loss(std::string why);
  // False: no channel is wanted any more, and all of them are forgotten.
  bool wanted();
  void deliver(std::string_view channel, Notification notification);
  void close() noexcept;
  bool closed() const;

  katana::Result<void> health() const;  // an Error: nothing listens at present, with the reason
  NotificationStatistics statistics() const;  // a copy, made under a lock

 private:
  struct Channel {
    std::vector<NotificationQueue*> queues;
    bool listening = false;
  };
  bool somebody_listens() const;  // under the mutex
  static bool has_item(const NotificationQueue& queue) noexcept { return !queue.items.empty(); }
  void push_gap(NotificationQueue& queue);
  void hand_over(NotificationQueue& queue) noexcept;

  const std::size_t queue_max_;
  const std::function<void()> wake_;  // the thread that listens
  mutable std::mutex mutex_;          // what follows
  std::map<std::string, Channel, std::less<>> channels_;
  NotificationStatistics statistics_;
  std::string failure_ = "no connection was made yet";
  bool closed_ = false;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
