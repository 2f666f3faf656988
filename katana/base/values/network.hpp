// Network: addresses with a common prefix, as in 10.0.0.0/8, 2001:db8::/32, or 192.0.2.1 for that
// one; or `unix`, the processes of this machine that connect by a Unix-domain socket.
// NetworkSet: several of them, to be searched.
//
// Owns       values; a set its ranges.
// Thread     values.
// Allocates  a set when it is made, and errors.
// Fails      parse() says what is wrong with which text: a prefix that is too long, bits behind it.
// Invariant  a set's ranges are sorted and disjoint: whatever is added, in whatever order, looking
//            an address up takes at most as many steps as the binary logarithm of their count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/ip_address.hpp"
#include "katana/base/values/text_form.hpp"

namespace katana {

class Network {
 public:
  // Of to_text().
  static constexpr std::size_t text_bytes_max = IpAddress::text_bytes_max + 4;

  // The unspecified address: "::/128".
  constexpr Network() noexcept = default;
  // The network of so many bits that the address is in.
  Network(const IpAddress& address, unsigned bits) noexcept;
  static constexpr Network local() noexcept {
    Network network;
    network.is_local_ = true;
    return network;
  }
  static Result<Network> parse(Bytes text);

  // `unix`: it contains no address.
  constexpr bool is_local() const noexcept { return is_local_; }
  const IpAddress& first() const noexcept { return first_; }
  IpAddress last() const noexcept;
  // For the prefix: 0 to 32 of IPv4, 0 to 128 of IPv6.
  unsigned bits() const noexcept { return bits_; }
  // 0.0.0.0/0 contains the addresses of IPv4 and ::/0 those of IPv6, and neither the other's.
  bool contains(const IpAddress& address) const noexcept;

  // As parse() reads it; a single address without its prefix.
  ShortText<text_bytes_max> to_text() const noexcept;

  friend bool operator==(const Network&, const Network&) noexcept = default;

 private:
  IpAddress first_;
  std::uint8_t bits_ = 128;
  bool is_local_ = false;
};

// In configuration, JSON and parameters.
template <>
struct TextForm<Network> {
  // What an error says.
  static constexpr Bytes expected =
      "a network such as 10.0.0.0/8 or 2001:db8::/32 without bits behind its prefix, an address, "
      "or unix";
  // As Network::parse().
  static std::optional<Network> parse(Bytes text) {
    const auto network = Network::parse(text);
    if (!network) return std::nullopt;
    return *network;
  }
  // As Network::to_text().
  static ShortText<Network::text_bytes_max> write(const Network& network) noexcept {
    return network.to_text();
  }
};

// Networks to be searched; `unix` is none that contains an address.
class NetworkSet {
 public:
  NetworkSet() noexcept = default;
  explicit NetworkSet(std::span<const Network> networks);

  // It contains nothing, and has no `unix`.
  bool empty() const noexcept { return ranges_.empty() && !has_local_; }
  // One of them does.
  bool contains(const IpAddress& address) const noexcept;
  // `unix` is one of them.
  bool has_local() const noexcept { return has_local_; }
  // Those of its networks that another one does not contain.
  std::size_t size() const noexcept { return ranges_.size(); }

 private:
  struct Range {
    IpAddress first;
    IpAddress last;
  };
  std::vector<Range> ranges_;
  bool has_local_ = false;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
