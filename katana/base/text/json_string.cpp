#include "katana/base/text/json_string.hpp"

#include "katana/base/text/utf8.hpp"

namespace katana {
namespace {

constexpr char json_hex_digits[] = "0123456789abcdef";

// The letter of a short escape, or 0.
constexpr char json_escape(char c) noexcept {
  switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return '\0';
  }
}

char* put_json_escaped(char* at, char c) noexcept {
  *at++ = '\\';
  if (const char letter = json_escape(c)) {
    *at++ = letter;
    return at;
  }
  std::memcpy(at, "u00", 3);
  at[3] = json_hex_digits[c >> 4];
  at[4] = json_hex_digits[c & 15];
  return at + 5;
}

}  // namespace

namespace json_detail {

char* put_special(char* at, const char*& from, const char* end) noexcept {
  do {
    if (static_cast<std::uint8_t>(*from) < 0x80) {
      at = put_json_escaped(at, *from++);
      continue;
    }
    Bytes left(from, end);
    const Bytes written = take_character(left);
    std::memcpy(at, written.data(), written.size());
    at += written.size();
    from = left.data();
  } while (from != end && !is_plain(*from));
  return at;
}

}  // namespace json_detail

void append_json_text(Text& to, Bytes text) {
  Text written;  // separate: `to` must not grow by the bound
  written.resize(json_text_bound(text.size()));
  const char* const end = put_json_text(written.data(), text);
  to.append({written.data(), static_cast<std::size_t>(end - written.data())});
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
