#include "katana/http/client/response.hpp"

#include "katana/wire/http/characters.hpp"

namespace katana::client {

const char* Response::set_head(unsigned status, Text head) noexcept {
  status_ = static_cast<std::uint16_t>(status);
  head_ = std::move(head);
  const Bytes text = head_.bytes();
  if (text.size() > http::head_bytes_capacity) return "has a head that exceeds 65,535 bytes";
  version_ = text.starts_with("HTTP/1.0") ? HttpVersion::http_1_0 : HttpVersion::http_1_1;
  fields_.begin(text.data());
  fields_.set_bytes(text.size());
  const auto slice = [&](Bytes part) {
    return http::Slice{static_cast<std::uint16_t>(part.data() - text.data()),
                       static_cast<std::uint16_t>(part.size())};
  };
  std::size_t at = text.find("\r\n") + 2;  // after the status line
  for (;;) {
    const std::size_t end = text.find("\r\n", at);
    if (end == at || end == Bytes::npos) return nullptr;
    if (fields_.field_count() == http::fields_capacity) return "has more than 128 fields";
    const Bytes line = text.substr(at, end - at);
    const std::size_t colon = line.find(':');
    const Bytes value = http::trimmed(line.substr(colon + 1));
    fields_.add_field(slice(line.substr(0, colon)),
                      slice(value.empty() ? line.substr(0, 0) : value));
    at = end + 2;
  }
}

void Response::set_fields(unsigned status, const http::Head& fields) noexcept {
  status_ = static_cast<std::uint16_t>(status);
  version_ = HttpVersion::http_2;
  head_ = Text(fields.bytes());
  fields_ = fields;
  fields_.rebase(head_.data());
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
