// now(): the time of a cache. It is the time of the reactor on this thread, which may be virtual.
// Without a reactor it is the monotonic clock, as that of a reactor whose time is not virtual.
//
// Thread     any.
// Allocates  never.
// Fails      never.
#pragma once

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::cache::detail {

inline Instant now() noexcept {
  const net::Reactor* const reactor = net::Reactor::current();
  return reactor != nullptr ? reactor->now() : monotonic_now();
}

// `duration` after `from`, or never.
constexpr Instant later(Instant from, Duration duration) noexcept {
  return duration < never - from ? from + duration : never;
}

}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
