// Limits of one connection to a PostgreSQL server. A limit is the last value that is accepted.
//
// Invariant  a message is compared with its limit when its first five bytes are there. A caller
//            that keeps unconsumed bytes keeps bytes_max() of them at most.
// Source     PostgreSQL 18, "Message Formats", "PostgreSQL Limits"
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace katana::postgres {

inline constexpr std::size_t header_bytes = 5;     // the type of a message and its length
inline constexpr std::size_t name_bytes_max = 63;  // of a statement or portal; a server cuts it off
inline constexpr std::size_t values_max = 65535;   // of a Bind; the count has 16 bits
inline constexpr std::uint16_t columns_max = 1664;        // of a result, by the server's own limit
inline constexpr std::size_t cancel_key_bytes_max = 256;  // of protocol 3.2
// The most bytes of a BackendKeyData or CancelRequest message.
inline constexpr std::size_t cancel_key_message_bytes_max = header_bytes + 4 + cancel_key_bytes_max;
// A server closes the connection after a larger message.
inline constexpr std::size_t request_bytes_max = 0x3fff'fffe;
inline constexpr std::size_t startup_bytes_max = 10'000;

// The limits of what a server sends, in bytes of a message with its header.
struct Limits {
  // A row, or a piece of COPY data. A server may send up to 1 GiB.
  std::uint32_t row_bytes_max = 16 * 1024 * 1024;
  // An error or a notice. Some of them quote a statement.
  std::uint32_t report_bytes_max = 64 * 1024;
  // The names and types of a result or of parameters: 1,664 columns have up to 137 KB.
  std::uint32_t description_bytes_max = 512 * 1024;
  // A notification (8,000 bytes and a name), or a server's setting.
  std::uint32_t message_bytes_max = 16 * 1024;
  // A request for authentication.
  std::uint32_t authentication_bytes_max = 2 * 1024;
  // Messages of a start, behind the first: settings and notices.
  std::uint32_t start_messages_max = 256;
  // Iterations of SCRAM: PostgreSQL's default (RFC 7677 §4) is the fewest, and those of the most
  // take a quarter of a second.
  std::uint32_t scram_iterations_min = 4096;
  std::uint32_t scram_iterations_max = 600'000;

  // The most bytes of any message, and so of what a caller keeps.
  constexpr std::size_t bytes_max() const noexcept {
    return std::max({row_bytes_max, report_bytes_max, description_bytes_max, message_bytes_max,
                     authentication_bytes_max, std::uint32_t{cancel_key_message_bytes_max}});
  }
};

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
