// Middleware settings: the middleware that an Application puts in front of every route of the
// program, each off unless it is enabled. Health, metrics and the pages of operations stand before
// them.
//
// Owns       values only.
// Thread     values.
// Allocates  as their options do.
// Fails      as Config does.
// Invariant  keys that are marked reloadable apply to the requests that follow a reload. `enabled`
//            needs a restart, because middleware that is off costs nothing.
#pragma once

#include "katana/base/values/described.hpp"
#include "katana/http/middleware/concurrency_limit_options.hpp"
#include "katana/http/middleware/load_shedding_options.hpp"
#include "katana/http/middleware/rate_limit_options.hpp"

namespace katana {
KATANA_DESCRIBE_ENUM(WhenLimitUnknown, local, refuse)
}  // namespace katana

namespace katana::app {

// Counted by the address of the client; other keys are for code to choose.
struct RateLimitSettings : RateLimitOptions {
  bool enabled = false;
  bool shared = false;
  std::uint32_t lease = 5;
};

// The section `http.concurrency`: limits requests that are handled at once.
struct ConcurrencySettings : ConcurrencyLimitOptions {
  bool enabled = false;
};

// The section `http.load_shedding`: refuses requests while the server is overloaded.
struct LoadSheddingSettings : LoadSheddingOptions {
  bool enabled = false;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
