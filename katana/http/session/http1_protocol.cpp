#include "katana/http/session/http1_protocol.hpp"

#include <algorithm>
#include <new>
#include <span>

#include "katana/base/system/check.hpp"
#include "katana/http/session/http1_session.hpp"
#include "katana/http/session/websocket_connection.hpp"
#include "katana/wire/http/date.hpp"

namespace katana::session {
namespace {

WebSocketOptions websocket_options(const HttpOptions& options) {
  WebSocketOptions websocket = options.websocket;
  if (options.failures != nullptr) websocket.failures = options.failures;
  return websocket;
}

}  // namespace

Http1Protocol::Shared::Shared(const HttpOptions& options)
    : websockets(websocket_options(options), counters.websocket, options.observer) {}

Http1Protocol::Http1Protocol(const HttpOptions& options, RequestHandler& handler)
    : options_(options),
      trust_(trust_of(options_)),
      handler_(handler),
      context_(options_.limits, options_.kernels),
      own_(std::make_unique<Shared>(options_)),
      counters_(own_->counters),
      websockets_(own_->websockets) {
  write_prefix();
}

Http1Protocol::Http1Protocol(const HttpOptions& options, RequestHandler& handler,
                             Http1Protocol& beside)
    : options_(options),
      trust_(trust_of(options_)),
      handler_(handler),
      context_(options_.limits, options_.kernels),
      counters_(beside.counters_),
      websockets_(beside.websockets_) {
  write_prefix();
}

void Http1Protocol::write_prefix() {
  KATANA_REQUIRE(options_.server_name.size() <= server_name_bytes_max);
  KATANA_REQUIRE(http::valid_field("Server", options_.server_name));
  if (!options_.server_name.empty()) prefix_ = "Server: " + options_.server_name + "\r\n";
  const std::string& transport = options_.strict_transport_security;
  KATANA_REQUIRE(transport.size() <= server_name_bytes_max);
  KATANA_REQUIRE(http::valid_field("Strict-Transport-Security", transport));
  if (!transport.empty()) prefix_ += "Strict-Transport-Security: " + transport + "\r\n";
  prefix_ += "Date: " + std::string(http::date_bytes, ' ') + "\r\n";
  refresh_date(0);
}

std::size_t Http1Protocol::session_bytes() const noexcept {
  return std::max(sizeof(Http1Session), sizeof(WebSocketConnection));
}

net::Session* Http1Protocol::open(void* memory, net::Connection& connection) noexcept {
  // The protocol of ALPN decides; the bytes are not examined (RFC 9113 §3.2).
  if (http2_ != nullptr && connection.application_protocol() == "h2") [[unlikely]] {
    return http2_->open(memory, connection);
  }
  return new (memory) Http1Session(*this, connection);
}

void Http1Protocol::refresh_date(std::int64_t unix_seconds) noexcept {
  char* const date = prefix_.data() + prefix_.size() - 2 - http::date_bytes;
  http::format_date(unix_seconds, std::span<char, http::date_bytes>(date, http::date_bytes));
  context_.head_writer.set_server_and_date(prefix_);
  date_of_ = unix_seconds;
}

std::shared_ptr<const ProxyTrust> trust_of(const HttpOptions& options) {
  http::ForwardedRules rules{.fields = options.forwarded,
                             .hops_max = options.forwarded_hops_max,
                             .parts = {.client = false, .proto = false}};
  for (const http::ForwardedPart part : options.forwarded_parts) rules.parts.add(part);
  return ProxyTrust::make(options.trusted_proxies, rules);
}

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
