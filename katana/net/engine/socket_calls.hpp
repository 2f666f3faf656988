// SocketCalls: the calls on a socket that its owner reads and writes itself, and that an engine
// watches. Each network has its own: the kernel's, and the simulated one.
//
//   SocketCalls& calls = kernel_sockets();
//   auto socket = calls.connect({.address = "10.0.0.1", .port = 5432});
//   reactor.watch(*socket, {.write = true}, watcher);   // connected, or failed: take_error()
//   calls.send(*socket, parts);
//   calls.receive(*socket, room, bytes);
//   calls.close(*socket);                               // after unwatch()
//
// Owns       nothing: sockets belong to their callers until close().
// Thread     any for kernel_sockets(); the network's for others.
// Allocates  connect() may.
// Fails      connect() with the address and the reason; later calls with a number of errno.
// Invariant  no call waits for the other side.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>

#include "katana/base/system/result.hpp"
#include "katana/net/engine/endpoints.hpp"

namespace katana::engine {

class SocketCalls {
 public:
  // The outcome of a receive() or send(). No bytes and no error of a receive(): the other side
  // sends no more.
  struct Moved {
    std::size_t bytes = 0;  // that went over
    int error = 0;          // of errno; EAGAIN: try again once the engine reports the socket
  };

  // A socket that has begun to connect. It is ready for output once it is connected, or has failed.
  virtual Result<int> connect(const ConnectOptions& to) = 0;
  // The reason why it failed to connect, or broke, once; 0: none is known.
  virtual int take_error(int socket) noexcept = 0;
  // Takes bytes that have arrived, at most `room`.
  virtual Moved receive(int socket, char* to, std::size_t room) noexcept = 0;
  // Sends the first bytes of the parts, as many as there is room for. REQUIRES at least one byte.
  virtual Moved send(int socket, std::span<const iovec> parts) noexcept = 0;
  // The socket is gone. Bytes that were sent still go out.
  virtual void close(int socket) noexcept = 0;

 protected:
  ~SocketCalls() = default;
};

// The sockets of the machine.
SocketCalls& kernel_sockets() noexcept;

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
