// The text of an address.
#include <algorithm>
#include <charconv>
#include <cstring>

#include "katana/base/values/ip_address.hpp"
#include "katana/net/engine/engine.hpp"

namespace katana::engine {

PeerEndpoint PeerEndpoint::of(const IpAddress& address, std::uint16_t port) noexcept {
  PeerEndpoint endpoint{.port = port, .family = address.is_v4() ? Family::v4 : Family::v6};
  const auto octets = address.octets();
  const std::size_t skipped = address.is_v4() ? 12 : 0;
  std::copy(octets.begin() + skipped, octets.end(), endpoint.address.begin());
  return endpoint;
}

std::optional<IpAddress> PeerEndpoint::ip() const noexcept {
  const std::span<const std::uint8_t, 16> octets(address);
  if (family == Family::v4) return IpAddress::v4(octets.first<4>());
  if (family == Family::v6) return IpAddress::v6(octets);
  return std::nullopt;
}

PeerAddress PeerEndpoint::text() const noexcept {
  PeerAddress peer;
  if (family == Family::none) return peer;
  char* at = peer.text.data();
  if (family == Family::local) {
    constexpr Bytes before = "unix:uid=";
    std::memcpy(at, before.data(), before.size());
    std::uint32_t user = 0;
    for (int index = 0; index < 4; ++index) {
      user = user << 8 | address[static_cast<std::size_t>(index)];
    }
    at = std::to_chars(at + before.size(), at + before.size() + 10, user).ptr;
    peer.size = static_cast<std::uint8_t>(at - peer.text.data());
    return peer;
  }
  if (family == Family::v4) {
    at = katana::detail::write_v4(at, address.data());
  } else {
    *at++ = '[';
    at = katana::detail::write_v6(at, address.data());
    *at++ = ']';
  }
  if (port != 0) {
    *at++ = ':';
    at = std::to_chars(at, at + 5, port).ptr;
  }
  peer.size = static_cast<std::uint8_t>(at - peer.text.data());
  return peer;
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
