// ExpressionTree: a regular expression of ECMA 262 as a tree, if an automaton can decide it. Such
// an expression has no back references, no lookahead or lookbehind, no word boundaries and no
// scripts.
//
// It accepts only constructs that have the same meaning in PCRE2, with the options of Expression.
//
// Owns       its parts.
// Thread     a value.
// Allocates  freely, in proportion to the expression.
// Fails      parse_expression() returns nothing if PCRE2 must decide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "katana/base/text/bytes.hpp"

namespace katana::schema {

// A set of code points, as ranges in order that do not touch each other.
class CharacterSet {
 public:
  using Range = std::pair<char32_t, char32_t>;    // both ends are in the range
  static constexpr char32_t code_max = 0x10ffff;  // the last code point of Unicode

  // Adds a range. REQUIRES from <= to.
  void add(char32_t from, char32_t to) { ranges_.emplace_back(from, to); }
  void add(const CharacterSet& other);
  // Puts the ranges in order. The functions below REQUIRE it.
  void normalise();
  CharacterSet complement() const;
  const std::vector<Range>& ranges() const noexcept { return ranges_; }
  bool contains(char32_t code) const noexcept;
  friend bool operator==(const CharacterSet&, const CharacterSet&) = default;

 private:
  std::vector<Range> ranges_;
};

struct ExpressionTree {
  // The kind of text that a part matches.
  enum class Kind : std::uint8_t {
    set,           // one character of the set
    sequence,      // the parts, one behind the other; without parts: empty text
    alternatives,  // one of the parts
    repeat,        // the one part, `least` to `most` times
    begin,         // ^: the place before the text
    end,           // $: the place behind it
  };
  static constexpr std::size_t endless = SIZE_MAX;  // `most` of a repeat without an upper bound

  Kind kind = Kind::sequence;              // tells which members below are valid
  CharacterSet set = {};                   // of Kind::set, normalised
  std::vector<ExpressionTree> parts = {};  // of the other kinds
  std::size_t least = 1;                   // of Kind::repeat
  std::size_t most = 1;                    // likewise; endless: any number
};

// Parses an expression, which is UTF-8 and valid for PCRE2.
std::optional<ExpressionTree> parse_expression(Bytes expression);

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
