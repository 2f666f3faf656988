// The clients of an IdentityRun: HTTP/1.1, HTTP/2 with windows that close, WebSocket on both.
//
// Owns       its end of one connection.
// Borrows    the world and the faults, which must outlive it.
// Thread     one.
// Fails      by adding to the faults.
// Invariant  a client checks every whole reply. Only where nothing is lost and the client stays, it
//            checks that all replies are whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/identity_service.hpp"
#include "tests/simulation/world.hpp"

namespace katana::simulation {

struct IdentityClientPlan {
  std::vector<Identity> requests;
  std::string socket_path;  // path with an identity; empty: no WebSocket
  std::size_t depth = 1;    // requests on their way at once
  std::size_t content_bytes = 0;
  std::uint32_t window = 0;  // window of a stream; it opens little by little
  bool named = false;        // replies carry X-Request-Id
};

class IdentityClient {
 public:
  using Fault = std::function<void(std::string)>;
  virtual ~IdentityClient() = default;
  virtual void begin() = 0;
  virtual void reset() = 0;
  // Ends the run: `complete`: every reply must be here.
  virtual std::size_t check(bool complete) = 0;
};

std::unique_ptr<IdentityClient> http1_identity_client(World& world, IdentityClientPlan plan,
                                                      IdentityClient::Fault fault);
std::unique_ptr<IdentityClient> http2_identity_client(World& world, IdentityClientPlan plan,
                                                      IdentityClient::Fault fault);

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
