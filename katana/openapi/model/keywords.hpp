// Keywords: every keyword of JSON Schema 2020-12 and of OpenAPI's schemas. Each has the form of its
// value that the reader expects, and the way in which generated types treat it.
//
//   const Keyword* keyword = keyword_of("uniqueItems");
//   keyword->in_types == InTypes::enforced
//
//   enforced    The type or a rule of a member checks it. Where neither can, there is a warning.
//   warned      No type checks it: there is a warning wherever it stands.
//   annotation  It never makes data invalid: there is nothing to check.
//   resolved    The reader replaces it: references, identifiers, and OpenAPI 3.0's `nullable`.
//
// Owns       nothing: names are literals.
// Thread     any.
// Allocates  never.
// Fails      keyword_of() is null for a name that is no keyword.
// Invariant  the reader and the generator have this one table. A keyword that it lacks is unknown
//            to both, and gets a warning.
#pragma once

#include <cstdint>
#include <span>

#include "katana/base/text/bytes.hpp"

namespace katana::openapi::model {

// The form that a keyword's value must have.
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

// How generated types treat a keyword.
enum class InTypes : std::uint8_t { enforced, warned, annotation, resolved };

// The type of data that a keyword is about. Data of other types always fit it.
enum class About : std::uint8_t { any, text, number, list, object };

// A row of the table.
struct Keyword {
  Bytes name;                           // as it is written in a description
  KeywordForm form = KeywordForm::any;  // of its value
  InTypes in_types = InTypes::warned;   // its treatment by generated types
  About about = About::any;             // the type of data that it is about
  bool only_3_1 = false;                // OpenAPI before 3.1 does not have it
};

// All rows, in no order that means anything.
std::span<const Keyword> keywords() noexcept;
// The keyword of that name; null: there is none.
const Keyword* keyword_of(Bytes name) noexcept;

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
