#include "katana/wire/http2/request_writer.hpp"

#include <algorithm>

#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/url.hpp"
#include "katana/wire/http2/block_writer.hpp"
#include "katana/wire/http2/field_rules.hpp"

namespace katana::http2 {
namespace {

// RFC 7541 Appendix A.
char* put_method(char* to, Bytes method) noexcept {
  if (method == "GET") return put_indexed(to, 2);
  if (method == "POST") return put_indexed(to, 3);
  return put_field(to, StaticName::method, method);
}

char* put_scheme(char* to, Bytes scheme) noexcept {
  if (scheme == "http") return put_indexed(to, 6);
  if (scheme == "https") return put_indexed(to, 7);
  return put_field(to, StaticName::scheme, scheme);
}

char* put_target(char* to, Bytes target) noexcept {
  return target == "/" ? put_indexed(to, 4) : put_field(to, StaticName::path, target);
}

}  // namespace

bool is_sendable(const RequestHead& head) noexcept {
  const bool is_connect = head.method == "CONNECT";
  const bool has_target = is_connect || head.target.starts_with('/') ||
                          (head.method == "OPTIONS" && head.target == "*");
  return !head.method.empty() && http::all_are(head.method, http::token_character) && has_target &&
         http::all_are(head.target, http::target_character) && !head.authority.empty() &&
         http::valid_authority(head.authority) && !head.scheme.empty() &&
         http::all_are(head.scheme, http::token_character);
}

std::size_t request_bytes_max(const RequestHead& head) noexcept {
  return head.method.size() + head.scheme.size() + head.authority.size() + head.target.size() +
         lines_bytes_max(head.fields) + 64;
}

char* put_request(char* to, const RequestHead& head) noexcept {
  to = put_method(to, head.method);
  if (head.method != "CONNECT") {
    to = put_scheme(to, head.scheme);
    to = put_target(to, head.target);
  }
  to = put_field(to, StaticName::authority, head.authority);
  if (head.content_length >= 0) to = put_content_length(to, head.content_length);
  return put_lines(to, head.fields);
}

std::size_t listed_bytes(const RequestHead& head) noexcept {
  const auto lines =
      static_cast<std::size_t>(std::count(head.fields.begin(), head.fields.end(), '\n'));
  constexpr std::size_t own_names = 7 + 7 + 10 + 5 + 14 + 20;  // and digits of a length
  return head.method.size() + head.scheme.size() + head.authority.size() + head.target.size() +
         own_names + 5 * field_overhead + head.fields.size() + lines * field_overhead;
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
