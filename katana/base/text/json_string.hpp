// JSON strings: writes text in the form of JSON into memory of the caller, or appends it to a Text.
//
// Thread     any.
// Allocates  append_json_text(), from the recycler.
// Fails      never: bytes that are no UTF-8 become U+FFFD.
// Invariant  put_…() writes at most as many bytes as its bound, and returns the end.
// Source     RFC 8259 §7.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"

namespace katana {

// The largest size of a JSON string: a character becomes at worst \u00xx, and an invalid byte three
// bytes.
constexpr std::size_t json_text_bound(std::size_t bytes) noexcept { return 6 * bytes + 2; }

namespace json_detail {

constexpr bool is_plain(char c) noexcept {
  return static_cast<std::uint8_t>(c) >= 0x20 && static_cast<std::uint8_t>(c) < 0x80 && c != '"' &&
         c != '\\';
}

#if defined(__SSE2__)
// Vectors of the compiler, because <emmintrin.h> is longer than all headers of handlers together.
using Octets = signed char __attribute__((vector_size(16)));
using Mask = char __attribute__((vector_size(16)));

[[gnu::always_inline]] inline unsigned top_bits(Octets text) noexcept {
  return static_cast<unsigned>(__builtin_ia32_pmovmskb128(reinterpret_cast<Mask>(text)));
}
// Sets all bits of each byte that is not plain.
[[gnu::always_inline]] inline Octets find_special(Octets text) noexcept {
  // As signed numbers, bytes outside ASCII are below a space, too.
  return (text < 0x20) | (text == '"') | (text == '\\');
}
// Returns a set bit for each of sixteen bytes that is not plain.
[[gnu::always_inline]] inline unsigned not_plain(Octets text) noexcept {
  return top_bits(find_special(text));
}
[[gnu::always_inline]] inline Octets load(const char* from) noexcept {
  Octets text;
  std::memcpy(&text, from, sizeof text);
  return text;
}
[[gnu::always_inline]] inline void store(char* at, Octets text) noexcept {
  std::memcpy(at, &text, sizeof text);
}

// As put_plain(), for less than sixteen bytes. The two ends of the text may overlap, and are
// checked in one register.
[[gnu::always_inline]] inline void put_plain_short(char*& at, const char*& from,
                                                   const char* end) noexcept {
  const auto size = static_cast<std::size_t>(end - from);
  const auto copy_ends = [&]<class Word>(Word first, auto judged) __attribute__((always_inline)) {
    Word last;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&last, end - sizeof last, sizeof last);
    if (judged(first, last) != 0) return false;
    std::memcpy(at, &first, sizeof first);
    std::memcpy(at + size - sizeof last, &last, sizeof last);
    at += size;
    from = end;
    return true;
  };
  if (size >= 8) {
    const auto judged = [](std::int64_t first, std::int64_t last) {
      using Words = std::int64_t __attribute__((vector_size(16)));
      return not_plain(reinterpret_cast<Octets>(Words{first, last}));
    };
    if (copy_ends(std::int64_t{}, judged)) return;
  } else if (size >= 4) {
    const auto judged = [](std::int32_t first, std::int32_t last) {
      using Words = std::int32_t __attribute__((vector_size(16)));
      return not_plain(reinterpret_cast<Octets>(Words{first, last, first, last}));
    };
    if (copy_ends(std::int32_t{}, judged)) return;
  }
  while (from != end && is_plain(*from)) *at++ = *from++;
}

// Copies plain characters until `end` or the first one that is not plain.
[[gnu::always_inline]] inline void put_plain(char*& at, const char*& from,
                                             const char* end) noexcept {
  const std::ptrdiff_t size = end - from;
  if (size < 16) return put_plain_short(at, from, end);
  if (size <= 32) {
    // Checks both ends at once, which may overlap. Most texts have this length and need one branch.
    const Octets first = load(from), last = load(end - 16);
    if (top_bits(find_special(first) | find_special(last)) == 0) [[likely]] {
      store(at, first);
      store(at + size - 16, last);
      at += size;
      from = end;
      return;
    }
  }
  const auto advance = [&](unsigned special, std::ptrdiff_t count) __attribute__((always_inline)) {
    const std::ptrdiff_t plain = special == 0 ? count : std::countr_zero(special);
    at += plain;
    from += plain;
    return special == 0;
  };
  do {
    const Octets text = load(from);
    store(at, text);
    if (!advance(not_plain(text), 16)) return;
  } while (end - from >= 16);
  if (from == end) return;
  // Copies the last sixteen bytes, including some that were copied already.
  const std::ptrdiff_t again = 16 - (end - from);
  const Octets text = load(from - again);
  store(at - again, text);
  advance(not_plain(text) >> again, end - from);
}
#else
[[gnu::always_inline]] inline void put_plain(char*& at, const char*& from,
                                             const char* end) noexcept {
  while (from != end && is_plain(*from)) *at++ = *from++;
}
#endif

// Writes special characters until `end` or the first plain one. REQUIRES from != end.
KATANA_RARE char* put_special(char* at, const char*& from, const char* end) noexcept;

}  // namespace json_detail

// Writes `text` without quotes around it. REQUIRES room for 6 bytes for each byte of `text`.
[[gnu::always_inline]] inline char* put_json_characters(char* at, Bytes text) noexcept {
  const char* from = text.data();
  const char* const end = from + text.size();
  json_detail::put_plain(at, from, end);
  while (from != end) [[unlikely]] {
    at = json_detail::put_special(at, from, end);
    // The rest is not longer than the text. Without this g++ 14 warns of short texts.
    if (static_cast<std::size_t>(end - from) > text.size()) __builtin_unreachable();
    json_detail::put_plain(at, from, end);
  }
  return at;
}

// Writes `text` in quotes. REQUIRES room for json_text_bound(text.size()) bytes.
[[gnu::always_inline]] inline char* put_json_text(char* at, Bytes text) noexcept {
  *at++ = '"';
  at = put_json_characters(at, text);
  *at++ = '"';
  return at;
}

// Appends `text` in quotes.
void append_json_text(Text& to, Bytes text);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
