// Handover: how a reactor ends when another process has its listeners. Clients find a server at all
// times, no client is hurried, and those that reconnect do not do so together.
//
// Owns       values only.
// Thread     values.
// Allocates  when made.
// Invariant  connections in the queue of a listener that is handed over are accepted by its next
//            owner.
#pragma once

#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/net/engine/engine.hpp"

namespace katana::net {

// The instructions for a reactor when another process takes over; see above.
struct Handover {
  std::vector<engine::Listener> listeners = {};  // from which the other process accepts
  Duration idle = {};    // how long an idle connection may still begin a request
  Duration spread = {};  // the span in which WebSockets are told to reconnect (1012)
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
