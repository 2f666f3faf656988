// RecordHead: the data in front of the arguments of a record in a ring.
//
//   head | field names (addresses) | arguments (capture.hpp) | context entries | padding to 8
//
// A context entry is the address of its name (8), its kind (1) and its value (capture.hpp).
//
// Thread     a value.
// Allocates  never.
// Invariant  the size of every record is a multiple of record_alignment. All addresses in it are of
//            memory that outlives the Log: literals, and loggers.
#pragma once

#include <cstdint>
#include <source_location>
#include <type_traits>

#include "katana/observe/log/capture.hpp"
#include "katana/observe/log/level.hpp"

namespace katana::log {

struct LoggerState;

inline constexpr std::uint64_t record_alignment = 8;  // of the begin of each record in a ring

// RecordPrefix::padding of the unused end of a lap, which is not a record.
inline constexpr std::uint8_t only_padding = 0xff;

// The part that padding has, too: it may be as short as record_alignment.
struct RecordPrefix {
  std::uint32_t bytes;          // of all of it
  std::uint16_t context_bytes;  // of the entries of the context
  Level level;                  // of the record
  std::uint8_t padding;         // bytes at the end, up to a multiple of record_alignment
};
static_assert(sizeof(RecordPrefix) == record_alignment);

struct RecordHead {
  RecordPrefix prefix;         // sizes and level
  std::uint64_t ticks;         // of the ticks clock; see ticks.hpp
  const char* pattern;         // null-terminated
  const Shape* shape;          // of the arguments
  std::source_location where;  // one address, of a constant of the compiler's
  const LoggerState* logger;   // which made it; outlives the Log
};
static_assert(std::is_trivially_copyable_v<RecordHead> && sizeof(RecordHead) == 48);

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
