// Notifications: LISTEN, on its own connection. notify(): NOTIFY, alone or in a transaction.
//
//   auto notifications = postgres::Notifications::open(options);
//   auto orders = (*notifications)->subscribe("orders");
//   while (true) {
//     auto next = co_await orders->next();
//     if (!next) co_return;                 // closed
//     if (next->may_have_missed) { … read the state … } else { … next->payload … }
//   }
//
// The first item of a subscription says may_have_missed, as soon as the server listens: earlier
// notifications are not told. Such an item comes again after each loss of the connection, and where
// a queue was full. A reader that then reads the state misses nothing.
//
// Owns       its thread and its connection; a Subscription its queue.
// Borrows    nothing: a Subscription may outlive the Notifications, and is closed then.
// Thread     any; next() by coroutines of any executor, one at a time for each Subscription; a
//            handler is called by the thread that listens.
// Allocates  the items that wait.
// Fails      open() names the option. On a simulated network, it refuses servers of that network
//            once a reactor has taken a turn on the thread. A server that cannot be reached is
//            tried again with jittered back-off, for as long as there is a subscription: health()
//            has the reason.
// Invariant  a queue keeps at most queue_max items, and one that says may_have_missed.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "katana/stores/database/backend.hpp"
#include "katana/stores/database/database.hpp"
#include "katana/stores/database/postgres/notification.hpp"
#include "katana/stores/database/postgres/options.hpp"

namespace katana::database::postgres {

struct NotificationQueue;
class NotificationHub;
class ListenerThread;

// The items of one channel, for one reader.
class [[nodiscard]] Subscription {
 public:
  Subscription(Subscription&& other) noexcept;
  Subscription& operator=(Subscription&& other) noexcept;
  ~Subscription();

  // The awaitable of `co_await subscription.next()`. One at a time for a subscription.
  class [[nodiscard]] Next {
   public:
    Next(NotificationHub& hub, NotificationQueue& queue) noexcept : hub_(hub), queue_(queue) {}
    Next(const Next&) = delete;
    Next& operator=(const Next&) = delete;
    ~Next();
    bool await_ready();
    // Throws std::logic_error on a thread without an executor.
    bool await_suspend(std::coroutine_handle<> waiting);
    database::Result<Notification> await_resume();

   private:
    NotificationHub& hub_;
    NotificationQueue& queue_;
    Work* work_ = nullptr;
    std::optional<database::Result<Notification>> here_;
  };
  // The next item; Kind::cancelled when the Notifications are closed and every item was read. A
  // call that is destroyed takes no item with it.
  Next next() noexcept { return Next(*hub_, *queue_); }

 private:
  friend class Notifications;
  Subscription(std::shared_ptr<NotificationHub> hub,
               std::unique_ptr<NotificationQueue> queue) noexcept;
  void leave() noexcept;

  std::shared_ptr<NotificationHub> hub_;
  std::unique_ptr<NotificationQueue> queue_;
};

// Calls a function with the notifications of a channel, until this object is destroyed, which must
// not happen within that function. The function must not block or throw, and must not call
// Notifications.
class [[nodiscard]] NotificationHandler {
 public:
  NotificationHandler(NotificationHandler&& other) noexcept;
  NotificationHandler& operator=(NotificationHandler&& other) noexcept;
  ~NotificationHandler();

 private:
  friend class Notifications;
  NotificationHandler(std::shared_ptr<NotificationHub> hub,
                      std::unique_ptr<NotificationQueue> queue) noexcept;
  void leave() noexcept;

  std::shared_ptr<NotificationHub> hub_;
  std::unique_ptr<NotificationQueue> queue_;
};

class Notifications {
 public:
  // Connects when the first subscription is made. Uses these `options`: the servers, and the waits
  // connect_timeout, backoff_min and backoff_max. Also probe_interval and probe_timeout, after
  // which it notices a server that hangs or vanished. Behind pgbouncer only in session mode. The
  // thread that listens tells `observer`, for a log, once of each outage, and once of its end.
  static katana::Result<std::unique_ptr<Notifications>> open(
      Options options, std::size_t queue_max = notification_queue_max,
      OutageObserver observer = {});
  Notifications(const Notifications&) = delete;
  Notifications& operator=(const Notifications&) = delete;
  ~Notifications();  // close()

  // The channel is exactly this one: capital letters count. invalid_value: its name is empty, has
  // a zero byte, or more than channel_bytes_max bytes.
  database::Result<Subscription> subscribe(std::string channel);
  // Calls `f` with the same items, on the thread that listens. There is no queue, and no item is
  // dropped. For functions that quickly pass an item on (app/postgres/notification_topic.hpp).
  database::Result<NotificationHandler> handle(std::string channel, OnNotification f);
  // Ends the session. Items that wait may still be read.
  void close() noexcept;

  // An Error while there are subscribers and the server does not listen.
  katana::Result<void> health() const;
  // The counts since it was opened.
  NotificationStatistics statistics() const;

 private:
  Notifications(std::size_t queue_max, std::shared_ptr<ListenerThread> thread);

  std::shared_ptr<ListenerThread> thread_;
  std::shared_ptr<NotificationHub> hub_;
};

// Sends a notification: with a Transaction or a Savepoint when that is committed, with a Database
// at once. Fails with invalid_value when the payload has a zero byte or more than
// notification_bytes_max bytes, or when the channel's name is none. The server's log of statements
// has the text, if that log is kept.
Task<database::Result<void>> notify(Queries queries, std::string channel, std::string payload);

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
