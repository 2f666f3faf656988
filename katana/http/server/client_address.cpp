#include "katana/http/server/client_address.hpp"

#include <array>
#include <charconv>
#include <system_error>

namespace katana::server {
namespace {

constexpr Bytes user_prefix = "unix:uid=";

}  // namespace

std::optional<ClientAddress> ClientAddress::of(const engine::PeerEndpoint& endpoint) noexcept {
  if (endpoint.family == engine::PeerEndpoint::Family::local) {
    return read(endpoint.text().bytes());
  }
  if (const auto ip = endpoint.ip()) return ClientAddress(*ip);
  return std::nullopt;
}

std::optional<ClientAddress> ClientAddress::read(Bytes text) noexcept {
  if (text.starts_with(user_prefix)) {
    text.remove_prefix(user_prefix.size());
    std::uint32_t user = 0;
    const char* const end = text.data() + text.size();
    const auto number = std::from_chars(text.data(), end, user);
    if (number.ec != std::errc() || number.ptr != end) return std::nullopt;
    return ClientAddress(user);
  }
  const bool has_brackets = text.size() > 2 && text.front() == '[' && text.back() == ']';
  if (has_brackets) text = text.substr(1, text.size() - 2);
  if (has_brackets && text.find(':') == Bytes::npos) return std::nullopt;
  if (const auto ip = IpAddress::read(text)) return ClientAddress(*ip);
  return std::nullopt;
}

ShortText<IpAddress::text_bytes_max> ClientAddress::to_text() const noexcept {
  if (!user_) return ip_.to_text();
  std::array<char, 10> digits{};
  const auto number = std::to_chars(digits.data(), digits.data() + digits.size(), *user_);
  ShortText<IpAddress::text_bytes_max> text(user_prefix);
  text.append(Bytes(digits.data(), static_cast<std::size_t>(number.ptr - digits.data())));
  return text;
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
