// ClientConnection: one connection to an origin, from the first attempt to its end.
//
//   connecting ──(TLS)──▶ open ──▶ idle ⇄ busy ──▶ gone
//
// Owns       its driver, its timer, and what TLS needs to be opened.
// Borrows    the OriginPool that it belongs to, and its connection until that is gone.
// Thread     its reactor's.
// Fails      connect() is an Error; afterwards OriginPool::on_ended() is told, once.
// Invariant  it is gone exactly when its connection is; whoever has the OriginPool forgets it then.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "katana/client/protocol_driver.hpp"
#include "katana/core/reactor.hpp"
#include "katana/core/timer_wheel.hpp"
#include "katana/tls/client_context.hpp"

namespace katana::client {

class ClientConnection final : private core::Protocol, private core::TimerEntry {
 public:
  explicit ClientConnection(OriginPool& origin_pool) noexcept;
  ~ClientConnection() override;
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  Result<void> connect(const std::string& address);

  bool closed() const noexcept { return stage_ == Stage::closed; }
  // Not open yet, so it takes no call, and may never.
  bool opening() const noexcept { return driver_ == nullptr && !closed(); }
  // It takes no call any more, but has some.
  bool ending() const noexcept { return retiring_ || (driver_ != nullptr && driver_->ending()); }
  bool idle() const noexcept { return driver_ != nullptr && driver_->idle(); }
  std::uint32_t capacity() const noexcept {
    return driver_ != nullptr && !retiring_ && !closed() ? driver_->capacity() : 0;
  }
  // REQUIRES capacity() > 0.
  void begin(Call& call) noexcept;
  // Nobody waits for it any more, or its deadline has come.
  enum class CancelReason : std::uint8_t { caller, deadline };
  void cancel_call(Call& call, CancelReason why) noexcept;
  void on_content_read(Call& call, std::size_t bytes) noexcept {
    driver_->on_content_read(call, bytes);
  }
  // Ends it unless it is busy.
  void retire() noexcept;

  // ---- for the driver
  void on_idle() noexcept;
  // It takes more calls than before.
  void on_more_capacity() noexcept;
  // It is not to be kept once its calls are over.
  bool should_close() const noexcept;
  // The peer has taken something: there is a connection.
  bool answered() const noexcept;
  OriginPool& origin_pool() noexcept { return origin_pool_; }

 private:
  class Session;
  enum class Stage : std::uint8_t { fresh, connecting, tls, open, closed };

  std::size_t session_bytes() const noexcept override;
  core::Session* open(void* memory, core::Connection& connection) noexcept override;
  void on_not_opened(core::Connection& connection) noexcept override { on_closed(connection); }
  void on_closed(core::Connection& connection) noexcept;
  void on_drain() noexcept;
  static void on_timer(TimerEntry& entry) noexcept;
  void time_out() noexcept;
  bool uses_http2(const core::Connection& connection) const noexcept;
  Error why(const core::Connection& connection) const;

  OriginPool& origin_pool_;
  std::optional<tls::ClientTransforms> transforms_;
  std::unique_ptr<ProtocolDriver> driver_;
  core::Connection* connection_ = nullptr;
  std::string address_;
  Stage stage_ = Stage::fresh;
  bool timed_out_ = false;
  bool retiring_ = false;  // by us: it is nobody's failure
};

}  // namespace katana::client
