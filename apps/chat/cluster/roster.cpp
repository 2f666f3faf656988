#include "apps/chat/cluster/roster.hpp"

#include <utility>

namespace katana::chat::cluster {

void Roster::count(Bytes room, bool hidden, int more) {
  auto found = interest_.find(room);
  if (found == interest_.end()) found = interest_.emplace(room, Interest{}).first;
  std::uint32_t& of = hidden ? found->second.hidden : found->second.seen;
  of += static_cast<std::uint32_t>(more);
  if (found->second.seen == 0 && found->second.hidden == 0) interest_.erase(found);
}

std::uint32_t Roster::set(NodeId node, RoomRecord record) {
  const std::lock_guard lock(mutex_);
  Server& server = servers_[node];
  const auto found = server.rooms.find(record.room);
  if (found == server.rooms.end()) {
    if (record.members == 0) return 0;
    count(record.room, server.hidden, 1);
    std::string room = record.room;
    server.rooms.emplace(std::move(room), std::move(record));
    return 0;
  }
  const std::uint32_t before = found->second.members;
  if (record.members == 0) {
    count(record.room, server.hidden, -1);
    server.rooms.erase(found);
  } else {
    found->second = std::move(record);
  }
  return before;
}

void Roster::set_hidden(NodeId node, bool hidden) {
  const std::lock_guard lock(mutex_);
  const auto found = servers_.find(node);
  if (found == servers_.end() || found->second.hidden == hidden) return;
  for (const auto& [room, record] : found->second.rooms) {
    count(room, hidden, 1);
    count(room, !hidden, -1);
  }
  found->second.hidden = hidden;
}

void Roster::remove(NodeId node) {
  const std::lock_guard lock(mutex_);
  const auto found = servers_.find(node);
  if (found == servers_.end()) return;
  for (const auto& [room, record] : found->second.rooms) count(room, found->second.hidden, -1);
  servers_.erase(found);
}

std::vector<std::string> Roster::rooms_of(NodeId node) const {
  std::vector<std::string> rooms;
  const auto found = servers_.find(node);
  if (found == servers_.end()) return rooms;
  for (const auto& [room, record] : found->second.rooms) rooms.push_back(room);
  return rooms;
}

std::uint32_t Roster::members_of(NodeId node, Bytes room) const {
  const auto server = servers_.find(node);
  if (server == servers_.end()) return 0;
  const auto found = server->second.rooms.find(room);
  return found == server->second.rooms.end() ? 0 : found->second.members;
}

std::size_t Roster::rooms_count(NodeId node) const {
  const auto found = servers_.find(node);
  return found == servers_.end() ? 0 : found->second.rooms.size();
}

std::uint64_t Roster::members() const {
  std::uint64_t sum = 0;
  for (const auto& [node, server] : servers_) {
    if (server.hidden) continue;
    for (const auto& [room, record] : server.rooms) sum += record.members;
  }
  return sum;
}

NodeId Roster::most_in(Bytes room) const {
  NodeId most = 0;
  std::uint32_t members = 0;
  for (const auto& [node, server] : servers_) {
    if (server.hidden) continue;
    const std::uint32_t here = members_of(node, room);
    if (here > members) {
      members = here;
      most = node;
    }
  }
  return most;
}

bool Roster::is_anybody_in(Bytes room, bool hidden_too) const {
  const auto found = interest_.find(room);
  if (found == interest_.end()) return false;
  return found->second.seen != 0 || (hidden_too && found->second.hidden != 0);
}

std::uint64_t Roster::add_to(Bytes room, std::size_t names_max, std::vector<Person>& names) const {
  const std::lock_guard lock(mutex_);
  std::uint64_t members = 0;
  for (const auto& [node, server] : servers_) {
    if (server.hidden) continue;
    const auto found = server.rooms.find(room);
    if (found == server.rooms.end()) continue;
    members += found->second.members;
    for (std::size_t at = 0; at < found->second.first.size() && at < names_max; ++at) {
      names.push_back(found->second.first[at]);
    }
  }
  return members;
}

}  // namespace katana::chat::cluster

// SPDX-License-Identifier: Apache-2.0
