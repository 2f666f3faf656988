// History: the last messages in each room of a server, for members that join.
//
// A batch that is said here, or comes from another server, is kept unchanged, in the block that its
// recipients have. Each batch has a number. A reactor that is a little behind then does not give a
// member messages that the member has already read in the history.
//
// Owns       a share of the blocks of its batches.
// Thread     any, under one mutex; a batch takes it once. A server without a history has none.
// Allocates  an entry for each batch.
// Fails      std::bad_alloc.
// Invariant  a room keeps at most messages_max messages and the batch in which they begin. Its
//            blocks are at most bytes_max and one block. A room that has ended keeps nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "apps/chat/directory.hpp"
#include "katana/base/memory/batch.hpp"

namespace katana::chat {

struct Relayed;

// For each room.
struct HistoryOptions {
  std::uint32_t messages_max = 0;     // told to a member that joins; 0: there is no history
  std::size_t bytes_max = 64 * 1024;  // for each room
};

class History {
 public:
  // Where a batch was said first: a server, and how many messages of the room it had before.
  struct Origin {
    std::uint64_t node;   // 0: it is not known yet
    std::uint64_t first;  // 0 while the node is
  };
  struct Kept {
    Origin origin;           // as it goes to another server, and comes from one
    std::uint32_t messages;  // lines, at least 1
    std::string lines;       // a copy, each with its '\n'
  };
  struct Recent {
    std::string lines;           // a copy, oldest first; empty: there are none
    std::uint32_t messages = 0;  // lines that these are
    std::uint64_t until = 0;     // the number of the newest
  };

  explicit History(const HistoryOptions& options) : options_(options) {}
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  // The options of construction; any thread.
  const HistoryOptions& options() const noexcept { return options_; }

  // Its number; Relayed::sequence is not looked at.
  std::uint64_t add(const Relayed& said, Origin origin);
  std::uint64_t add(const Relayed& said) { return add(said, Origin{0, 0}); }
  // Sets the origin of a batch that was said here, once the origin is known.
  void set_origin(RoomKey room, std::uint64_t sequence, Origin origin);
  // Puts messages in front of the present ones. REQUIRES whole lines. Returns those that are
  // wanted.
  Recent put_in_front(RoomKey room, const std::vector<Kept>& kept);
  Recent recent(RoomKey room) const;
  // For another server, the oldest first: of what has an origin, or a number up to `before`.
  std::vector<Kept> kept(RoomKey room, std::uint64_t before, std::size_t bytes_max) const;
  // The number of the newest batch of all.
  std::uint64_t newest() const;
  void forget(RoomKey room);
  // Blocks that are kept.
  std::size_t held_bytes() const;

 private:
  struct Entry {
    Block* block;
    std::uint32_t begin;
    std::uint32_t size;
    std::uint32_t messages;
    std::uint64_t sequence;
    Origin origin;
    Bytes lines() const noexcept { return block->bytes().substr(begin, size); }
  };
  // The number of messages from before there was a history here.
  static constexpr std::uint64_t before_all = 1;
  struct Room {
    std::uint32_t generation = 0;
    std::uint64_t messages = 0;
    std::size_t bytes = 0;
    std::deque<Entry> entries;
  };
  Room& room_of(RoomKey key);
  const Room* find(RoomKey key) const;
  void clear(Room& room);
  void drop_oldest(Room& room);

  const HistoryOptions options_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<Room> rooms_;   // by place
  std::uint64_t sequence_ = before_all;
  std::size_t held_bytes_ = 0;
};

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
