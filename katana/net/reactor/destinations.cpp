#include "katana/net/reactor/destinations.hpp"

#include <random>

namespace katana::net {

std::uint64_t Destinations::seed_for(const Reactor& reactor) {
  Destinations* const destinations = of(reactor);
  return destinations != nullptr ? destinations->draw_seed() : std::random_device()();
}

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
