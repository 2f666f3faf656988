// ClientAddress: the host of a client, without a port, as filters and actions name it.
//
//   192.0.2.1          also for ::ffff:192.0.2.1
//   2001:db8::1        in any spelling of RFC 4291 §2.2; [2001:db8::1] as well
//   unix:uid=1000      a process of this machine on a Unix-domain socket
//
// Owns       its bytes.
// Thread     a value.
// Allocates  never.
// Fails      read() returns nothing for any other text, such as an address with a port.
// Invariant  addresses are equal if they are the same host, however they are written.
#pragma once

#include <cstdint>
#include <optional>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/ip_address.hpp"
#include "katana/base/values/text_form.hpp"
#include "katana/net/engine/endpoints.hpp"

namespace katana::server {

class ClientAddress {
 public:
  // The unspecified address "::".
  constexpr ClientAddress() noexcept = default;
  // None: the endpoint is not known.
  static std::optional<ClientAddress> of(const engine::PeerEndpoint& endpoint) noexcept;
  static std::optional<ClientAddress> read(Bytes text) noexcept;
  // "192.0.2.1", "2001:db8::1", "unix:uid=1000".
  ShortText<IpAddress::text_bytes_max> to_text() const noexcept;

  friend constexpr bool operator==(const ClientAddress&, const ClientAddress&) noexcept = default;

 private:
  constexpr explicit ClientAddress(const IpAddress& ip) noexcept : ip_(ip) {}
  constexpr explicit ClientAddress(std::uint32_t user) noexcept : user_(user) {}

  IpAddress ip_;                       // "::" with a user
  std::optional<std::uint32_t> user_;  // of a Unix-domain socket
};

}  // namespace katana::server

// The text form for parameters and JSON.
template <>
struct katana::TextForm<katana::server::ClientAddress> {
  // The expected input, for an error message.
  static constexpr Bytes expected =
      "an address without a port, such as 192.0.2.1, 2001:db8::1 or unix:uid=1000";
  // As ClientAddress::read().
  static std::optional<server::ClientAddress> parse(Bytes text) noexcept {
    return server::ClientAddress::read(text);
  }
  // As ClientAddress::to_text().
  static ShortText<IpAddress::text_bytes_max> write(const server::ClientAddress& address) noexcept {
    return address.to_text();
  }
};

// SPDX-License-Identifier: Apache-2.0
