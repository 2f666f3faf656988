#include "katana/host/option_mistakes.hpp"

#include <fmt/format.h>

#include "katana/base/outbox.hpp"
#include "katana/host/http_server.hpp"
#include "katana/host/mistakes.hpp"

namespace katana::host {
namespace {

void check(const core::ReactorOptions& options, Mistakes& mistakes) {
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

}  // namespace

Result<void> check_options(const HttpServerOptions& options) {
  Mistakes mistakes;
  mistakes.field_text("http.server_name", "Server", options.http.server_name);
  mistakes.field_text("http.strict_transport_security", "Strict-Transport-Security",
                      options.http.strict_transport_security);
  check(options.http.limits, mistakes);
  check(options.http.http2.limits, mistakes);
  if (options.http.websocket.deflate.enabled) {
    mistakes.range("http.websocket.deflate.window_bits", options.http.websocket.deflate.window_bits,
                   9, 15);
  }
  check(options.reactor, mistakes);
  return mistakes.result();
}

}  // namespace katana::host
