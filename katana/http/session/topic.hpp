// Topic: one name of Topics, with the reactors that have subscribers of it.
//
// Owns       a share of each such reactor's WebSocketPost.
// Borrows    the options of its Topics, which outlives it.
// Thread     any; hear() the reactor's of its post.
// Allocates  an element for each reactor.
// Fails      std::bad_alloc. hear() returns nothing without a bus, or if the bus refuses.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "katana/http/session/topics.hpp"
#include "katana/http/session/websocket_post.hpp"
#include "katana/stores/bus/bus.hpp"

namespace katana::session {

// The subscribers of one topic, counted by reactor.
struct Topic {
  struct Share {
    std::shared_ptr<WebSocketPost> post;  // of the reactor
    std::size_t subscribers;              // connections of that reactor; at least 1
  };
  Topic(std::string given, const TopicsOptions& how);
  // Subscribes to the bus for the reactor of `post`, which has its first subscriber. Returns
  // nothing if there is no bus, or if it refuses.
  std::optional<bus::Subscription> hear(WebSocketPost& post);

  const std::string name;        // as given to subscribe()
  const TopicsOptions& options;  // those of its Topics
  const std::string subject;     // empty: there is no bus
  std::mutex mutex;              // guards the members below
  std::vector<Share> shares;     // one for each reactor with subscribers

  // Adds a subscriber on this reactor.
  void add(const std::shared_ptr<WebSocketPost>& post);
  // Removes a subscriber on this reactor. REQUIRES that it had one.
  void remove(const WebSocketPost& post) noexcept;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
