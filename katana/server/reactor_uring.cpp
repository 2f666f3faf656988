#include "katana/core/reactor_on.hpp"
#include "katana/engine/uring/uring_engine.hpp"
#include "katana/server/engines.hpp"

namespace katana::server {

std::unique_ptr<core::Reactor> make_uring_reactor(const core::ReactorOptions& options,
                                                  std::size_t session_bytes_max,
                                                  const engine::UringOptions& rings) {
  return std::make_unique<core::ReactorOn<engine::UringEngine>>(options, session_bytes_max, rings);
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
