#include "katana/http/server/engines.hpp"
#include "katana/net/engine/uring/uring_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"

namespace katana::server {

std::unique_ptr<net::Reactor> make_uring_reactor(const net::ReactorOptions& options,
                                                 std::size_t session_bytes_max,
                                                 const engine::UringOptions& rings) {
  return std::make_unique<net::ReactorOn<engine::UringEngine>>(options, session_bytes_max, rings);
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
