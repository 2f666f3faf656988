// SessionOptions: how long sessions last, and what their cookie is.
//
// Owns       values only.
// Thread     values.
// Fails      Sessions::make() says which option is wrong and what it may be.
#pragma once

#include <cstddef>
#include <string>

#include "katana/base/values/instant.hpp"
#include "katana/http/handlers/cookies.hpp"

namespace katana::sessions {

struct SessionOptions {
  // __Host- has browsers refuse a cookie that another host of the domain, or plain HTTP, has set.
  std::string cookie_name = "__Host-session";
  SameSite same_site = SameSite::lax;
  // False: for development without TLS, with a name without a prefix.
  bool secure = true;
  // The cookie outlives the browser, as long as the session may last.
  bool persistent = false;
  // Without a request for so long it ends.
  Duration idle_lifetime = seconds(30 * 60);
  // So long after it began, or its user logged in, it ends.
  Duration absolute_lifetime = seconds(12 * 60 * 60);
  // Requests write that a session was seen at most so often; it may end that much too soon.
  Duration touch_after = seconds(60);
  // What a session may have as a cookie, and encoded in a store. More is refused when it is set.
  std::size_t cookie_bytes_max = 2048;
  std::size_t stored_bytes_max = 64 * 1024;
};

// All fields of a reply have 3072 bytes (see set_cookie()), and others need some of them.
inline constexpr std::size_t cookie_bytes_limit = 2560;

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
