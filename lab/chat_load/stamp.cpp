#include "lab/chat_load/stamp.hpp"

#include <array>
#include <cstring>

namespace katana::chat_load {
namespace {

constexpr char digits[] = "0123456789abcdef";

constexpr auto values = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(255);
  for (std::uint8_t value = 0; value < 16; ++value) {
    table[static_cast<std::uint8_t>(digits[value])] = value;
  }
  return table;
}();

char* put(char* to, std::uint64_t number, int count) noexcept {
  for (int at = count - 1; at >= 0; --at) {
    to[at] = digits[number & 15];
    number >>= 4;
  }
  return to + count;
}

// The high bit of the answer is set when there was something else than a digit.
std::uint64_t take(const char*& from, int count) noexcept {
  std::uint64_t number = 0;
  std::uint8_t seen = 0;
  for (int at = 0; at < count; ++at) {
    const std::uint8_t value = values[static_cast<std::uint8_t>(from[at])];
    seen |= value;
    number = (number << 4) | (value & 15);
  }
  from += count;
  return number | (seen > 15 ? std::uint64_t{1} << 63 : 0);
}

}  // namespace

void write_message(const Stamp& stamp, char* to, std::size_t bytes) noexcept {
  char* at = to;
  *at++ = stamp.probe ? 'p' : 'k';
  at = put(at, stamp.run, 4);
  at = put(at, stamp.sender, 6);
  at = put(at, stamp.sequence, 8);
  at = put(at, stamp.due_ns, 15);
  std::memset(at, 'x', bytes - stamp_bytes - 1);
  to[bytes - 1] = '\n';
}

bool read_stamp(std::string_view text, Stamp& stamp) noexcept {
  if (text.size() < stamp_bytes || (text[0] != 'k' && text[0] != 'p')) return false;
  stamp.probe = text[0] == 'p';
  const char* at = text.data() + 1;
  const std::uint64_t run = take(at, 4);
  const std::uint64_t sender = take(at, 6);
  const std::uint64_t sequence = take(at, 8);
  const std::uint64_t due = take(at, 15);
  if (((run | sender | sequence | due) >> 63) != 0) return false;
  stamp.run = static_cast<std::uint32_t>(run);
  stamp.sender = static_cast<std::uint32_t>(sender);
  stamp.sequence = static_cast<std::uint32_t>(sequence);
  stamp.due_ns = due;
  return true;
}

}  // namespace katana::chat_load

// SPDX-License-Identifier: Apache-2.0
