#include "katana/http/session/http2_protocol.hpp"

#include <new>
#include <span>

#include "katana/http/session/http2_session.hpp"
#include "katana/wire/http/date.hpp"

namespace katana::session {

Http2Protocol::Http2Protocol(const HttpOptions& options, RequestHandler& handler,
                             HttpCounters& counters, WebSocketShare* websockets)
    : options_(options),
      trust_(trust_of(options_)),
      handler_(handler),
      http_counters_(counters),
      websockets_(options.http2.websocket ? websockets : nullptr),
      context_(std::make_unique<http2::Context>(options.http2.limits, websockets_ != nullptr)) {
  KATANA_REQUIRE(options_.server_name.size() <= server_name_bytes_max);
  KATANA_REQUIRE(options_.strict_transport_security.size() <= server_name_bytes_max);
  refresh_date(0);
}

std::size_t Http2Protocol::session_bytes() const noexcept { return sizeof(Http2Session); }

net::Session* Http2Protocol::open(void* memory, net::Connection& connection) noexcept {
  ++counters().connections;
  return new (memory) Http2Session(*this, connection);
}

void Http2Protocol::refresh_date(std::int64_t unix_seconds) noexcept {
  std::array<char, http::date_bytes> date;
  http::format_date(unix_seconds, date);
  char* to = prefix_.data();
  if (!options_.server_name.empty()) {
    to = http2::put_field(to, http2::StaticName::server, options_.server_name);
  }
  if (const std::string& transport = options_.strict_transport_security; !transport.empty()) {
    to = http2::put_field(to, http2::StaticName::strict_transport_security, transport);
  }
  to = http2::put_field(to, http2::StaticName::date, {date.data(), date.size()});
  context_->head_writer.set_server_and_date(
      {prefix_.data(), static_cast<std::size_t>(to - prefix_.data())});
  date_of_ = unix_seconds;
}

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
