// Failure: the ways in which a request or a connection can fail, each counted apart.
//
// Invariant  a request that was sent ends in exactly one way: answered, failed, or in flight when
//            the run was cut off. `is_of_request` names the failures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace katana::load {

enum class Failure : std::uint8_t {
  connect_refused,
  connect_timeout,
  connect_failed,    // any other answer to connect(): unreachable, no descriptor
  no_local_port,     // the generator's own ports are used up
  handshake_failed,  // TLS: refused by either side, broken off, too slow, or of another protocol
  reset,             // the server broke the connection off
  closed_early,      // the server ended the connection before the reply was whole
  malformed,         // the reply is not valid in the protocol
  tls_broken,        // a record of TLS is not valid, or is an alert
  response_timeout,  // no whole reply in time
  stream_reset,      // HTTP/2: the server gave this request up, and not its connection
  stream_refused,    // HTTP/2: likewise, before it did anything about it (REFUSED_STREAM)
  goaway,            // HTTP/2: the server goes away, and did nothing about it
  wrong_status,
  wrong_length,
  wrong_body,
  unsolicited,  // bytes that answer no request
};

inline constexpr std::array<std::string_view, 17> failure_names = {
    "connect_refused", "connect_timeout", "connect_failed", "no_local_port", "handshake_failed",
    "reset",           "closed_early",    "malformed",      "tls_broken",    "response_timeout",
    "stream_reset",    "stream_refused",  "goaway",         "wrong_status",  "wrong_length",
    "wrong_body",      "unsolicited",
};
inline constexpr std::size_t failure_count = failure_names.size();

constexpr std::string_view failure_name(Failure failure) {
  return failure_names[static_cast<std::size_t>(failure)];
}

// The others belong to a connection that had no request on it.
constexpr bool is_of_request(Failure failure) {
  return failure >= Failure::reset && failure <= Failure::wrong_body;
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
