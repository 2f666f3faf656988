// Network: addresses with a common prefix, such as 10.0.0.0/8, 2001:db8::/32, or the single address
// 192.0.2.1. The network `unix` is the processes of this machine that connect by a Unix-domain
// socket.
// NetworkSet: several networks, to be searched.
//
// Owns       values; a set its ranges.
// Thread     values.
// Allocates  a set when it is made, and errors.
// Fails      parse() returns an Error with the text and its mistake: too long a prefix, or bits
//            behind the prefix.
// Invariant  a set's ranges are sorted and disjoint, whatever is added in whatever order. A lookup
//            takes at most as many steps as the binary logarithm of their count.
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
  // The longest text of to_text(), in bytes.
  static constexpr std::size_t text_bytes_max = IpAddress::text_bytes_max + 4;

  // The unspecified address: "::/128".
  constexpr Network() noexcept = default;
  // The network of the address with a prefix of `bits` bits.
  Network(const IpAddress& address, unsigned bits) noexcept;
  static constexpr Network local() noexcept {
    Network network;
    network.is_local_ = true;
    return network;
  }
  static Result<Network> parse(Bytes text);

  // True for `unix`, which contains no address.
  constexpr bool is_local() const noexcept { return is_local_; }
  const IpAddress& first() const noexcept { return first_; }
  IpAddress last() const noexcept;
  // The size of the prefix in bits: 0 to 32 for IPv4, 0 to 128 for IPv6.
  unsigned bits() const noexcept { return bits_; }
  // 0.0.0.0/0 contains only the addresses of IPv4, and ::/0 only those of IPv6.
  bool contains(const IpAddress& address) const noexcept;

  // The text that parse() reads. A single address has no prefix in it.
  ShortText<text_bytes_max> to_text() const noexcept;

  friend bool operator==(const Network&, const Network&) noexcept = default;

 private:
  IpAddress first_;
  std::uint8_t bits_ = 128;
  bool is_local_ = false;
};

// The text form for configuration, JSON and parameters.
template <>
struct TextForm<Network> {
  // The expected input, for an error message.
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

// A set of networks to be searched. `unix` contains no address.
class NetworkSet {
 public:
  NetworkSet() noexcept = default;
  explicit NetworkSet(std::span<const Network> networks);

  // True if the set contains no address, and not `unix`.
  bool empty() const noexcept { return ranges_.empty() && !has_local_; }
  // True if a network of the set contains the address.
  bool contains(const IpAddress& address) const noexcept;
  // True if `unix` is in the set.
  bool has_local() const noexcept { return has_local_; }
  // The number of disjoint ranges of the set.
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
