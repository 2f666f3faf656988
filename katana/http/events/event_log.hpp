// EventLog: the events that a topic keeps, in their order, and where its readers are in them.
//
//   number   the place of an entry, from 1, without a gap: what a reader's cursor counts
//   id       what a reader is sent and comes again with: "EPOCH-NUMBER" of a topic of one process.
//            Of a stream "TIME-SEQUENCE": when and as what the stream stored it, so that an id of
//            another life of the stream, whose sequences began anew, is recognised
//   gap      an entry that is no event: so many were lost here, or some
//   key      whose event it is; an event without one is everybody's
//
// Owns       a share of each event's bytes, and the hashes of the keys that are kept no more.
// Thread     one at a time: its topic has a lock.
// Allocates  for each event.
// Fails      std::bad_alloc.
// Invariant  at most events_max events, as many gaps, and bytes_max bytes are kept; the newest
//            stays, however large it is. A reader is given entries in their order, each once, and
//            none that it wants is passed over without being told as lost.
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

// Borrowed for the call. Data may have several lines; that it is UTF-8 is up to its publisher.

// A reader's place.
struct EventReader {
  std::optional<std::vector<std::string>> keys = std::nullopt;  // nothing: all events
  std::string wanted_id = {};  // Last-Event-ID, until place(); empty: it comes for the first time
  Timestamp came_at{};         // what is stored later is told to it, though it is not placed yet
  bool is_placed = false;      // place() has set its cursor
  bool has_begun = false;      // it has asked for entries
  std::uint64_t cursor = 0;    // the number of the next entry
  bool has_lost = false;       // before the cursor, and it is not told yet
  std::uint64_t lost = 0;      // of these; 0: unknown
  std::uint64_t passed_until = 0;  // a stream's sequence: up to it, and up to …
  Timestamp passed_until_time{};   // … this time it was sent by another process
  bool has_passed = false;  // entries that it does not want, since the last that it was given
};

class EventLog {
 public:
  // An event as readers receive it: with its id, in the format of text/event-stream.
  using Octets = std::shared_ptr<const std::string>;
  // What the log keeps; beyond it the oldest entries go.
  struct Limits {
    std::size_t events_max = 256;         // it bounds gaps as well
    std::size_t bytes_max = 1024 * 1024;  // of Octets; the newest entry may exceed it
    std::size_t recent_for_new = 0;  // of what is kept, so much is for who comes for the first time
  };

  // `epoch`: of the ids of a topic of one process; empty: its events are those of a stream.
  EventLog(const Limits& limits, std::string epoch);

  // ---- events
  // For a topic of one process. Its number.
  std::uint64_t add(const Event& event);
  // For a stream. `is_anew`: sequences began anew, and the gap was added. False: it is here.
  bool add_stored(const Event& event, std::uint64_t sequence, Timestamp stored_at, bool is_anew);
  // 0: an unknown number.
  void add_gap(std::uint64_t lost);
  // All that the stream had was added: readers can be placed.
  void note_loaded() noexcept { is_loaded_ = true; }

  // ---- readers
  // What a reader is told next; both null and 0: nothing.
  struct Taken {
    Octets octets = nullptr;  // the next event; null: there is none
    bool is_lost = false;     // no event: that some were lost
    std::uint64_t lost = 0;   // of these; 0: unknown
    bool is_slow = false;     // because it did not take them in time
  };
  // From then on it is told what is added. Nothing happens before note_loaded().
  void place_if_loaded(EventReader& reader) {
    if (is_loaded_ && !reader.is_placed) place(reader);
  }
  // Places it, if that is possible and not done yet.
  Taken take(EventReader& reader);
  // The id of the last entry that it was given or that it passed; empty: there is none.
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
  // Of the entries in front of entries_, as far as they are remembered: a hash of the key.
  std::deque<std::uint64_t> forgotten_;
};

// `event` as a reader is sent it, with this id unless that is empty.
void append_event(std::string& to, Bytes id, const Event& event);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
