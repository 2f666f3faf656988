// Limits of the HTTP/2 machine. Each has a unit, a default, and a Failure or a status for a
// sender that goes beyond it.
//
// Several are budgets: an attack that is made of many small steps is one in which a client spends
// faster than it earns. A budget begins full, work that is of use and time that passes refill it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/values/instant.hpp"
#include "katana/wire/http/head.hpp"

namespace katana::http2 {

// The largest frame that is accepted here, and the least that every endpoint accepts. A larger
// frame has no use and makes every other stream wait longer.
inline constexpr std::size_t frame_bytes_max = 16 * 1024;
inline constexpr std::int64_t window_bytes_max = INT32_MAX;
inline constexpr std::uint32_t default_window_bytes = 65'535;

// The upper bound of head_bytes_max: a head is kept with some words in front of it.
inline constexpr std::size_t head_bytes_limit = http::head_bytes_capacity - 16;

// Limits of one connection. Behind each stands the status or the Failure for input that exceeds it.
struct Limits {
  std::uint32_t streams_max = 128;         // at once; more are refused (REFUSED_STREAM)
  std::size_t head_bytes_max = 16 * 1024;  // 431; as RFC 9113 §6.5.2 counts, 32 for each field
  std::size_t fields_max = 128;            // 431; at most http::fields_capacity
  // The most bytes of a header list that is read past only to keep the compression in step. A
  // larger list is a bomb, and the connection ends.
  std::size_t head_decoded_bytes_max = 128 * 1024;
  std::size_t block_bytes_max = 32 * 1024;  // a header block as it is sent, over all its frames
  std::uint32_t continuations_max = 8;      // CONTINUATION frames of one block
  std::uint64_t content_bytes_max = std::uint64_t{1} << 40;  // 413; a resource may ask for less

  // The number of bytes that a client may send before the handler reads them. Both bound the memory
  // that a client can make the server hold.
  std::uint32_t stream_window_bytes = 64 * 1024;
  std::uint32_t connection_window_bytes = 256 * 1024;

  // Streams that failed: reset by the client, or by the server for a mistake of the client.
  std::uint32_t resets_max = 200;
  std::uint32_t resets_per_s = 20;
  // Frames that move nothing forward: PING, PRIORITY, empty DATA, WINDOW_UPDATE, frames for streams
  // that are over, frames of unknown types, SETTINGS, which count sixteen times. Each request
  // earns some, and each DATA frame, either way, that somebody takes: less than eight bytes earn
  // less. See IdleBudget.
  std::uint32_t idle_frames_max = 1'000;
  std::uint32_t idle_frames_per_s = 100;
  std::uint32_t idle_frames_per_use = 4;

  Duration idle_timeout = seconds(75);      // without a stream: the connection ends
  Duration head_timeout = seconds(10);      // the preface, a frame or a header block that is begun
  Duration settings_timeout = seconds(10);  // for the acknowledgement of ours
};

// Whether the machine can count up to these limits. A Context REQUIRES it of its limits.
constexpr bool are_valid(const Limits& limits) noexcept {
  return limits.streams_max > 0 && limits.head_bytes_max <= head_bytes_limit &&
         limits.fields_max > 0 && limits.fields_max <= http::fields_capacity &&
         limits.head_decoded_bytes_max >= limits.head_bytes_max &&
         limits.block_bytes_max >= frame_bytes_max && limits.content_bytes_max <= INT64_MAX &&
         limits.stream_window_bytes >= default_window_bytes &&
         limits.stream_window_bytes <= window_bytes_max &&
         limits.connection_window_bytes >= default_window_bytes &&
         limits.connection_window_bytes <= window_bytes_max && limits.idle_timeout.ns > 0 &&
         limits.idle_frames_max >= 64 && limits.idle_frames_max <= 1'000'000 &&
         limits.idle_frames_per_s <= 1'000'000 && limits.idle_frames_per_use <= 1'000 &&
         limits.head_timeout.ns > 0 && limits.settings_timeout.ns > 0;
}
static_assert(are_valid(Limits()));

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
