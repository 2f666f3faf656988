// StoreQueue: publications that wait until a stream has acknowledged them, in storing order.
//
//   waiting ──next(), note_sent()──▶ sent ──acknowledge()──▶ gone
//      ▲                               │
//      └── refuse(), lose_link(), or no answer for answer_timeout
//
// After a refusal one message is sent at a time, after a pause that doubles. Each acknowledgement
// doubles the number of messages that may be under way. Therefore messages are stored in the order
// of add(), unless an answer is lost.
//
// Owns       a share of each message.
// Thread     add(), size() and bytes() any; the rest the home reactor's.
// Allocates  an entry for each message.
// Fails      add() with resource_exhausted at the bounds.
// Invariant  an entry leaves by acknowledge() alone, or with the queue.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/stores/bus/bus.hpp"
#include "katana/stores/bus/message.hpp"

namespace katana::bus {

class StoreQueue {
 public:
  static constexpr std::size_t window_max = 256;           // sent and not acknowledged
  static constexpr Duration answer_timeout = seconds(5);   // the queue then sends the message again
  static constexpr Duration pause_min = milliseconds(50);  // after the first refusal
  static constexpr Duration pause_max = seconds(2);        // each further refusal doubles the pause

  explicit StoreQueue(const AwayOptions& bounds) noexcept : bounds_(bounds) {}

  // The message has an id: it is stored once even if it is sent again.
  Result<void> add(const HeldMessage& message);
  std::size_t size() const noexcept;
  std::size_t bytes() const noexcept;  // memory, of the messages

  // One message that the caller sends to the server and then reports with note_sent().
  struct Item {
    std::uint64_t number;  // of the answer
    Posted message;        // a share of its blocks; the queue keeps another
  };
  // The message to send now. Nothing: there is none until due().
  std::optional<Item> next(Instant now);
  void note_sent(std::uint64_t number, Instant now);
  void acknowledge(std::uint64_t number);
  // The message was not stored. A number that does not wait any more is ignored.
  void refuse(std::uint64_t number, Instant now);
  void lose_link();
  // When the first sent message has no answer in time, handles it as refuse() does, and returns
  // true.
  bool expire(Instant now);
  // The time when next() or expire() has something to do, as far as time decides.
  Instant due() const;
  // The time since which the first message is refused; never: it is not refused.
  Instant refused_since() const;
  std::string first_subject() const;  // of the message that waits longest; empty: none

 private:
  struct Entry {
    Posted message;
    std::size_t bytes = 0;
    Instant sent_at{};  // of the last time
    bool is_stored = false;
  };
  // REQUIRES that the mutex is held.
  Entry* find(std::uint64_t number) noexcept;
  void go_back();

  const AwayOptions bounds_;
  mutable std::mutex mutex_;  // guards what follows
  std::deque<Entry> entries_;
  std::size_t bytes_ = 0;
  std::uint64_t first_ = 1;  // the number of the first entry
  std::uint64_t next_ = 1;   // the number of the next one to be sent
  std::size_t window_ = window_max;
  Duration pause_{};
  Instant paused_until_{};
  Instant refused_since_ = never;
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
