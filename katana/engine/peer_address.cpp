// The text of an address. It stands in the record of every request, so it is made without
// inet_ntop(), which goes through the formats of printf.
#include <algorithm>
#include <charconv>
#include <cstring>

#include "katana/engine/engine.hpp"

namespace katana::engine {
namespace {

// The digits of an octet and how many there are, so that one copy of four octets writes any.
struct Decimal {
  std::array<char, 3> digits{};
  char size = 0;
};
static_assert(sizeof(Decimal) == 4);

constexpr std::array<Decimal, 256> decimals = [] {
  std::array<Decimal, 256> all;
  for (unsigned number = 0; number < all.size(); ++number) {
    Decimal& each = all[number];
    const auto add = [&each](unsigned digit) {
      each.digits[static_cast<std::size_t>(each.size++)] = static_cast<char>('0' + digit);
    };
    if (number >= 100) add(number / 100);
    if (number >= 10) add(number / 10 % 10);
    add(number % 10);
  }
  return all;
}();

// REQUIRES room for four octets beyond what is written.
char* put_v4(char* at, const std::uint8_t* octets) noexcept {
  for (int index = 0; index < 4; ++index) {
    if (index > 0) *at++ = '.';
    const Decimal& decimal = decimals[octets[index]];
    std::memcpy(at, &decimal, sizeof decimal);
    at += decimal.size;
  }
  return at;
}

struct Run {
  int begin = 0;
  int size = 0;
};

using Groups = std::array<unsigned, 8>;

// What "::" stands for: the longest run of zeros, the first of several, never a single one
// (RFC 5952 §4.2).
Run zeros_of(const Groups& groups) noexcept {
  Run longest, run;
  for (int index = 0; index < 8; ++index) {
    run = groups[static_cast<std::size_t>(index)] == 0 ? Run{run.begin, run.size + 1}
                                                       : Run{index + 1, 0};
    if (run.size > longest.size) longest = run;
  }
  return longest.size > 1 ? longest : Run{8, 0};
}

char* put_v6(char* at, const std::uint8_t* octets) noexcept {
  Groups groups;
  for (std::size_t index = 0; index < groups.size(); ++index) {
    groups[index] = unsigned{octets[2 * index]} << 8 | octets[2 * index + 1];
  }
  const Run zeros = zeros_of(groups);
  // An address of IPv4 in one of IPv6 (RFC 4291 §2.5.5).
  const bool embeds_v4 =
      zeros.begin == 0 && (zeros.size == 6 || (zeros.size == 5 && groups[5] == 0xffff));
  for (int index = 0; index < 8; ++index) {
    if (index == zeros.begin) {
      *at++ = ':';
      index += zeros.size;
      if (index == 8) *at++ = ':';
    }
    if (index == 8) break;
    if (index > 0) *at++ = ':';
    if (index == 6 && embeds_v4) return put_v4(at, octets + 12);
    at = std::to_chars(at, at + 4, groups[static_cast<std::size_t>(index)], 16).ptr;
  }
  return at;
}

}  // namespace

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
    at = put_v4(at, address.data());
  } else {
    *at++ = '[';
    at = put_v6(at, address.data());
    *at++ = ']';
  }
  *at++ = ':';
  at = std::to_chars(at, at + 5, port).ptr;
  peer.size = static_cast<std::uint8_t>(at - peer.text.data());
  return peer;
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
