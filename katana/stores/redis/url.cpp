#include <fmt/format.h>

#include <charconv>

#include "katana/stores/redis/options.hpp"

namespace katana::redis {
namespace {

constexpr std::uint32_t databases_max = 1'000'000;

// Makes an Error that shows no text between the scheme and '@': it may have a password.
std::unexpected<katana::Error> wrong(Bytes url, const std::string& what) {
  const std::size_t at = url.rfind('@');
  const std::string shown =
      at == Bytes::npos ? std::string(url.substr(0, 200)) : fmt::format("…{}", url.substr(at, 200));
  return katana::fail(Code::invalid_argument,
                      fmt::format("Redis URL {:?} {}; expected redis://user@host:port/0, "
                                  "rediss://… or unix:/path?db=0",
                                  shown, what));
}

bool parse_database(Bytes text, std::uint32_t& database) noexcept {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), database);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() &&
         database < databases_max;
}

katana::Result<Options> parse_path(Bytes url, Bytes path) {
  Options options;
  if (const std::size_t query = path.find('?'); query != Bytes::npos) {
    const Bytes asked = path.substr(query + 1);
    if (!asked.starts_with("db=") || !parse_database(asked.substr(3), options.database)) {
      return wrong(url, "has something else than ?db=NUMBER behind its path");
    }
    path = path.substr(0, query);
  }
  if (path.starts_with("//")) path.remove_prefix(2);
  if (!path.starts_with('/')) return wrong(url, "has no absolute path");
  options.upstream.servers = {{.host = std::string(path)}};
  return options;
}

katana::Result<void> add_servers(Bytes url, Bytes hosts, Options& options) {
  while (true) {
    const std::size_t comma = hosts.find(',');
    auto server = upstream::parse_server(hosts.substr(0, comma), default_port);
    if (!server || server->is_path()) return wrong(url, "has no valid host and port");
    options.upstream.servers.push_back(*std::move(server));
    if (comma == Bytes::npos) return {};
    hosts.remove_prefix(comma + 1);
  }
}

}  // namespace

katana::Result<Options> parse_url(Bytes url) {
  Bytes rest = url;
  if (rest.starts_with("unix:")) return parse_path(url, rest.substr(5));
  Options options;
  if (rest.starts_with("rediss://")) {
    options.upstream.tls.emplace();
    rest.remove_prefix(9);
  } else if (rest.starts_with("redis://")) {
    rest.remove_prefix(8);
  } else {
    return wrong(url, "has another scheme");
  }
  if (const std::size_t at = rest.rfind('@'); at != Bytes::npos) {
    const Bytes user = rest.substr(0, at);
    if (user.find(':') != Bytes::npos) {
      return wrong(url, "has a password: name a file with it (redis.password_file)");
    }
    options.user = std::string(user);
    rest.remove_prefix(at + 1);
  }
  if (const std::size_t slash = rest.find('/'); slash != Bytes::npos) {
    const Bytes database = rest.substr(slash + 1);
    if (!database.empty() && !parse_database(database, options.database)) {
      return wrong(url, "has no number of a database behind its '/'");
    }
    rest = rest.substr(0, slash);
  }
  if (auto added = add_servers(url, rest, options); !added) return std::unexpected(added.error());
  return options;
}

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
