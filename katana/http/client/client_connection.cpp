#include "katana/http/client/client_connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <system_error>

#include "katana/base/system/check.hpp"
#include "katana/net/reactor/opening_session.hpp"

namespace katana::client {

// The session in the net::Connection's memory.
class ClientConnection::Session final : public net::Session {
 public:
  Session(ClientConnection& owner, net::Connection& connection) noexcept
      : owner_(owner), connection_(connection) {}
  ~Session() override { owner_.on_closed(connection_); }
  std::size_t on_bytes(Bytes input) noexcept override { return owner_.driver_->on_bytes(input); }
  void on_input_end() noexcept override { owner_.driver_->on_input_end(); }
  void on_writable() noexcept override { owner_.driver_->on_writable(); }
  // The protocol's deadline. ClientConnection has its own timer, because it outlives the session.
  void on_deadline() noexcept override { owner_.driver_->on_deadline(); }
  void on_drain() noexcept override { owner_.retire(); }
  Bytes protocol_name() const noexcept override { return "http client"; }

 private:
  ClientConnection& owner_;
  net::Connection& connection_;
};

ClientConnection::ClientConnection(ReactorContext& context, OriginState& origin,
                                   ConnectionEvents& events, DriverFactory make_driver) noexcept
    : TimerEntry(&ClientConnection::on_timer),
      context_(context),
      origin_(origin),
      events_(events),
      make_driver_(make_driver) {}

ClientConnection::~ClientConnection() { KATANA_CHECK(connection_ == nullptr); }

Result<void> ClientConnection::connect(const std::string& address, std::uint16_t port) {
  const Origin& origin = origin_.origin;
  address_ = address;
  if (origin_.tls) {
    transforms_.emplace(context_.tls(), origin.host);
    if (origin_.proxy != nullptr) {
      transforms_->set_prelude(tunnel_.emplace(*origin_.proxy, origin, context_.head_memo(),
                                               context_.options().head_bytes_max));
    }
    transforms_->resume(origin_.sessions, context_.reactor().now());
  }
  const engine::ConnectOptions to{.address = address, .port = port};
  stage_ = Stage::connecting;
  auto connection = context_.reactor().connect(to, *this, transforms_ ? &*transforms_ : nullptr);
  if (!connection) {
    stage_ = Stage::closed;
    return std::unexpected(connection.error());
  }
  connection_ = *connection;
  context_.reactor().timers().arm(*this,
                                  context_.reactor().now() + context_.options().connect_timeout);
  return {};
}

std::size_t ClientConnection::session_bytes() const noexcept {
  return std::max(sizeof(Session), sizeof(net::OpeningSession));
}

net::Session* ClientConnection::open(void* memory, net::Connection& connection) noexcept {
  driver_ = make_driver_(uses_http2(connection) ? HttpVersion::http_2 : HttpVersion::http_1_1,
                         {connection, context_, origin_, *this});
  // Without TLS the session opens before the server has answered; the connect timer keeps running.
  if (transforms_) {
    stage_ = Stage::open;
    ++context_.counters().handshakes;
    if (transforms_->resumed()) ++context_.counters().handshakes_resumed;
    on_idle();
  }
  return new (memory) Session(*this, connection);
}

bool ClientConnection::uses_http2(const net::Connection& connection) const noexcept {
  if (transforms_) return connection.application_protocol() == "h2";
  return context_.options().http2 == Http2::prior_knowledge && origin_.proxy == nullptr;
}

void ClientConnection::begin(Call& call) noexcept {
  if (answered()) cancel();
  driver_->begin(call);
}

void ClientConnection::on_idle() noexcept {
  stage_ = Stage::open;
  context_.reactor().timers().arm(*this,
                                  context_.reactor().now() + context_.options().idle_timeout);
  events_.on_idle();
}

void ClientConnection::retire() noexcept {
  driver_->retire();
  if (!idle() || connection_ == nullptr || connection_->finishing()) return;
  driver_->announce_close();
  connection_->finish(net::Finish::close);
  connection_->wake();
}

bool ClientConnection::answered() const noexcept {
  return connection_ != nullptr && connection_->counters().bytes_sent > 0;
}

void ClientConnection::on_timer(TimerEntry& entry) noexcept {
  auto& self = static_cast<ClientConnection&>(entry);
  if (self.stage_ == Stage::open) {
    self.retire();
  } else if (!self.answered() || self.stage_ == Stage::tls) {
    self.time_out();
  } else if (self.transforms_) {
    self.stage_ = Stage::tls;
    self.context_.reactor().timers().arm(
        self, self.context_.reactor().now() + self.context_.options().tls_timeout);
  } else if (self.idle()) {  // its call was cancelled before it was sent
    self.retire();
  }
}

void ClientConnection::time_out() noexcept {
  timed_out_ = true;
  if (stage_ == Stage::tls) connection_->transform()->cut(net::TransformCut::timed_out);
  connection_->reset();
  connection_->wake();
}

Error ClientConnection::why(const net::Connection& connection) const {
  if (tunnel_ && !tunnel_->done() && answered()) return tunnel_->error(timed_out_);
  const std::string tls_problem = transforms_ ? transforms_->problem() : std::string();
  if (!tls_problem.empty()) {
    return Error(timed_out_ ? Code::deadline_exceeded : Code::permission_denied, tls_problem);
  }
  const auto to = fmt::format("{}{} (address {})", origin_.proxy != nullptr ? "proxy " : "",
                              origin_.peer().text(), address_);
  if (timed_out_) {
    return Error(Code::deadline_exceeded,
                 fmt::format("connect to {}: deadline exceeded after {} ms (connect_timeout)", to,
                             context_.options().connect_timeout.count_ms()));
  }
  const int failure = connection.failure();
  const std::string reason =
      failure != 0 ? std::generic_category().message(failure) : "the server closed the connection";
  return Error(Code::unavailable, answered()
                                      ? fmt::format("the connection to {} failed: {}", to, reason)
                                      : fmt::format("connect to {}: {}", to, reason));
}

void ClientConnection::on_closed(net::Connection& connection) noexcept {
  const bool made = driver_ != nullptr && answered();
  const bool by_us = retiring() && idle();  // then the address has not failed
  if (made && !driver_->idle()) driver_->on_lost(why(connection));
  if (!made && !by_us) {
    CallList calls;
    if (driver_ != nullptr) driver_->take_unsent_calls(calls);
    const bool peer_answered = answered();
    const Error error = why(connection);
    stage_ = Stage::closed;
    events_.on_connect_failed(calls, error, peer_answered);
  }
  stage_ = Stage::closed;
  connection_ = nullptr;
  cancel();
  events_.on_change();
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
