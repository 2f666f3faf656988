#include "katana/stores/database/postgres/targets.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

namespace katana::database::postgres {

bool needs_no_look_up(const std::string& name) noexcept {
  std::array<unsigned char, 16> address;
  return name.starts_with('/') || name.starts_with('@') ||
         inet_pton(AF_INET, name.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), address.data()) == 1;
}

std::vector<Target> unresolved_targets(const Options& options) {
  std::vector<Target> targets;
  for (const Host& host : options.hosts) {
    const bool is_socket = host.name.starts_with('/') || host.name.starts_with('@');
    targets.push_back({host.name, host.port, is_socket ? "" : host.name});
  }
  return targets;
}

katana::Result<std::vector<Target>> targets_of(const Host& host) {
  std::vector<Target> targets;
  if (!host.address.empty()) {
    targets.push_back({host.name, host.port, host.address});
    return targets;
  }
  if (needs_no_look_up(host.name)) {
    const bool is_socket = host.name.starts_with('/') || host.name.starts_with('@');
    targets.push_back({host.name, host.port, is_socket ? "" : host.name});
    return targets;
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.name.c_str(), nullptr, &hints, &found);
  if (code != 0) {
    return katana::fail(Code::unavailable, fmt::format("cannot resolve the database host '{}': {}",
                                                       host.name, gai_strerror(code)));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, &freeaddrinfo);
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    std::array<char, 64> text{};
    if (getnameinfo(each->ai_addr, each->ai_addrlen, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) == 0) {
      targets.push_back({host.name, host.port, text.data()});
    }
  }
  return targets;
}

katana::Result<std::vector<Target>> targets_of(const Options& options) {
  std::vector<Target> targets;
  katana::Result<std::vector<Target>> last;
  for (const Host& host : options.hosts) {
    last = targets_of(host);
    if (last) std::ranges::move(*last, std::back_inserter(targets));
  }
  if (!targets.empty()) return targets;
  if (!last) return std::unexpected(last.error());
  return katana::fail(Code::unavailable, "the database host has no address");
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
