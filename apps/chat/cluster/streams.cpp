#include "apps/chat/cluster/streams.hpp"

#include <algorithm>
#include <utility>

namespace katana::chat::cluster {

std::uint64_t OutgoingStreams::note(Bytes room, std::uint32_t messages, std::uint64_t beat) {
  auto found = streams_.find(room);
  if (found == streams_.end()) {
    if (streams_.size() >= streams_max_) forget_oldest();
    found = streams_.emplace(room, Stream{}).first;
  }
  const std::uint64_t first = found->second.next;
  found->second.next += messages;
  found->second.moved_at = beat;
  return first;
}

std::uint64_t OutgoingStreams::position(Bytes room) const {
  const auto found = streams_.find(room);
  return found == streams_.end() ? 0 : found->second.next;
}

std::vector<Position> OutgoingStreams::moved_since(std::uint64_t beat) const {
  std::vector<Position> moved;
  for (const auto& [room, stream] : streams_) {
    if (stream.moved_at >= beat) moved.push_back({0, room, stream.next});
  }
  return moved;
}

void OutgoingStreams::forget_oldest() {
  const auto oldest =
      std::ranges::min_element(streams_, {}, [](const auto& each) { return each.second.moved_at; });
  streams_.erase(oldest);
  ++forgotten_;
}

IncomingStreams::Arrival IncomingStreams::take(Bytes room, std::uint64_t first,
                                               std::uint32_t messages) {
  auto found = streams_.find(room);
  if (found == streams_.end()) found = streams_.emplace(room, Stream(first)).first;
  Stream& stream = found->second;
  if (first < stream.next) return {};
  const std::uint64_t missing = first - stream.next;
  stream.next = first + messages;
  if (stream.due != never && stream.next >= stream.claimed) end_claim(stream);
  return {true, missing};
}

void IncomingStreams::claim(Bytes room, std::uint64_t next, Instant due) {
  const auto found = streams_.find(room);
  if (found == streams_.end() || next <= found->second.next) return;
  Stream& stream = found->second;
  if (stream.due == never) {
    ++claimed_;
    stream.due = due;
    stream.claimed = next;
  } else if (next > stream.claimed_next) {
    // It waits for the one before, which is due earlier.
    stream.claimed_next = next;
    stream.due_next = due;
  }
}

void IncomingStreams::end_claim(Stream& stream) noexcept {
  drop_claim(stream);
  const std::uint64_t claimed = std::exchange(stream.claimed_next, 0);
  if (claimed <= stream.next) return;
  ++claimed_;
  stream.claimed = claimed;
  stream.due = stream.due_next;
}

void IncomingStreams::drop_claim(Stream& stream) noexcept {
  if (stream.due == never) return;
  stream.due = never;
  --claimed_;
}

void IncomingStreams::forget(Bytes room) {
  const auto found = streams_.find(room);
  if (found == streams_.end()) return;
  drop_claim(found->second);
  streams_.erase(found);
}

IncomingStreams::Heard IncomingStreams::heard(Bytes room) const {
  const auto found = streams_.find(room);
  return found == streams_.end() ? Heard{} : Heard{found->second.began, found->second.next};
}

bool IncomingStreams::is_before(Bytes room, std::uint64_t first, std::uint64_t next) {
  const auto found = streams_.find(room);
  if (found != streams_.end()) return first < found->second.began;
  streams_.emplace(room, Stream(next));
  return true;
}

void IncomingStreams::add_to(std::vector<Position>& positions, NodeId of) const {
  for (const auto& [room, stream] : streams_) positions.push_back({of, room, stream.next});
}

}  // namespace katana::chat::cluster

// SPDX-License-Identifier: Apache-2.0
