#include "katana/openapi/document/served_content.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "katana/http/coding/codec.hpp"
#include "katana/wire/http/content_coding.hpp"

namespace katana::openapi::detail {
namespace {

// If-None-Match (RFC 9110 §13.1.2), of tags without a comma in them.
bool names_tag(Bytes field, Bytes tag) {
  while (!field.empty()) {
    const std::size_t comma = field.find(',');
    Bytes each = field.substr(0, comma);
    field.remove_prefix(comma == Bytes::npos ? field.size() : comma + 1);
    while (each.starts_with(' ')) each.remove_prefix(1);
    while (each.ends_with(' ')) each.remove_suffix(1);
    if (each.starts_with("W/")) each.remove_prefix(2);
    if (each == "*" || each == tag) return true;
  }
  return false;
}

constexpr std::uint64_t decoded_bytes_max = 16 * 1024 * 1024;

Text decoded(Bytes content) {
  const auto decoder = coding::gzip().make_decoder({.bytes_max = decoded_bytes_max});
  Text text;
  decoder->decode(content, decoded_bytes_max, text);
  return text;
}

}  // namespace

// FNV-1a: nobody gains by a collision.
std::string fingerprint(Bytes content) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : content) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

void ServedContent::set(Bytes content) {
  content_ = content;
  tag_ = "\"" + fingerprint(content) + "\"";
}

void ServedContent::fill(std::string text) {
  owned_ = std::move(text);
  set(owned_);
}

void ServedContent::fill_gzip(Bytes content) {
  is_gzip_ = true;
  set(content);
}

Reply ServedContent::reply(const RequestView& request) const {
  if (tag_.empty()) return problem(503, "The content is not there yet.");
  Reply reply(304);
  if (!names_tag(request.field("if-none-match").value_or(Bytes()), tag_)) {
    reply = Reply(200, type_, Literal(""));
    const http::AcceptedCodings accepted(request.head());
    if (is_gzip_ && accepted.quality(http::Coding::gzip) == 0) {
      reply = Reply(200, type_, decoded(content_));
    } else {
      katana::detail::PreparedReply::refer_content(reply, content_);
      if (is_gzip_) reply.add_field("Content-Encoding", "gzip");
    }
  }
  if (is_gzip_) reply.add_field("Vary", "Accept-Encoding");
  reply.add_field("ETag", tag_);
  reply.add_field("Cache-Control", cache_control_.bytes());
  return reply;
}

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
