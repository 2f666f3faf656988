// Http1Protocol: HTTP/1.1 as a net::Protocol: the state that the sessions of one reactor share.
//
// Owns       the parser's head, the reply prefix with its date, counters.
// Borrows    the RequestHandler, which outlives it.
// Thread     its reactor's; counters() may be read when the reactor has stopped.
// Allocates  at construction.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "katana/base/memory/poison.hpp"
#include "katana/http/session/exchange.hpp"
#include "katana/http/session/http_counters.hpp"
#include "katana/http/session/http_options.hpp"
#include "katana/http/session/websocket_session.hpp"
#include "katana/net/reactor/session.hpp"
#include "katana/wire/http1/machine.hpp"

namespace katana::session {

class Http1Protocol final : public net::Protocol {
 public:
  Http1Protocol(const HttpOptions& options, RequestHandler& handler);
  // For other listeners of the same reactor, with separate options. It uses the counters and the
  // WebSocket sessions of `beside`, which it borrows.
  Http1Protocol(const HttpOptions& options, RequestHandler& handler, Http1Protocol& beside);
  ~Http1Protocol() override { unpoison(&context_.head, sizeof(http::Head)); }

  std::size_t session_bytes() const noexcept override;
  net::Session* open(void* memory, net::Connection& connection) noexcept override;
  std::size_t shared_bytes() const noexcept override {
    return own_ != nullptr ? websockets_.memory_bytes() : 0;
  }
  // The bytes of an HTTP/2 connection, if the protocol can take over.
  std::size_t heap_bytes_each() const noexcept override {
    return http2_ != nullptr ? http2_->heap_bytes_each() : 0;
  }

  HttpCounters& counters() noexcept { return counters_; }  // of all sessions of this reactor
  // Constant while the server runs.
  const HttpOptions& options() const noexcept { return options_; }
  // The proxies that may name the client; null: none.
  const std::shared_ptr<const ProxyTrust>& trust() const noexcept { return trust_; }
  RequestHandler& handler() noexcept { return handler_; }
  http1::Context& context() noexcept { return context_; }
  WebSocketShare& websockets() noexcept { return websockets_; }

  // Sets the protocol that takes over connections with the preface of HTTP/2 (prior knowledge, RFC
  // 9113 §3.3). Null, as at first: such a connection is refused with 505. Borrowed; must outlive
  // this.
  void set_http2(net::Protocol* protocol) noexcept { http2_ = protocol; }
  net::Protocol* http2() noexcept { return http2_; }

  // Sets the Date of replies to `unix_seconds` from now on (RFC 9110 §6.6.1).
  void set_date(std::int64_t unix_seconds) noexcept {
    if (unix_seconds != date_of_) refresh_date(unix_seconds);
  }

 private:
  // State that a protocol shares with others of its reactor.
  struct Shared {
    explicit Shared(const HttpOptions& options);
    HttpCounters counters;
    WebSocketShare websockets;
  };

  void write_prefix();
  void refresh_date(std::int64_t unix_seconds) noexcept;

  HttpOptions options_;
  const std::shared_ptr<const ProxyTrust> trust_;  // null: no proxy is trusted
  RequestHandler& handler_;
  net::Protocol* http2_ = nullptr;
  http1::Context context_;
  const std::unique_ptr<Shared> own_;  // null: another protocol's
  HttpCounters& counters_;
  WebSocketShare& websockets_;
  std::string prefix_;  // "Server: …\r\nDate: …\r\n"
  std::int64_t date_of_ = -1;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
