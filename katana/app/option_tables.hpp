// Option tables: the options of the modules below app, as a configuration needs them. These are the
// words for their enumerations, rules that several settings share, and tables
// (data/config/table.hpp). Only option_tables.cpp, which makes the tables, compiles the
// descriptions (option_descriptions.hpp).
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      as Config does.
#pragma once

#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/data/config/compiled_group.hpp"
#include "katana/http/client/options.hpp"
#include "katana/http/files/file_options.hpp"
#include "katana/http/forms/form_limits.hpp"
#include "katana/http/handlers/decompression.hpp"
#include "katana/http/handlers/route_defaults.hpp"
#include "katana/http/server/engines.hpp"
#include "katana/http/server/listener_options.hpp"
#include "katana/http/server/request_id.hpp"
#include "katana/http/session/http_options.hpp"
#include "katana/net/reactor/client_limits.hpp"
#include "katana/net/tls/client_options.hpp"
#include "katana/net/tls/options.hpp"
#include "katana/observe/log/channel.hpp"
#include "katana/stores/database/durability.hpp"
#include "katana/stores/database/limits.hpp"

namespace katana::app::option_rules {

// The range of a deadline of a client.
inline constexpr auto timeout = rules::range(milliseconds(1), seconds(24 * 3600));
// The same, and 0 turns it off.
inline constexpr auto timeout_or_none = rules::range(Duration{}, seconds(24 * 3600));

}  // namespace katana::app::option_rules

namespace katana::server {

// An engine, or the choice of one; see choose_engine().
KATANA_DESCRIBE_ENUM(EngineName, (epoll_edge, "epoll-edge"), (epoll_level, "epoll-level"), io_uring,
                     (automatic, "auto"))

// The words of http.trust_request_ids.
KATANA_DESCRIBE_ENUM(RequestIdTrust, (automatic, "auto"), never, proxies, always)

// The words of proxy_protocol of a listener.
KATANA_DESCRIBE_ENUM(ProxyProtocol, off, required)

// The words of versions of a listener.
KATANA_DESCRIBE_ENUM(HttpVersions, any, http1, http2)

// The words of http.balance.
KATANA_DESCRIBE_ENUM(Balance, connections, kernel)

}  // namespace katana::server

namespace katana::log {

KATANA_DESCRIBE_ENUM(WhenFull, drop, block)

}  // namespace katana::log

namespace katana::http {

// The words of http.forwarded.
KATANA_DESCRIBE_ENUM(ForwardedFields, none, forwarded, x_forwarded)

// The words of http.forwarded_parts.
KATANA_DESCRIBE_ENUM(ForwardedPart, (client, "for"), proto, host)

}  // namespace katana::http

namespace katana::session {

KATANA_DESCRIBE_ENUM(SlowPeer, disconnect, drop)

}  // namespace katana::session

namespace katana::tls {

KATANA_DESCRIBE_ENUM(Version, (tls_1_2, "1.2"), (tls_1_3, "1.3"))

}  // namespace katana::tls

namespace katana::client {

KATANA_DESCRIBE_ENUM(Http2, never, by_alpn, prior_knowledge)

}  // namespace katana::client

namespace katana::database {

KATANA_DESCRIBE_ENUM(Durability, full, normal)

}  // namespace katana::database

// The described structs among the options.
#define KATANA_APP_OPTION_GROUPS_(EACH)   \
  EACH(katana::server::ListenerOptions)   \
  EACH(katana::net::ClientLimitOptions)   \
  EACH(katana::http1::Limits)             \
  EACH(katana::http2::Limits)             \
  EACH(katana::ws::Limits)                \
  EACH(katana::ws::DeflateOptions)        \
  EACH(katana::session::WebSocketOptions) \
  EACH(katana::session::Http2Options)     \
  EACH(katana::tls::Certificate)          \
  EACH(katana::tls::ClientTlsOptions)     \
  EACH(katana::client::RetryOptions)      \
  EACH(katana::client::BreakerOptions)    \
  EACH(katana::client::ProxyOptions)      \
  EACH(katana::client::HttpClientOptions) \
  EACH(katana::http::MultipartLimits)     \
  EACH(katana::RouteDefaults)             \
  EACH(katana::FormLimits)                \
  EACH(katana::FilesOptions)              \
  EACH(katana::DecompressionOptions)      \
  EACH(katana::database::SqliteLimits)    \
  EACH(katana::database::PostgresLimits)
KATANA_APP_OPTION_GROUPS_(KATANA_CONFIG_DECLARE_GROUP)

// SPDX-License-Identifier: Apache-2.0
