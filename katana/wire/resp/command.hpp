// Writes the commands of a Redis client. A command is an array of bulk strings, and the first of
// them is its name.
//
//   std::string text(command_bytes(parts), '\0');
//   write_command(parts, text.data());
//
// Thread     any.
// Allocates  never.
// Fails      never: any bytes can be sent, so no part of a command can become another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "katana/base/text/bytes.hpp"

namespace katana::resp {

// "*", the count, CRLF.
inline constexpr std::size_t header_bytes_max = 24;

// Each returns behind its last byte.
char* write_header(std::uint64_t parts, char* to) noexcept;
char* write_part(Bytes part, char* to) noexcept;
char* write_command(std::span<const Bytes> parts, char* to) noexcept;

// The number of bytes that each of these functions writes.
std::size_t header_bytes(std::uint64_t parts) noexcept;
std::size_t part_bytes(std::size_t size) noexcept;
std::size_t command_bytes(std::span<const Bytes> parts) noexcept;

}  // namespace katana::resp

// SPDX-License-Identifier: Apache-2.0
