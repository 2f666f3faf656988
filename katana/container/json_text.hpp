// JSON text: characters and numbers as JSON writes them, into memory that the caller made sure of.
//
// Thread     any.
// Allocates  never.
// Fails      never: octets that are no UTF-8 become U+FFFD, and numbers that JSON does not have
//            (NaN, infinities) become null.
// Invariant  each function writes at most what its bound says, and returns where it ended.
// Source     RFC 8259 §6, §7.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "katana/base/bytes.hpp"
#include "katana/base/hints.hpp"

namespace katana::container {

// ---- characters ----

// A character becomes \u00xx at worst, an octet that is none three octets.
constexpr std::size_t json_text_bound(std::size_t bytes) noexcept { return 6 * bytes + 2; }

namespace detail {

constexpr bool is_plain(char c) noexcept {
  return static_cast<std::uint8_t>(c) >= 0x20 && static_cast<std::uint8_t>(c) < 0x80 && c != '"' &&
         c != '\\';
}

// The high bit of each octet of `word` that is not plain ASCII; of those above the lowest that is
// set some may be wrong.
template <std::unsigned_integral Word>
constexpr Word not_plain(Word word) noexcept {
  constexpr Word ones = static_cast<Word>(~Word{0} / 0xff), highs = ones << 7;
  const auto has_zero = [](Word of) { return (of - ones) & ~of; };
  return (word | ((word - ones * 0x20) & ~word) | has_zero(word ^ (ones * '"')) |
          has_zero(word ^ (ones * '\\'))) &
         highs;
}

// One step of put_plain: a whole word, or its plain front. True: the word was plain.
template <class Word>
bool put_plain_word(char*& at, const char*& from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  std::memcpy(at, &word, sizeof word);
  const Word special = not_plain(word);
  const std::size_t plain =
      special == 0 ? sizeof word : static_cast<std::size_t>(std::countr_zero(special)) / 8;
  at += plain;
  from += plain;
  return special == 0;
}

// Copies plain characters until `end` or one that is not.
inline void put_plain(char*& at, const char*& from, const char* end) noexcept {
  static_assert(std::endian::native == std::endian::little, "the first octet is the lowest");
#if defined(__SSE2__)
  while (end - from >= 16) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), text);
    // Compared as signed numbers, what is not ASCII is below a space, too.
    const __m128i special = _mm_or_si128(_mm_cmplt_epi8(text, _mm_set1_epi8(0x20)),
                                         _mm_or_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8('"')),
                                                      _mm_cmpeq_epi8(text, _mm_set1_epi8('\\'))));
    const int mask = _mm_movemask_epi8(special);
    const int plain = mask == 0 ? 16 : std::countr_zero(static_cast<unsigned>(mask));
    at += plain;
    from += plain;
    if (mask != 0) return;
  }
#endif
  while (end - from >= 8) {
    if (!put_plain_word<std::uint64_t>(at, from)) return;
  }
  if (end - from >= 4 && !put_plain_word<std::uint32_t>(at, from)) return;
  while (from != end && is_plain(*from)) *at++ = *from++;
}

// Writes what is not plain, until `end` or something that is. REQUIRES from != end.
KATANA_RARE char* put_special(char* at, const char*& from, const char* end) noexcept;

}  // namespace detail

// `text` without quotes around it. REQUIRES room for 6 octets for each of `text`.
inline char* put_json_characters(char* at, Bytes text) noexcept {
  const char* from = text.data();
  const char* const end = from + text.size();
  detail::put_plain(at, from, end);
  while (from != end) [[unlikely]] {
    at = detail::put_special(at, from, end);
    detail::put_plain(at, from, end);
  }
  return at;
}

// REQUIRES room for json_text_bound(text.size()).
inline char* put_json_text(char* at, Bytes text) noexcept {
  *at++ = '"';
  at = put_json_characters(at, text);
  *at++ = '"';
  return at;
}

// How many octets from the front, at most `bytes_max`, end between two characters.
constexpr std::size_t whole_characters(Bytes text, std::size_t bytes_max) noexcept {
  if (text.size() <= bytes_max) return text.size();
  std::size_t size = bytes_max;
  while (size + 3 > bytes_max && (static_cast<std::uint8_t>(text[size]) & 0xc0) == 0x80) --size;
  return size;
}

// ---- octets: base64 (RFC 4648 §4), padded, in quotes ----

constexpr std::size_t json_octets_bound(std::size_t bytes) noexcept {
  return (bytes + 2) / 3 * 4 + 2;
}
char* put_base64(char* at, const std::byte* octets, std::size_t count) noexcept;

// ---- numbers ----

inline constexpr std::size_t json_integer_bound = 20;
inline constexpr std::size_t json_real_bound = 32;

namespace detail {

inline constexpr auto digit_pairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t number = 0; number < 100; ++number) {
    pairs[2 * number] = static_cast<char>('0' + number / 10);
    pairs[2 * number + 1] = static_cast<char>('0' + number % 10);
  }
  return pairs;
}();

constexpr unsigned count_digits(std::uint64_t number) noexcept {
  constexpr auto powers = [] {
    std::array<std::uint64_t, 20> all{};
    std::uint64_t power = 1;
    for (std::size_t index = 1; index < 20; ++index) all[index] = power *= 10;
    return all;
  }();
  // 1233/4096 is the logarithm of 2 to base 10, near enough for 64 bits.
  const unsigned guess = static_cast<unsigned>(std::bit_width(number | 1)) * 1233 >> 12;
  return guess + (number >= powers[guess] || guess == 0 ? 1 : 0);
}

}  // namespace detail

inline char* put_natural(char* at, std::uint64_t number) noexcept {
  const unsigned count = detail::count_digits(number);
  char* digit = at + count;
  while (number >= 100) {
    digit -= 2;
    std::memcpy(digit, &detail::digit_pairs[2 * (number % 100)], 2);
    number /= 100;
  }
  if (number >= 10) {
    std::memcpy(digit - 2, &detail::digit_pairs[2 * number], 2);
  } else {
    digit[-1] = static_cast<char>('0' + number);
  }
  return at + count;
}

inline char* put_integer(char* at, std::int64_t number) noexcept {
  if (number >= 0) return put_natural(at, static_cast<std::uint64_t>(number));
  *at++ = '-';
  return put_natural(at, 0 - static_cast<std::uint64_t>(number));
}

// The shortest digits that read back as the same number; always with a point or an exponent, so
// that it reads back as a real one.
char* put_real(char* at, double number) noexcept;
char* put_real(char* at, float number) noexcept;

}  // namespace katana::container
