// SecurityHeaderOptions: the fields that security_headers() adds (security_headers.hpp).
//
// Owns       values only.
// Thread     a value.
// Allocates  as its members do.
#pragma once

#include <string>

#include "katana/base/system/function.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/middleware/content_security_policy.hpp"

namespace katana {
class RequestView;
}  // namespace katana
namespace katana::session {
class Exchange;
}  // namespace katana::session

namespace katana {

// An empty text: the field is left out.
struct SecurityHeaderOptions {
  // Content-Security-Policy; an empty one: no field.
  ContentSecurityPolicy policy = ContentSecurityPolicy::strict();
  // Violations of the policy are reported, but not prevented.
  bool policy_report_only = false;
  bool nosniff = true;  // X-Content-Type-Options
  // For browsers that do not know frame-ancestors.
  std::string frame_options = "DENY";
  // Not "no-referrer": browsers then send "Origin: null" with forms of the site's pages.
  std::string referrer_policy = "strict-origin-when-cross-origin";
  std::string opener_policy = "same-origin";    // Cross-Origin-Opener-Policy
  std::string resource_policy = "same-origin";  // Cross-Origin-Resource-Policy
  std::string embedder_policy = "";             // "require-corp" for SharedArrayBuffer
  std::string permissions_policy = "camera=(), geolocation=(), microphone=(), payment=(), usb=()";
  // Strict-Transport-Security, when `is_https` says that the client uses TLS; 0: not sent. For the
  // TLS listeners of this server use http.tls.hsts.
  Duration hsts = {};
  std::function<bool(const RequestView&, session::Exchange&)> is_https = {};
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
