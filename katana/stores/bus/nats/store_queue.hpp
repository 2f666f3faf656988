// StoreQueue: publications that wait until a stream has acknowledged them, in the order in which
// they are to be stored.
//
//   waiting ──next(), note_sent()──▶ sent ──acknowledge()──▶ gone
//      ▲                               │
//      └── refuse(), lose_link(), or no answer for answer_timeout
//
// Behind a refusal one is sent at a time, after a pause that doubles; each acknowledgement doubles
// how many may be on their way. Therefore the order of storing is that of add(), unless an answer
// is lost.
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

  // Its message has an id, so that one that is sent again is stored once.
  Result<void> add(const HeldMessage& message);
  std::size_t size() const noexcept;
  std::size_t bytes() const noexcept;  // memory, of the messages

  // One message that the caller sends to the server and then reports with note_sent().
  struct Item {
    std::uint64_t number;  // of the answer
    Posted message;        // a share of its blocks; the queue keeps another
  };
  // What is to be sent now; nothing: nothing, until due().
  std::optional<Item> next(Instant now);
  void note_sent(std::uint64_t number, Instant now);
  void acknowledge(std::uint64_t number);
  // It was not stored. A number that is not waited for any more is ignored.
  void refuse(std::uint64_t number, Instant now);
  void lose_link();
  // The first that was sent has no answer yet, and its time is over: as refuse(). True then.
  bool expire(Instant now);
  // When next() or expire() has something to do, as far as time decides.
  Instant due() const;
  // The first is refused since then; never: it is not.
  Instant refused_since() const;
  std::string first_subject() const;  // of the message that waits longest; empty: none

 private:
  struct Entry {
    Posted message;
    std::size_t bytes = 0;
    Instant sent_at{};  // of the last time
    bool is_stored = false;
  };
  // Under the mutex.
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
