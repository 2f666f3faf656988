// Realistic sample texts, by format and by the name of the member.
//
// Thread     any.
// Allocates  the text.
// Fails      draw_format() returns std::nullopt for an unknown format.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/random.hpp"

namespace katana::schema {

// Draws a text of a format of JSON Schema or of OpenAPI's registry.
std::optional<std::string> draw_format(Bytes format, Random& random);
// Draws words of `least` to `most` ASCII characters. `name` is the name of the member, or empty.
std::string draw_words(Bytes name, std::size_t least, std::size_t most, Random& random);

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
