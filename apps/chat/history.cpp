#include "apps/chat/history.hpp"

#include <algorithm>
#include <cstring>

#include "apps/chat/relay.hpp"

namespace katana::chat {
namespace {

// Without the first `count` lines.
Bytes skip_lines(Bytes lines, std::uint64_t count) noexcept {
  for (; count > 0; --count) lines.remove_prefix(lines.find('\n') + 1);
  return lines;
}

}  // namespace

History::~History() {
  for (Room& room : rooms_) clear(room);
}

void History::clear(Room& room) {
  while (!room.entries.empty()) drop_oldest(room);
}

void History::drop_oldest(Room& room) {
  const Entry& oldest = room.entries.front();
  room.messages -= oldest.messages;
  room.bytes -= oldest.block->allocated_bytes();
  held_bytes_ -= oldest.block->allocated_bytes();
  oldest.block->drop();
  room.entries.pop_front();
}

History::Room& History::room_of(RoomKey key) {
  if (rooms_.size() <= key.place) rooms_.resize(key.place + std::size_t{1});
  Room& room = rooms_[key.place];
  if (room.generation != key.generation) {
    clear(room);
    room.generation = key.generation;
  }
  return room;
}

const History::Room* History::find(RoomKey key) const {
  if (rooms_.size() <= key.place || rooms_[key.place].generation != key.generation) return nullptr;
  return &rooms_[key.place];
}

std::uint64_t History::add(const Relayed& said, Origin origin) {
  const std::lock_guard lock(mutex_);
  Room& room = room_of(said.room);
  said.block->share();
  room.entries.push_back({said.block, said.begin, said.size, said.messages, ++sequence_, origin});
  const std::size_t bytes = said.block->allocated_bytes();
  room.bytes += bytes;
  held_bytes_ += bytes;
  room.messages += said.messages;
  while (room.entries.size() > 1 &&
         (room.messages - room.entries.front().messages >= options_.messages_max ||
          room.bytes > options_.bytes_max)) {
    drop_oldest(room);
  }
  return sequence_;
}

void History::set_origin(RoomKey key, std::uint64_t sequence, Origin origin) {
  const std::lock_guard lock(mutex_);
  Room& room = room_of(key);
  const auto found = std::ranges::lower_bound(room.entries, sequence, {}, &Entry::sequence);
  if (found != room.entries.end() && found->sequence == sequence) found->origin = origin;
}

History::Recent History::put_in_front(RoomKey key, const std::vector<Kept>& kept) {
  const std::lock_guard lock(mutex_);
  Room& room = room_of(key);
  Recent added;
  std::size_t place = kept.size();
  // From the newest on, as many as there is still room for.
  for (; place > 0 && room.messages < options_.messages_max; --place) {
    const Kept& each = kept[place - 1];
    Batch& batch = Block::make(each.lines.size(), each.messages);
    Block& block = batch.block();
    if (room.bytes + block.allocated_bytes() > options_.bytes_max) {
      batch.let_go();
      break;
    }
    std::memcpy(block.data(), each.lines.data(), each.lines.size());
    block.share();
    batch.let_go();
    room.entries.push_front({&block, 0, static_cast<std::uint32_t>(each.lines.size()),
                             each.messages, before_all, each.origin});
    room.bytes += block.allocated_bytes();
    held_bytes_ += block.allocated_bytes();
    room.messages += each.messages;
    added.messages += each.messages;
    added.lines.insert(0, each.lines);
  }
  if (added.messages > options_.messages_max) {
    added.lines = skip_lines(added.lines, added.messages - options_.messages_max);
    added.messages = options_.messages_max;
  }
  return added;
}

History::Recent History::recent(RoomKey key) const {
  const std::lock_guard lock(mutex_);
  Recent recent;
  const Room* const room = find(key);
  if (room == nullptr || room->entries.empty()) return recent;
  recent.until = room->entries.back().sequence;
  std::uint64_t skipped =
      room->messages > options_.messages_max ? room->messages - options_.messages_max : 0;
  for (const Entry& each : room->entries) {
    const std::uint64_t skip = std::min<std::uint64_t>(skipped, each.messages);
    skipped -= skip;
    recent.lines += skip_lines(each.lines(), skip);
    recent.messages += each.messages - static_cast<std::uint32_t>(skip);
  }
  return recent;
}

std::uint64_t History::newest() const {
  const std::lock_guard lock(mutex_);
  return sequence_;
}

std::vector<History::Kept> History::kept(RoomKey key, std::uint64_t before,
                                         std::size_t bytes_max) const {
  const std::lock_guard lock(mutex_);
  std::vector<Kept> kept;
  const Room* const room = find(key);
  if (room == nullptr) return kept;
  std::size_t bytes = 0;
  for (auto each = room->entries.rbegin(); each != room->entries.rend(); ++each) {
    if (each->origin.node == 0 && each->sequence > before) continue;
    bytes += each->size;
    if (bytes > bytes_max) break;
    kept.push_back({each->origin, each->messages, std::string(each->lines())});
  }
  std::ranges::reverse(kept);
  return kept;
}

void History::forget(RoomKey key) {
  const std::lock_guard lock(mutex_);
  if (rooms_.size() > key.place && rooms_[key.place].generation == key.generation) {
    clear(rooms_[key.place]);
  }
}

std::size_t History::held_bytes() const {
  const std::lock_guard lock(mutex_);
  return held_bytes_;
}

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
