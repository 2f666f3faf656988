#include "katana/net/engine/sim/sim_sockets.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace katana::engine {

SimSockets::~SimSockets() {
  for (const auto& [number, socket] : sockets_) {
    network_.forget_descriptor(number);
    socket->connection->reset(SimSide::peer);
  }
}

SimConnection* SimSockets::find(int socket) const noexcept {
  const auto found = sockets_.find(socket);
  return found == sockets_.end() ? nullptr : found->second->connection.get();
}

Result<int> SimSockets::connect(const ConnectOptions& to) {
  const SimFaults& faults = network_.faults();
  auto made = std::make_unique<Socket>();
  made->connection = std::make_shared<SimConnection>(
      network_, network_.draw(faults.peer_window_bytes), network_.draw(faults.server_window_bytes));
  made->connection->attach(SimSide::peer, made.get());
  network_.note("socket connects", made->connection->number(), to.port);
  made->connection->request(address_, host_of(to.address), to.port);
  const int number = network_.add_descriptor([this](int socket) { return readiness_of(socket); });
  network_.open_descriptor(made->connection->number(), false);
  sockets_.emplace(number, std::move(made));
  return number;
}

Readiness SimSockets::readiness_of(int socket) const {
  const SimConnection* const connection = find(socket);
  if (connection == nullptr) return {};
  if (connection->broken(SimSide::peer)) return {.read = true, .write = true};
  if (!connection->opened()) return {};
  return {.read = connection->arrived(SimSide::peer) > 0 || connection->ended(SimSide::peer),
          .write = connection->room(SimSide::peer) > 0};
}

int SimSockets::take_error(int socket) noexcept {
  const SimConnection* const connection = find(socket);
  if (connection == nullptr) return EBADF;
  if (!connection->broken(SimSide::peer)) return 0;
  return connection->opened() ? ECONNRESET : ECONNREFUSED;
}

SocketCalls::Moved SimSockets::receive(int socket, char* to, std::size_t room) noexcept {
  SimConnection* const connection = find(socket);
  if (connection == nullptr) return {.error = EBADF};
  std::size_t count = std::min(connection->arrived(SimSide::peer), room);
  if (count == 0) {
    if (connection->broken(SimSide::peer)) return {.error = ECONNRESET};
    return {.error = connection->ended(SimSide::peer) ? 0 : EAGAIN};
  }
  if (network_.chance(network_.faults().fragment)) count = network_.random().between(1, count);
  const std::string bytes = connection->take(SimSide::peer, count);
  connection->acknowledge(SimSide::peer, count);
  bytes.copy(to, count);
  network_.note("socket receives", connection->number(), count);
  return {.bytes = count};
}

SocketCalls::Moved SimSockets::send(int socket, std::span<const iovec> parts) noexcept {
  SimConnection* const connection = find(socket);
  if (connection == nullptr) return {.error = EBADF};
  if (connection->broken(SimSide::peer)) return {.error = EPIPE};
  std::size_t room = connection->opened() ? connection->room(SimSide::peer) : 0;
  if (room == 0) return {.error = EAGAIN};
  std::string bytes;
  for (const iovec& part : parts) {
    bytes.append(static_cast<const char*>(part.iov_base), part.iov_len);
  }
  room = std::min(room, bytes.size());
  if (network_.chance(network_.faults().short_send)) room = network_.random().between(1, room);
  bytes.resize(room);
  network_.note("socket sends", connection->number(), bytes.size());
  connection->write(SimSide::peer, bytes);
  return {.bytes = bytes.size()};
}

void SimSockets::close(int socket) noexcept {
  const auto found = sockets_.find(socket);
  if (found == sockets_.end()) return;
  network_.forget_descriptor(socket);
  found->second->connection->close(SimSide::peer);
  sockets_.erase(found);
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
