// JSON scan: reads the tokens that simdjson found: strings with their escapes, and numbers.
//
// Thread     any.
// Allocates  only for a string with escapes.
// Fails      false for an unknown escape, a lone surrogate, or an invalid number.
// Invariant  find_string_end reads no more than 15 bytes behind the quote that ends the string.
// Source     RFC 8259 §6, §7.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "katana/base/text/bytes.hpp"
#include "katana/data/container/value.hpp"

namespace katana::container::detail {

// Finds the first `"` or `\` from `at` on. REQUIRES that there is one, and 15 bytes behind it.
inline const char* find_string_end(const char* at) noexcept {
#if defined(__SSE2__)
  while (true) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i found = _mm_or_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8('"')),
                                       _mm_cmpeq_epi8(text, _mm_set1_epi8('\\')));
    if (const int mask = _mm_movemask_epi8(found)) {
      return at + std::countr_zero(static_cast<unsigned>(mask));
    }
    at += 16;
  }
#else
  while (*at != '"' && *at != '\\') ++at;
  return at;
#endif
}

// Reads the string that begins at `at`, behind its quote, and resolves its escapes.
bool unescape_string(const char* at, std::string& to);

// True if `token` is a number of JSON of any size.
bool is_json_number(Bytes token) noexcept;
// True if a number is an integer. "-0" is none, because integers have no negative zero.
bool is_json_integer(Bytes number) noexcept;
// A number without a fraction in any form, such as "1.0" or "1e2", as its sign and its magnitude.
// Beyond 64 bits `magnitude` is empty. whole_number() returns nothing for a number with a fraction.
// It REQUIRES is_json_number().
struct WholeNumber {
  bool is_negative = false;
  std::optional<std::uint64_t> magnitude = {};

  // Converts the number. False: the type cannot hold it.
  bool get(std::int64_t& to) const noexcept;
  bool get(std::uint64_t& to) const noexcept;
};
std::optional<WholeNumber> whole_number(Bytes number);

bool decode_base64(Bytes text, Octets& to);

}  // namespace katana::container::detail

// SPDX-License-Identifier: Apache-2.0
