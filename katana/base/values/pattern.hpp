// Pattern: a small pattern language for text, matched in one pass without backtracking.
//
//   a          the character itself        .        any character
//   [a-z_]     one of these                [^/]     any but these
//   \d \w \s   digit, word character (letter, digit, _), white space; \. and the like: itself
//   ? * + {3} {2,} {2,5}                   the number of repetitions of the item in front
//
// There are no groups and no alternatives; use a function (rules::satisfies) for such rules. A
// pattern must match the whole text. It is written in ASCII; `.` and [^…] also match any other
// character of well-formed UTF-8.
//
// Owns       its items.
// Thread     a value.
// Allocates  never.
// Fails      valid() is false for a malformed pattern, or one of more than items_max items. Such a
//            pattern in a description does not compile.
// Invariant  the time of a match is proportional to the text times the items, for any text.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/base/text/utf8.hpp"

namespace katana {

class Pattern {
 public:
  static constexpr std::size_t items_max = 128;  // x{2,5} counts as five

  constexpr explicit Pattern(Bytes source) noexcept {
    while (valid_ && !source.empty()) add_item(source);
  }

  // false: the text of the pattern is malformed, and matches() is false.
  constexpr bool valid() const noexcept { return valid_; }
  bool matches(Bytes text) const noexcept;  // the whole text; in time proportional to its length

 private:
  enum class Often : std::uint8_t { once, perhaps, any_number };
  struct Item {
    std::array<std::uint64_t, 2> ascii{};  // a bit for each matching character below 0x80
    bool fits_others = false;              // characters outside ASCII match
    Often often = Often::once;

    constexpr void add(char c) noexcept { ascii[(c & 0x7f) >> 6] |= std::uint64_t{1} << (c & 63); }
    constexpr void add_range(char from, char to) noexcept {
      for (int c = from; c <= to; ++c) add(static_cast<char>(c));
    }
    constexpr void negate() noexcept {
      for (auto& word : ascii) word = ~word;
      fits_others = !fits_others;
    }
    constexpr bool fits(char c) const noexcept {
      const auto octet = static_cast<std::uint8_t>(c);
      return octet < 0x80 ? (ascii[octet >> 6] >> (octet & 63) & 1) != 0 : fits_others;
    }
  };

  static constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
  static constexpr bool is_ascii(char c) noexcept { return static_cast<std::uint8_t>(c) < 0x80; }
  constexpr char take(Bytes& source) noexcept {
    if (source.empty() || !is_ascii(source.front())) {
      valid_ = false;
      return '\0';
    }
    const char c = source.front();
    source.remove_prefix(1);
    return c;
  }
  static constexpr bool take_if(Bytes& source, char c) noexcept {
    if (!source.starts_with(c)) return false;
    source.remove_prefix(1);
    return true;
  }

  constexpr void add_item(Bytes& source) noexcept {
    Item item;
    const char c = take(source);
    if (c == '[') {
      read_class(source, item);
    } else if (c == '.') {
      item.negate();
    } else if (c == '\\') {
      add_escaped(take(source), item);
    } else {
      // These have a meaning in other pattern languages. To treat them literally would surprise.
      for (const char reserved : Bytes("()|^$?*+{}]")) valid_ = valid_ && c != reserved;
      item.add(c);
    }
    repeat(source, item);
  }

  constexpr void add_escaped(char c, Item& item) noexcept {
    if (c == 'd' || c == 'w') item.add_range('0', '9');
    if (c == 'w') {
      item.add_range('a', 'z');
      item.add_range('A', 'Z');
      item.add('_');
    } else if (c == 's') {
      for (const char space : Bytes(" \t\r\n\f\v")) item.add(space);
    } else if (c != 'd') {
      // A literal letter or digit needs no backslash: it is a mistake, or \b, \1.
      const bool is_letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
      valid_ = valid_ && !is_letter && !is_digit(c);
      item.add(c);
    }
  }

  constexpr void read_class(Bytes& source, Item& item) noexcept {
    const bool negated = take_if(source, '^');
    if (source.starts_with(']')) valid_ = false;  // an empty class
    while (valid_ && !take_if(source, ']')) {
      const char from = take(source);
      if (from == '\\') {
        add_escaped(take(source), item);
      } else if (source.size() >= 2 && source[0] == '-' && source[1] != ']') {
        source.remove_prefix(1);
        const char to = take(source);
        valid_ = valid_ && from <= to && to != '\\';
        item.add_range(from, to);
      } else {
        item.add(from);
      }
    }
    if (negated) item.negate();
  }

  constexpr std::size_t read_count(Bytes& source) noexcept {
    if (source.empty() || !is_digit(source.front())) valid_ = false;
    std::size_t count = 0;
    while (valid_ && !source.empty() && is_digit(source.front())) {
      count = count * 10 + static_cast<std::size_t>(take(source) - '0');
      valid_ = count <= items_max;
    }
    return count;
  }

  constexpr void repeat(Bytes& source, Item item) noexcept {
    std::size_t least = 1, most = 1;
    bool endless = false;
    if (take_if(source, '?')) {
      least = 0;
    } else if (take_if(source, '*')) {
      least = most = 0;
      endless = true;
    } else if (take_if(source, '+')) {
      endless = true;
    } else if (take_if(source, '{')) {
      least = most = read_count(source);
      if (take_if(source, ',')) {
        endless = source.starts_with('}');
        if (!endless) most = read_count(source);
      }
      valid_ = valid_ && take_if(source, '}') && least <= most;
    }
    put(item, Often::once, least);
    if (endless) {
      put(item, Often::any_number, 1);
    } else {
      put(item, Often::perhaps, most - least);
    }
  }

  constexpr void put(Item item, Often often, std::size_t count) noexcept {
    if (!valid_ || count > items_max - count_) {
      valid_ = false;
      return;
    }
    item.often = often;
    for (; count > 0; --count) items_[count_++] = item;
  }

  using States = std::bitset<items_max + 1>;
  void pass_over(States& states) const noexcept;

  std::array<Item, items_max> items_{};
  std::size_t count_ = 0;
  bool valid_ = true;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
