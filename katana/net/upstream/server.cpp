#include "katana/net/upstream/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace katana::upstream {
namespace {

// RFC 1035 §2.3.4, in text.
constexpr std::size_t host_bytes_max = 253;

std::unexpected<Error> wrong(Bytes text, const char* what) {
  return fail(Code::invalid_argument,
              fmt::format("server {:?} {}; expected host:port, [::1]:port or /path/of/a/socket",
                          text.substr(0, 200), what));
}

bool is_host_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == ':';
}

}  // namespace

std::string Server::text() const {
  if (is_path()) return host;
  const bool is_v6 = host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Result<Server> parse_server(Bytes text, std::uint16_t port_implied) {
  if (text.starts_with('/')) return Server{.host = std::string(text)};
  Bytes host = text;
  Bytes port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == Bytes::npos) return wrong(text, "has no ']'");
    host = text.substr(1, end - 1);
    const Bytes rest = text.substr(end + 1);
    has_port = rest.starts_with(':');
    if (!rest.empty() && !has_port) return wrong(text, "has something behind ']'");
    if (has_port) port = rest.substr(1);
  } else if (const std::size_t colon = text.find(':'); colon != Bytes::npos) {
    if (text.find(':', colon + 1) != Bytes::npos) return wrong(text, "is IPv6 without brackets");
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    has_port = true;
  }
  if (host.empty() || host.size() > host_bytes_max ||
      !std::ranges::all_of(host, is_host_character)) {
    return wrong(text, "has no valid host");
  }
  Server server{.host = std::string(host), .port = port_implied};
  if (has_port) {
    const auto parsed = std::from_chars(port.data(), port.data() + port.size(), server.port);
    if (parsed.ec != std::errc() || parsed.ptr != port.data() + port.size()) server.port = 0;
  }
  if (server.port == 0) return wrong(text, "has no port from 1 to 65535");
  return server;
}

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
