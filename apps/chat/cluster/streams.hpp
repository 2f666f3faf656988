// Streams: how far each server is in each room, so that what is lost between two is known exactly.
//
// A server numbers what is said in a room by its members, from 0 on: a stream. A frame says where
// it begins; a receiver of one that begins later than the one before ended knows how many messages
// are missing. What was lost at the end is known by the positions that the server tells with its
// heartbeats, or that others tell of it once it is gone.
//
// Owns       names of rooms and numbers.
// Thread     one.
// Allocates  for each stream that is new.
// Fails      std::bad_alloc.
// Invariant  of each stream a message is either delivered or told as missing, once, from the first
//            position that was heard on. Nothing is delivered behind a later message.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/chat/cluster/frame.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::chat::cluster {

// What this server has said, by room.
class OutgoingStreams {
 public:
  // Rooms whose position is kept after their members have left, in case that somebody missed the
  // end: at least so many, the others by age.
  explicit OutgoingStreams(std::size_t streams_max) : streams_max_(streams_max) {}

  // The position before the messages.
  std::uint64_t note(Bytes room, std::uint32_t messages, std::uint64_t beat);
  std::uint64_t position(Bytes room) const;
  // Of rooms that have moved since heartbeat number `beat`.
  std::vector<Position> moved_since(std::uint64_t beat) const;
  std::vector<Position> all() const { return moved_since(0); }
  // Streams that were forgotten to make room.
  std::uint64_t forgotten() const noexcept { return forgotten_; }

 private:
  struct Stream {
    std::uint64_t next = 0;
    std::uint64_t moved_at = 0;
  };
  void forget_oldest();

  std::size_t streams_max_;
  std::uint64_t forgotten_ = 0;
  std::map<std::string, Stream, std::less<>> streams_;
};

// What another server has said, as it was heard, by room; of rooms that have members here.
class IncomingStreams {
 public:
  // Positions; both 0: there is no stream.
  struct Heard {
    std::uint64_t began = 0;  // the first position that was heard on
    std::uint64_t next = 0;   // all before it was delivered or told as missing
    // Delivered, or told as missing.
    std::uint64_t messages() const noexcept { return next - began; }
  };
  struct Arrival {
    bool fresh = false;         // else it was delivered or told as missing before
    std::uint64_t missing = 0;  // between it and the one before
  };
  // REQUIRES that the room has members here.
  Arrival take(Bytes room, std::uint64_t first, std::uint32_t messages);
  // Where the stream begins for this server, unless it has begun.
  void begin(Bytes room, std::uint64_t next) {
    (void)streams_.try_emplace(std::string(room), next);
  }
  // The server is so far. What is missing then is told by tell_due(), if it has not come by then.
  void claim(Bytes room, std::uint64_t next, Instant due);
  // Calls `tell(room, missing)` for what has not come in time. Returns when the next is due.
  template <class Tell>
  Instant tell_due(Instant now, Tell&& tell) {
    Instant next_due = never;
    if (claimed_ == 0) return next_due;
    for (auto& [room, stream] : streams_) {
      if (stream.due == never) continue;
      if (stream.due > now) {
        next_due = std::min(next_due, stream.due);
        continue;
      }
      const std::uint64_t missing = stream.claimed - stream.next;
      stream.next = stream.claimed;
      end_claim(stream);
      if (stream.due != never) next_due = std::min(next_due, std::max(stream.due, now));
      tell(room, missing);
    }
    return next_due;
  }
  // The room is empty here.
  void forget(Bytes room);
  // As `of`, whose streams they are.
  void add_to(std::vector<Position>& positions, NodeId of) const;
  Heard heard(Bytes room) const;
  // Messages from `first` on, up to `next`, come before the stream's begin, which is moved to where
  // they end if it has not begun.
  bool is_before(Bytes room, std::uint64_t first, std::uint64_t next);
  std::size_t size() const noexcept { return streams_.size(); }

 private:
  struct Stream {
    explicit Stream(std::uint64_t from) noexcept : began(from), next(from) {}
    std::uint64_t began;
    std::uint64_t next;
    std::uint64_t claimed = 0;
    Instant due = never;  // never: nothing is claimed beyond `next`
    std::uint64_t claimed_next = 0;
    Instant due_next = never;
  };
  void drop_claim(Stream& stream) noexcept;
  // What is claimed beyond it is claimed now.
  void end_claim(Stream& stream) noexcept;

  std::map<std::string, Stream, std::less<>> streams_;
  std::size_t claimed_ = 0;  // streams with a claim
};

}  // namespace katana::chat::cluster

// SPDX-License-Identifier: Apache-2.0
