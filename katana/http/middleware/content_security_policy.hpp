// ContentSecurityPolicy: what a page may load, run, send and be framed by (CSP Level 3), as a value
// that cannot be ended or widened by what is put into it.
//
//   ContentSecurityPolicy policy = ContentSecurityPolicy::strict();
//   policy.allow(CspDirective::script_src, {CspSource::nonce()})
//         .allow(CspDirective::img_src, {CspSource::host("https://cdn.example")});
//   const Result<ContentSecurityPolicy> same = ContentSecurityPolicy::parse(
//       "default-src 'self'; script-src 'nonce'; img-src https://cdn.example");
//
// Owns       its sources.
// Thread     a value.
// Allocates  as vectors do.
// Fails      parse() with an Error that names the word; mistake() has what is wrong with sources
//            that allow() was given, and such a policy does not serve: Router::build() says so.
// Invariant  a source has no space, semicolon, comma or quote, so that it stays one.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/hints.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana {

// What the sources of a directive are for.
enum class CspDirective : std::uint8_t {
  default_src,                // everything without a specific directive
  script_src,                 // scripts, and what runs in elements
  style_src,                  // style sheets, and style in elements
  img_src,                    // images
  font_src,                   // fonts
  connect_src,                // fetch(), WebSocket, EventSource
  media_src,                  // audio and video
  object_src,                 // plugins
  frame_src,                  // frames in the page
  child_src,                  // frames and workers without a specific one
  worker_src,                 // workers
  manifest_src,               // manifests of applications
  base_uri,                   // what <base> may say
  form_action,                // where forms may be sent
  frame_ancestors,            // who may have the page in a frame
  upgrade_insecure_requests,  // without sources: http becomes https
};

// One source of a directive.
class CspSource {
 public:
  // The origin of the page.
  static CspSource self() { return CspSource("'self'"); }
  // Nothing at all; alone in its directive.
  static CspSource none() { return CspSource("'none'"); }
  // That of the reply: FromContext<CspNonce> of security_headers().
  static CspSource nonce() { return CspSource("'nonce'"); }
  static CspSource strict_dynamic() { return CspSource("'strict-dynamic'"); }
  static CspSource unsafe_inline() { return CspSource("'unsafe-inline'"); }
  static CspSource unsafe_eval() { return CspSource("'unsafe-eval'"); }
  static CspSource data() { return CspSource("data:"); }
  static CspSource blob() { return CspSource("blob:"); }
  // "https://cdn.example:8443/path", "*.example", "https:".
  static CspSource host(Bytes source) { return CspSource(source); }
  // "sha256-…" of what stands in an element, as base64.
  static CspSource hash(Bytes source) { return CspSource("'" + std::string(source) + "'"); }

  // As it stands in a policy.
  const std::string& text() const noexcept KATANA_VIEW { return text_; }

 private:
  explicit CspSource(Bytes text) : text_(text) {}
  std::string text_;
};

class ContentSecurityPolicy {
 public:
  ContentSecurityPolicy() = default;
  // default-src 'self'; object-src, base-uri and frame-ancestors 'none'; form-action 'self'.
  static ContentSecurityPolicy strict();
  // As it is written in a field; 'nonce' stands for the reply's.
  static Result<ContentSecurityPolicy> parse(Bytes text);

  // Beside what the directive has already; 'none' of before is gone.
  ContentSecurityPolicy& allow(CspDirective directive, std::initializer_list<CspSource> sources);

  // What is wrong with the first source that is none; empty: nothing.
  const std::string& mistake() const noexcept KATANA_VIEW { return mistake_; }
  bool empty() const noexcept { return directives_.empty(); }
  // Its parts() are cut.
  bool has_nonce() const noexcept;
  // The field's value, cut where the reply's nonce goes: one part, unless it has one.
  std::vector<std::string> parts() const;

 private:
  void add(CspDirective directive, std::string source);

  std::vector<std::pair<CspDirective, std::vector<std::string>>> directives_;
  std::string mistake_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
