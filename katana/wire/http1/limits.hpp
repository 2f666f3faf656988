// Limits of the HTTP/1.1 machine. Each has a unit, a default, and a refusal that names it. The
// counters behind them are as narrow as are_valid() allows, because every connection has them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/values/instant.hpp"
#include "katana/wire/http/head.hpp"

namespace katana::http1 {

// The upper bound of head_bytes_max: the empty line behind the fields needs two more bytes.
inline constexpr std::size_t head_bytes_limit = http::head_bytes_capacity - 2;

// Limits of one connection. Behind each stands the status of the reply when a request exceeds it.
struct Limits {
  std::size_t request_line_bytes_max = 8 * 1024;     // 414; without its CRLF
  std::size_t head_bytes_max = 16 * 1024;            // 431; at most head_bytes_limit
  std::size_t fields_max = 128;                      // 431; at most http::fields_capacity
  std::size_t chunk_line_bytes_max = 1024;           // 400; one chunk's first line, with its CRLF
  std::size_t chunk_overhead_bytes_max = 16 * 1024;  // 400; extensions, white space and leading
                                                     // zeros in all such lines of one request
  std::size_t trailer_bytes_max = 8 * 1024;          // 431
  std::size_t trailer_fields_max = 64;               // 431
  std::uint64_t content_bytes_max = std::uint64_t{1} << 40;  // 413; a resource may ask for less

  Duration idle_timeout = seconds(75);     // between requests: the connection is closed
  Duration head_timeout = seconds(10);     // from the first byte of a head to its last: 408
  Duration content_timeout = seconds(30);  // without content: 408; content buys time at rate_min
  std::int64_t rate_min_bytes_per_s = 1024;
};

// Whether the machine can count up to these limits. HeadParser REQUIRES it of its limits, and a
// Context has one.
constexpr bool are_valid(const Limits& limits) noexcept {
  constexpr std::size_t counted_max = UINT16_MAX - 1;
  constexpr std::int64_t timeout_max_ns = seconds(std::int64_t{10} * 366 * 24 * 3600).ns;
  const auto is_timeout = [](Duration given) { return given.ns > 0 && given.ns <= timeout_max_ns; };
  return limits.head_bytes_max <= head_bytes_limit &&
         limits.head_bytes_max >= limits.request_line_bytes_max + 4 &&  // and two line ends
         limits.request_line_bytes_max < limits.head_bytes_max &&       // that sum did not wrap
         limits.fields_max > 0 && limits.fields_max <= http::fields_capacity &&
         limits.chunk_line_bytes_max <= counted_max &&
         limits.chunk_overhead_bytes_max < UINT32_MAX && limits.trailer_bytes_max <= counted_max &&
         limits.trailer_fields_max <= counted_max && limits.content_bytes_max <= INT64_MAX &&
         is_timeout(limits.idle_timeout) && is_timeout(limits.head_timeout) &&
         is_timeout(limits.content_timeout) && limits.rate_min_bytes_per_s > 0;
}
static_assert(are_valid(Limits()));

// Which instructions find the end of a token. All give the same result; tests compare them.
// A processor has some of them.
enum class Kernels : std::uint8_t { scalar, sse42, avx2, neon };
bool supported(Kernels kernels) noexcept;  // whether this processor has them
Kernels best_kernels() noexcept;           // the fastest that this processor has

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
