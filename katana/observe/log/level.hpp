// Level: how much a record matters, and from where on a logger or a sink takes it.
//
// Thread     any.
// Allocates  only for the message of an error.
// Fails      parse_level: invalid_argument, naming the text and the words that are known.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::log {

// In rising order. `off` is a threshold only: no record has it.
enum class Level : std::uint8_t { trace, debug, info, warn, error, fatal, off };

// Names by Level, as configuration and records have them.
inline constexpr std::array<Bytes, 7> level_names = {"trace", "debug", "info", "warn",
                                                     "error", "fatal", "off"};

// As configuration and records have it.
constexpr Bytes level_name(Level level) noexcept {
  return level_names[static_cast<std::size_t>(level)];
}

Result<Level> parse_level(Bytes text);  // ignores case

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
