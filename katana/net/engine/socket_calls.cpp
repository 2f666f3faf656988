#include "katana/net/engine/socket_calls.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "katana/net/engine/sockets.hpp"

namespace katana::engine {
namespace {

SocketCalls::Moved moved(ssize_t count) noexcept {
  if (count >= 0) return {.bytes = static_cast<std::size_t>(count)};
  const bool goes_on = errno == EWOULDBLOCK || errno == EINTR;
  return {.error = goes_on ? EAGAIN : errno};
}

class KernelSockets final : public SocketCalls {
 public:
  Result<int> connect(const ConnectOptions& to) override { return open_connection(to); }
  int take_error(int socket) noexcept override { return take_socket_error(socket); }
  Moved receive(int socket, char* to, std::size_t room) noexcept override {
    return moved(::recv(socket, to, room, MSG_DONTWAIT));
  }
  Moved send(int socket, std::span<const iovec> parts) noexcept override {
    return moved(send_parts(socket, parts, MSG_DONTWAIT));
  }
  void close(int socket) noexcept override { ::close(socket); }
};

}  // namespace

SocketCalls& kernel_sockets() noexcept {
  static constinit KernelSockets calls;
  return calls;
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
