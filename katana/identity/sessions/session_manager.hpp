// SessionManager: the state that all sessions of a middleware share.
//
// Owns       options, keys, and a share of the store.
// Thread     any: it does not change. The store states its own rule.
// Allocates  nothing.
// Fails      never.
// Invariant  it has a sealer or a store, and never both.
#pragma once

#include <memory>
#include <optional>

#include "katana/base/values/timestamp.hpp"
#include "katana/identity/sessions/cookie_sealer.hpp"
#include "katana/identity/sessions/session_options.hpp"
#include "katana/identity/sessions/store.hpp"

namespace katana::sessions::detail {

struct SessionManager {
  SessionOptions options;
  Lifetimes lifetimes;
  std::int64_t touch_after_s = 60;
  std::optional<CookieSealer> sealer;
  std::shared_ptr<SessionStore> store;

  SetCookie cookie() const {
    SetCookie cookie;
    cookie.name = options.cookie_name;
    cookie.secure = options.secure;
    cookie.same_site = options.same_site;
    return cookie;
  }
  static std::int64_t now_s() noexcept {
    return std::chrono::floor<std::chrono::seconds>(current_time()).time_since_epoch().count();
  }
};

}  // namespace katana::sessions::detail

// SPDX-License-Identifier: Apache-2.0
