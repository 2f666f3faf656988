// EventLog: the events that a topic keeps, in their order, and the positions of its readers.
//
//   number   the place of an entry, from 1, without a gap; a reader's cursor is such a number
//   id       the id of an event, which a reader sends when it reconnects. "EPOCH-NUMBER" for a
//            topic of one process. "TIME-SEQUENCE" for a stream: the time and the sequence with
//            which the stream stored it. The time shows whether an id is of another life of the
//            stream, with new sequences
//   gap      an entry that is no event: a known or unknown number of events was lost here
//   key      selects the readers of an event; an event without a key is for all readers
//
// Owns       a share of each event's bytes, and the hashes of the keys that are kept no more.
// Thread     one at a time: its topic has a lock.
// Allocates  for each event.
// Fails      std::bad_alloc.
// Invariant  at most events_max events, as many gaps, and bytes_max bytes are kept; the newest
//            stays, however large it is. A reader gets the entries in their order, each once. Every
//            entry that it wanted and missed is reported as lost.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/keyed_hash.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/http/events/event.hpp"

namespace katana {

// Borrowed for the call. Data may have several lines; the publisher ensures that it is UTF-8.

// The position of a reader.
struct EventReader {
  std::optional<std::vector<std::string>> keys = std::nullopt;  // nothing: all events
  std::string wanted_id = {};  // Last-Event-ID, until place(); empty: it comes for the first time
  Timestamp came_at{};         // later events are sent to it, even if it is not placed yet
  bool is_placed = false;      // place() has set its cursor
  bool has_begun = false;      // it has asked for entries
  std::uint64_t cursor = 0;    // the number of the next entry
  bool has_lost = false;       // events before the cursor are lost, and this is not reported yet
  std::uint64_t lost = 0;      // how many are lost; 0: unknown
  std::uint64_t passed_until = 0;  // a stream's sequence: another process sent the events …
  Timestamp passed_until_time{};   // … up to it and up to this time
  bool has_passed = false;         // entries that it does not want, since the last one that it got
};

class EventLog {
 public:
  // An event as readers receive it: with its id, in the format of text/event-stream.
  using Octets = std::shared_ptr<const std::string>;
  // Limits of the kept entries; beyond them the oldest entries go.
  struct Limits {
    std::size_t events_max = 256;         // it bounds gaps as well
    std::size_t bytes_max = 1024 * 1024;  // of all kept events; the newest may exceed it
    std::size_t recent_for_new = 0;  // kept events for a reader that connects for the first time
  };

  // `epoch`: for the ids of a topic of one process; empty: the events are those of a stream.
  EventLog(const Limits& limits, std::string epoch);

  // ---- events
  // For a topic of one process. Returns the number of the event.
  std::uint64_t add(const Event& event);
  // For a stream. `is_anew`: the sequences began anew, and the gap was added. Returns false if the
  // event is here already.
  bool add_stored(const Event& event, std::uint64_t sequence, Timestamp stored_at, bool is_anew);
  // 0: the number of lost events is unknown.
  void add_gap(std::uint64_t lost);
  // All events of the stream were added: readers can be placed.
  void note_loaded() noexcept { is_loaded_ = true; }

  // ---- readers
  // The next event or report for a reader; both null and 0: nothing.
  struct Taken {
    Octets octets = nullptr;  // the next event; null: there is none
    bool is_lost = false;     // no event: some were lost
    std::uint64_t lost = 0;   // how many; 0: unknown
    bool is_slow = false;     // the reader did not take them in time
  };
  // From then on the reader gets the events that are added. Does nothing before note_loaded().
  void place_if_loaded(EventReader& reader) {
    if (is_loaded_ && !reader.is_placed) place(reader);
  }
  // Places the reader first, if that is possible and not done yet.
  Taken take(EventReader& reader);
  // The id of the last entry that the reader got or passed; empty: there is none.
  std::string last_id(const EventReader& reader) const;

  // ---- figures
  std::uint64_t next_number() const noexcept { return first_ + entries_.size(); }
  std::uint64_t published() const noexcept { return published_; }
  std::size_t size() const noexcept { return entries_.size() - gaps_; }  // events
  std::vector<Octets> from(std::uint64_t number) const;                  // events

 private:
  struct Entry {
    Octets octets = nullptr;  // null: a gap
    std::string key = {};
    std::uint64_t sequence = 0;  // of a stream
    Timestamp stored_at{};       // likewise
    std::uint64_t lost = 0;      // of a gap
  };
  struct Id {
    std::uint64_t high = 0;  // the epoch, or the time in microseconds
    std::uint64_t low = 0;   // the number, or the sequence
  };

  bool is_replayed(std::uint64_t sequence, Timestamp stored_at);
  std::uint64_t hash_of(Bytes key) const noexcept;  // as forgotten_ has it
  void keep(Entry entry);
  void drop_first();
  void place(EventReader& reader);
  void place_by_time(EventReader& reader) const;
  void place_in_stream(EventReader& reader, const Id& id);
  void count_lost(EventReader& reader);
  void take_gaps(EventReader& reader) const;
  static bool wants(const EventReader& reader, const Entry& entry);
  const Entry* find(std::uint64_t sequence, Timestamp stored_at, std::uint64_t& number) const;
  static std::optional<Id> read_id(Bytes text);
  const Entry* last_event() const noexcept;
  const Entry* first_event(std::uint64_t& number) const noexcept;
  bool is_of_stream() const noexcept { return epoch_.empty(); }

  const Limits limits_;
  const std::string epoch_;
  const KeyedHash hash_;
  std::deque<Entry> entries_;
  std::uint64_t first_ = 1;  // the number of entries_.front()
  std::size_t bytes_ = 0;
  std::size_t gaps_ = 0;  // of the entries
  std::uint64_t published_ = 0;
  bool is_loaded_;
  std::uint64_t last_sequence_ = 0;  // of the stream
  Timestamp last_stored_at_{};       // the latest of all that was added
  bool is_replaying_ = false;        // sequences began anew, and nothing newer has come since
  Timestamp replayed_until_{};
  // For the entries in front of entries_, as far as they are remembered: the hash of the key.
  std::deque<std::uint64_t> forgotten_;
};

// Appends `event` in the form that a reader receives, with this id unless that is empty.
void append_event(std::string& to, Bytes id, const Event& event);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
