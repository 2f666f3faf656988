// Writes the commands of a client into memory of the caller. CONNECT is not among them: its content
// is JSON.
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      never: the caller has checked that subjects have no blanks and headers no line ends.
// Invariant  a writer writes at most as many bytes as the function before it says.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::nats {

inline constexpr Bytes ping_line = "PING\r\n";        // the server answers it behind all before
inline constexpr Bytes pong_line = "PONG\r\n";        // the answer to the server's PING
inline constexpr Bytes line_end = "\r\n";             // behind each operation, and each payload
inline constexpr Bytes header_line = "NATS/1.0\r\n";  // in front of headers
inline constexpr std::size_t number_bytes_max = 20;   // decimal digits of 64 bits

// "PUB subject reply size\r\n", "HPUB subject reply header-size size\r\n"; behind it come
// header_line, the headers, an empty line if there are any, and the payload; then line_end.
constexpr std::size_t publish_bytes_max(Bytes subject, Bytes reply_to) noexcept {
  return 10 + subject.size() + reply_to.size() + 2 * number_bytes_max;
}
// `header_size`: with header_line and the empty line; 0: there are none. `size`: with it.
char* write_publish(char* to, Bytes subject, Bytes reply_to, std::size_t header_size,
                    std::size_t size) noexcept;

// "SUB subject group sid\r\n"
constexpr std::size_t subscribe_bytes_max(Bytes subject, Bytes group) noexcept {
  return 8 + subject.size() + group.size() + number_bytes_max;
}
char* write_subscribe(char* to, Bytes subject, Bytes group, std::uint64_t subscription) noexcept;

// "UNSUB sid\r\n"
inline constexpr std::size_t unsubscribe_bytes_max = 8 + number_bytes_max;
// Writes to memory of unsubscribe_bytes_max bytes; returns the end of the written bytes.
char* write_unsubscribe(char* to, std::uint64_t subscription) noexcept;

// Writes in decimal, to memory of number_bytes_max bytes; returns the end of the written bytes.
char* write_number(char* to, std::uint64_t number) noexcept;

}  // namespace katana::nats

// SPDX-License-Identifier: Apache-2.0
