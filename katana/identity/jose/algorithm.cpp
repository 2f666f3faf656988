#include "katana/identity/jose/algorithm.hpp"

#include <array>

namespace katana::jose {
namespace {

constexpr std::array<Bytes, algorithm_count> names = {"HS256", "HS384", "HS512", "RS256", "RS384",
                                                      "RS512", "PS256", "PS384", "PS512", "ES256",
                                                      "ES384", "ES512", "EdDSA"};

}  // namespace

Bytes name_of(Algorithm algorithm) noexcept { return names[static_cast<std::size_t>(algorithm)]; }

std::optional<Algorithm> algorithm_from(Bytes name) noexcept {
  for (std::size_t index = 0; index < names.size(); ++index) {
    if (names[index] == name) return static_cast<Algorithm>(index);
  }
  return std::nullopt;
}

}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
