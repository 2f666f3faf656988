#include "katana/testing/application/simulated_reactor.hpp"

#include <algorithm>

#include "katana/net/engine/sim/sim_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"
#include "katana/testing/test_target.hpp"

namespace katana::testing {

std::unique_ptr<net::Reactor> make_simulated_reactor(net::ReactorOptions options,
                                                     std::size_t session_bytes,
                                                     engine::SimNetwork& network,
                                                     std::uint32_t host) {
  // Tests make many programs.
  const net::ReactorOptions small = test_reactor_options();
  options.engine.links_max = std::min(options.engine.links_max, std::uint32_t{1024});
  options.output_blocks_max = std::min(options.output_blocks_max, small.output_blocks_max);
  options.output_blocks_reserve =
      std::min(options.output_blocks_reserve, small.output_blocks_reserve);
  options.carry_large_max = std::min(options.carry_large_max, small.carry_large_max);
  return std::make_unique<net::ReactorOn<engine::SimEngine>>(options, session_bytes, network, host);
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
