#include "katana/testing/shared_server.hpp"

#include "katana/net/engine/sim/sim_topology.hpp"

namespace katana::testing {

using engine::SimSide;

// ---- a session

void SharedSession::begin(SharedServer& server, std::shared_ptr<engine::SimConnection> connection) {
  server_ = &server;
  connection_ = std::move(connection);
  connection_->attach(SimSide::server, this);
  server.network().open_descriptor(connection_->number(), true);
  connection_->establish();
  on_begin();
}

void SharedSession::write(Bytes bytes) {
  if (!is_over_) connection_->write(SimSide::server, bytes);
}

void SharedSession::close() {
  if (is_over_) return;
  connection_->close(SimSide::server);
  end();
}

void SharedSession::reset() {
  if (is_over_) return;
  connection_->reset(SimSide::server);
  end();
}

// Its connection may still call: the last reference goes when the server drops it.
void SharedSession::end() {
  is_over_ = true;
  connection_->attach(SimSide::server, nullptr);
  server_->network().close_descriptor(connection_->number(), true);
  on_end();
}

void SharedSession::on_stream(engine::SimConnection& connection) {
  const auto kept = shared_from_this();
  if (is_over_) return;
  read();
  if (is_over_) return;
  if (connection.broken(SimSide::server)) return reset();
  if (connection.ended(SimSide::server)) close();
}

void SharedSession::read() {
  if (server_->hangs_) return;
  const std::size_t count = connection_->arrived(SimSide::server);
  if (count > 0) {
    input_ += connection_->take(SimSide::server, count);
    connection_->acknowledge(SimSide::server, count);
  }
  while (!is_over_ && !input_.empty()) {
    const std::size_t consumed = on_bytes(input_);
    if (consumed == 0) return;
    input_.erase(0, consumed);
  }
}

// ---- the server

SharedServer::SharedServer(TestHost host, std::uint16_t port)
    : host_(std::move(host)), port_(port) {
  network().attach(*this);
}

SharedServer::~SharedServer() {
  reset_sessions();
  network().detach(*this);
}

void SharedServer::on_handshake(const std::shared_ptr<engine::SimConnection>& connection,
                                std::uint16_t) {
  std::erase_if(sessions_, [](const auto& each) { return each->is_over(); });
  sessions_.push_back(make_session());
  sessions_.back()->begin(*this, connection);
}

// No host leaves a listener to it.
void SharedServer::take_over(const std::shared_ptr<engine::SimConnection>& connection,
                             std::uint16_t) {
  connection->reset(SimSide::server);
}

void SharedServer::reset_sessions() {
  for (const auto& session : std::exchange(sessions_, {})) {
    session->reset();
    session->connection_->attach(SimSide::server, nullptr);
  }
}

void SharedServer::go_down() {
  is_down_ = true;
  reset_sessions();
}

void SharedServer::go_on() {
  hangs_ = false;
  const auto sessions = sessions_;
  for (const auto& session : sessions) session->on_stream(*session->connection_);
}

std::int64_t SharedServer::wall_clock_us() const {
  constexpr std::int64_t ns_per_s = 1'000'000'000;
  const Duration skew = network().topology().clock_skew(host_.address);
  return network().wall_clock_s() * 1'000'000 + network().now().ns % ns_per_s / 1'000 +
         skew.ns / 1'000;
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
