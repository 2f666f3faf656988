// Level: the importance of a record, and the threshold of a logger or a sink.
//
// Thread     any.
// Allocates  only for the message of an error.
// Fails      parse_level: invalid_argument, naming the text and the known words.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::log {

// In rising order. `off` is a threshold only: no record has it.
enum class Level : std::uint8_t { trace, debug, info, warn, error, fatal, off };

// The names in configuration and records, by Level.
inline constexpr std::array<Bytes, 7> level_names = {"trace", "debug", "info", "warn",
                                                     "error", "fatal", "off"};

// The name in configuration and records.
constexpr Bytes level_name(Level level) noexcept {
  return level_names[static_cast<std::size_t>(level)];
}

Result<Level> parse_level(Bytes text);  // ignores case

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
