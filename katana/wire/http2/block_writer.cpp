#include "katana/wire/http2/block_writer.hpp"

#include <array>
#include <charconv>
#include <cstring>

#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/secret_names.hpp"

namespace katana::http2 {
namespace {

constexpr unsigned not_indexed = 0x00;
constexpr unsigned never_indexed = 0x10;

// Writes a string as it is: Huffman's code saves a quarter of the bytes and costs more than all the
// rest.
char* put_string(char* to, Bytes text) noexcept {
  to = put_integer(to, 0, 7, text.size());
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// RFC 9113 §8.2.2, §8.3.1. TE may ask for trailers.
bool stays_at_home(Bytes name, Bytes value) noexcept {
  for (const Bytes each :
       {"connection", "host", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"}) {
    if (http::equals_ignoring_case(name, each)) return true;
  }
  return http::equals_ignoring_case(name, "te") && !http::equals_ignoring_case(value, "trailers");
}

}  // namespace

char* put_integer(char* to, unsigned bits, unsigned prefix, std::size_t value) noexcept {
  const std::size_t all = (std::size_t{1} << prefix) - 1;
  if (value < all) {
    *to++ = static_cast<char>(bits | value);
    return to;
  }
  *to++ = static_cast<char>(bits | all);
  for (value -= all; value >= 128; value >>= 7) *to++ = static_cast<char>(0x80 | (value & 0x7f));
  *to++ = static_cast<char>(value);
  return to;
}

char* put_field(char* to, StaticName name, Bytes value) noexcept {
  return put_string(put_integer(to, not_indexed, 4, static_cast<std::size_t>(name)), value);
}

char* put_content_length(char* to, std::int64_t length) noexcept {
  std::array<char, 20> digits;
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), length).ptr;
  return put_field(to, StaticName::content_length,
                   {digits.data(), static_cast<std::size_t>(end - digits.data())});
}

char* put_lines(char* to, Bytes lines) noexcept {
  while (!lines.empty()) {
    const std::size_t colon = lines.find(':');
    const std::size_t end = lines.find("\r\n");
    const Bytes name = lines.substr(0, colon);
    const Bytes value = lines.substr(colon + 2, end - colon - 2);
    lines.remove_prefix(end + 2);
    if (stays_at_home(name, value)) continue;
    // A proxy that passes a credential on may not put it into a table (RFC 7541 §7.1.3).
    *to++ = static_cast<char>(http::is_secret_field(name) ? never_indexed : not_indexed);
    to = put_integer(to, 0, 7, name.size());
    for (const char c : name) *to++ = http::to_lower(c);
    to = put_string(to, value);
  }
  return to;
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
