// Kernels: find the first byte that is not of a class, by vector instructions of x86-64 and 64-bit
// ARM. Every processor has ScalarKernels.
//
// Owns       nothing.
// Allocates  never.
// Fails      never; returns `end` when every byte is of the class.
// Invariant  all of them give the same result for every input (head_parser_fuzz), and none reads
//            outside [begin, end).
//
// `begin` is where the readable memory starts. When fewer bytes than a vector are left, a kernel
// loads the vector that ends at `end` and shifts out the bytes before `p`.
//
// A class of ASCII characters is a 16 × 8 table of bits. One shuffle looks up the low half of a
// byte, another one the high half. Bytes from 0x80 on are not in the class.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include <array>
#include <bit>
#include <cstdint>

#include "katana/wire/http/characters.hpp"

namespace katana::http1 {

// Each half stands twice: a vector of 32 bytes is then loaded as it is.
struct NibbleTable {
  alignas(32) std::array<std::uint8_t, 32> low;   // a bit for each high half that is in the class
  alignas(32) std::array<std::uint8_t, 32> high;  // the bit of that half; none from 8 on
  alignas(32) std::array<std::uint8_t, 32> half;  // 15, which takes a half out of a byte
};

// The constants that the bytes of a field value are compared with.
struct ValueTable {
  alignas(32) std::array<std::uint8_t, 32> control;  // the highest of the controls
  alignas(32) std::array<std::uint8_t, 32> tab;      // HTAB, which is allowed
  alignas(32) std::array<std::uint8_t, 32> del;      // DEL, which is not allowed
};

// The table of the characters that `wanted` has.
constexpr NibbleTable make_nibble_table(http::CharacterClass wanted) {
  NibbleTable table{};
  for (unsigned value = 0; value < 128; ++value) {
    if (!http::is(static_cast<char>(value), wanted)) continue;
    table.low[value & 15] = static_cast<std::uint8_t>(table.low[value & 15] | 1u << (value >> 4));
  }
  for (unsigned high = 0; high < 8; ++high)
    table.high[high] = static_cast<std::uint8_t>(1u << high);
  for (std::size_t index = 0; index < 16; ++index) {
    table.low[16 + index] = table.low[index];
    table.high[16 + index] = table.high[index];
  }
  table.half.fill(15);
  return table;
}

// The one there is.
constexpr ValueTable make_value_table() {
  ValueTable table{};
  table.control.fill(0x1f);
  table.tab.fill('\t');
  table.del.fill(0x7f);
  return table;
}
// The only ValueTable.
inline constexpr ValueTable value_table = make_value_table();

// The table as it lies in memory. A compiler that knows its values would build the vectors anew in
// each search. That takes three instructions, and an operand in memory takes none.
template <class Table>
[[gnu::always_inline]] inline const Table& in_memory(const Table& table) noexcept {
  const Table* at = &table;
  asm("" : "+r"(at));
  return *at;
}

// Computed by the compiler.
template <http::CharacterClass wanted>
inline constexpr NibbleTable nibble_table = make_nibble_table(wanted);

// The kernels without vector instructions.
struct ScalarKernels {
  // The first byte of [p, end) that is not of `wanted`; `end`: all bytes are.
  template <http::CharacterClass wanted>
  static const char* find_not(const char*, const char* p, const char* end) noexcept {
    while (p != end && http::is(*p, wanted)) ++p;
    return p;
  }
};

#if defined(__x86_64__)
#define KATANA_SSE42 __attribute__((target("sse4.2"), always_inline))
#define KATANA_AVX2 __attribute__((target("avx2,bmi"), always_inline))

struct Sse42Kernels {
  // Bit i: byte i is not of the class.
  template <http::CharacterClass wanted>
  KATANA_SSE42 static inline unsigned misfits(const char* p) noexcept {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    if constexpr (wanted == http::value_character) {
      const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
      const __m128i tab = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t'));
      const __m128i del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
      const __m128i bad = _mm_or_si128(_mm_andnot_si128(tab, control), del);
      return static_cast<unsigned>(_mm_movemask_epi8(bad));
    } else {
      const NibbleTable& table = nibble_table<wanted>;
      const __m128i half = _mm_set1_epi8(15);
      const __m128i low = _mm_and_si128(bytes, half);
      const __m128i high = _mm_and_si128(_mm_srli_epi16(bytes, 4), half);
      const __m128i rows =
          _mm_shuffle_epi8(_mm_load_si128(reinterpret_cast<const __m128i*>(table.low.data())), low);
      const __m128i column = _mm_shuffle_epi8(
          _mm_load_si128(reinterpret_cast<const __m128i*>(table.high.data())), high);
      const __m128i bad = _mm_cmpeq_epi8(_mm_and_si128(rows, column), _mm_setzero_si128());
      return static_cast<unsigned>(_mm_movemask_epi8(bad));
    }
  }

  template <http::CharacterClass wanted>
  KATANA_SSE42 static inline const char* find_not(const char* begin, const char* p,
                                                  const char* end) noexcept {
    while (end - p >= 16) {
      if (const unsigned bad = misfits<wanted>(p)) return p + std::countr_zero(bad);
      p += 16;
    }
    if (end - begin < 16) return ScalarKernels::find_not<wanted>(begin, p, end);
    const unsigned bad = misfits<wanted>(end - 16) >> (16 - (end - p));
    return bad != 0 ? p + std::countr_zero(bad) : end;
  }
};

struct Avx2Kernels {
  KATANA_AVX2 static inline __m256i load(const std::array<std::uint8_t, 32>& from) noexcept {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(from.data()));
  }

  // Bit i: byte i is not of the class.
  template <http::CharacterClass wanted>
  KATANA_AVX2 static inline unsigned misfits(const char* p) noexcept {
    __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    asm("" : "+x"(bytes));  // loaded once, not again for each use
    if constexpr (wanted == http::value_character) {
      const ValueTable& table = in_memory(value_table);
      const __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, load(table.control)), bytes);
      const __m256i tab = _mm256_cmpeq_epi8(bytes, load(table.tab));
      const __m256i del = _mm256_cmpeq_epi8(bytes, load(table.del));
      const __m256i bad = _mm256_or_si256(_mm256_andnot_si256(tab, control), del);
      return static_cast<unsigned>(_mm256_movemask_epi8(bad));
    } else {
      const NibbleTable& table = in_memory(nibble_table<wanted>);
      const __m256i half = load(table.half);
      const __m256i low = _mm256_and_si256(bytes, half);
      const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
      const __m256i found = _mm256_and_si256(_mm256_shuffle_epi8(load(table.low), low),
                                             _mm256_shuffle_epi8(load(table.high), high));
      const __m256i bad = _mm256_cmpeq_epi8(found, _mm256_setzero_si256());
      return static_cast<unsigned>(_mm256_movemask_epi8(bad));
    }
  }

  template <http::CharacterClass wanted>
  KATANA_AVX2 static inline const char* find_not(const char* begin, const char* p,
                                                 const char* end) noexcept {
    while (end - p >= 32) {
      if (const unsigned bad = misfits<wanted>(p)) return p + std::countr_zero(bad);
      p += 32;
    }
    if (end - begin < 32) return ScalarKernels::find_not<wanted>(begin, p, end);
    if (p == end) return end;
    const unsigned bad = misfits<wanted>(end - 32) >> (32 - (end - p));
    return bad != 0 ? p + std::countr_zero(bad) : end;
  }
};
#elif defined(__aarch64__)
// Advanced SIMD, which every 64-bit ARM has.
struct NeonKernels {
  // Bits 4i to 4i + 3: byte i is not of the class.
  template <http::CharacterClass wanted>
  [[gnu::always_inline]] static inline std::uint64_t misfits(const char* p) noexcept {
    const uint8x16_t bytes = vld1q_u8(reinterpret_cast<const std::uint8_t*>(p));
    uint8x16_t bad;
    if constexpr (wanted == http::value_character) {
      const uint8x16_t control = vcltq_u8(bytes, vdupq_n_u8(0x20));
      const uint8x16_t tab = vceqq_u8(bytes, vdupq_n_u8('\t'));
      bad = vorrq_u8(vbicq_u8(control, tab), vceqq_u8(bytes, vdupq_n_u8(0x7f)));
    } else {
      const NibbleTable& table = nibble_table<wanted>;
      const uint8x16_t rows =
          vqtbl1q_u8(vld1q_u8(table.low.data()), vandq_u8(bytes, vdupq_n_u8(15)));
      const uint8x16_t column = vqtbl1q_u8(vld1q_u8(table.high.data()), vshrq_n_u8(bytes, 4));
      bad = vceqzq_u8(vandq_u8(rows, column));
    }
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(bad), 4)), 0);
  }

  template <http::CharacterClass wanted>
  [[gnu::always_inline]] static inline const char* find_not(const char* begin, const char* p,
                                                            const char* end) noexcept {
    while (end - p >= 16) {
      if (const std::uint64_t bad = misfits<wanted>(p)) return p + std::countr_zero(bad) / 4;
      p += 16;
    }
    if (end - begin < 16) return ScalarKernels::find_not<wanted>(begin, p, end);
    if (p == end) return end;
    const std::uint64_t bad = misfits<wanted>(end - 16) >> (4 * (16 - (end - p)));
    return bad != 0 ? p + std::countr_zero(bad) / 4 : end;
  }
};
#endif

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
