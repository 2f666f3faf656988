// Draws a random text that matches a regular expression of ECMA 262.
//
// It draws characters, classes, groups, alternatives and repetitions. It ignores assertions and
// back references: the caller must check the text against the expression.
//
// Thread     any.
// Allocates  the text.
// Fails      draw_pattern() returns nothing for an expression that it cannot read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/random.hpp"

namespace katana::schema {

// Draws a text. `more` limits the number of repetitions beyond the least for parts without a bound.
std::optional<std::string> draw_pattern(Bytes pattern, Random& random, std::size_t more);

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
