// Keywords: every keyword of JSON Schema 2020-12 and of OpenAPI's schemas, with what the reader
// expects as its value and what generated types do about it.
//
//   const Keyword* keyword = keyword_of("uniqueItems");
//   keyword->in_types == InTypes::enforced
//
//   enforced    The type or a rule of a member checks it. Where neither can, there is a warning.
//   warned      No type checks it: there is a warning wherever it stands.
//   annotation  It never makes data invalid, so that there is nothing to check.
//   resolved    The reader replaces it: references, identifiers, and OpenAPI 3.0's `nullable`.
//
// Owns       nothing: names are literals.
// Thread     any.
// Allocates  never.
// Fails      keyword_of() is null for a name that is no keyword.
// Invariant  the reader and the generator have this one table; what the table lacks is unknown to
//            both, and gets a warning.
#pragma once

#include <cstdint>
#include <span>

#include "katana/base/text/bytes.hpp"

namespace katana::openapi::model {

// What its value has to be.
enum class KeywordForm : std::uint8_t {
  any,      // data, kept as it is
  text,     // a string
  boolean,  // true or false
  number,   // any number
  natural,  // a whole number, not negative
  list,     // of anything
  names,    // a list of text
  schema,   // one
  schemas,  // a list of schemas
  map,      // of schemas
  special,  // has a function in the reader
  dropped,  // read past
};

// What generated types do about it.
enum class InTypes : std::uint8_t { enforced, warned, annotation, resolved };

// Data of other types fit it, whatever it says.
enum class About : std::uint8_t { any, text, number, list, object };

// A row of the table.
struct Keyword {
  Bytes name;                           // as it is written in a description
  KeywordForm form = KeywordForm::any;  // what its value has to be
  InTypes in_types = InTypes::warned;   // what generated types do about it
  About about = About::any;             // which data it says something of
  bool only_3_1 = false;                // OpenAPI before 3.1 does not have it
};

// All rows, in no order that means anything.
std::span<const Keyword> keywords() noexcept;
// Null: it is none.
const Keyword* keyword_of(Bytes name) noexcept;

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
