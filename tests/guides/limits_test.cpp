// The tables of limits in docs/reference/limits.md and docs/guides/http2.md against the defaults in
// the code.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "katana/base/system/source_tree_test.hpp"
#include "katana/http/files/file_options.hpp"
#include "katana/http/forms/form.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/middleware/rate_limit.hpp"
#include "katana/http/routing/route_table_builder.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/wire/proxy/machine.hpp"

namespace katana {
namespace {

std::string thousands(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string shown(std::uint64_t number) {
  return number == std::uint64_t{1} << 40 ? "2^40" : thousands(number);
}

std::string bytes(std::uint64_t number) {
  if (number == std::uint64_t{1} << 40) return "2^40";
  constexpr std::uint64_t mebi = 1024 * 1024;
  if (number % mebi == 0) return fmt::format("{} MiB", thousands(number / mebi));
  if (number % 1024 == 0) return fmt::format("{} KiB", thousands(number / 1024));
  return thousands(number);
}

std::string none_or(std::uint64_t number) { return number == 0 ? "none" : shown(number); }

std::string time(Duration duration) {
  constexpr std::int64_t second = 1'000'000'000;
  if (duration.ns % second == 0) return fmt::format("{} s", duration.ns / second);
  return fmt::format("{} ms", duration.ns / (second / 1000));
}

std::vector<std::string> split(const std::string& text, const std::string& by) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(by, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + by.size();
  }
  return parts;
}

struct Limit {
  std::string name;   // as its table has it, without the marks of code
  std::string value;  // the first words of its second column
};

std::vector<Limit> limits_of_http2() {
  const session::Http2Options options;
  const http2::Limits& limits = options.limits;
  return {
      {"held_bytes_max", bytes(options.held_bytes_max)},
      {"content_held_bytes_max", bytes(options.content_held_bytes_max)},
      {"stall_timeout", time(options.stall_timeout)},
      {"streams_max", shown(limits.streams_max)},
      {"head_bytes_max", bytes(limits.head_bytes_max)},
      {"fields_max", shown(limits.fields_max)},
      {"head_decoded_bytes_max", bytes(limits.head_decoded_bytes_max)},
      {"block_bytes_max", bytes(limits.block_bytes_max)},
      {"continuations_max", shown(limits.continuations_max)},
      {"content_bytes_max", bytes(limits.content_bytes_max)},
      {"stream_window_bytes", bytes(limits.stream_window_bytes)},
      {"connection_window_bytes", bytes(limits.connection_window_bytes)},
      {"resets_max", shown(limits.resets_max)},
      {"resets_per_s", shown(limits.resets_per_s)},
      {"idle_frames_max", shown(limits.idle_frames_max)},
      {"idle_frames_per_s", shown(limits.idle_frames_per_s)},
      {"idle_frames_per_use", shown(limits.idle_frames_per_use)},
      {"idle_timeout", time(limits.idle_timeout)},
      {"head_timeout", time(limits.head_timeout)},
      {"settings_timeout", time(limits.settings_timeout)},
  };
}

std::vector<Limit> limits() {
  const http1::Limits http1;
  const session::HttpOptions http;
  const net::ReactorOptions reactor;
  const FormLimits forms;
  const RateLimitOptions rates;
  const net::ClientLimitOptions clients;
  const DecompressionOptions decoding;
  return {
      {"request_line_bytes_max", bytes(http1.request_line_bytes_max)},
      {"head_bytes_max", bytes(http1.head_bytes_max)},
      {"fields_max", shown(http1.fields_max)},
      {"content_bytes_max", bytes(http1.content_bytes_max)},
      {"chunk_line_bytes_max", bytes(http1.chunk_line_bytes_max)},
      {"chunk_overhead_bytes_max", bytes(http1.chunk_overhead_bytes_max)},
      {"trailer_bytes_max", bytes(http1.trailer_bytes_max)},
      {"trailer_fields_max", shown(http1.trailer_fields_max)},
      {"http1::head_bytes_limit", shown(http1::head_bytes_limit)},
      {"http2::head_bytes_limit", shown(http2::head_bytes_limit)},
      {"http::fields_capacity", shown(http::fields_capacity)},
      {"head_timeout", time(http1.head_timeout)},
      {"content_timeout", time(http1.content_timeout)},
      {"rate_min_bytes_per_s", shown(static_cast<std::uint64_t>(http1.rate_min_bytes_per_s))},
      {"idle_timeout", time(http1.idle_timeout)},
      {"requests_per_connection_max", http.requests_per_connection_max == 0 ? "none" : "a number"},
      {"handler_timeout", time(http.handler_timeout)},
      {"half_close_grace", time(http.half_close_grace)},
      {"drain_idle", time(http.drain_idle)},
      {"engine.links_max", shown(reactor.engine.links_max)},
      {"ListenOptions::backlog",
       shown(static_cast<std::uint64_t>(engine::ListenOptions().backlog))},
      {"engine.receive_bytes_max", bytes(reactor.engine.receive_bytes_max)},
      {"outbox_high_bytes", bytes(reactor.outbox_high_bytes)},
      {"outbox_low_bytes", bytes(reactor.outbox_low_bytes)},
      {"output_block_bytes", bytes(reactor.output_block_bytes)},
      {"output_blocks_max", shown(reactor.output_blocks_max)},
      {"shed_after", time(reactor.shed_after)},
      {"turn_bytes_max", bytes(reactor.turn_bytes_max)},
      {"tasks_max", shown(reactor.tasks_max)},
      {"carry_small_bytes", bytes(reactor.carry_small_bytes)},
      {"carry_extra_bytes", bytes(reactor.carry_extra_bytes)},
      {"carry_large_max", shown(reactor.carry_large_max)},
      {"send_timeout", time(reactor.send_timeout)},
      {"linger_timeout", time(reactor.linger_timeout)},
      {"linger_bytes_max", bytes(reactor.linger_bytes_max)},
      {"accept_retry", time(reactor.accept_retry)},
      {"HttpServerOptions::drain_timeout", time(server::HttpServerOptions().drain_timeout)},
      {"RouteDefaults::content_bytes_max", bytes(RouteDefaults().content_bytes_max)},
      {"RouteDefaults::streamed_bytes_max", bytes(RouteDefaults().streamed_bytes_max)},
      {"RouteDefaults::check_steps_max", shown(RouteDefaults().check_steps_max)},
      {"FilesOptions::open_files_max", shown(FilesOptions().open_files_max)},
      {"DecompressionOptions::bytes_max", bytes(decoding.bytes_max)},
      {"FormLimits::part", bytes(forms.part.part_bytes_max)},
      {"FormLimits::part_memory_bytes_max", bytes(forms.part_memory_bytes_max)},
      {"memory_bytes_max", bytes(forms.memory_bytes_max)},
      {"RateLimitOptions::keys_max", shown(rates.keys_max)},
      {"routes_max", shown(routes_max)},
      {"ClientLimitOptions::connections_max", none_or(clients.connections_max)},
      {"connections_burst", shown(clients.connections_burst)},
      {"handshakes_max", none_or(clients.handshakes_max)},
      {"requests_max", none_or(clients.requests_max)},
      {"received_bytes_burst", bytes(clients.received_bytes_burst)},
      {"v6_bits", shown(clients.v6_bits)},
      {"clients_max", shown(clients.clients_max)},
      {"connection_age_max", reactor.connection_age_max == Duration{} ? "none" : "a time"},
      {"forwarded_hops_max", shown(http.forwarded_hops_max)},
      {"proxy::line_bytes_max", shown(proxy::line_bytes_max)},
      {"proxy::header_bytes_max", bytes(proxy::header_bytes_max)},
  };
}

// Name -> the limit beside it; a row has several names and as many values, or one for all.
std::vector<Limit> documented(std::string_view page) {
  std::vector<Limit> found;
  std::ifstream file(in_tree(page));
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> cells = split(line, " | ");
    if (cells.size() < 2) continue;
    const std::vector<std::string> pieces = split(cells[0], "`");
    std::vector<std::string> names;
    for (std::size_t index = 1; index < pieces.size(); index += 2) names.push_back(pieces[index]);
    const std::vector<std::string> values = split(cells[1], ", ");
    for (std::size_t index = 0; index < names.size(); ++index) {
      found.push_back({names[index], index < values.size() ? values[index] : values.back()});
    }
  }
  return found;
}

void expect_documented(const std::vector<Limit>& limits, std::string_view page) {
  const std::vector<Limit> rows = documented(page);
  for (const Limit& limit : limits) {
    const auto row = std::ranges::find(rows, limit.name, &Limit::name);
    if (row == rows.end()) {
      ADD_FAILURE() << page << " has no row for `" << limit.name << "`";
      continue;
    }
    EXPECT_TRUE(row->value == limit.value || row->value.starts_with(limit.value + " "))
        << page << " says '" << row->value << "' of `" << limit.name << "`, the code "
        << limit.value;
  }
}

// limits_of_http2() by their names in docs/reference/limits.md, where HTTP/1.1 has the same ones.
std::vector<Limit> qualified_limits_of_http2() {
  constexpr std::size_t options_count = 3;  // the first ones, of Http2Options
  std::vector<Limit> limits = limits_of_http2();
  for (std::size_t index = 0; index < limits.size(); ++index) {
    const std::string_view scope = index < options_count ? "Http2Options::" : "http2::Limits::";
    limits[index].name.insert(0, scope);
  }
  return limits;
}

std::vector<Limit> limits_of_websocket() {
  const session::WebSocketOptions options;
  const ws::Limits& limits = options.limits;
  return {
      {"WebSocketOptions::limits.message_bytes_max", bytes(limits.message_bytes_max)},
      {"WebSocketOptions::limits.frame_bytes_max", bytes(limits.frame_bytes_max)},
      {"WebSocketOptions::limits.fragments_max", shown(limits.fragments_max)},
      {"WebSocketOptions::limits.message_timeout", time(limits.message_timeout)},
      {"WebSocketOptions::limits.ping_after", time(limits.ping_after)},
      {"WebSocketOptions::limits.pong_timeout", time(limits.pong_timeout)},
      {"WebSocketOptions::limits.close_timeout", time(limits.close_timeout)},
      {"WebSocketOptions::queue_bytes_max", bytes(options.queue_bytes_max)},
      {"WebSocketOptions::posted_bytes_max", bytes(options.posted_bytes_max)},
      {"WebSocketOptions::subscriptions_max", shown(options.subscriptions_max)},
  };
}

TEST(Limits, are_in_the_reference_with_their_defaults) {
  constexpr std::string_view page = "docs/reference/limits.md";
  expect_documented(limits(), page);
  expect_documented(qualified_limits_of_http2(), page);
  expect_documented(limits_of_websocket(), page);
}

TEST(Limits, of_http2_are_in_its_guide_with_their_defaults) {
  expect_documented(limits_of_http2(), "docs/guides/http2.md");
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
