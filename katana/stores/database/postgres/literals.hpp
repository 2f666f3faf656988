// Literals: arrays and composites as PostgreSQL reads them from text. They are made of the JSON of
// array_text.hpp and composite_text.hpp.
//
//   [1,null]                       {1,NULL}
//   {"zip":7,"street":"a b"}       ("a b",7)         in the order of the type's fields
//
// Owns       nothing.
// Thread     any.
// Allocates  the text.
// Fails      append_literal() is false, and `why` names the mistake: a field that is missing in the
//            type, or in the value.
// Invariant  nesting is bounded: 6 dimensions, TypeTable::depth_max composites.
#pragma once

#include <cstdint>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/stores/database/postgres/type_table.hpp"

namespace katana::database::postgres {

// The error of append_literal() for a text that begins as an array and is none.
inline constexpr Bytes not_an_array = "is no array";

// True when the text is that of an array or a composite, and the type is one of these, too. The
// table knows the types of the schema.
bool is_literal_of(const TypeTable& types, std::uint32_t type, Bytes text) noexcept;
// REQUIRES is_literal_of().
bool append_literal(const TypeTable& types, std::uint32_t type, Bytes json, std::string& out,
                    std::string& why);

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
