// SimSockets: sockets of the simulated network that their owner reads and writes itself.
//
// A socket is the client's end of a SimConnection. A SimEngine watches its number like a descriptor
// of the kernel.
//
// Owns       its sockets, until close(). Those that are left are reset by the destructor.
// Borrows    the network, which must outlive it.
// Thread     the network's.
// Allocates  for each socket.
// Fails      as SocketCalls; calls for a number that is no socket of it fail with EBADF.
// Invariant  numbers are not used again, and no descriptor of the process has one of them.
#pragma once

#include <map>
#include <memory>

#include "katana/net/engine/sim/sim_connection.hpp"
#include "katana/net/engine/sim/sim_network.hpp"
#include "katana/net/engine/socket_calls.hpp"

namespace katana::engine {

class SimSockets final : public SocketCalls {
 public:
  explicit SimSockets(SimNetwork& network, SimAddress address = 0) noexcept
      : network_(network), address_(address) {}
  ~SimSockets();
  SimSockets(const SimSockets&) = delete;
  SimSockets& operator=(const SimSockets&) = delete;

  // As SimKernel::connect().
  Result<int> connect(const ConnectOptions& to) override;
  int take_error(int socket) noexcept override;
  Moved receive(int socket, char* to, std::size_t room) noexcept override;
  Moved send(int socket, std::span<const iovec> parts) noexcept override;
  void close(int socket) noexcept override;

 private:
  // Its owner learns of changes from the engine, which asks in each turn.
  struct Socket final : SimEnd {
    void on_stream(SimConnection&) override {}
    std::shared_ptr<SimConnection> connection;
  };

  SimConnection* find(int socket) const noexcept;
  Readiness readiness_of(int socket) const;

  SimNetwork& network_;
  const SimAddress address_;
  std::map<int, std::unique_ptr<Socket>> sockets_;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
