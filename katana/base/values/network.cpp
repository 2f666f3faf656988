#include "katana/base/values/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace katana {
namespace {

constexpr Bytes local_name = "unix";

unsigned bits_max(const IpAddress& address) noexcept { return address.is_v4() ? 32 : 128; }

}  // namespace

Network::Network(const IpAddress& address, unsigned bits) noexcept
    : first_(address.masked(bits)),
      bits_(static_cast<std::uint8_t>(std::min(bits, bits_max(address)))) {}

Result<Network> Network::parse(Bytes text) {
  if (text == local_name) return local();
  const std::size_t slash = text.find('/');
  const auto address = IpAddress::parse(text.substr(0, slash));
  if (!address) return std::unexpected(address.error().within(fmt::format("network '{}'", text)));
  if (slash == Bytes::npos) return Network(*address, bits_max(*address));
  // ::ffff:10.0.0.0/104 is 10.0.0.0/8.
  const bool is_embedded = address->is_v4() && text.find(':') != Bytes::npos;
  const unsigned skipped = is_embedded ? 96 : 0;
  const Bytes digits = text.substr(slash + 1);
  unsigned bits = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  const bool is_number = read.ec == std::errc() && read.ptr == digits.data() + digits.size() &&
                         (digits.size() == 1 || digits.front() != '0');
  if (!is_number || bits < skipped || bits - skipped > bits_max(*address)) {
    return fail(Code::invalid_argument,
                fmt::format("network '{}': the length of the prefix has to be {} to {}", text,
                            skipped, skipped + bits_max(*address)));
  }
  const Network network(*address, bits - skipped);
  if (network.first() != *address) {
    return fail(Code::invalid_argument,
                fmt::format("network '{}' has bits behind its prefix: write {}", text,
                            Bytes(network.to_text())));
  }
  return network;
}

IpAddress Network::last() const noexcept {
  const unsigned bits = first_.is_v4() ? 96U + bits_ : bits_;
  const auto rest = [](unsigned kept) noexcept -> std::uint64_t {
    return kept == 64 ? 0 : ~std::uint64_t{0} >> kept;
  };
  return IpAddress::of_words(first_.high() | rest(std::min(bits, 64U)),
                             first_.low() | rest(bits > 64 ? bits - 64 : 0));
}

bool Network::contains(const IpAddress& address) const noexcept {
  return !is_local_ && address.is_v4() == first_.is_v4() && first_ <= address && address <= last();
}

ShortText<Network::text_bytes_max> Network::to_text() const noexcept {
  if (is_local_) return ShortText<text_bytes_max>(local_name);
  ShortText<text_bytes_max> text(first_.to_text());
  if (bits_ == bits_max(first_)) return text;
  char digits[3];
  const char* const end = std::to_chars(digits, digits + sizeof digits, unsigned{bits_}).ptr;
  text.push_back('/');
  text.append({digits, static_cast<std::size_t>(end - digits)});
  return text;
}

NetworkSet::NetworkSet(std::span<const Network> networks) {
  // The addresses of IPv4 lie within those of IPv6 (::ffff:0:0/96). A network of IPv6 around them
  // must not contain them, and therefore becomes two ranges.
  constexpr IpAddress v4_first = IpAddress::v4(0);
  constexpr IpAddress v4_last = IpAddress::v4(0xffff'ffff);
  for (const Network& each : networks) {
    if (each.is_local()) {
      has_local_ = true;
    } else if (each.first().is_v4() || each.last() < v4_first || v4_last < each.first()) {
      ranges_.push_back({each.first(), each.last()});
    } else {
      ranges_.push_back({each.first(), IpAddress::of_words(0, v4_first.low() - 1)});
      ranges_.push_back({IpAddress::of_words(0, v4_last.low() + 1), each.last()});
    }
  }
  std::ranges::sort(ranges_, {}, &Range::first);
  std::vector<Range> disjoint;
  for (const Range& each : ranges_) {
    if (disjoint.empty() || disjoint.back().last < each.first) {
      disjoint.push_back(each);
    } else {
      disjoint.back().last = std::max(disjoint.back().last, each.last);
    }
  }
  ranges_ = std::move(disjoint);
}

bool NetworkSet::contains(const IpAddress& address) const noexcept {
  const auto behind = std::ranges::upper_bound(ranges_, address, {}, &Range::first);
  return behind != ranges_.begin() && address <= std::prev(behind)->last;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
