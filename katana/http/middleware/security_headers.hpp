// Header fields that tell browsers to isolate the replies of a service from other sites. The
// defaults are as strict as a site of one origin can bear.
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
// Allocates  with a nonce one string for each request; otherwise nothing but room for the fields.
// Fails      Router::build() for a value that is not valid in a field, or a policy with a mistake.
// Invariant  a field that a handler has set is left as it is. A nonce has 16 random bytes and is in
//            one reply only.
#pragma once

#include <array>
#include <string>

#include "katana/base/values/instant.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/middleware/content_security_policy.hpp"
#include "katana/http/middleware/security_headers_options.hpp"

namespace katana {

// The nonce of one reply, for its policy and its elements.
class CspNonce {
 public:
  CspNonce();
  // The nonce as base64url, for the attribute `nonce`.
  Bytes text() const noexcept KATANA_VIEW { return {text_.data(), text_.size()}; }

 private:
  std::array<char, 22> text_;
};

// If the policy has a nonce, handlers behind this may take FromContext<CspNonce>.
Middleware security_headers(SecurityHeaderOptions options = {});

// A reply with the nonce is for one page: caches do not share it.
template <>
inline constexpr session::Personal personal_value<CspNonce> = session::Personal::nonce;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
