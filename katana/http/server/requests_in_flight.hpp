// RequestInFlight: a request in the list of its thread, for crash reports and the pages of
// operations.
//
// Owns       a place in the list.
// Borrows    the activity of the request, and its source.
// Thread     its reactor's.
// Allocates  never.
// Fails      never: the requests of the threads after the first 256 are left out.
// Invariant  the list has the requests in the order in which they began.
#pragma once

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/memory/walked_list.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/session/client.hpp"

namespace katana::net {
class Reactor;
}

namespace katana::server {

class RequestInFlight : public WalkedItem<RequestInFlight> {
 public:
  // `began`: by the clock of `reactor`, or of monotonic_now(). `source`: of the request; null: its
  // state is not known. `reactor`: null in tests.
  RequestInFlight(const Activity& activity, Instant began, session::ClientSource* source = nullptr,
                  const net::Reactor* reactor = nullptr) noexcept
      : activity_(activity), began_(began), source_(source), reactor_(reactor) {
    if (auto* const list = ThreadLists<RequestInFlight>::own()) list->push_back(*this);
  }

  // Id, trace and route.
  const Activity& activity() const noexcept { return activity_; }
  // The time when its head was complete, as it was given.
  Instant began() const noexcept { return began_; }
  // Null: the state of the request is not known.
  session::ClientSource* source() const noexcept { return source_; }
  // The reactor that serves it; null in tests.
  const net::Reactor* reactor() const noexcept { return reactor_; }

 private:
  const Activity& activity_;
  const Instant began_;
  session::ClientSource* const source_;
  const net::Reactor* const reactor_;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
