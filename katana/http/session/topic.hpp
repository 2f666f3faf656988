// Topic: one name that WebSocket connections subscribe to, with the reactors that have subscribers.
//
// Owns       a share of each such reactor's WebSocketPost.
// Thread     any; hear() the reactor's of its post.
// Allocates  an element for each reactor.
// Fails      std::bad_alloc.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "katana/http/session/websocket_post.hpp"

namespace katana::session {

// The subscribers of one topic, counted by reactor.
struct Topic {
  struct Share {
    std::shared_ptr<WebSocketPost> post;  // of the reactor
    std::size_t subscribers;              // connections of that reactor; at least 1
  };
  explicit Topic(std::string given) : name(std::move(given)) {}
  virtual ~Topic() = default;
  Topic(const Topic&) = delete;
  Topic& operator=(const Topic&) = delete;
  // Called for the first subscriber on the reactor of `post`. The result is destroyed with the last
  // one, on that reactor. It may deliver what comes from elsewhere meanwhile; null: nothing does.
  virtual std::unique_ptr<net::Attachment> hear(WebSocketPost& post) = 0;

  const std::string name;     // as given to subscribe()
  std::mutex mutex;           // guards the members below
  std::vector<Share> shares;  // one for each reactor with subscribers

  // Adds a subscriber on this reactor.
  void add(const std::shared_ptr<WebSocketPost>& post);
  // Removes a subscriber on this reactor. REQUIRES that it had one.
  void remove(const WebSocketPost& post) noexcept;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
