// Topic: one name of Topics, and the reactors that have subscribers of it.
//
// Owns       a share of each such reactor's WebSocketPost.
// Borrows    the options of its Topics, which outlives it.
// Thread     any; hear() the reactor's of its post.
// Allocates  an element for each reactor.
// Fails      std::bad_alloc. hear() is empty without a bus, or when the bus refuses.
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

// Reactors with subscribers, and how many.
struct Topic {
  struct Share {
    std::shared_ptr<WebSocketPost> post;  // of the reactor
    std::size_t subscribers;              // connections of that reactor; at least 1
  };
  Topic(std::string given, const TopicsOptions& how);
  // Of the reactor of `post`, which has its first subscriber. Nothing: there is no bus, or it
  // refuses.
  std::optional<bus::Subscription> hear(WebSocketPost& post);

  const std::string name;        // as subscribe() was given it
  const TopicsOptions& options;  // those of its Topics
  const std::string subject;     // empty: there is no bus
  std::mutex mutex;              // guards what follows
  std::vector<Share> shares;     // one for each reactor with subscribers

  // One subscriber more on this reactor.
  void add(const std::shared_ptr<WebSocketPost>& post);
  // One subscriber less on this reactor. REQUIRES that it had one.
  void remove(const WebSocketPost& post) noexcept;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
