// The binary format that BinaryLayout writes and BinaryReader reads.
//
// A file is a run of frames; a frame is its payload's size (4), its type (1) and the payload. All
// numbers are little-endian and unaligned.
//
//   session  magic (16): ids begin anew. The first frame of a file, and again where another process
//            continues the file.
//   name     id (4), text. Names of the fields of contexts.
//   site     id (4), level (1), line (4); numbers of values (2), of values in the pattern (2), of
//            fields (2). For each value its kind (1) and name, for each field its name. Then
//            logger, pattern, file, function. Names and texts are a size (4) and bytes.
//   record   site (4), thread (4), nanoseconds since 1970 (8), context bytes (2), captured
//            arguments (capture.hpp). Then the context: name id (4), kind (1), value.
//
// A site precedes its first record. After a damaged frame a reader looks for the next session, by
// its magic.
//
// Thread     values.
// Allocates  never.
#pragma once

#include <bit>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::log {

// Records keep numbers in the byte order of the processor.
static_assert(std::endian::native == std::endian::little, "the binary format is little-endian");

enum class FrameType : std::uint8_t { session = 1, name, site, record };

// Payload of a session frame.
inline constexpr Bytes session_magic = {"\x89katana-log 1\r\n\n", 16};
inline constexpr std::size_t frame_head_bytes = 5;         // size and type
inline constexpr std::uint32_t frame_bytes_max = 1 << 20;  // a larger frame is damaged
// Size of a record frame before its arguments.
inline constexpr std::size_t record_head_bytes = 4 + 4 + 8 + 2;

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
