#include "katana/container/json_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "katana/base/utf8.hpp"

namespace katana::container {
namespace {

constexpr char hex_digits[] = "0123456789abcdef";

// The letter of a short escape, or 0.
constexpr char short_escape(char c) noexcept {
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

char* put_escaped(char* at, char c) noexcept {
  *at++ = '\\';
  if (const char letter = short_escape(c)) {
    *at++ = letter;
    return at;
  }
  std::memcpy(at, "u00", 3);
  at[3] = hex_digits[c >> 4];
  at[4] = hex_digits[c & 15];
  return at + 5;
}

template <class Real>
char* put_shortest(char* at, Real number) noexcept {
  if (!std::isfinite(number)) {
    std::memcpy(at, "null", 4);
    return at + 4;
  }
  char* const end = std::to_chars(at, at + json_real_bound, number).ptr;
  const bool is_real = std::any_of(at, end, [](char c) { return c == '.' || c == 'e'; });
  if (is_real) return end;
  std::memcpy(end, ".0", 2);
  return end + 2;
}

}  // namespace

namespace detail {

char* put_special(char* at, const char*& from, const char* end) noexcept {
  do {
    if (static_cast<std::uint8_t>(*from) < 0x80) {
      at = put_escaped(at, *from++);
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

}  // namespace detail

char* put_base64(char* at, const std::byte* octets, std::size_t count) noexcept {
  static constexpr char alphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t index = 0; index < count; index += 3) {
    const std::size_t there = std::min<std::size_t>(3, count - index);
    std::uint32_t group = 0;
    for (std::size_t octet = 0; octet < 3; ++octet) {
      group =
          group << 8 | (octet < there ? std::to_integer<std::uint32_t>(octets[index + octet]) : 0);
    }
    at[0] = alphabet[group >> 18];
    at[1] = alphabet[group >> 12 & 63];
    at[2] = there > 1 ? alphabet[group >> 6 & 63] : '=';
    at[3] = there > 2 ? alphabet[group & 63] : '=';
    at += 4;
  }
  return at;
}

char* put_real(char* at, double number) noexcept { return put_shortest(at, number); }
char* put_real(char* at, float number) noexcept { return put_shortest(at, number); }

}  // namespace katana::container
