// Messages: a subscription that a coroutine reads.
//
//   auto opened = bus::Messages::open(bus, "orders.>", {.policy = SlowSubscriber::drop_oldest});
//   while (auto next = co_await opened->next()) {
//     if (next->notice) …                        // messages were missed here
//     else handle(next->message->payload());
//   }
//
// Owns       its subscription, and the messages and notices that wait to be read.
// Borrows    the bus, which outlives it.
// Thread     its reactor's.
// Allocates  an entry for each message that waits.
// Fails      open() as Bus::subscribe(). A reader that is too slow: by its policy.
// Invariant  at most messages_max messages and bytes_max bytes wait. Messages that a policy drops
//            are counted, and a notice stands in their place. One coroutine waits at a time.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "katana/base/coroutine/synchronization.hpp"
#include "katana/stores/bus/bus.hpp"

namespace katana::bus {

class HandlerSpan;  // message_span.hpp

// The policy for a message for which a Messages has no room.
enum class SlowSubscriber : std::uint8_t {
  drop_oldest,  // it takes the place of the longest waiting ones: for readers of the latest state
  drop_newest,  // it is lost, and what waits stays: for readers of a whole beginning
  disconnect,   // what waits is still read; then comes `closed`, and the end
};

// Bounds of one Messages, and how it subscribes.
struct MessagesOptions {
  std::size_t messages_max = 1024;                       // notices do not count
  std::size_t bytes_max = std::size_t{4} * 1024 * 1024;  // memory, as Delivery::allocated_bytes()
  SlowSubscriber policy = SlowSubscriber::drop_oldest;   // when one of the two is exceeded
  std::string queue_group = {};                          // as SubscribeOptions::queue_group
  bool own = true;                                       // as SubscribeOptions::own
};

// A message or a notice: one of the two members has a value.
struct Received {
  std::optional<HeldMessage> message = std::nullopt;  // of the reader's reactor
  std::optional<Notice> notice = std::nullopt;        // its subject is empty
};

class Messages {
 public:
  // Subscribes on this reactor. Messages that wait count as memory of this reactor.
  static Result<std::unique_ptr<Messages>> open(Bus& bus, Bytes pattern,
                                                MessagesOptions options = {});
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  // Waits for the next message or notice. Nothing: it was closed, by its policy or by close(), and
  // all earlier messages were read.
  Task<std::optional<Received>> next();
  // The same without waiting. Nothing: no message or notice waits.
  std::optional<Received> try_next() noexcept;
  void close() noexcept;

  bool is_closed() const noexcept { return closed_; }             // what waits can still be read
  std::size_t waiting() const noexcept { return queue_.size(); }  // messages and notices
  std::size_t waiting_bytes() const noexcept { return bytes_; }   // memory, of the messages
  std::uint64_t dropped() const noexcept { return dropped_; }     // by its policy, since open()

 private:
  Messages(Bus& bus, MessagesOptions options) noexcept : bus_(bus), options_(std::move(options)) {}
  void add(const Delivery& message);
  void add(const Notice& notice);
  void drop_oldest_message();
  void note_dropped(bool at_front, std::uint64_t count);
  bool is_full(std::size_t bytes) const noexcept {
    return messages_ >= options_.messages_max || bytes_ + bytes > options_.bytes_max;
  }

  Bus& bus_;
  const MessagesOptions options_;
  Subscription subscription_;
  std::deque<Received> queue_;
  std::size_t messages_ = 0;  // of the queue: the rest are notices, of which none follows its like
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
  bool closed_ = false;
  AsyncEvent arrived_;
};

// The span of a reader's work on a message, until the end of the block.
//
//   auto next = co_await messages->next();
//   bus::MessageSpan span(bus, *next->message);      // statements and calls are below the span
class [[nodiscard]] MessageSpan {
 public:
  // Does nothing without a tracer of the bus (FanOut::trace_with()).
  MessageSpan(Bus& bus, const Delivery& message);
  ~MessageSpan();

  // The work failed; `error_type` is a word such as "stale", and lives as long as the span.
  void fail(Bytes error_type) noexcept;

 private:
  const std::unique_ptr<HandlerSpan> span_;  // null: there is no tracer
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
