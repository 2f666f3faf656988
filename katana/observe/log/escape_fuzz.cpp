// Invariant: for any bytes, an escaped line is printable UTF-8 without a line end and without a
// change of the writing direction. Text that is escaped for JSON may stand in a JSON string, and
// means the same characters.
#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/base/text/utf8.hpp"
#include "katana/observe/log/escape.hpp"

namespace {

using namespace katana;

unsigned hex(Bytes digits) {
  unsigned value = 0;
  for (const char c : digits) {
    KATANA_CHECK((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
    value = value * 16 + static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  return value;
}

// Reverses RFC 8259 §7.
std::string unescape(Bytes text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    KATANA_CHECK(length != 0 && static_cast<std::uint8_t>(text[0]) >= 0x20 && text[0] != '"');
    if (text[0] != '\\') {
      plain += text.substr(0, length);
      text.remove_prefix(length);
      continue;
    }
    KATANA_CHECK(text.size() >= 2);
    const char c = text[1];
    if (c == 'u') {
      KATANA_CHECK(text.size() >= 6);
      plain += static_cast<char>(hex(text.substr(2, 4)));
      text.remove_prefix(6);
      continue;
    }
    KATANA_CHECK(Bytes("\"\\bfnrt").find(c) != Bytes::npos);
    switch (c) {
      case 'b': plain += '\b'; break;
      case 'f': plain += '\f'; break;
      case 'n': plain += '\n'; break;
      case 'r': plain += '\r'; break;
      case 't': plain += '\t'; break;
      default: plain += c;
    }
    text.remove_prefix(2);
  }
  return plain;
}

std::string with_replacements(Bytes text) {
  std::string right;
  while (!text.empty()) right += take_character(text);
  return right;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes text(reinterpret_cast<const char*>(data), size);
  log::Buffer out;
  log::escape_json(text, out);
  KATANA_CHECK(unescape({out.data(), out.size()}) == with_replacements(text));
  for (const auto escape : {log::escape_line, log::escape_quoted}) {
    out.clear();
    escape(text, out);
    for (Bytes left(out.data(), out.size()); !left.empty();) {
      const std::size_t length = utf8_length(left);
      KATANA_CHECK(length != 0 && static_cast<std::uint8_t>(left[0]) >= 0x20 && left[0] != 0x7f);
      KATANA_CHECK(left.substr(0, length) != "\u202e" && left.substr(0, length) != "\u2028");
      left.remove_prefix(length);
    }
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
