#include "katana/stores/database/postgres/socket_address.hpp"

#include <netdb.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "katana/net/engine/sockets.hpp"

namespace katana::database::postgres {

std::optional<SocketAddress> unix_address(const std::string& path) noexcept {
  sockaddr_un local{};
  if (path.size() >= sizeof local.sun_path) return std::nullopt;
  local.sun_family = AF_UNIX;
  path.copy(local.sun_path, path.size());
  SocketAddress made{.size = sizeof local};
  if (path.starts_with('@')) {
    // The name of an abstract socket begins with a zero byte. Each byte up to the size is its name.
    local.sun_path[0] = '\0';
    made.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  }
  std::memcpy(&made.storage, &local, sizeof local);
  return made;
}

std::optional<SocketAddress> zoned_address(const std::string& address,
                                           std::uint16_t port) noexcept {
  addrinfo hints{};
  hints.ai_family = AF_INET6;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string service = std::to_string(port);
  if (getaddrinfo(address.c_str(), service.c_str(), &hints, &found) != 0) return std::nullopt;
  SocketAddress made{.size = found->ai_addrlen};
  std::memcpy(&made.storage, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  return made;
}

katana::Result<int> connect_to(const std::optional<SocketAddress>& address,
                               const std::string& name) {
  if (!address) {
    return katana::fail(Code::invalid_argument,
                        fmt::format("connect to {}: it is no address of a socket", name));
  }
  const int family = address->storage.ss_family;
  const int socket = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket >= 0) {
    if (family != AF_UNIX) engine::set_stream_options(socket);
    const auto* const to = reinterpret_cast<const sockaddr*>(&address->storage);
    if (::connect(socket, to, address->size) == 0 || errno == EINPROGRESS) return socket;
  }
  const std::string action = "connect to " + name;
  const katana::Error why = engine::system_error(action.c_str(), errno);
  if (socket >= 0) ::close(socket);
  return std::unexpected(why);
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
