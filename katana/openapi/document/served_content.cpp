#include "katana/openapi/document/served_content.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "katana/http/coding/codec.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/wire/http/conditional.hpp"
#include "katana/wire/http/content_coding.hpp"

namespace katana::openapi::detail {
namespace {

constexpr std::uint64_t decoded_bytes_max = 16 * 1024 * 1024;

Text decoded(Bytes content) {
  const auto decoder = coding::gzip().make_decoder({.bytes_max = decoded_bytes_max});
  Text text;
  decoder->decode(content, decoded_bytes_max, text);
  return text;
}

}  // namespace

// FNV-1a: an attacker gains nothing by a collision.
std::string fingerprint(Bytes content) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : content) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

void ServedContent::set(Bytes content) {
  content_ = content;
  const std::string mark = fingerprint(content);
  tag_ = "\"" + mark + "\"";
  decoded_tag_ = "\"" + mark + "-decoded\"";
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
  if (tag_.empty()) return problem(problem_types::unavailable, "The content is not there yet.");
  const http::AcceptedCodings accepted(request.head());
  const bool decodes = is_gzip_ && accepted.quality(http::Coding::gzip) == 0;
  // Another coding is another representation, with another strong tag (RFC 9110 §8.8.3).
  const std::string& tag = decodes ? decoded_tag_ : tag_;
  Reply reply(304);
  switch (http::evaluate_conditions(request.head(), {.entity_tag = tag})) {
    case http::Condition::not_modified: break;
    case http::Condition::failed:
      reply = problem(problem_types::precondition_failed,
                      "The content is not the one that the request is about.");
      break;
    case http::Condition::proceed:
      reply = decodes ? Reply(200, type_, decoded(content_)) : Reply(200, type_, Literal(""));
      if (decodes) break;
      katana::detail::PreparedReply::refer_content(reply, content_);
      if (is_gzip_) reply.add_field("Content-Encoding", "gzip");
  }
  if (is_gzip_) reply.add_field("Vary", "Accept-Encoding");
  reply.add_field("ETag", tag);
  reply.add_field("Cache-Control", cache_control_.bytes());
  return reply;
}

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
