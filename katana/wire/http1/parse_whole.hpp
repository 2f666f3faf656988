// parse_whole: one pass over a head that is complete and right in form. It is a template that is
// compiled once for each set of kernels; head_parser.hpp has its contract. Only head_parser_*.cpp
// include it. Each of them first defines KATANA_TARGET as the attribute that allows its
// instructions.
#pragma once

#include <bit>
#include <cstring>

#include "katana/wire/http1/facts.hpp"
#include "katana/wire/http1/head_parser.hpp"
#include "katana/wire/http1/kernels.hpp"

#ifndef KATANA_TARGET
// The attribute that allows a kernel's instructions; its source defines it.
#define KATANA_TARGET
#endif

namespace katana::http1::detail {

inline std::uint16_t load16(const char* p) noexcept {
  std::uint16_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
inline std::uint32_t load32(const char* p) noexcept {
  std::uint32_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
inline std::uint64_t load64(const char* p) noexcept {
  std::uint64_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// Compares `size` bytes with a lower-case literal, ignoring case. REQUIRES a token at p, or a
// literal of letters only. Setting bit 5 makes a letter lower-case. It changes only letters into
// letters, and no other token character into one of `literal`.
template <std::size_t bytes>
inline bool is_name(const char* p, const char (&literal)[bytes]) noexcept {
  constexpr std::size_t size = bytes - 1;
  static_assert(size >= 4 && size <= 17);
  constexpr std::uint64_t bit64 = 0x2020202020202020;
  constexpr std::uint32_t bit32 = 0x20202020;
  // Differences are joined, not branched on: a name of the right length is nearly always the right
  // name.
  if constexpr (size < 8) {
    return (((load32(p) | bit32) ^ load32(literal)) |
            ((load32(p + size - 4) | bit32) ^ load32(literal + size - 4))) == 0;
  } else {
    constexpr std::size_t middle = size <= 16 ? 0 : 8;
    return (((load64(p) | bit64) ^ load64(literal)) |
            ((load64(p + middle) | bit64) ^ load64(literal + middle)) |
            ((load64(p + size - 8) | bit64) ^ load64(literal + size - 8))) == 0;
  }
}

// Where the digits from `p` on end, or eight of them on.
[[gnu::always_inline]] inline const char* digits_end(const char* p, const char* end) noexcept {
  if constexpr (std::endian::native == std::endian::little) {
    if (end - p >= 8) [[likely]] {
      // Digits become 0 to 9. Any greater value sets the highest bit of its byte, and may carry
      // only into the bytes behind it.
      constexpr std::uint64_t each = 0x0101010101010101;
      const std::uint64_t values = load64(p) ^ '0' * each;
      const std::uint64_t others = ((values + (0x7f - 9) * each) | values) & (0x80 * each);
      return p + std::countr_zero(others) / 8;
    }
  }
  while (p != end && http::is(*p, http::digit_character)) ++p;
  return p;
}

// The end of a name or an IPv4 address with an optional port; nearly every Host is one. Null when
// there is none at `p` or valid_authority() has to judge it.
template <class K>
[[gnu::always_inline]] KATANA_TARGET inline const char* plain_host_end(const char* base,
                                                                       const char* p,
                                                                       const char* end) noexcept {
  const char* const host = p;
  p = K::template find_not<http::plain_host_character>(base, p, end);
  if (p == host) return nullptr;
  if (p == end || *p != ':') return p;
  const char* const port = p + 1;
  p = digits_end(port, end);
  // Five digits below 60000 cannot exceed the largest port.
  if (p - port > 5 || (p - port == 5 && *port >= '6')) return nullptr;
  return p;
}

template <class K>
KATANA_TARGET inline void note_known_field(Facts& facts, const char* base, Bytes name,
                                           Bytes value) noexcept {
  const char* const p = name.data();
  switch (name.size()) {
    case 4:
      if (is_name(p, "host")) {
        const char* const end = value.data() + value.size();
        facts.note_host(value, plain_host_end<K>(base, value.data(), end) == end);
      }
      break;
    case 6:
      if (is_name(p, "expect")) facts.note(KnownField::expect, value);
      break;
    case 7:
      if (is_name(p, "upgrade")) facts.note(KnownField::upgrade, value);
      break;
    case 10:
      if (is_name(p, "connection")) facts.note(KnownField::connection, value);
      break;
    case 14:
      if (is_name(p, "content-length")) facts.note(KnownField::content_length, value);
      break;
    case 17:
      if (is_name(p, "transfer-encoding")) facts.note(KnownField::transfer_encoding, value);
      break;
    default: break;
  }
}

inline http::Slice slice(const char* base, const char* begin, const char* end) noexcept {
  return {static_cast<std::uint16_t>(begin - base), static_cast<std::uint16_t>(end - begin)};
}

inline constexpr HeadResult not_whole{HeadVerdict::incomplete, Refusal::none, 0};

// REQUIRES two bytes at `p`.
inline bool is_line_end(const char* p) noexcept { return load16(p) == load16("\r\n"); }

// Reads "HTTP/1.1" CR LF. Null: not one of the versions that are parsed here; check_lines() judges
// it.
inline const char* parse_version(const char* p, const char* end, http::Head& head) noexcept {
  if (end - p < 10) return nullptr;
  if (load64(p) == load64("HTTP/1.1") && is_line_end(p + 8)) [[likely]] {
    head.set_minor_version(1);
    return p + 10;
  }
  constexpr std::uint64_t without_minor = ~(std::uint64_t{0xff} << 56);
  if ((load64(p) & without_minor) != (load64("HTTP/1.\0") & without_minor)) return nullptr;
  if (!http::is(p[7], http::digit_character) || !is_line_end(p + 8)) return nullptr;
  // A higher minor version is answered as the highest one known here (RFC 9110 §2.5).
  head.set_minor_version(p[7] == '0' ? 0u : 1u);
  return p + 10;
}

// Nearly always it is one space.
inline const char* skip_white_space(const char* p, const char* end) noexcept {
  if (end - p >= 2 && p[0] == ' ' && static_cast<unsigned char>(p[1]) > ' ') [[likely]]
    return p + 1;
  while (p != end && (*p == ' ' || *p == '\t')) ++p;
  return p;
}

// `begin` is where the last value ended its scan; white space before it is not part of the value.
inline const char* trim_white_space(const char* begin, const char* end) noexcept {
  while (end != begin && (end[-1] == ' ' || end[-1] == '\t')) --end;
  return end;
}

template <class K>
KATANA_TARGET inline const char* parse_request_line(const Limits& limits, const char* base,
                                                    const char* end, http::Head& head) noexcept {
  const char* p = base;
  if (end - p >= 16 && load32(p) == load32("GET ")) [[likely]] {
    p += 3;
    head.set_method(http::Method::get, slice(base, base, base + 3));
  } else {
    p = K::template find_not<http::token_character>(base, p, end);
    if (p == base || p == end || *p != ' ') return nullptr;
    head.set_method(http::method_from({base, static_cast<std::size_t>(p - base)}),
                    slice(base, base, p));
  }
  const char* const target = p + 1;
  p = K::template find_not<http::plain_path_character>(base, target, end);
  const bool plain = p != end && *p == ' ' && *target == '/';
  if (!plain) {
    p = K::template find_not<http::target_character>(base, p, end);
    if (p == target || p == end || *p != ' ') return nullptr;
  }
  head.set_target(slice(base, target, p));
  head.set_target_is_plain(plain && head.method() != http::Method::connect);
  p = parse_version(p + 1, end, head);
  if (p == nullptr || static_cast<std::size_t>(p - base) > limits.request_line_bytes_max + 2)
    return nullptr;
  return p;
}

// The value at `p`, with its CRLF, is the known one. Differences are joined, not branched on.
[[gnu::always_inline]] inline bool begins_with(const KnownHost& known, const char* p,
                                               const char* end) noexcept {
  const std::size_t size = known.size;
  if (static_cast<std::size_t>(end - p) < size) [[unlikely]]
    return false;
  const char* const line = known.line.data();
  std::uint64_t differences =
      (load64(p) ^ load64(line)) | (load64(p + size - 8) ^ load64(line + size - 8));
  if (size > 16) {
    differences |=
        (load64(p + 8) ^ load64(line + 8)) | (load64(p + size - 16) ^ load64(line + size - 16));
  }
  return differences == 0;
}

// `begin` to `end` is a plain Host with its CRLF. One of another size is not kept: the known one
// stays.
inline void remember(KnownHost& known, const char* begin, const char* end) noexcept {
  const auto size = static_cast<std::size_t>(end - begin);
  if (size < KnownHost::bytes_min || size > KnownHost::bytes_max) return;
  std::memcpy(known.line.data(), begin, size);
  known.size = size;
}

// Reads "Host: ", a plain host and CR LF: name, value and meaning in one scan. The line is in every
// request and nearly always the first field (RFC 9110 §7.2). Returns `p` for any other line.
// parse_fields() enters the host into the facts.
template <class K>
KATANA_TARGET inline const char* parse_plain_host_line(const char* base, const char* p,
                                                       const char* end, http::Head& head,
                                                       KnownHost& known) noexcept {
  if (end - p < 10 || !is_name(p, "host") || load16(p + 4) != load16(": ")) return p;
  const char* const value = p + 6;
  if (begins_with(known, value, end)) [[likely]] {
    head.add_field(slice(base, p, p + 4), slice(base, value, value + known.size - 2));
    return value + known.size;
  }
  const char* const value_end = plain_host_end<K>(base, value, end);
  if (value_end == nullptr || end - value_end < 2 || !is_line_end(value_end)) return p;
  head.add_field(slice(base, p, p + 4), slice(base, value, value_end));
  remember(known, value, value_end + 2);
  return value_end + 2;
}

// An empty line is next.
inline bool ends_with_empty_line(const char* p, const char* end) noexcept {
  return end - p >= 2 && is_line_end(p);
}

// From `p` on, where a plain Host may have been read already. Out of line, for its registers: a
// head that ends with its Host does without them.
template <class K>
[[gnu::noinline]] KATANA_TARGET HeadResult parse_fields(const Limits& limits, const char* p,
                                                        const char* end, http::Head& head,
                                                        Framing& framing) noexcept {
  const char* const base = head.base();
  Facts facts;
  if (!head.target_is_plain() && !head.target().starts_with('/')) facts.note_rare_target();
  if (head.field_count() != 0) facts.note_host(head.value(0), true);
  for (;;) {
    if (end - p < 2) return not_whole;
    if (*p == '\r') break;
    if (head.field_count() == limits.fields_max) return not_whole;
    const char* const name = p;
    p = K::template find_not<http::token_character>(base, p, end);
    if (p == name || p == end || *p != ':') return not_whole;
    const char* const name_end = p;
    const char* const value = skip_white_space(p + 1, end);
    p = K::template find_not<http::value_character>(base, value, end);
    if (end - p < 2 || !is_line_end(p)) return not_whole;
    const char* const value_end = trim_white_space(value, p);
    head.add_field(slice(base, name, name_end), slice(base, value, value_end));
    note_known_field<K>(facts, base, {name, static_cast<std::size_t>(name_end - name)},
                        {value, static_cast<std::size_t>(value_end - value)});
    p += 2;
  }
  if (p[1] != '\n') return not_whole;
  p += 2;
  const auto bytes = static_cast<std::size_t>(p - base);
  head.set_bytes(bytes);
  // An error of meaning is final; the form was right to the last byte.
  const Refusal refusal = facts.judge(head, framing);
  return {refusal == Refusal::none ? HeadVerdict::complete : HeadVerdict::refused, refusal, bytes};
}

template <class K>
KATANA_TARGET HeadResult parse_whole(const Limits& limits, Bytes input, http::Head& head,
                                     Framing& framing, KnownHost& host) noexcept {
  const char* const base = input.data();
  const std::size_t size =
      input.size() < limits.head_bytes_max ? input.size() : limits.head_bytes_max;
  const char* const end = base + size;
  head.begin(base);
  const char* const fields = parse_request_line<K>(limits, base, end, head);
  if (fields == nullptr) return not_whole;
  const char* const p = parse_plain_host_line<K>(base, fields, end, head, host);
  const bool means_nothing_else =
      p != fields && head.target_is_plain() && head.minor_version() == 1;
  if (!means_nothing_else || !ends_with_empty_line(p, end)) {
    return parse_fields<K>(limits, p, end, head, framing);
  }
  // As facts that were told of one plain Host judge it.
  framing = Framing{};
  const auto bytes = static_cast<std::size_t>(p + 2 - base);
  head.set_bytes(bytes);
  return {HeadVerdict::complete, Refusal::none, bytes};
}

}  // namespace katana::http1::detail

// SPDX-License-Identifier: Apache-2.0
