#include "katana/observe/log/escape.hpp"

#include <array>
#include <cstdint>
#include <cstring>

#include "katana/base/text/json_string.hpp"
#include "katana/base/text/utf8.hpp"

namespace katana::log {

namespace {

constexpr std::array<char, 16> hex_digits = {'0', '1', '2', '3', '4', '5', '6', '7',
                                             '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};

constexpr bool is_plain(char c) noexcept { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

// The high bit of every byte of the word that is not plain; tests eight bytes at a time.
constexpr std::uint64_t not_plain(std::uint64_t word) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101u, highs = ones << 7;
  const auto has_zero = [](std::uint64_t of) { return (of - ones) & ~of; };
  const std::uint64_t below_space = (word - ones * 0x20) & ~word;
  return (word | below_space | has_zero(word ^ (ones * '"')) | has_zero(word ^ (ones * '\\')) |
          has_zero(word ^ (ones * 0x7f))) &
         highs;
}

// As not_plain(), and also bytes that have a meaning in a line of text.
constexpr std::uint64_t not_word(std::uint64_t word) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101u, highs = ones << 7;
  const auto has_zero = [](std::uint64_t of) { return (of - ones) & ~of; };
  return not_plain(word) |
         ((has_zero(word ^ (ones * ' ')) | has_zero(word ^ (ones * '='))) & highs);
}

template <class Word>
Word load(const char* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Whether `bad` finds nothing in the text. It gets eight bytes at a time, and at the end some of
// them again.
template <class Bad>
bool has_none(Bytes text, const Bad& bad) noexcept {
  const char* const begin = text.data();
  const std::size_t size = text.size();
  if (size >= 8) {
    for (std::size_t at = 0; at + 8 < size; at += 8) {
      if (bad(load<std::uint64_t>(begin + at)) != 0) return false;
    }
    return bad(load<std::uint64_t>(begin + size - 8)) == 0;
  }
  if (size >= 4) {
    const std::uint64_t tail = load<std::uint32_t>(begin + size - 4);
    return bad(tail << 32 | load<std::uint32_t>(begin)) == 0;
  }
  std::uint64_t word = 0x6161616161616161u;  // characters that are always safe
  for (const char c : text) word = word << 8 | static_cast<std::uint8_t>(c);
  return bad(word) == 0;
}

void append_hex(char c, Buffer& out) {
  const auto octet = static_cast<std::uint8_t>(c);
  append(out, "\\x");
  out.push_back(hex_digits[octet >> 4]);
  out.push_back(hex_digits[octet & 15]);
}

// A character of more than one byte. REQUIRES that it is well-formed.
char32_t code_point(Bytes character) noexcept {
  const auto octet = [&](std::size_t index) { return static_cast<std::uint8_t>(character[index]); };
  const std::size_t size = character.size();
  char32_t value = octet(0) & (0xffu >> (size + 1));
  for (std::size_t index = 1; index < size; ++index) value = value << 6 | (octet(index) & 0x3fu);
  return value;
}

// Characters that change the display of their neighbours, or end a line, without a visible mark.
// They are the Unicode categories Cf, Zl and Zp without visible signs, and the blank letters of
// Hangul. A line with U+202E in it looks like another one.
struct CodePoints {
  char32_t first;
  char32_t last;
};
constexpr CodePoints hidden[] = {
    {0x00ad, 0x00ad}, {0x034f, 0x034f},   {0x061c, 0x061c},   {0x115f, 0x1160},
    {0x17b4, 0x17b5}, {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x206f}, {0x3164, 0x3164},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

bool is_hidden(char32_t value) noexcept {
  for (const CodePoints& each : hidden) {
    if (value <= each.last) return value >= each.first;
  }
  return false;
}

void append_code_point(char32_t value, Buffer& out) {
  append(out, "\\u{");
  int shift = 20;
  while (shift > 12 && value >> shift == 0) shift -= 4;
  for (; shift >= 0; shift -= 4) out.push_back(hex_digits[value >> shift & 15]);
  out.push_back('}');
}

// The letter of a short escape; 0: none.
constexpr char short_escape(char c) noexcept {
  return c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : '\0';
}

// Copies runs of plain bytes. For the rest it calls `rare(text, out)`, which returns the number of
// bytes that it used.
template <class Rare>
void escape(Bytes text, Buffer& out, const Rare& rare) {
  while (true) {
    const std::size_t plain = plain_prefix(text);
    append(out, text.substr(0, plain));
    if (plain == text.size()) return;
    text.remove_prefix(plain);
    text.remove_prefix(rare(text, out));
  }
}

// Writes one character that is not plain. Returns its length; `unknown` writes bytes that are not
// UTF-8, and `control` writes control characters.
template <class Control, class Unknown>
std::size_t put_character(Bytes text, Buffer& out, const Control& control, const Unknown& unknown) {
  const char c = text.front();
  const std::size_t length = utf8_length(text);
  if (length == 0) {
    unknown(c);
    return 1;
  }
  // U+0080 to U+009F are control characters too, and terminals obey them.
  const bool is_c1 = length == 2 && c == '\xc2' && static_cast<std::uint8_t>(text[1]) < 0xa0;
  if (length == 1 && (static_cast<std::uint8_t>(c) < 0x20 || c == 0x7f)) {
    control(c);
  } else if (is_c1) {
    unknown(c);
    unknown(text[1]);
  } else if (length > 1 && is_hidden(code_point(text.substr(0, length)))) {
    append_code_point(code_point(text.substr(0, length)), out);
  } else {
    append(out, text.substr(0, length));
  }
  return length;
}

std::size_t put_line(Bytes text, Buffer& out) {
  const auto hex = [&out](char c) { append_hex(c, out); };
  return put_character(
      text, out,
      [&](char c) {
        if (short_escape(c) == '\0') return hex(c);
        out.push_back('\\');
        out.push_back(short_escape(c));
      },
      hex);
}

}  // namespace

std::size_t plain_prefix(Bytes text) noexcept {
  if (has_none(text, not_plain)) [[likely]]
    return text.size();
  std::size_t at = 0;
  while (at + 8 <= text.size() && not_plain(load<std::uint64_t>(text.data() + at)) == 0) at += 8;
  while (is_plain(text[at])) ++at;  // there is one that is not plain
  return at;
}

bool is_word(Bytes text) noexcept { return !text.empty() && has_none(text, not_word); }

void escape_line(Bytes text, Buffer& out) { escape(text, out, put_line); }

void escape_quoted(Bytes text, Buffer& out) {
  escape(text, out, [](Bytes rest, Buffer& to) {
    if (rest.front() != '"' && rest.front() != '\\') return put_line(rest, to);
    to.push_back('\\');
    to.push_back(rest.front());
    return std::size_t{1};
  });
}

void escape_json(Bytes text, Buffer& out) {
  const std::size_t begin = out.size();
  out.resize(begin + json_text_bound(text.size()));
  const char* const end = put_json_characters(out.data() + begin, text);
  out.resize(static_cast<std::size_t>(end - out.data()));
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
