#include "katana/http/server/access_log.hpp"

#include "katana/http/session/exchange.hpp"
#include "katana/observe/log/logger.hpp"

namespace katana::server {
namespace {

Bytes name_of(session::ExchangeEnd end) noexcept {
  switch (end) {
    case session::ExchangeEnd::replied: return "replied";
    case session::ExchangeEnd::aborted: return "aborted";
    case session::ExchangeEnd::peer_left: return "peer_left";
  }
  return "unknown";
}

Bytes name_of(session::ExchangeKind kind) noexcept {
  switch (kind) {
    case session::ExchangeKind::request: return "request";
    case session::ExchangeKind::events: return "events";
    case session::ExchangeKind::websocket: return "websocket";
  }
  return "unknown";
}

Bytes or_dash(Bytes text) noexcept { return text.empty() ? Bytes("-") : text; }

log::Level level_of(const session::ExchangeRecord& record) noexcept {
  const bool failed = record.status >= 500 || record.end == session::ExchangeEnd::aborted;
  return failed ? log::Level::warn : log::Level::info;
}

}  // namespace

void AccessLog::on_exchange_end(session::Exchange& exchange,
                                const session::ExchangeRecord& record) noexcept {
  const log::Level level = level_of(record);
  const log::Logger logger = logger_;
  if (!logger.enabled(level)) return;
  const engine::PeerAddress peer = exchange.peer();
  const Bytes address = peer.bytes();
  const Bytes end = name_of(record.end);
  const std::int64_t duration_us = record.duration.ns / 1'000;
  const Bytes route = record.route != nullptr ? Bytes(record.route->pattern) : Bytes();
  Text room;
  const Bytes target = shown_target(record, rules_, room);
  const Bytes kind = name_of(record.kind);
  const auto write = [&](const auto&... more) {
    logger.write(level, "{} {}", or_dash(record.method), or_dash(target),
                 log::field("route", route), log::field("status", record.status),
                 log::field("bytes", record.content_bytes), log::field("duration_us", duration_us),
                 log::field("peer", address), log::field("request", record.request),
                 log::field("end", end), log::field("kind", kind), more...);
  };
  if (record.head == nullptr || !exchange.arrival().from_proxy()) return write();
  const engine::PeerAddress client = exchange.client(*record.head).text();
  const Bytes client_address = client.bytes();
  write(log::field("client", client_address));
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
