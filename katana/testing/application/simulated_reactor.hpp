// make_simulated_reactor: the reactor of a program on a simulated network.
//
// Borrows    the network, which must outlive the reactor.
// Thread     the network's.
// Allocates  the reactor, with less memory than that of a program that serves thousands.
// Fails      never.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "katana/net/reactor/reactor.hpp"

namespace katana::engine {
class SimNetwork;
}

namespace katana::testing {

// `host`: its number in SimTopology.
std::unique_ptr<net::Reactor> make_simulated_reactor(net::ReactorOptions options,
                                                     std::size_t session_bytes,
                                                     engine::SimNetwork& network,
                                                     std::uint32_t host = 0);

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
