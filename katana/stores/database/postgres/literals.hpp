// Literals: arrays and composites as PostgreSQL reads them from text, made of the JSON that they
// are on their way (array_text.hpp, composite_text.hpp).
//
//   [1,null]                       {1,NULL}
//   {"zip":7,"street":"a b"}       ("a b",7)         in the order of the type's fields
//
// Owns       nothing.
// Thread     any.
// Allocates  the text.
// Fails      append_literal() is false, and `why` says what is wrong: a field that the type has
//            not, one that the value has not.
// Invariant  nesting is bounded: 6 dimensions, TypeTable::depth_max composites.
#pragma once

#include <cstdint>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/stores/database/postgres/type_table.hpp"

namespace katana::database::postgres {

// What append_literal() says of a text that begins as an array and is none.
inline constexpr Bytes not_an_array = "is no array";

// The text is that of an array or a composite, and so is the type, which the table knows where it
// is one of the schema.
bool is_literal_of(const TypeTable& types, std::uint32_t type, Bytes text) noexcept;
// REQUIRES is_literal_of().
bool append_literal(const TypeTable& types, std::uint32_t type, Bytes json, std::string& out,
                    std::string& why);

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
