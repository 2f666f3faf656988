// ClientConnection: one connection to an origin, from the first attempt to its end.
//
//   connecting ──(TLS)──▶ open ──▶ idle ⇄ busy ──▶ closed
//
// Owns       its driver, its timer, and the state that opening TLS needs.
// Borrows    context, origin and events; the net::Connection until that is closed.
// Thread     its reactor's.
// Fails      connect() is an Error; afterwards ConnectionEvents::on_connect_failed() is called.
// Invariant  it is closed exactly when its net::Connection is; its owner destroys it then.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "katana/http/client/protocol_driver.hpp"
#include "katana/http/client/proxy.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/timer_wheel.hpp"
#include "katana/net/tls/client_context.hpp"

namespace katana::client {

// Events that a connection reports to its owner.
class ConnectionEvents {
 public:
  // The connection is open, and has no call.
  virtual void on_idle() noexcept = 0;
  // The connection takes more calls than before, or is closed.
  virtual void on_change() noexcept = 0;
  // The connection could not be opened. `calls`, the latest first, have not been sent. `answered`:
  // the server accepted the connection, but TLS failed.
  virtual void on_connect_failed(CallList& calls, const Error& error, bool answered) noexcept = 0;

 protected:
  ~ConnectionEvents() = default;
};

class ClientConnection final : private net::Protocol,
                               private net::TimerEntry,
                               private DriverEvents {
 public:
  ClientConnection(ReactorContext& context, OriginState& origin, ConnectionEvents& events,
                   DriverFactory make_driver) noexcept;
  ~ClientConnection() override;
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  // Begins to connect; `address` is numeric. Called once.
  Result<void> connect(const std::string& address, std::uint16_t port);

  // True as soon as its net::Connection is closed.
  bool closed() const noexcept { return stage_ == Stage::closed; }
  // The connection is not open yet: it takes no call, and opening may still fail.
  bool opening() const noexcept { return driver_ == nullptr && !closed(); }
  // The connection takes no further call, but may still carry some.
  bool ending() const noexcept {
    return retiring() || (driver_ != nullptr && (driver_->ending() || broken()));
  }
  bool idle() const noexcept { return driver_ != nullptr && driver_->idle(); }
  std::uint32_t capacity() const noexcept {
    return driver_ != nullptr && !retiring() && !closed() && !broken() ? driver_->capacity() : 0;
  }
  // REQUIRES capacity() > 0.
  void begin(Call& call) noexcept;
  // Closes the connection now, or when its calls have ended. REQUIRES not opening().
  void retire() noexcept;

 private:
  class Session;
  enum class Stage : std::uint8_t { fresh, connecting, tls, open, closed };

  std::size_t session_bytes() const noexcept override;
  net::Session* open(void* memory, net::Connection& connection) noexcept override;
  void on_not_opened(net::Connection& connection) noexcept override { on_closed(connection); }
  void on_closed(net::Connection& connection) noexcept;
  void on_idle() noexcept override;
  void on_more_capacity() noexcept override { events_.on_change(); }
  bool retiring() const noexcept { return driver_ != nullptr && driver_->retiring(); }
  // The server has acknowledged bytes: the connection is established.
  bool answered() const noexcept;
  // Nothing can be sent any more; the call still reads the bytes that have arrived.
  bool broken() const noexcept { return connection_ != nullptr && connection_->failure() != 0; }
  static void on_timer(TimerEntry& entry) noexcept;
  void time_out() noexcept;
  bool uses_http2(const net::Connection& connection) const noexcept;
  Error why(const net::Connection& connection) const;

  ReactorContext& context_;
  OriginState& origin_;
  ConnectionEvents& events_;
  const DriverFactory make_driver_;
  std::optional<Tunnel> tunnel_;
  std::optional<tls::ClientTransforms> transforms_;
  std::unique_ptr<ProtocolDriver> driver_;
  net::Connection* connection_ = nullptr;
  std::string address_;
  Stage stage_ = Stage::fresh;
  bool timed_out_ = false;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
