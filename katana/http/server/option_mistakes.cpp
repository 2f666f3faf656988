#include "katana/http/server/option_mistakes.hpp"

#include <fmt/format.h>

#include <map>
#include <string>

#include "katana/base/memory/outbox.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/http/server/listener_options.hpp"
#include "katana/http/server/mistakes.hpp"
#include "katana/http/server/unix_socket.hpp"

namespace katana::server {
namespace {

void check(const net::ReactorOptions& options, Mistakes& mistakes) {
  mistakes.range<std::size_t>("reactor.engine.links_max", options.engine.links_max, 1, 1 << 24);
  mistakes.range<std::size_t>("reactor.engine.receive_bytes_max", options.engine.receive_bytes_max,
                              1, 1 << 30);
  mistakes.range<std::size_t>("reactor.output_block_bytes", options.output_block_bytes,
                              Outbox::block_bytes_min, Outbox::block_bytes_max);
  mistakes.range<std::size_t>("reactor.output_blocks_max", options.output_blocks_max, 1, 1 << 30);
  mistakes.unless(options.output_blocks_reserve <= options.output_blocks_max / 2,
                  "reactor.output_blocks_reserve", fmt::to_string(options.output_blocks_reserve),
                  fmt::format("give at most half of output_blocks_max, which is {}",
                              options.output_blocks_max));
  mistakes.unless(
      options.outbox_low_bytes <= options.outbox_high_bytes, "reactor.outbox_low_bytes",
      fmt::to_string(options.outbox_low_bytes),
      fmt::format("give at most outbox_high_bytes, which is {}", options.outbox_high_bytes));
  mistakes.unless(options.rate_min_bytes_per_s > 0, "reactor.rate_min_bytes_per_s",
                  fmt::to_string(options.rate_min_bytes_per_s), "give 1 or more");
  mistakes.unless(options.openings_per_turn_max > 0, "reactor.openings_per_turn_max", "0",
                  "give 1 or more");
}

void check(const http1::Limits& limits, Mistakes& mistakes) {
  constexpr std::size_t counted_max = UINT16_MAX - 1;
  mistakes.range<std::size_t>("http.limits.head_bytes_max", limits.head_bytes_max, 5,
                              http1::head_bytes_limit);
  mistakes.unless(
      limits.request_line_bytes_max < limits.head_bytes_max &&
          limits.request_line_bytes_max + 4 <= limits.head_bytes_max,
      "http.limits.request_line_bytes_max", fmt::to_string(limits.request_line_bytes_max),
      fmt::format("give at least 4 less than head_bytes_max, which is {}", limits.head_bytes_max));
  mistakes.range<std::size_t>("http.limits.fields_max", limits.fields_max, 1,
                              http::fields_capacity);
  mistakes.range<std::size_t>("http.limits.chunk_line_bytes_max", limits.chunk_line_bytes_max, 0,
                              counted_max);
  mistakes.range<std::size_t>("http.limits.chunk_overhead_bytes_max",
                              limits.chunk_overhead_bytes_max, 0, UINT32_MAX - 1);
  mistakes.range<std::size_t>("http.limits.trailer_bytes_max", limits.trailer_bytes_max, 0,
                              counted_max);
  mistakes.range<std::size_t>("http.limits.trailer_fields_max", limits.trailer_fields_max, 0,
                              counted_max);
  mistakes.range<std::uint64_t>("http.limits.content_bytes_max", limits.content_bytes_max, 0,
                                INT64_MAX);
  mistakes.positive("http.limits.idle_timeout", limits.idle_timeout);
  mistakes.positive("http.limits.head_timeout", limits.head_timeout);
  mistakes.positive("http.limits.content_timeout", limits.content_timeout);
  mistakes.unless(limits.rate_min_bytes_per_s > 0, "http.limits.rate_min_bytes_per_s",
                  fmt::to_string(limits.rate_min_bytes_per_s), "give 1 or more");
}

void check(const http2::Limits& limits, Mistakes& mistakes) {
  constexpr std::uint32_t window_min = http2::default_window_bytes;
  constexpr std::uint32_t window_max = http2::window_bytes_max;
  mistakes.range<std::uint32_t>("http.http2.limits.streams_max", limits.streams_max, 1, UINT32_MAX);
  mistakes.range<std::uint32_t>("http.http2.limits.stream_window_bytes", limits.stream_window_bytes,
                                window_min, window_max);
  mistakes.range<std::uint32_t>("http.http2.limits.connection_window_bytes",
                                limits.connection_window_bytes, window_min, window_max);
  mistakes.range<std::size_t>("http.http2.limits.head_bytes_max", limits.head_bytes_max, 0,
                              http2::head_bytes_limit);
  mistakes.range<std::size_t>("http.http2.limits.fields_max", limits.fields_max, 1,
                              http::fields_capacity);
  mistakes.range<std::uint32_t>("http.http2.limits.idle_frames_max", limits.idle_frames_max, 64,
                                1'000'000);
  mistakes.positive("http.http2.limits.idle_timeout", limits.idle_timeout);
  mistakes.positive("http.http2.limits.head_timeout", limits.head_timeout);
  mistakes.positive("http.http2.limits.settings_timeout", limits.settings_timeout);
  mistakes.unless(http2::are_valid(limits), "http.http2.limits", "more than can be counted",
                  "see http2::are_valid() in katana/wire/http2/limits.hpp for what each may be");
}

// Returns the place of a listener; empty: it cannot be compared with others.
std::string place_of(const std::string& address, std::uint16_t port) {
  if (is_unix(address)) return address;
  return port != 0 ? fmt::format("{}:{}", address, port) : "";
}

void check_unix(const ListenerOptions& listener, const std::string& name, Mistakes& mistakes) {
  const std::string path = unix_path(listener.address);
  mistakes.unless(
      !path.empty() && path.size() <= socket_path_bytes_max && path.find('\0') == std::string::npos,
      name + ".address", fmt::format("a path of {} bytes", path.size()),
      fmt::format("give 1 to {}", socket_path_bytes_max));
  mistakes.unless(listener.port == 0, name + ".port", fmt::to_string(listener.port),
                  "leave it out: a Unix socket has none");
  const auto mode = parse_file_mode(listener.mode);
  if (!mode) {
    mistakes.unless(false, name + ".mode", fmt::format("'{}'", listener.mode),
                    mode.error().message());
  }
  const auto owner = parse_file_owner(listener.owner);
  if (!owner) {
    mistakes.unless(false, name + ".owner", fmt::format("'{}'", listener.owner),
                    owner.error().message());
  }
}

void check_tls(const ListenerOptions& listener, const std::string& name, bool has_certificates,
               bool has_proxies, Mistakes& mistakes) {
  mistakes.unless(!listener.tls || has_certificates, name + ".tls", "true without a certificate",
                  "give http.tls.certificates");
  mistakes.unless(!listener.redirect_to_https || has_certificates || has_proxies,
                  name + ".redirect_to_https", "true, and no listener has TLS",
                  "give http.tls.certificates, or http.trusted_proxies that have TLS");
  mistakes.unless(!listener.redirect_to_https || !listener.tls, name + ".redirect_to_https",
                  "true, and so is tls", "set one of them");
  mistakes.unless(listener.redirect_port == 0 || listener.redirect_to_https,
                  name + ".redirect_port", fmt::to_string(listener.redirect_port),
                  "set redirect_to_https, too");
}

void check_versions(HttpVersions wanted, const std::string& name, bool has_http2,
                    Mistakes& mistakes) {
  mistakes.unless(wanted != HttpVersions::http2 || has_http2, name,
                  "http2, and http.http2.enabled is false", "enable it, or leave this out");
}

void check_proxied(ProxyProtocol wanted, const std::string& name, bool has_proxies,
                   Mistakes& mistakes) {
  mistakes.unless(wanted == ProxyProtocol::off || has_proxies, name,
                  "required, and no proxy is trusted", "give http.trusted_proxies");
}

void check(const net::ClientLimitOptions& clients, Mistakes& mistakes) {
  mistakes.range<unsigned>("clients.v4_bits", clients.v4_bits, 1, 32);
  mistakes.range<unsigned>("clients.v6_bits", clients.v6_bits, 1, 128);
  mistakes.range<std::uint32_t>("clients.clients_max", clients.clients_max, 8, 1 << 24);
  mistakes.range<std::uint32_t>("clients.connections_per_s", clients.connections_per_s, 0,
                                net::clients_counted_max);
  mistakes.range<std::uint32_t>("clients.connections_burst", clients.connections_burst, 1,
                                net::clients_counted_max);
  mistakes.range<std::uint64_t>("clients.received_bytes_per_s", clients.received_bytes_per_s, 0,
                                net::received_bytes_max);
  mistakes.range<std::uint64_t>("clients.received_bytes_burst", clients.received_bytes_burst, 1,
                                net::received_bytes_max);
}

void check_listeners(const HttpServerOptions& options, Mistakes& mistakes) {
  mistakes.unless(options.listeners.size() <= listeners_max, "http.listeners",
                  fmt::format("a list of {}", options.listeners.size()),
                  fmt::format("give at most {}", listeners_max));
  const bool has_proxies = !options.http.trusted_proxies.empty();
  const bool has_http2 = options.http.http2.enabled;
  check_proxied(options.proxy_protocol, "http.proxy_protocol", has_proxies, mistakes);
  check_versions(options.versions, "http.versions", has_http2, mistakes);
  std::map<std::string, std::string> taken;
  if (options.sockets.empty()) taken.emplace(place_of(options.address, options.port), "http.port");
  if (options.operations) {
    taken.emplace(place_of(options.operations->address, options.operations->port),
                  "operations.port");
  }
  for (std::size_t index = 0; index < options.listeners.size(); ++index) {
    const ListenerOptions& each = options.listeners[index];
    const std::string name = fmt::format("http.listeners[{}]", index);
    if (is_unix(each.address)) check_unix(each, name, mistakes);
    check_tls(each, name, options.tls.has_value(), has_proxies, mistakes);
    check_proxied(each.proxy_protocol, name + ".proxy_protocol", has_proxies, mistakes);
    check_versions(each.versions, name + ".versions", has_http2, mistakes);
    const std::string place = place_of(each.address, each.port);
    const auto [other, free] = taken.emplace(place, name);
    mistakes.unless(free || place.empty(), name, place,
                    fmt::format("{} listens there already: give another", other->second));
  }
}

}  // namespace

Result<void> check_options(const HttpServerOptions& options) {
  Mistakes mistakes;
  mistakes.field_text("http.server_name", "Server", options.http.server_name);
  mistakes.field_text("http.strict_transport_security", "Strict-Transport-Security",
                      options.http.strict_transport_security);
  mistakes.range<unsigned>("http.forwarded_hops_max", options.http.forwarded_hops_max, 1,
                           http::forwarded_hops_max);
  check(options.http.limits, mistakes);
  check(options.http.http2.limits, mistakes);
  if (options.http.websocket.deflate.enabled) {
    mistakes.range("http.websocket.deflate.window_bits", options.http.websocket.deflate.window_bits,
                   9, 15);
  }
  check(options.reactor, mistakes);
  check(options.clients, mistakes);
  check_listeners(options, mistakes);
  return mistakes.result();
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
