// CppTokens: the tokens of a C++ source, among which statements are found.
//
// Owns       its tokens and comments; text of string literals as the compiler sees it.
// Thread     any.
// Allocates  its results.
// Fails      never: a literal or a comment that does not end, ends with the source.
// Invariant  every byte of the source is looked at a bounded number of times.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "katana_tool/sql/literals.hpp"

namespace katana::tool::sql {

struct CppToken {
  enum class Kind : unsigned char { word, string, symbol, other };  // other: numbers, characters
  Kind kind = Kind::other;
  std::string text;  // one character for a symbol, except "::" and "->"; empty for a character
  Place place;
  std::size_t last_line = 0;
  std::vector<Literal::Run> runs;  // only for a string

  bool is(std::string_view symbol) const { return kind == Kind::symbol && text == symbol; }
};

struct CppComment {
  std::size_t line = 0;
  std::size_t last_line = 0;
  bool alone = false;  // nothing stands before it on its line
  std::string text;
};

struct CppTokens {
  std::vector<CppToken> tokens;
  std::vector<CppComment> comments;
  std::vector<std::string> includes;  // with quotation marks
};

CppTokens tokens_of(std::string_view source);

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
