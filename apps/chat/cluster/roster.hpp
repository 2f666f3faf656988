// Roster: the members on the other servers of a chat, as these have told.
//
// Owns       for each room of others the number of members on each server, and the names of the
//            first.
// Thread     one writes; add_to() any.
// Allocates  for each room and name that is told.
// Fails      std::bad_alloc.
// Invariant  a hidden server counts in no answer, and is known again when shown.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "apps/chat/cluster/frame.hpp"
#include "apps/chat/directory.hpp"

namespace katana::chat::cluster {

class Roster final : public RemoteMembers {
 public:
  // Members of 0: the server has none there any more. Returns how many it had before.
  std::uint32_t set(NodeId node, RoomRecord record);
  // The server is cut off, or back.
  void set_hidden(NodeId node, bool hidden);
  void remove(NodeId node);

  // The rooms in which the server has members, hidden or not.
  std::vector<std::string> rooms_of(NodeId node) const;
  // The members that the server has told of, hidden or not; 0: none.
  std::uint32_t members_of(NodeId node, Bytes room) const;
  // The number of rooms in rooms_of().
  std::size_t rooms_count(NodeId node) const;
  // The members of all servers that are not hidden.
  std::uint64_t members() const;
  // The server, not hidden, with the most members in the room; 0: none.
  NodeId most_in(Bytes room) const;
  bool is_anybody_in(Bytes room, bool hidden_too) const;

  std::uint64_t add_to(Bytes room, std::size_t names_max,
                       std::vector<Person>& names) const override;

 private:
  struct Server {
    bool hidden = false;
    std::map<std::string, RoomRecord, std::less<>> rooms;
  };
  struct Interest {
    std::uint32_t seen = 0;
    std::uint32_t hidden = 0;
  };
  void count(Bytes room, bool hidden, int more);

  mutable std::mutex mutex_;  // for add_to(); who writes reads without it
  std::map<NodeId, Server> servers_;
  std::map<std::string, Interest, std::less<>> interest_;
};

}  // namespace katana::chat::cluster

// SPDX-License-Identifier: Apache-2.0
