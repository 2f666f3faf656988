// The list of servers: host, hostaddr, port.
#include <fmt/format.h>
#include <sys/un.h>

#include <utility>

#include "katana/base/system/propagate.hpp"
#include "katana/base/values/ip_address.hpp"
#include "katana/stores/database/postgres/target/target_parts.hpp"
#include "katana/stores/database/postgres/target/values.hpp"

namespace katana::database::postgres::target {
namespace {

constexpr std::uint16_t usual_port = 5432;
constexpr std::size_t socket_path_bytes_max = sizeof(sockaddr_un::sun_path) - 1;

std::unexpected<katana::Error> wrong_list(std::string what) {
  return katana::fail(Code::invalid_argument, std::move(what));
}

// Each list has one part for each server, or is empty.
struct Lists {
  std::vector<Bytes> hosts = {};
  std::vector<Bytes> addresses = {};
  std::vector<Bytes> ports = {};
  std::size_t count = 1;
};

std::vector<Bytes> list_of(const Settings& settings, Keyword keyword) {
  const Bytes text = settings.text(keyword);
  if (text.empty()) return {};
  return split_list(text);
}

katana::Result<Lists> read_lists(const Settings& settings) {
  Lists lists{.hosts = list_of(settings, Keyword::host),
              .addresses = list_of(settings, Keyword::hostaddr),
              .ports = list_of(settings, Keyword::port)};
  if (!lists.hosts.empty()) lists.count = lists.hosts.size();
  if (!lists.addresses.empty()) lists.count = lists.addresses.size();
  if (!lists.hosts.empty() && lists.hosts.size() != lists.count) {
    return wrong_list(fmt::format("host has {} parts and hostaddr has {}: give as many of both",
                                  lists.hosts.size(), lists.count));
  }
  if (lists.ports.size() > 1 && lists.ports.size() != lists.count) {
    return wrong_list(fmt::format("port has {} parts for {} hosts: give one port, or one for each",
                                  lists.ports.size(), lists.count));
  }
  if (lists.count > servers_max) {
    return wrong_list(
        fmt::format("host has {} parts: at most {} are tried", lists.count, servers_max));
  }
  return lists;
}

bool is_socket(Bytes host) { return host.starts_with('/') || host.starts_with('@'); }

// A numeric address, also with the zone of a local one ("fe80::1%eth0").
bool is_address(Bytes text) {
  const Bytes plain = text.substr(0, text.find('%'));
  const auto address = IpAddress::read(plain);
  return address && (plain.size() == text.size() || !address->is_v4());
}

katana::Result<void> set_port(Server& server, Bytes text) {
  if (text.empty()) return {};
  const auto port = read_integer(text);
  // The text may be a part of a password that has a ':'.
  if (!port || *port < 1 || *port > 65'535) {
    return wrong_list(
        fmt::format("the port of host '{}' is none of 1 to 65535: write HOST:PORT, and "
                    "encode ':', '/' and '@' in a password",
                    server.host));
  }
  server.port = static_cast<std::uint16_t>(*port);
  return {};
}

katana::Result<void> set_place(Server& server, const Sources& sources) {
  const bool has_name = !server.host.empty();
  if (server.address.empty() && !has_name) {
    server.host = sources.socket_folder.empty() ? "localhost" : sources.socket_folder;
  }
  if (!server.address.empty()) {
    if (is_address(server.address)) return {};
    return wrong_list(fmt::format(
        "hostaddr has '{}': it is an address such as 192.0.2.1 or 2001:db8::1", server.address));
  }
  if (is_socket(server.host)) {
    server.socket_path = fmt::format("{}/.s.PGSQL.{}", server.host, server.port);
    if (server.socket_path.size() <= socket_path_bytes_max) return {};
    return wrong_list(
        fmt::format("the path of Unix socket '{}' has {} bytes: at most {} are possible",
                    server.socket_path, server.socket_path.size(), socket_path_bytes_max));
  }
  if (server.host.find('@') == std::string::npos) return {};
  return wrong_list("a host has an '@': write %40 for an '@' in a user or a password");
}

}  // namespace

katana::Result<std::vector<Server>> read_servers(const Settings& settings, const Sources& sources) {
  KATANA_TRY(const Lists lists, read_lists(settings));
  std::vector<Server> servers;
  for (std::size_t index = 0; index < lists.count; ++index) {
    Server server{.port = usual_port};
    if (!lists.hosts.empty()) server.host = lists.hosts[index];
    if (!lists.addresses.empty()) server.address = lists.addresses[index];
    const std::size_t port_index = lists.ports.size() == 1 ? 0 : index;
    if (!lists.ports.empty()) {
      KATANA_TRY_DONE(set_port(server, lists.ports[port_index]));
    }
    KATANA_TRY_DONE(set_place(server, sources));
    servers.push_back(std::move(server));
  }
  return servers;
}

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
