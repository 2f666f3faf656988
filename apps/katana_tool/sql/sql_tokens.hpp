// SqlTokens: the tokens of a statement of SQL, for facts that its database does not tell.
//
// Owns       its tokens.
// Thread     any.
// Allocates  its results.
// Fails      never: the database refuses text that is not SQL.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace katana::tool::sql {

struct SqlToken {
  enum class Kind : unsigned char { word, quoted, string, number, parameter, symbol };
  Kind kind = Kind::symbol;
  std::string text;  // words in small letters; quoted names without the quotes
  std::size_t offset = 0;
  std::size_t parameter = 0;

  bool is(std::string_view other) const {
    return (kind == Kind::word || kind == Kind::symbol) && text == other;
  }
  bool is_name() const { return kind == Kind::word || kind == Kind::quoted; }
};

struct SqlTokens {
  std::vector<SqlToken> tokens;
  std::string comments;
};

SqlTokens sql_tokens_of(std::string_view text);

// Its first word is one that statements begin with.
bool begins_as_sql(std::string_view text);

inline bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

std::string in_small_letters(std::string_view text);

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
