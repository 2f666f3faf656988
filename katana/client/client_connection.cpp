#include "katana/client/client_connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <system_error>

#include "katana/base/check.hpp"
#include "katana/client/http1_driver.hpp"
#include "katana/client/http2_driver.hpp"
#include "katana/client/origin_pool.hpp"
#include "katana/client/reactor_pool.hpp"
#include "katana/core/opening_session.hpp"

namespace katana::client {

// What stands in the connection's memory.
class ClientConnection::Session final : public core::Session {
 public:
  Session(ClientConnection& owner, core::Connection& connection) noexcept
      : owner_(owner), connection_(connection) {}
  ~Session() override { owner_.on_closed(connection_); }
  std::size_t on_bytes(Bytes input) noexcept override { return owner_.driver_->on_bytes(input); }
  void on_input_end() noexcept override { owner_.driver_->on_input_end(); }
  void on_writable() noexcept override { owner_.driver_->on_writable(); }
  // Of the protocol. The connection has a timer of its own, because it outlives sessions.
  void on_deadline() noexcept override { owner_.driver_->on_deadline(); }
  void on_drain() noexcept override { owner_.on_drain(); }

 private:
  ClientConnection& owner_;
  core::Connection& connection_;
};

ClientConnection::ClientConnection(OriginPool& origin_pool) noexcept
    : TimerEntry(&ClientConnection::on_timer), origin_pool_(origin_pool) {}

ClientConnection::~ClientConnection() { KATANA_CHECK(connection_ == nullptr); }

Result<void> ClientConnection::connect(const std::string& address) {
  ReactorPool& pool = origin_pool_.pool();
  const Origin& origin = origin_pool_.origin();
  address_ = address;
  if (origin.secure) {
    transforms_.emplace(pool.tls(), origin.host);
    transforms_->resume(origin_pool_.sessions(), pool.reactor().now());
  }
  const engine::ConnectOptions to{.address = address, .port = origin.port};
  stage_ = Stage::connecting;
  auto connection = pool.reactor().connect(to, *this, transforms_ ? &*transforms_ : nullptr);
  if (!connection) {
    stage_ = Stage::closed;
    return std::unexpected(connection.error());
  }
  connection_ = *connection;
  pool.reactor().timers().arm(*this, pool.reactor().now() + pool.options().connect_timeout);
  return {};
}

std::size_t ClientConnection::session_bytes() const noexcept {
  return std::max(sizeof(Session), sizeof(core::OpeningSession));
}

core::Session* ClientConnection::open(void* memory, core::Connection& connection) noexcept {
  ReactorPool& pool = origin_pool_.pool();
  if (uses_http2(connection)) {
    driver_ = std::make_unique<Http2Driver>(*this, connection, pool);
  } else {
    driver_ = std::make_unique<Http1Driver>(*this, connection, pool);
    origin_pool_.set_calls_per_connection(1);
  }
  // Without TLS it is open before anybody has answered, and the timer still waits for that.
  if (transforms_) {
    stage_ = Stage::open;
    ++pool.counters().handshakes;
    if (transforms_->resumed()) ++pool.counters().handshakes_resumed;
    on_idle();
  }
  return new (memory) Session(*this, connection);
}

bool ClientConnection::uses_http2(const core::Connection& connection) const noexcept {
  if (transforms_) return connection.application_protocol() == "h2";
  return origin_pool_.pool().options().http2 == Http2::prior_knowledge;
}

void ClientConnection::begin(Call& call) noexcept {
  if (answered()) cancel();
  driver_->begin(call);
}

void ClientConnection::on_idle() noexcept {
  ReactorPool& pool = origin_pool_.pool();
  stage_ = Stage::open;
  origin_pool_.on_connected();
  pool.reactor().timers().arm(*this, pool.reactor().now() + pool.options().idle_timeout);
  pool.run_later(origin_pool_);
}

void ClientConnection::on_more_capacity() noexcept { origin_pool_.pool().run_later(origin_pool_); }

void ClientConnection::cancel_call(Call& call, CancelReason why) noexcept {
  if (!driver_->cancel_call(call, why == CancelReason::deadline)) retiring_ = true;
}

void ClientConnection::retire() noexcept {
  retiring_ = true;
  if (!idle() || connection_ == nullptr || connection_->finishing()) return;
  driver_->announce_close();
  connection_->finish(core::Finish::close);
  connection_->wake();
}

void ClientConnection::on_drain() noexcept { retire(); }

bool ClientConnection::should_close() const noexcept {
  return retiring_ || origin_pool_.pool().reactor().draining();
}

bool ClientConnection::answered() const noexcept {
  return connection_ != nullptr && connection_->counters().bytes_sent > 0;
}

void ClientConnection::on_timer(TimerEntry& entry) noexcept {
  auto& self = static_cast<ClientConnection&>(entry);
  ReactorPool& pool = self.origin_pool_.pool();
  if (self.stage_ == Stage::open) {
    self.retire();
  } else if (!self.answered() || self.stage_ == Stage::tls) {
    self.time_out();
  } else if (self.transforms_) {
    self.stage_ = Stage::tls;
    pool.reactor().timers().arm(self, pool.reactor().now() + pool.options().tls_timeout);
  } else if (self.idle()) {  // what it was begun for was not sent
    self.retire();
  }
}

void ClientConnection::time_out() noexcept {
  timed_out_ = true;
  if (stage_ == Stage::tls) connection_->transform()->cut(core::TransformCut::timed_out);
  connection_->reset();
  connection_->wake();
}

Error ClientConnection::why(const core::Connection& connection) const {
  const std::string tls_problem = transforms_ ? transforms_->problem() : std::string();
  if (!tls_problem.empty()) {
    return Error(timed_out_ ? Code::deadline_exceeded : Code::permission_denied, tls_problem);
  }
  const auto to = fmt::format("{} (address {})", origin_pool_.origin().text(), address_);
  if (timed_out_) {
    return Error(Code::deadline_exceeded,
                 fmt::format("connect to {}: no answer within {} ms", to,
                             origin_pool_.pool().options().connect_timeout.count_ms()));
  }
  const int failure = connection.failure();
  const std::string reason =
      failure != 0 ? std::generic_category().message(failure) : "the server ended the connection";
  return Error(Code::unavailable, answered()
                                      ? fmt::format("the connection to {} broke: {}", to, reason)
                                      : fmt::format("connect to {}: {}", to, reason));
}

void ClientConnection::on_closed(core::Connection& connection) noexcept {
  const bool made = driver_ != nullptr && answered();
  if (made && !driver_->idle()) driver_->on_lost(why(connection));
  if (!made && !retiring_) {
    CallList calls;
    if (driver_ != nullptr) driver_->take_unsent_calls(calls);
    const bool peer_answered = answered();
    const Error error = why(connection);
    stage_ = Stage::closed;
    origin_pool_.on_connect_failed(calls, error, peer_answered);
  }
  stage_ = Stage::closed;
  connection_ = nullptr;
  cancel();
  origin_pool_.pool().run_later(origin_pool_);
}

}  // namespace katana::client
