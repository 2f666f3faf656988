// The log record of every request has the text of an address. This file therefore formats and
// parses it without inet_ntop(), which uses printf formats, and without inet_pton().
#include "katana/base/values/ip_address.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

namespace katana {
namespace {

// The digits of a byte, and their number. One copy of four bytes writes any of them.
struct OctetText {
  std::array<char, 3> digits{};
  char size = 0;
};
static_assert(sizeof(OctetText) == 4);

constexpr std::array<OctetText, 256> decimals = [] {
  std::array<OctetText, 256> all;
  for (unsigned number = 0; number < all.size(); ++number) {
    OctetText& each = all[number];
    const auto add = [&each](unsigned digit) {
      each.digits[static_cast<std::size_t>(each.size++)] = static_cast<char>('0' + digit);
    };
    if (number >= 100) add(number / 100);
    if (number >= 10) add(number / 10 % 10);
    add(number % 10);
  }
  return all;
}();

struct Run {
  int begin = 0;
  int size = 0;
};

using Groups = std::array<unsigned, 8>;

// The groups that "::" replaces: the longest run of zeros, the first of equal ones, and never a
// single group (RFC 5952 §4.2).
Run zeros_of(const Groups& groups) noexcept {
  Run longest, run;
  for (int index = 0; index < 8; ++index) {
    run = groups[static_cast<std::size_t>(index)] == 0 ? Run{run.begin, run.size + 1}
                                                       : Run{index + 1, 0};
    if (run.size > longest.size) longest = run;
  }
  return longest.size > 1 ? longest : Run{8, 0};
}

std::uint64_t word_of(const std::uint8_t* octets) noexcept {
  std::uint64_t word = 0;
  for (int index = 0; index < 8; ++index) word = word << 8 | octets[index];
  return word;
}

// Removes one decimal byte from the front. A leading zero is refused: some read it as octal.
std::optional<std::uint32_t> take_octet(Bytes& text) noexcept {
  std::uint32_t value = 0;
  std::size_t size = 0;
  while (size < text.size() && text[size] >= '0' && text[size] <= '9' && size < 4) {
    value = value * 10 + static_cast<std::uint32_t>(text[size] - '0');
    ++size;
  }
  if (size == 0 || size > 3 || value > 255 || (size > 1 && text[0] == '0')) return std::nullopt;
  text.remove_prefix(size);
  return value;
}

std::optional<std::uint32_t> read_v4(Bytes text) noexcept {
  std::uint32_t word = 0;
  for (int index = 0; index < 4; ++index) {
    if (index > 0) {
      if (!text.starts_with('.')) return std::nullopt;
      text.remove_prefix(1);
    }
    const auto octet = take_octet(text);
    if (!octet) return std::nullopt;
    word = word << 8 | *octet;
  }
  if (!text.empty()) return std::nullopt;
  return word;
}

std::optional<unsigned> digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  const char lower = static_cast<char>(c | 0x20);
  if (lower >= 'a' && lower <= 'f') return static_cast<unsigned>(lower - 'a' + 10);
  return std::nullopt;
}

// Reads eight groups of at most four digits. "::" stands for one or more missing groups. The last
// two groups may be an address of IPv4.
std::optional<Groups> read_groups(Bytes text) noexcept {
  Groups groups{};
  std::size_t count = 0;
  std::optional<std::size_t> gap;
  if (text.starts_with("::")) {
    gap = 0;
    text.remove_prefix(2);
  }
  while (!text.empty()) {
    if (count == groups.size()) return std::nullopt;
    const Bytes word = text.substr(0, text.find(':'));
    if (word.find('.') != Bytes::npos) {
      const auto v4 = read_v4(text);
      if (!v4 || count > groups.size() - 2) return std::nullopt;
      groups[count++] = *v4 >> 16;
      groups[count++] = *v4 & 0xffff;
      break;
    }
    if (word.empty() || word.size() > 4) return std::nullopt;
    unsigned group = 0;
    for (const char c : word) {
      const auto digit = digit_of(c);
      if (!digit) return std::nullopt;
      group = group << 4 | *digit;
    }
    groups[count++] = group;
    text.remove_prefix(word.size());
    if (text.empty()) break;
    text.remove_prefix(1);
    if (text.empty()) return std::nullopt;  // the text ends with one colon
    if (!text.starts_with(':')) continue;
    if (gap) return std::nullopt;
    gap = count;
    text.remove_prefix(1);
  }
  if (gap.has_value() == (count == groups.size())) return std::nullopt;
  if (gap) {
    const auto begin = groups.begin() + static_cast<std::ptrdiff_t>(*gap);
    const auto end = groups.begin() + static_cast<std::ptrdiff_t>(count);
    std::move_backward(begin, end, groups.end());
    std::fill(begin, begin + static_cast<std::ptrdiff_t>(groups.size() - count), 0U);
  }
  return groups;
}

}  // namespace

namespace detail {

char* write_v4(char* at, const std::uint8_t* octets) noexcept {
  for (int index = 0; index < 4; ++index) {
    if (index > 0) *at++ = '.';
    const OctetText& decimal = decimals[octets[index]];
    std::memcpy(at, &decimal, sizeof decimal);
    at += decimal.size;
  }
  return at;
}

char* write_v6(char* at, const std::uint8_t* octets) noexcept {
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
    if (index == 6 && embeds_v4) return write_v4(at, octets + 12);
    at = std::to_chars(at, at + 4, groups[static_cast<std::size_t>(index)], 16).ptr;
  }
  return at;
}

}  // namespace detail

IpAddress IpAddress::v4(std::span<const std::uint8_t, 4> octets) noexcept {
  return v4(std::uint32_t{octets[0]} << 24 | std::uint32_t{octets[1]} << 16 |
            std::uint32_t{octets[2]} << 8 | octets[3]);
}

IpAddress IpAddress::v6(std::span<const std::uint8_t, 16> octets) noexcept {
  return {word_of(octets.data()), word_of(octets.data() + 8)};
}

std::optional<IpAddress> IpAddress::read(Bytes text) noexcept {
  if (text.size() > text_bytes_max) return std::nullopt;
  if (text.find(':') == Bytes::npos) {
    const auto word = read_v4(text);
    if (!word) return std::nullopt;
    return v4(*word);
  }
  const auto groups = read_groups(text);
  if (!groups) return std::nullopt;
  std::uint64_t words[2] = {0, 0};
  for (std::size_t index = 0; index < 8; ++index) {
    words[index / 4] = words[index / 4] << 16 | (*groups)[index];
  }
  return IpAddress(words[0], words[1]);
}

Result<IpAddress> IpAddress::parse(Bytes text) {
  if (const auto address = read(text)) return *address;
  if (text.find('%') != Bytes::npos) {
    return fail(Code::invalid_argument,
                fmt::format("address '{}' has a zone: give it without what follows '%'", text));
  }
  return fail(Code::invalid_argument, fmt::format("'{}' is not an IP address: write it as "
                                                  "192.0.2.1 or 2001:db8::1",
                                                  text));
}

std::array<std::uint8_t, 16> IpAddress::octets() const noexcept {
  std::array<std::uint8_t, 16> octets;
  for (std::size_t index = 0; index < 8; ++index) {
    octets[index] = static_cast<std::uint8_t>(high_ >> (56 - 8 * index));
    octets[index + 8] = static_cast<std::uint8_t>(low_ >> (56 - 8 * index));
  }
  return octets;
}

IpAddress IpAddress::masked(unsigned bits) const noexcept {
  bits = is_v4() ? 96 + std::min(bits, 32U) : std::min(bits, 128U);
  const auto mask = [](unsigned kept) noexcept -> std::uint64_t {
    return kept == 0 ? 0 : ~std::uint64_t{0} << (64 - kept);
  };
  return {high_ & mask(std::min(bits, 64U)), low_ & mask(bits > 64 ? bits - 64 : 0)};
}

ShortText<IpAddress::text_bytes_max> IpAddress::to_text() const noexcept {
  char text[text_bytes_max + 4];
  const auto all = octets();
  const char* const end =
      is_v4() ? detail::write_v4(text, all.data() + 12) : detail::write_v6(text, all.data());
  return ShortText<text_bytes_max>({text, static_cast<std::size_t>(end - text)});
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
