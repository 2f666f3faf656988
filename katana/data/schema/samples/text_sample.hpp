// Texts that read like what they stand for: by format, and by the name of the member.
//
// Thread     any.
// Allocates  the text.
// Fails      none for a format that is not known.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/random.hpp"

namespace katana::schema {

// Of formats of JSON Schema and of OpenAPI's registry.
std::optional<std::string> draw_format(Bytes format, Random& random);
// Words of `least` to `most` characters, all ASCII. `name` is that of the member, or empty.
std::string draw_words(Bytes name, std::size_t least, std::size_t most, Random& random);

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
