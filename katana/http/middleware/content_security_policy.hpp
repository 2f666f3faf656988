// ContentSecurityPolicy: the sources that a page may load, run, send to and be framed by (CSP Level
// 3). It is a value that no source can end or widen.
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
// Fails      parse() with an Error that names the word. mistake() describes a mistake in sources
//            that allow() was given; Router::build() then fails.
// Invariant  a source has no space, semicolon, comma or quote, and remains one source.
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

// The directives: each limits the sources of one kind.
enum class CspDirective : std::uint8_t {
  default_src,                // everything without a specific directive
  script_src,                 // scripts, also within elements
  style_src,                  // style sheets, also within elements
  img_src,                    // images
  font_src,                   // fonts
  connect_src,                // fetch(), WebSocket, EventSource
  media_src,                  // audio and video
  object_src,                 // plugins
  frame_src,                  // frames in the page
  child_src,                  // frames and workers without a specific one
  worker_src,                 // workers
  manifest_src,               // manifests of applications
  base_uri,                   // URLs of <base>
  form_action,                // targets of forms
  frame_ancestors,            // pages that may frame this page
  upgrade_insecure_requests,  // without sources: http becomes https
};

// One source of a directive.
class CspSource {
 public:
  // The origin of the page.
  static CspSource self() { return CspSource("'self'"); }
  // Nothing at all; alone in its directive.
  static CspSource none() { return CspSource("'none'"); }
  // The nonce of the reply: FromContext<CspNonce> of security_headers().
  static CspSource nonce() { return CspSource("'nonce'"); }
  static CspSource strict_dynamic() { return CspSource("'strict-dynamic'"); }
  static CspSource unsafe_inline() { return CspSource("'unsafe-inline'"); }
  static CspSource unsafe_eval() { return CspSource("'unsafe-eval'"); }
  static CspSource data() { return CspSource("data:"); }
  static CspSource blob() { return CspSource("blob:"); }
  // "https://cdn.example:8443/path", "*.example", "https:".
  static CspSource host(Bytes source) { return CspSource(source); }
  // "sha256-…" of the text in an element, as base64.
  static CspSource hash(Bytes source) { return CspSource("'" + std::string(source) + "'"); }

  // The source as a policy writes it.
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
  // Reads a policy in the form of the field; 'nonce' stands for the nonce of the reply.
  static Result<ContentSecurityPolicy> parse(Bytes text);

  // Adds sources to those that the directive has; an earlier 'none' is removed.
  ContentSecurityPolicy& allow(CspDirective directive, std::initializer_list<CspSource> sources);

  // Describes the mistake in the first invalid source; empty: there is none.
  const std::string& mistake() const noexcept KATANA_VIEW { return mistake_; }
  bool empty() const noexcept { return directives_.empty(); }
  // True if parts() has a place for the nonce.
  bool has_nonce() const noexcept;
  // The field's value, cut at the nonce of the reply: one part if there is no nonce.
  std::vector<std::string> parts() const;

 private:
  void add(CspDirective directive, std::string source);

  std::vector<std::pair<CspDirective, std::vector<std::string>>> directives_;
  std::string mistake_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
