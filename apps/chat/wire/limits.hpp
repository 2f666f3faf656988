// Limits of one chat connection. A limit is the last value that is accepted.
#pragma once

#include <cstddef>

#include "katana/base/values/instant.hpp"

namespace katana::chat {

// Names of rooms and of people.
inline constexpr std::size_t name_bytes_max = 32;

struct Limits {
  // The most bytes of a line, without its line end.
  std::size_t line_bytes_max = 8 * 1024;
  // A client that completes no line for this time is disconnected.
  Duration idle_timeout = {};  // zero: it may be silent for ever
  // Before that, after so long a silence, it is asked with a ping line, which any line answers.
  Duration ping_after = {};  // zero: it is not asked
};

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
