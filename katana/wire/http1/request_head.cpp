#include "katana/wire/http1/request_head.hpp"

#include <charconv>
#include <cstring>

#include "katana/wire/http/url.hpp"

namespace katana::http1 {
namespace {

constexpr std::size_t names_bytes = 96;  // of the version, of Host, Content-Length and Connection

char* put_bytes(char* to, Bytes text) noexcept {
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

}  // namespace

bool is_sendable(const RequestHead& head) noexcept {
  return !head.method.empty() && http::all_are(head.method, http::token_character) &&
         !head.target.empty() && http::all_are(head.target, http::target_character) &&
         http::valid_authority(head.host);
}

std::size_t request_head_bytes_max(const RequestHead& head) noexcept {
  return names_bytes + head.method.size() + head.target.size() + head.host.size() +
         head.fields.size();
}

char* write_request_head(char* to, const RequestHead& head) noexcept {
  to = put_bytes(to, head.method);
  *to++ = ' ';
  to = put_bytes(to, head.target);
  to = put_bytes(put_bytes(to, " HTTP/1.1\r\nHost: "), head.host);
  to = put_bytes(to, "\r\n");
  if (head.content_length != http::unknown_length) {
    to = put_bytes(to, "Content-Length: ");
    to = std::to_chars(to, to + 20, head.content_length).ptr;
    to = put_bytes(to, "\r\n");
  }
  to = put_bytes(to, head.fields);
  if (head.close) to = put_bytes(to, "Connection: close\r\n");
  return put_bytes(to, "\r\n");
}

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
