#include "katana/app/server_options.hpp"

#include <algorithm>

namespace katana::app {

server::HttpServerOptions server_options_of(const ApplicationSettings& settings) {
  const HttpSettings& http = settings.http;
  server::HttpServerOptions options;
  options.address = http.address;
  options.port = http.port;
  options.listeners = http.listeners;
  options.hosts = http.hosts;
  options.proxy_protocol = http.proxy_protocol;
  options.versions = http.versions;
  options.clients = http.clients;
  if (settings.operations.port != 0) {
    options.operations = {settings.operations.address, settings.operations.port};
  }
  options.reactors = http.reactors;
  options.balance = http.balance;
  options.pin = http.pin;
  options.drain_notice = http.drain_notice;
  options.drain_timeout = http.drain_timeout;
  options.http = http;
  options.http.limits.idle_timeout = http.idle_timeout;
  options.http.limits.head_timeout = http.head_timeout;
  options.http.limits.content_timeout = http.content_timeout;
  options.http.websocket.subscriptions_max = http.websocket_subscriptions_max;
  options.backlog = http.backlog;
  net::ReactorOptions& reactor = options.reactor;
  reactor = http;
  reactor.engine.links_max = http.connections_max;
  reactor.engine.receive_bytes_max = http.receive_bytes_max;
  reactor.output_blocks_max =
      std::max<std::size_t>(64, http.output_max / reactor.output_block_bytes);
  reactor.output_blocks_reserve = std::min<std::size_t>(
      http.output_reserve / reactor.output_block_bytes, reactor.output_blocks_max / 2);
  if (http.tls.given()) options.tls = http.tls;
  options.hsts = http.tls.hsts;
  options.certificates_watch = http.tls.watch;
  return options;
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
