// StreamLog: the messages of one stream, and the positions of its consumers, in memory.
//
// Owns       a share of each message that it keeps.
// Thread     one at a time: its user has a lock.
// Allocates  for each message and position.
// Fails      std::bad_alloc.
// Invariant  what is kept stays within messages_max, messages_per_subject_max, bytes_max and
//            age_max: the oldest go.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/stores/bus/message.hpp"
#include "katana/stores/bus/streams.hpp"

namespace katana::bus {

// The messages that a consumer is still to get, and those that it has to acknowledge.
struct StreamPosition {
  struct Unacknowledged {
    Instant due;                   // when it is given again
    std::uint32_t deliveries = 1;  // so far
  };
  ConsumeOptions options;  // of who made it: later ones of a durable consumer have no effect
  std::uint64_t next = 1;  // the lowest sequence that was not yet looked at
  std::deque<std::uint64_t> first;                         // before those: the last of each subject
  std::map<std::uint64_t, Unacknowledged> unacknowledged;  // by sequence
};

class StreamLog {
 public:
  // A message that is kept; valid until the log changes.
  struct Entry {
    Posted message;       // any thread may copy it
    Timestamp stored_at;  // wall clock: for readers, and StartAt::time
    Instant stored;       // steady clock: for age_max
    std::size_t bytes;    // memory, counted against bytes_max
  };
  // The message that a consumer gets now.
  struct Next {
    std::uint64_t sequence = 0;    // 0: none at present
    std::uint32_t deliveries = 1;  // with this one
    Instant look_again = never;    // when one is due again
  };

  explicit StreamLog(StreamOptions options);

  // The options with the default bounds in place of 0.
  const StreamOptions& options() const noexcept { return options_; }
  // Messages beyond the new messages_max and bytes_max go at once.
  void set_options(StreamOptions options);
  bool takes(Bytes subject) const noexcept;  // one of its patterns matches
  // Stores the message without a look at takes(). For an id that was stored within
  // duplicate_window, returns the sequence of that message.
  Stored add(const Posted& message, Instant now, Timestamp wall);
  const Entry* find(std::uint64_t sequence) const noexcept;  // null: it is not kept, or not yet
  std::uint64_t last_sequence() const noexcept { return last_; }  // 0: none was ever stored
  std::size_t size() const noexcept { return entries_.size(); }
  std::size_t bytes() const noexcept { return bytes_; }  // memory, of all that is kept
  void expire(Instant now);  // drops what is older than age_max; add() and take() do so, too

  // The position of a new consumer; its `start` is looked up now, not at its first message.
  StreamPosition position_of(const ConsumeOptions& options) const;
  // The number of messages kept now that the consumer is still to get.
  std::uint64_t waiting_for(const StreamPosition& position) const;
  // The next message for the consumer, which counts as given from here on.
  Next take(StreamPosition& position, Instant now);
  // The number of messages behind this sequence, whatever the filter.
  std::uint64_t behind(std::uint64_t sequence) const noexcept { return last_ - sequence; }
  std::vector<std::uint64_t> last_of(Bytes subject, std::size_t count) const;
  std::vector<std::uint64_t> after(Bytes filter, std::uint64_t sequence, std::size_t count) const;

 private:
  void remove(std::map<std::uint64_t, Entry>::iterator entry);
  void limit_subjects();
  void limit();
  bool is_duplicate(Bytes id, Instant now, std::uint64_t& sequence);

  StreamOptions options_;
  std::map<std::uint64_t, Entry> entries_;
  std::map<std::string, std::deque<std::uint64_t>, std::less<>> by_subject_;
  std::unordered_map<std::string, std::uint64_t> by_id_;
  std::deque<std::pair<Instant, std::string>> ids_;
  std::size_t bytes_ = 0;
  std::uint64_t last_ = 0;
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
