// What a field of HTTP/2 may be, in requests, replies and trailers alike (RFC 9113 §8.2): whatever
// passes has one meaning in HTTP/1.1 too.
#pragma once

#include <cstdint>

#include "katana/base/bytes.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::http2 {

inline constexpr std::size_t field_overhead = 32;  // RFC 7541 §4.1
inline constexpr std::int64_t no_length = -1;

enum class HeadVerdict : std::uint8_t {
  accepted,
  malformed,  // the stream is reset (RFC 9113 §8.1.1)
  refused,    // larger than is accepted, or asks for what is not done
  broken,     // COMPRESSION_ERROR
  bomb,       // far more than is accepted
};

// The classes that all octets have; no branch depends on an octet.
constexpr unsigned classes_of_all(Bytes text) noexcept {
  unsigned classes = 0xff;
  for (const char c : text) classes &= http::detail::character_table[static_cast<unsigned char>(c)];
  return classes;
}

// A token without upper case (RFC 9113 §8.2).
inline bool valid_name(Bytes name) noexcept {
  unsigned classes = name.empty() ? 0 : http::token_character;
  unsigned upper = 0;
  for (const char c : name) {
    const auto octet = static_cast<unsigned char>(c);
    classes &= http::detail::character_table[octet];
    upper |= octet - unsigned{'A'} < 26u ? 1 : 0;
  }
  return classes != 0 && upper == 0;
}

inline bool valid_value(Bytes value) noexcept {
  if (!value.empty() && (http::is_blank(value.front()) || http::is_blank(value.back()))) {
    return false;
  }
  return (classes_of_all(value) & http::value_character) != 0;
}

// Fields that are about a connection, which HTTP/2 does without (RFC 9113 §8.2.2).
inline bool is_about_connection(Bytes name) noexcept {
  switch (name.size()) {
    case 7: return name == "upgrade";
    case 10: return name == "connection" || name == "keep-alive";
    case 16: return name == "proxy-connection";
    case 17: return name == "transfer-encoding";
    default: return false;
  }
}

// Takes a Content-Length. False: it is none, or not the one that came before it in `length`.
inline bool take_content_length(Bytes value, std::int64_t& length) noexcept {
  if (value.empty() || value.size() > 18 || !http::all_are(value, http::digit_character)) {
    return false;
  }
  std::int64_t number = 0;
  for (const char c : value) number = number * 10 + (c - '0');
  if (length != no_length && length != number) return false;
  length = number;
  return true;
}

}  // namespace katana::http2
