// Http2Protocol: HTTP/2 as a net::Protocol: the state that the sessions of one reactor share.
//
// Owns       the head of the current request, the prefix of reply heads with its date, counters.
// Borrows    the RequestHandler, and the counters and the WebSocketShare that it shares with
//            HTTP/1.1; all outlive it.
// Thread     its reactor's; counters() may be read when the reactor has stopped.
// Allocates  at construction.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "katana/http/session/exchange.hpp"
#include "katana/http/session/http1_protocol.hpp"
#include "katana/net/reactor/session.hpp"
#include "katana/wire/http2/machine.hpp"

namespace katana::session {

class Http2Protocol final : public net::Protocol {
 public:
  // `counters`: counts requests of all versions of HTTP. Without `websockets` streams cannot become
  // WebSocket connections.
  Http2Protocol(const HttpOptions& options, RequestHandler& handler, HttpCounters& counters,
                WebSocketShare* websockets = nullptr);

  std::size_t session_bytes() const noexcept override;
  net::Session* open(void* memory, net::Connection& connection) noexcept override;
  std::size_t shared_bytes() const noexcept override {
    return websockets_ != nullptr ? websockets_->memory_bytes() : 0;
  }
  // The machine, one table of HPACK for each direction, and an incomplete header block.
  std::size_t heap_bytes_each() const noexcept override {
    return sizeof(http2::Machine) + 2 * hpack_bytes + options_.http2.limits.block_bytes_max;
  }

  // Counts all versions of HTTP on this reactor.
  HttpCounters& http_counters() noexcept { return http_counters_; }
  Http2Counters& counters() noexcept { return http_counters_.http2; }  // of HTTP/2 alone
  // Constant while the server runs.
  const HttpOptions& options() const noexcept { return options_; }
  // The proxies that may name the client; null: none.
  const std::shared_ptr<const ProxyTrust>& trust() const noexcept { return trust_; }
  RequestHandler& handler() noexcept { return handler_; }
  http2::Context& context() noexcept { return *context_; }
  // Null: streams cannot become WebSocket connections.
  WebSocketShare* websockets() noexcept { return websockets_; }

  // Sets the Date of replies to `unix_seconds` from now on (RFC 9110 §6.6.1).
  void set_date(std::int64_t unix_seconds) noexcept {
    if (unix_seconds != date_of_) refresh_date(unix_seconds);
  }

 private:
  // A table of 4 KiB (RFC 7541 §4.1) with the memory that its entries need in addition to their
  // bytes.
  static constexpr std::size_t hpack_bytes = std::size_t{16} * 1024;

  void refresh_date(std::int64_t unix_seconds) noexcept;

  const HttpOptions options_;
  const std::shared_ptr<const ProxyTrust> trust_;  // null: no proxy is trusted
  RequestHandler& handler_;
  HttpCounters& http_counters_;
  WebSocketShare* const websockets_;
  std::unique_ptr<http2::Context> context_;
  std::array<char, 2 * server_name_bytes_max + 64> prefix_;
  std::int64_t date_of_ = -1;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
