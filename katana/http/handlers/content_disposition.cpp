#include "katana/http/handlers/content_disposition.hpp"

#include "katana/base/text/utf8.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana {
namespace {

constexpr std::size_t name_bytes_max = 200;

bool is_control(Bytes character) noexcept {
  const auto octet = static_cast<unsigned char>(character[0]);
  return octet < 0x20 || octet == 0x7f;
}

// RFC 8187 §3.2.1.
bool is_attribute_character(Bytes character) noexcept {
  return character.size() == 1 && http::is(character[0], http::token_character) &&
         !Bytes("*'%").contains(character[0]);
}

}  // namespace

Text content_disposition(Bytes type, Bytes file_name) {
  Bytes rest = file_name.substr(file_name.find_last_of("/\\") + 1);  // npos + 1 is 0
  Text plain, encoded;
  bool is_plain = true;
  for (std::size_t size = 0; !rest.empty();) {
    const Bytes character = take_character(rest);
    if (is_control(character)) continue;
    size += character.size();
    if (size > name_bytes_max) break;
    // Some readers read a percent sign in the plain form as an escape (RFC 6266 §4.3, appendix D).
    const bool stays = character.size() == 1 && !Bytes("\"%").contains(character[0]);
    plain.append(stays ? character : Bytes("_"));
    is_plain = is_plain && stays;
    for (const char c : character) {
      if (is_attribute_character(character)) {
        encoded.push_back(c);
      } else {
        encoded.append(format_text("%{:02X}", static_cast<unsigned char>(c)).bytes());
      }
    }
  }
  if (plain.empty()) return Text(type);
  Text field(type);
  field.append("; filename=\"");
  field.append(plain.bytes());
  field.push_back('"');
  if (is_plain) return field;
  field.append("; filename*=UTF-8''");
  field.append(encoded.bytes());
  return field;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
