// HttpOptions: options of an HTTP server, for all versions of HTTP.
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

// Every reply has the name, and its head must fit into one output block.
inline constexpr std::size_t server_name_bytes_max = 128;

// Options of HTTP/2, in addition to those for every version.
struct Http2Options {
  bool enabled = true;        // by prior knowledge (RFC 9113 §3.3) on the port of HTTP/1.1
  http2::Limits limits = {};  // streams, frames, windows and header lists
  // Streams may become WebSocket connections (RFC 8441); SETTINGS then say so.
  bool websocket = true;
  // The limit of collected bodies and incomplete messages of one connection together. Beyond it,
  // only one stream at a time may send more.
  std::size_t content_held_bytes_max = 4 * 1024 * 1024;
  // The limit of reply bytes of one connection that wait for closed windows. Beyond it no handler
  // is called for further requests, and streams write only as much as their windows take.
  std::size_t held_bytes_max = 1024 * 1024;
  // A stream with a reply that waits for its window this long is reset. Each byte that the client
  // takes adds time at the rate http1::Limits::rate_min_bytes_per_s.
  Duration stall_timeout = seconds(30);
};

struct HttpOptions {
  // The limits of time and rate apply to HTTP/2, too: content_timeout, rate_min_bytes_per_s.
  http1::Limits limits = {};
  Http2Options http2 = {};
  http1::Kernels kernels = http1::best_kernels();
  std::string server_name = "katana";  // Server field, at most server_name_bytes_max; empty: none
  // Strict-Transport-Security field (RFC 6797), for a server that is reached by TLS only; at most
  // server_name_bytes_max; empty: none.
  std::string strict_transport_security = {};
  std::uint32_t requests_per_connection_max = 0;  // the last closes it; 0: no limit
  // A handler that has not answered after this time is cancelled: 503.
  Duration handler_timeout = seconds(30);
  // The grace period for a client that ended its side while a handler is pending. It gets a reply
  // that is ready within this time, because it may have closed only its sending side. After that
  // the handler is cancelled.
  Duration half_close_grace = seconds(1);
  // The time in which an idle connection may still begin a request during a drain.
  Duration drain_idle = milliseconds(250);
  // For connections that become WebSocket ones.
  WebSocketOptions websocket = {};
  // Trusted proxies: their statements about the client, in the headers that `forwarded` and
  // `forwarded_parts` name, are believed (http/session/client.hpp). Empty: none is. Name only
  // headers that the proxies overwrite; a proxy passes any other header of its clients on.
  std::vector<Network> trusted_proxies = {};
  http::ForwardedFields forwarded = http::ForwardedFields::none;
  std::vector<http::ForwardedPart> forwarded_parts = {http::ForwardedPart::client,
                                                      http::ForwardedPart::proto};
  unsigned forwarded_hops_max = http::ForwardedRules().hops_max;
  // Gets every exchange; null: none. Borrowed; must outlive the protocol.
  ExchangeObserver* observer = nullptr;
  // Gets every failure of a handler, with its cause; null: none. Borrowed, likewise.
  FailureObserver* failures = nullptr;
};

// Null: no proxy is trusted.
std::shared_ptr<const ProxyTrust> trust_of(const HttpOptions& options);

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
