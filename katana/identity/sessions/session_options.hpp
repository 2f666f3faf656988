// SessionOptions: the lifetimes of sessions, and their cookie.
//
// Owns       values only.
// Thread     values.
// Fails      The makers of Sessions name the wrong option and its allowed values.
#pragma once

#include <cstddef>
#include <string>

#include "katana/base/values/instant.hpp"
#include "katana/http/handlers/cookies.hpp"

namespace katana::sessions {

struct SessionOptions {
  // With __Host- browsers refuse a cookie that another host of the domain, or plain HTTP, has set.
  std::string cookie_name = "__Host-session";
  SameSite same_site = SameSite::lax;
  // False: for development without TLS. The cookie name must then have no prefix.
  bool secure = true;
  // True: the cookie survives a restart of the browser, as long as the session may last.
  bool persistent = false;
  // A session ends after this time without a request.
  Duration idle_lifetime = seconds(30 * 60);
  // A session ends this time after its begin, or after the login of its user.
  Duration absolute_lifetime = seconds(12 * 60 * 60);
  // The shortest time between two writes of the time a session was seen. It may end earlier by it.
  Duration touch_after = seconds(60);
  // Limits of a session as a cookie, and encoded in a store. set() refuses a larger one.
  std::size_t cookie_bytes_max = 2048;
  std::size_t stored_bytes_max = 64 * 1024;
};

// The upper limit of cookie_bytes_max. All fields of a reply share 3072 bytes (see set_cookie()),
// and other fields need some of them.
inline constexpr std::size_t cookie_bytes_limit = 2560;

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
