// Stamp: the sender of a message of the load, its number, and the time when it was due.
//
// Thread     any.
// Allocates  never.
// Fails      read_stamp() is false for text that is no message of the load.
#pragma once

#include <cstdint>
#include <string_view>

namespace katana::chat_load {

struct Stamp {
  std::uint32_t run = 0;     // below 2^16
  bool probe = false;        // tells its receivers that they are in, and is not counted
  std::uint32_t sender = 0;  // below 2^24
  std::uint32_t sequence = 0;
  std::uint64_t due_ns = 0;  // on the monotonic clock; below 2^60
};

// 'k' or 'p', then run (4), sender (6), sequence (8) and time (15) in hexadecimal digits.
inline constexpr std::size_t stamp_bytes = 34;
// With its line feed.
inline constexpr std::size_t message_bytes_min = stamp_bytes + 1;

// Fills `bytes` bytes: the stamp, letters, a line feed. REQUIRES bytes ≥ message_bytes_min.
void write_message(const Stamp& stamp, char* to, std::size_t bytes) noexcept;
// `text` is what follows the sender's name, without the line feed.
bool read_stamp(std::string_view text, Stamp& stamp) noexcept;

}  // namespace katana::chat_load

// SPDX-License-Identifier: Apache-2.0
