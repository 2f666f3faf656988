#include "katana/stores/bus/nats/publisher.hpp"

#include "katana/base/values/secrets.hpp"

namespace katana::bus {

std::uint64_t random_publisher() {
  std::uint64_t publisher = 0;
  while (publisher == 0) {
    fill_random({reinterpret_cast<char*>(&publisher), sizeof(publisher)});
  }
  return publisher;
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
