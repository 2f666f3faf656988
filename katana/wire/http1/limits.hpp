// Limits of the HTTP/1.1 machine. Each has a unit, a default, and a refusal that names it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/instant.hpp"

namespace katana::http1 {

struct Limits {
  std::size_t request_line_bytes_max = 8 * 1024;     // 414; without its CRLF
  std::size_t head_bytes_max = 16 * 1024;            // 431; at most http::head_bytes_capacity
  std::size_t fields_max = 128;                      // 431; at most http::fields_capacity
  std::size_t chunk_line_bytes_max = 1024;           // 400; size and extensions of one chunk
  std::size_t chunk_overhead_bytes_max = 16 * 1024;  // 400; extensions of all chunks of one request
  std::size_t trailer_bytes_max = 8 * 1024;          // 431
  std::size_t trailer_fields_max = 64;               // 431
  std::uint64_t content_bytes_max = std::uint64_t{1} << 40;  // 413; a resource may ask for less

  Duration idle_timeout = seconds(75);     // between requests: the connection is closed
  Duration head_timeout = seconds(10);     // from the first byte of a head to its last: 408
  Duration content_timeout = seconds(30);  // without content: 408; content buys time at rate_min
  std::int64_t rate_min_bytes_per_s = 1024;
};

}  // namespace katana::http1
