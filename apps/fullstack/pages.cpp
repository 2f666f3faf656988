#include "fullstack/pages.hpp"

#include <fmt/format.h>

#include "fullstack_files.hpp"
#include "katana/http.hpp"
#include "katana/preconditions.hpp"

namespace katana::fullstack {
namespace {

// Pages that load nothing but their own files.
SecurityHeaderOptions headers() {
  using Source = CspSource;
  SecurityHeaderOptions options;
  options.policy = ContentSecurityPolicy();
  options.policy.allow(CspDirective::default_src, {Source::none()})
      .allow(CspDirective::script_src, {Source::self()})
      .allow(CspDirective::style_src, {Source::self()})
      .allow(CspDirective::img_src, {Source::self(), Source::data()})
      .allow(CspDirective::connect_src, {Source::self()})
      .allow(CspDirective::base_uri, {Source::none()})
      .allow(CspDirective::form_action, {Source::none()})
      .allow(CspDirective::frame_ancestors, {Source::none()});
  return options;
}

// FNV-1a, 64 bits: tells one version of a file from another.
constexpr std::uint64_t hash_of(Bytes text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// A file of the program. A browser asks again each time, and is told when nothing has changed.
auto file(Literal type, Literal content) {
  return
      [type, content, version = ResourceVersion(fmt::format("{:016x}", hash_of(content.bytes())))](
          Preconditions conditions) {
        std::optional<Reply> same = conditions.refusal(version);
        Reply reply = same ? *std::move(same) : Reply(200, type, content).with_version(version);
        reply.add_field("Cache-Control", "no-cache");
        return reply;
      };
}

}  // namespace

void add_pages(Group routes) {
  routes.use(security_headers(headers()));
  routes.get("/", file("text/html; charset=utf-8", embedded::file_dashboard_html))
      .get("/dashboard.css", file("text/css; charset=utf-8", embedded::file_dashboard_css))
      .get("/dashboard.js", file("text/javascript; charset=utf-8", embedded::file_dashboard_js));
}

}  // namespace katana::fullstack

// SPDX-License-Identifier: Apache-2.0
