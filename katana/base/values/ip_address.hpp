// IpAddress: an address of IPv4 or IPv6. An IPv4 address that is embedded in IPv6
// (::ffff:192.0.2.1, RFC 4291 §2.5.5.2) is treated as that IPv4 address. A client of a dual-stack
// socket therefore has the same address everywhere.
//
//   IpAddress::parse("192.0.2.1")      four decimal numbers, none with a leading zero
//   IpAddress::parse("2001:db8::1")    RFC 4291 §2.2, also with IPv4 at its end; no zone
//
// Owns       its bytes.
// Thread     a value.
// Allocates  only for errors.
// Fails      parse() returns an Error with the text and an example of an address.
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
  // The longest text of to_text(), in bytes.
  static constexpr std::size_t text_bytes_max = 45;

  // The unspecified address "::".
  constexpr IpAddress() noexcept = default;
  // Makes an address from bytes in network order.
  static IpAddress v4(std::span<const std::uint8_t, 4> octets) noexcept;
  static IpAddress v6(std::span<const std::uint8_t, 16> octets) noexcept;
  static constexpr IpAddress v4(std::uint32_t word) noexcept {
    return {0, std::uint64_t{0xffff} << 32 | word};
  }
  static constexpr IpAddress of_words(std::uint64_t high, std::uint64_t low) noexcept {
    return {high, low};
  }
  static Result<IpAddress> parse(Bytes text);
  // The same as parse(), without an error message.
  static std::optional<IpAddress> read(Bytes text) noexcept;

  // True for IPv4, also if the address was given embedded in IPv6.
  constexpr bool is_v4() const noexcept { return high_ == 0 && low_ >> 32 == 0xffff; }
  // The first and the last 64 of the 128 bits, as numbers.
  constexpr std::uint64_t high() const noexcept { return high_; }
  constexpr std::uint64_t low() const noexcept { return low_; }
  // The bytes in network order; the last four are the address for IPv4.
  std::array<std::uint8_t, 16> octets() const noexcept;

  // The network of the address: all bits behind the first `bits` are zero. An IPv4 address has at
  // most 32.
  IpAddress masked(unsigned bits) const noexcept;

  // The text in the form of RFC 5952.
  ShortText<text_bytes_max> to_text() const noexcept;

  friend constexpr auto operator<=>(const IpAddress&, const IpAddress&) noexcept = default;

 private:
  constexpr IpAddress(std::uint64_t high, std::uint64_t low) noexcept : high_(high), low_(low) {}

  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

// The text form for configuration, JSON and parameters.
template <>
struct TextForm<IpAddress> {
  // The expected input, for an error message.
  static constexpr Bytes expected = "an address such as 192.0.2.1 or 2001:db8::1";
  // As IpAddress::read().
  static std::optional<IpAddress> parse(Bytes text) noexcept { return IpAddress::read(text); }
  // As IpAddress::to_text().
  static ShortText<IpAddress::text_bytes_max> write(const IpAddress& address) noexcept {
    return address.to_text();
  }
};

namespace detail {

// Writes the text of bytes in network order, and returns its end. REQUIRES room for the text and
// four bytes more.
char* write_v4(char* at, const std::uint8_t* octets) noexcept;
char* write_v6(char* at, const std::uint8_t* octets) noexcept;

}  // namespace detail

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
