// The floor: what writing this struct costs when nothing is general. No check of room, no check
// of UTF-8; text is copied sixteen bytes at a time, past its end where that is shorter.
#include <bit>
#include <charconv>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "users.hpp"

namespace bench {
namespace {

[[gnu::noinline]] char* put_escaped(char* at, char c) {
  static constexpr char digits[] = "0123456789abcdef";
  *at++ = '\\';
  if (c == '"' || c == '\\') {
    *at++ = c;
    return at;
  }
  std::memcpy(at, "u00", 3);
  at[3] = digits[c >> 4 & 15];
  at[4] = digits[c & 15];
  return at + 5;
}

inline char* put_text(char* at, const std::string& text) {
  const char* from = text.data();
  const char* const end = from + text.size();
  while (from < end) {
#if defined(__SSE2__)
    const __m128i piece = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), piece);
    const __m128i low =
        _mm_cmpeq_epi8(_mm_max_epu8(piece, _mm_set1_epi8(0x1f)), _mm_set1_epi8(0x1f));
    const __m128i found =
        _mm_or_si128(low, _mm_or_si128(_mm_cmpeq_epi8(piece, _mm_set1_epi8('"')),
                                       _mm_cmpeq_epi8(piece, _mm_set1_epi8('\\'))));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(found)) | 0x10000u;
    const int plain = std::countr_zero(mask);
#else
    int plain = 0;
    while (plain < 16 && from + plain < end && from[plain] != '"' && from[plain] != '\\' &&
           static_cast<unsigned char>(from[plain]) >= 0x20) {
      at[plain] = from[plain];
      ++plain;
    }
#endif
    if (plain >= end - from) return at + (end - from);
    at += plain;
    from += plain;
    if (plain < 16) at = put_escaped(at, *from++);
  }
  return at;
}

template <std::size_t size>
inline char* put(char* at, const char (&text)[size]) {
  std::memcpy(at, text, size - 1);
  return at + size - 1;
}

inline char* put_user(char* at, const User& user) {
  at = put(at, "{\"id\":");
  at = std::to_chars(at, at + 20, user.id).ptr;
  at = put(at, ",\"name\":\"");
  at = put_text(at, user.name);
  at = put(at, "\",\"email\":\"");
  at = put_text(at, user.email);
  at = put(at, "\",\"age\":");
  at = std::to_chars(at, at + 20, user.age).ptr;
  at = user.active ? put(at, ",\"active\":true") : put(at, ",\"active\":false");
  at = put(at, ",\"created_at\":\"");
  at = put_text(at, user.created_at);
  return put(at, "\"}");
}

}  // namespace

char* floor_write(char* at, const User& user) { return put_user(at, user); }

char* floor_write(char* at, const std::vector<User>& users) {
  char separator = '[';
  for (const User& user : users) {
    *at++ = separator;
    at = put_user(at, user);
    separator = ',';
  }
  *at++ = ']';
  return at;
}

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
