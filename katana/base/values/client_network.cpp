#include "katana/base/values/client_network.hpp"

#include <optional>

namespace katana {
namespace {

// The IPv4 address from which an IPv6 address was made; otherwise the same address.
IpAddress plain(const IpAddress& address) noexcept {
  constexpr std::uint64_t translated = 0x0064'ff9b'0000'0000;
  if (address.high() == translated && address.low() >> 32 == 0) {
    return IpAddress::v4(static_cast<std::uint32_t>(address.low()));
  }
  if (address.high() >> 48 == 0x2002) {
    return IpAddress::v4(static_cast<std::uint32_t>(address.high() >> 16));
  }
  return address;
}

// The address in a text, without port, brackets and zone.
std::optional<IpAddress> address_in(Bytes text) noexcept {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == Bytes::npos) return std::nullopt;
    text = text.substr(1, end - 1);
  } else if (text.find(':') != Bytes::npos && text.find(':') == text.rfind(':')) {
    text = text.substr(0, text.find(':'));
  }
  return IpAddress::read(text.substr(0, text.find('%')));
}

}  // namespace

IpAddress client_network(const IpAddress& address, const ClientBits& bits) noexcept {
  const IpAddress client = plain(address);
  return client.masked(client.is_v4() ? bits.v4 : bits.v6);
}

Text client_network_text(Bytes text, const ClientBits& bits) {
  const auto address = address_in(text);
  if (!address) return Text(text);
  return Text(client_network(*address, bits).to_text());
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
