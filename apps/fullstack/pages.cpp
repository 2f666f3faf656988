#include "fullstack/pages.hpp"

#include <fmt/format.h>

#include "fullstack/entity_tags.hpp"
#include "fullstack_files.hpp"

namespace katana::fullstack {
namespace {

constexpr Bytes policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// FNV-1a, 64 bits: tells one version of a file from another.
constexpr std::uint64_t hash_of(Bytes text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// A file of the program. A browser asks again each time, and is told when nothing has changed.
auto file(Literal type, Literal content) {
  return [type, content,
          tag = fmt::format("\"{:016x}\"", hash_of(content.bytes()))](const RequestView& request) {
    const bool known = if_none_match_names(request.field("if-none-match").value_or(""), tag);
    Reply reply = known ? Reply(304) : Reply(200, type, content);
    reply.add_field("ETag", tag);
    reply.add_field("Cache-Control", "no-cache");
    reply.add_field("Content-Security-Policy", policy);
    reply.add_field("X-Content-Type-Options", "nosniff");
    reply.add_field("Referrer-Policy", "no-referrer");
    return reply;
  };
}

}  // namespace

void add_pages(Group routes) {
  routes.get("/", file("text/html; charset=utf-8", embedded::file_dashboard_html))
      .get("/dashboard.css", file("text/css; charset=utf-8", embedded::file_dashboard_css))
      .get("/dashboard.js", file("text/javascript; charset=utf-8", embedded::file_dashboard_js));
}

}  // namespace katana::fullstack

// SPDX-License-Identifier: Apache-2.0
