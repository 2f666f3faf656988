// A text that a regular expression of ECMA 262 matches, drawn at random.
//
// Characters, classes, groups, alternatives and repetitions are drawn. Assertions and back
// references are passed over: the caller compares the text with the expression.
//
// Thread     any.
// Allocates  the text.
// Fails      none for an expression that cannot be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/random.hpp"

namespace katana::schema {

// `more` is how often what has no bound is repeated beyond its least, at most.
std::optional<std::string> draw_pattern(Bytes pattern, Random& random, std::size_t more);

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
