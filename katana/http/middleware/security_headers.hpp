// Fields that tell browsers to keep what a service answers apart from other sites, by default as
// strict as a site of one origin can bear.
//
//   router.use(security_headers());                            // on the router: 404 has them, too
//   ContentSecurityPolicy policy = ContentSecurityPolicy::strict();
//   policy.allow(CspDirective::script_src, {CspSource::nonce()});
//   router.use(security_headers({.policy = policy}));
//   router.get("/", [](FromContext<CspNonce> nonce) {
//     return html(R"(<script nonce="{}">…</script>)", nonce->text());
//   });
//
// Owns       the lines, made once.
// Thread     any: the reactor's that serves.
// Allocates  with a nonce one string for each request; else nothing but room for the fields.
// Fails      Router::build() for a value that could not stand in a field, or a policy with a
//            mistake.
// Invariant  a field that a handler has set is left as it is. A nonce is of 16 random octets and in
//            one reply only.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "katana/base/values/instant.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/middleware/content_security_policy.hpp"

namespace katana {

// An empty text: the field is left out.
struct SecurityHeaderOptions {
  // Content-Security-Policy; an empty one: no field.
  ContentSecurityPolicy policy = ContentSecurityPolicy::strict();
  // The policy is reported on, and not enforced.
  bool policy_report_only = false;
  bool nosniff = true;  // X-Content-Type-Options
  // For browsers that know no frame-ancestors.
  std::string frame_options = "DENY";
  // Not "no-referrer": with that browsers say "Origin: null" in forms of our own pages.
  std::string referrer_policy = "strict-origin-when-cross-origin";
  std::string opener_policy = "same-origin";    // Cross-Origin-Opener-Policy
  std::string resource_policy = "same-origin";  // Cross-Origin-Resource-Policy
  std::string embedder_policy = "";             // "require-corp" for SharedArrayBuffer
  std::string permissions_policy = "camera=(), geolocation=(), microphone=(), payment=(), usb=()";
  // Strict-Transport-Security, when `is_https` says that the client came by TLS; 0: not said. What
  // this server itself serves by TLS has it by http.tls.hsts.
  Duration hsts = {};
  std::function<bool(const RequestView&, session::Exchange&)> is_https = {};
};

// The nonce of one reply, as its policy and its elements have it.
class CspNonce {
 public:
  CspNonce();
  // As base64url, for the attribute `nonce`.
  Bytes text() const noexcept KATANA_VIEW { return {text_.data(), text_.size()}; }

 private:
  std::array<char, 22> text_;
};

// With a policy that has a nonce, handlers behind it may take FromContext<CspNonce>.
Middleware security_headers(SecurityHeaderOptions options = {});

// A reply whose handler takes the nonce is for one page: caches do not share it.
template <>
inline constexpr session::Personal personal_value<CspNonce> = session::Personal::nonce;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
