// HttpOptions: what a server of HTTP, in any version, can be told.
//
// Owns       values; borrows the observers.
// Thread     values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/base/values/network.hpp"
#include "katana/http/session/websocket.hpp"
#include "katana/wire/http/forwarded.hpp"
#include "katana/wire/http1/limits.hpp"
#include "katana/wire/http2/limits.hpp"

namespace katana::session {

class ExchangeObserver;
class ProxyTrust;

// Every reply carries the name, and its head has to fit one output block.
inline constexpr std::size_t server_name_bytes_max = 128;

// HTTP/2, beyond what holds for every version.
struct Http2Options {
  bool enabled = true;        // by prior knowledge (RFC 9113 §3.3) on the port of HTTP/1.1
  http2::Limits limits = {};  // streams, frames, windows and header lists
  // Streams may become WebSocket connections (RFC 8441), which SETTINGS then say.
  bool websocket = true;
  // What bodies that are collected, and messages that are not complete, may take of one connection
  // together. Beyond that streams are not told to send more, but for one at a time.
  std::size_t content_held_bytes_max = 4 * 1024 * 1024;
  // What replies of one connection may hold back because windows are closed. Beyond that no
  // handler is called for further requests, and streams write only what their windows take.
  std::size_t held_bytes_max = 1024 * 1024;
  // A stream whose reply waits for its window so long is reset; bytes that are taken buy time at
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
  // A client that ended its side while a handler is pending gets its reply if it is ready by then:
  // it may have closed only its sending side. After that it has left, and the handler is cancelled.
  Duration half_close_grace = seconds(1);
  // When draining, how long an idle connection may still begin a request.
  Duration drain_idle = milliseconds(250);
  // For the connections that become WebSocket ones.
  WebSocketOptions websocket = {};
  // Proxies of ours: what they say of the client, in the headers that `forwarded` and
  // `forwarded_parts` name, is believed (http/session/client.hpp). Empty: none is. Name what the
  // proxies write over what their clients send; a proxy passes any other header on.
  std::vector<Network> trusted_proxies = {};
  http::ForwardedFields forwarded = http::ForwardedFields::none;
  std::vector<http::ForwardedPart> forwarded_parts = {http::ForwardedPart::client,
                                                      http::ForwardedPart::proto};
  unsigned forwarded_hops_max = http::ForwardedRules().hops_max;
  // Is told of every exchange; null: none. Borrowed; must outlive the protocol.
  ExchangeObserver* observer = nullptr;
  // Is told of every handler that failed, and why; null: none. Borrowed, likewise.
  FailureObserver* failures = nullptr;
};

// Null: no proxy is trusted.
std::shared_ptr<const ProxyTrust> trust_of(const HttpOptions& options);

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
