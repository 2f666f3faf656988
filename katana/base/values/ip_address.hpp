// IpAddress: an address of IPv4 or IPv6. An IPv4 address that is embedded in one of IPv6
// (::ffff:192.0.2.1, RFC 4291 §2.5.5.2) is that IPv4 address: a client of a dual-stack socket is
// the same one everywhere.
//
//   IpAddress::parse("192.0.2.1")      four decimal numbers, none with a leading zero
//   IpAddress::parse("2001:db8::1")    RFC 4291 §2.2, also with IPv4 at its end; no zone
//
// Owns       its bytes.
// Thread     a value.
// Allocates  never, but for errors.
// Fails      parse() says what it read and what an address looks like.
// Invariant  equal addresses have equal words, and equal texts: those of RFC 5952.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/text_form.hpp"

namespace katana {

class IpAddress {
 public:
  // Of to_text().
  static constexpr std::size_t text_bytes_max = 45;

  // "::", the unspecified address.
  constexpr IpAddress() noexcept = default;
  // Bytes in the order of the network.
  static IpAddress v4(std::span<const std::uint8_t, 4> octets) noexcept;
  static IpAddress v6(std::span<const std::uint8_t, 16> octets) noexcept;
  static constexpr IpAddress v4(std::uint32_t word) noexcept {
    return {0, std::uint64_t{0xffff} << 32 | word};
  }
  static constexpr IpAddress of_words(std::uint64_t high, std::uint64_t low) noexcept {
    return {high, low};
  }
  static Result<IpAddress> parse(Bytes text);
  // The same, without words for what is wrong.
  static std::optional<IpAddress> read(Bytes text) noexcept;

  // Also when it was given as one that is embedded in IPv6.
  constexpr bool is_v4() const noexcept { return high_ == 0 && low_ >> 32 == 0xffff; }
  // Of 128 bits, the first and the last 64, as numbers.
  constexpr std::uint64_t high() const noexcept { return high_; }
  constexpr std::uint64_t low() const noexcept { return low_; }
  // In the order of the network; of IPv4 the last four are the address.
  std::array<std::uint8_t, 16> octets() const noexcept;

  // The network that it is in: all bits behind the first `bits` are zero. Of an address of IPv4 at
  // most 32 count.
  IpAddress masked(unsigned bits) const noexcept;

  // As RFC 5952 writes it.
  ShortText<text_bytes_max> to_text() const noexcept;

  friend constexpr auto operator<=>(const IpAddress&, const IpAddress&) noexcept = default;

 private:
  constexpr IpAddress(std::uint64_t high, std::uint64_t low) noexcept : high_(high), low_(low) {}

  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

// In configuration, JSON and parameters.
template <>
struct TextForm<IpAddress> {
  // What an error says.
  static constexpr Bytes expected = "an address such as 192.0.2.1 or 2001:db8::1";
  // As IpAddress::read().
  static std::optional<IpAddress> parse(Bytes text) noexcept { return IpAddress::read(text); }
  // As IpAddress::to_text().
  static ShortText<IpAddress::text_bytes_max> write(const IpAddress& address) noexcept {
    return address.to_text();
  }
};

namespace detail {

// The text of bytes in the order of the network; returns its end. REQUIRES room for as much as is
// written, and four bytes more.
char* write_v4(char* at, const std::uint8_t* octets) noexcept;
char* write_v6(char* at, const std::uint8_t* octets) noexcept;

}  // namespace detail

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
