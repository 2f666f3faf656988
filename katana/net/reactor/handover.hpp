// Handover: how a reactor ends whose listeners another process has, so that clients find a
// server there all the time: no client is hurried, and those that come back do not come back
// together.
//
// Owns       values only.
// Thread     values.
// Allocates  when made.
// Invariant  what waits in the queue of a listener that is handed over is accepted by its next
//            owner.
#pragma once

#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/net/engine/engine.hpp"

namespace katana::net {

// What a reactor is told when another process takes over; see above.
struct Handover {
  std::vector<engine::Listener> listeners = {};  // those that the other process accepts from
  Duration idle = {};    // for so long a connection that is idle may still begin a request
  Duration spread = {};  // over so long WebSockets are told to come back (1012)
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
