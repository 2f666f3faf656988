#include "katana/stores/bus/nats/options.hpp"

#include <fmt/format.h>

#include <utility>

namespace katana::bus {
namespace {

std::unexpected<Error> bad(Bytes part, Bytes what) {
  return fail(Code::invalid_argument,
              fmt::format("'{}' {}; write nats://host:port,host:port", part, what));
}

}  // namespace

// Secrets do not belong into a URL, which is shown and logged: those of an account have files.
Result<void> parse_nats_url(Bytes url, NatsOptions& options) {
  if (url.ends_with(',')) return bad(url, "ends with a comma");
  bool is_first = true;
  std::optional<bool> is_secure;
  for (Bytes rest = url; is_first || !rest.empty();) {
    const std::size_t end = rest.find(',');
    Bytes part = rest.substr(0, end);
    rest = end == Bytes::npos ? Bytes() : rest.substr(end + 1);
    const std::size_t scheme = part.find("://");
    if (scheme != Bytes::npos) {
      const Bytes name = part.substr(0, scheme);
      if (name != "nats" && name != "tls") return bad(part, "is no URL of a NATS server");
      if (is_secure && *is_secure != (name == "tls")) {
        return bad(part, "asks for TLS, or for none, and another server does not");
      }
      is_secure = name == "tls";
      part.remove_prefix(scheme + 3);
    } else if (is_first) {
      return bad(part, "is no URL of a NATS server");
    }
    if (part.find('@') != Bytes::npos) {
      return bad("nats://…@…",
                 "has a password or a token, which belongs into a file: "
                 "bus.password_file, bus.token_file, bus.nkey_file, bus.creds_file");
    }
    if (part.ends_with('/')) part.remove_suffix(1);
    auto server = upstream::parse_server(part, nats_port);
    if (!server) return std::unexpected(server.error().within("bus.url"));
    options.servers.push_back(*std::move(server));
    is_first = false;
    if (end == Bytes::npos) break;
  }
  if (is_secure.value_or(false) && !options.tls) options.tls.emplace();
  return {};
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
