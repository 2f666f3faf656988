// LiveRequests: the requests in flight of one reactor, oldest first, as a walk of it.
//
// Owns       copies of their facts; the texts of routes are those of the service.
// Thread     see ReactorWalk.
// Allocates  the copies.
// Fails      a request without an id or a trace is not known: see RequestTelemetryOptions::ids.
// Invariant  a slice passes at most slice_max requests.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/server/client_address.hpp"
#include "katana/http/server/reactor_walk.hpp"
#include "katana/http/server/requests_in_flight.hpp"
#include "katana/http/session/client.hpp"

namespace katana::server {

// One request in flight.
struct LiveRequest {
  const std::string* route = nullptr;  // "GET /users/{id}"; null: none matched. The service's
  std::string method = {};             // as the client sent it; empty: not known
  std::string id = {};                 // of the request; empty: it has none
  std::string trace = {};              // the id of its trace; empty: none
  engine::PeerEndpoint client = {};    // behind a trusted proxy the one that it names
  Duration age = {};                   // since its head was complete
  session::RequestStep step = session::RequestStep::handling;  // when it was read
  unsigned status = 0;                                         // of the reply; 0: not begun
};

// Whether the filter of a list wants this route: "GET /users/{id}" or "/users/{id}"; empty: all.
bool is_route(const std::string* route, Bytes wanted) noexcept;

// The requests that are wanted.
struct LiveRequestFilter {
  std::string route = {};                    // "GET /users/{id}" or "/users/{id}"; empty: all
  std::optional<ClientAddress> client = {};  // none: all
  Duration older = {};                       // younger ones are left out
  std::size_t limit = 100;                   // of each reactor: the oldest
};

class LiveRequests final : public ReactorWalk {
 public:
  static constexpr std::size_t slice_max = 64;  // requests that are passed in one turn

  explicit LiveRequests(LiveRequestFilter filter) : filter_(std::move(filter)) {}

  // Once is_over(): the oldest, and the number of all that are wanted.
  std::size_t size() const noexcept { return size_; }
  const LiveRequest& at(std::size_t index) const noexcept {
    return slices_[index / slice_max][index % slice_max];
  }
  std::size_t matched() const noexcept { return matched_; }
  std::size_t slices() const noexcept { return slice_count_; }
  // False: the thread has no list, and nothing is known of its requests (see ThreadLists).
  bool is_listed() const noexcept { return is_listed_; }
  // The memory of the copies.
  std::size_t held_bytes() const noexcept {
    return slices_.size() * slice_max * sizeof(LiveRequest) + text_bytes_;
  }

 private:
  bool slice(net::Reactor& reactor) noexcept override;
  void end() noexcept override { walk_.end(); }
  bool visit(const RequestInFlight& request, const net::Reactor& reactor, Instant now);
  void keep(LiveRequest request);

  const LiveRequestFilter filter_;
  ListWalk<RequestInFlight> walk_;
  Instant now_ = never;  // of all ages: that of the first slice
  std::size_t size_ = 0;
  std::size_t matched_ = 0;
  std::size_t slice_count_ = 0;
  std::size_t text_bytes_ = 0;
  bool is_listed_ = true;
  // Each has slice_max of them, but for the last: nothing moves when more are kept.
  std::vector<std::vector<LiveRequest>> slices_;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
