// Streams: how far each server is in each room. Losses between two servers are then known exactly.
//
// A server numbers the messages of its members in a room, from 0 on: this is a stream. A frame says
// where it begins. If it begins later than the one before ended, the receiver knows how many
// messages are missing. A loss at the end of a stream shows in the positions that the server tells
// with its heartbeats. Once the server is gone, the others tell its positions.
//
// Owns       names of rooms and numbers.
// Thread     one.
// Allocates  for each stream that is new.
// Fails      std::bad_alloc.
// Invariant  each message of a stream is either delivered or reported as missing, once, from the
//            first position that was heard. No message is delivered after a later one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/chat/cluster/frame.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::chat::cluster {

// The streams of this server, by room.
class OutgoingStreams {
 public:
  // `streams_max`: positions that are kept at least after the members of their rooms have left, in
  // case that a server missed the end. Others are forgotten by age.
  explicit OutgoingStreams(std::size_t streams_max) : streams_max_(streams_max) {}

  // The position before the messages.
  std::uint64_t note(Bytes room, std::uint32_t messages, std::uint64_t beat);
  std::uint64_t position(Bytes room) const;
  // The positions of rooms that have moved since heartbeat number `beat`.
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

// The streams of another server as they were heard, by room; only rooms that have members here.
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
    bool fresh = false;         // false: the batch was delivered, or told as missing, before
    std::uint64_t missing = 0;  // between it and the one before
  };
  // REQUIRES that the room has members here.
  Arrival take(Bytes room, std::uint64_t first, std::uint32_t messages);
  // Where the stream begins for this server, unless it has begun.
  void begin(Bytes room, std::uint64_t next) {
    (void)streams_.try_emplace(std::string(room), next);
  }
  // The server says that it has reached `next`. tell_due() reports messages that are still missing
  // at `due`.
  void claim(Bytes room, std::uint64_t next, Instant due);
  // Calls `tell(room, missing)` for messages that have not come in time. Returns when the next is
  // due.
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
  // Adds the positions, as those of the server `of`.
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
  // A position claimed beyond this one becomes the claim.
  void end_claim(Stream& stream) noexcept;

  std::map<std::string, Stream, std::less<>> streams_;
  std::size_t claimed_ = 0;  // streams with a claim
};

}  // namespace katana::chat::cluster

// SPDX-License-Identifier: Apache-2.0
