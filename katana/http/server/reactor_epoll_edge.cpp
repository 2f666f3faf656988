#include "katana/http/server/engines.hpp"
#include "katana/net/engine/epoll/epoll_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"

namespace katana::server {

std::unique_ptr<net::Reactor> make_epoll_edge_reactor(const net::ReactorOptions& options,
                                                      std::size_t session_bytes_max) {
  return std::make_unique<net::ReactorOn<engine::EpollEdgeEngine>>(options, session_bytes_max);
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
