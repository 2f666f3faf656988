#include "katana/wire/resp/command.hpp"

#include <charconv>
#include <cstring>

namespace katana::resp {
namespace {

// The most digits of a 64-bit number in decimal.
constexpr std::size_t digits_max = 20;

std::size_t digits_of(std::uint64_t value) noexcept {
  std::size_t digits = 1;
  for (; value >= 10; value /= 10) ++digits;
  return digits;
}

// A type, a number, CRLF.
char* write_line(char type, std::uint64_t value, char* to) noexcept {
  *to++ = type;
  to = std::to_chars(to, to + digits_max, value).ptr;
  *to++ = '\r';
  *to++ = '\n';
  return to;
}

}  // namespace

char* write_header(std::uint64_t parts, char* to) noexcept { return write_line('*', parts, to); }

char* write_part(Bytes part, char* to) noexcept {
  to = write_line('$', part.size(), to);
  if (!part.empty()) std::memcpy(to, part.data(), part.size());
  to += part.size();
  *to++ = '\r';
  *to++ = '\n';
  return to;
}

char* write_command(std::span<const Bytes> parts, char* to) noexcept {
  to = write_header(parts.size(), to);
  for (const Bytes part : parts) to = write_part(part, to);
  return to;
}

std::size_t header_bytes(std::uint64_t parts) noexcept { return 3 + digits_of(parts); }

std::size_t part_bytes(std::size_t size) noexcept { return 5 + digits_of(size) + size; }

std::size_t command_bytes(std::span<const Bytes> parts) noexcept {
  std::size_t count = header_bytes(parts.size());
  for (const Bytes part : parts) count += part_bytes(part.size());
  return count;
}

}  // namespace katana::resp

// SPDX-License-Identifier: Apache-2.0
