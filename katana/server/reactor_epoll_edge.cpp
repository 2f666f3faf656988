#include "katana/core/reactor_on.hpp"
#include "katana/engine/epoll/epoll_engine.hpp"
#include "katana/server/engines.hpp"

namespace katana::server {

std::unique_ptr<core::Reactor> make_epoll_edge_reactor(const core::ReactorOptions& options,
                                                       std::size_t session_bytes_max) {
  return std::make_unique<core::ReactorOn<engine::EpollEdgeEngine>>(options, session_bytes_max);
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
