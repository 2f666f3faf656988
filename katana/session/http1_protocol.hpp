// Http1Protocol: HTTP/1.1 as a core::Protocol: what the sessions of one reactor share.
//
// Owns       the parser's head, the reply prefix with its date, counters.
// Borrows    the RequestHandler, which outlives it.
// Thread     its reactor's; counters() may be read when the reactor has stopped.
// Allocates  at construction.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "katana/base/poison.hpp"
#include "katana/core/session.hpp"
#include "katana/session/exchange.hpp"
#include "katana/session/exchange_observer.hpp"
#include "katana/session/websocket_session.hpp"
#include "katana/wire/http1/machine.hpp"
#include "katana/wire/http2/failure.hpp"
#include "katana/wire/http2/limits.hpp"

namespace katana::session {

// Every reply carries the name, and its head has to fit one output block.
inline constexpr std::size_t server_name_bytes_max = 128;

// HTTP/2, beyond what holds for every version.
struct Http2Options {
  bool enabled = true;  // by prior knowledge (RFC 9113 §3.3) on the port of HTTP/1.1
  http2::Limits limits = {};
  // Streams may become WebSocket connections (RFC 8441), which SETTINGS then say.
  bool websocket = true;
  // What bodies that are collected, and messages that are not complete, may take of one connection
  // together. Beyond that streams are not told to send more, but for one at a time.
  std::size_t content_held_bytes_max = 4 * 1024 * 1024;
  // What replies of one connection may hold back because windows are closed. Beyond that no
  // handler is called for further requests, and streams write only what their windows take.
  std::size_t held_bytes_max = 1024 * 1024;
  // A stream whose reply waits for its window so long is reset; octets that are taken buy time at
  // http1::Limits::rate_min_bytes_per_s.
  Duration stall_timeout = seconds(30);
};

struct HttpOptions {
  // Those of time and rate hold for HTTP/2 too: content_timeout, rate_min_bytes_per_s.
  http1::Limits limits = {};
  Http2Options http2 = {};
  http1::Kernels kernels = http1::best_kernels();
  std::string server_name = "katana";  // Server field, at most server_name_bytes_max; empty: none
  // Strict-Transport-Security field (RFC 6797), for a server that is reached by TLS only; at most
  // server_name_bytes_max; empty: none.
  std::string strict_transport_security = {};
  std::uint32_t requests_per_connection_max = 0;  // the last closes it; 0: no limit
  // A handler that has not answered by then is cancelled: 503.
  Duration handler_timeout = seconds(30);
  // A peer that ended its side while a handler is pending gets its reply if it is ready by then: it
  // may have closed only its sending side. After that it has left, and the handler is cancelled.
  Duration half_close_grace = seconds(1);
  // When draining, how long an idle connection may still begin a request.
  Duration drain_idle = milliseconds(250);
  // Of the connections that become WebSocket ones.
  WebSocketOptions websocket = {};
  // Is told of every exchange; null: nobody. Borrowed; must outlive the protocol.
  ExchangeObserver* observer = nullptr;
  // Is told of every handler that failed, and why; null: nobody. Borrowed, likewise.
  FailureObserver* failures = nullptr;
};

// What only HTTP/2 has to count.
struct Http2Counters {
  std::uint64_t connections = 0;
  std::uint64_t streams_reset =
      0;  // before their replies were sent, by the peer or for what it did wrong
  std::uint64_t streams_stalled = 0;  // reset because their windows stayed closed
  std::uint64_t requests_held = 0;    // that waited for others to be sent
  std::uint64_t windows_held = 0;     // streams that waited for the content of others
  // Connections that ended by it.
  std::array<std::uint64_t, static_cast<std::size_t>(http2::Failure::count_)> failures{};
};

struct HttpCounters {
  std::uint64_t requests = 0;
  std::uint64_t refused = 0;           // by the protocol: 4xx, 5xx of Refusal
  std::uint64_t handler_failures = 0;  // threw or failed: 500
  std::uint64_t handler_timeouts = 0;
  std::uint64_t handlers_cancelled = 0;  // the peer left
  std::uint64_t memory_refusals = 0;     // given up because memory was scarce: 503
  std::uint64_t replies_aborted = 0;     // begun and not completed: the connection was reset
  WebSocketCounters websocket = {};      // of the connections that became WebSocket ones
  Http2Counters http2 = {};
};

class Http1Protocol final : public core::Protocol {
 public:
  Http1Protocol(const HttpOptions& options, RequestHandler& handler);
  ~Http1Protocol() override { unpoison(&context_.head, sizeof(http::Head)); }

  std::size_t session_bytes() const noexcept override;
  core::Session* open(void* memory, core::Connection& connection) noexcept override;
  std::size_t shared_bytes() const noexcept override { return websockets_.memory_bytes(); }
  // As a connection of HTTP/2 has it, where one can be.
  std::size_t heap_bytes_each() const noexcept override {
    return http2_ != nullptr ? http2_->heap_bytes_each() : 0;
  }

  HttpCounters& counters() noexcept { return counters_; }
  const HttpOptions& options() const noexcept { return options_; }
  RequestHandler& handler() noexcept { return handler_; }
  http1::Context& context() noexcept { return context_; }
  WebSocketShare& websockets() noexcept { return websockets_; }

  // Who takes over a connection that begins with the preface of HTTP/2 (prior knowledge, RFC 9113
  // §3.3). Null, as it is at first: nobody, it is refused with 505. Borrowed; must outlive this.
  void set_http2(core::Protocol* protocol) noexcept { http2_ = protocol; }
  core::Protocol* http2() noexcept { return http2_; }

  // The Date in replies is that of `unix_seconds` from now on (RFC 9110 §6.6.1).
  void set_date(std::int64_t unix_seconds) noexcept {
    if (unix_seconds != date_of_) refresh_date(unix_seconds);
  }

 private:
  void refresh_date(std::int64_t unix_seconds) noexcept;

  HttpOptions options_;
  RequestHandler& handler_;
  core::Protocol* http2_ = nullptr;
  http1::Context context_;
  HttpCounters counters_;
  WebSocketShare websockets_;
  std::string prefix_;  // "Server: …\r\nDate: …\r\n"
  std::int64_t date_of_ = -1;
};

}  // namespace katana::session
