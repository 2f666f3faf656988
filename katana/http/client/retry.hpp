// Retries: whether, and after which pause, a request is sent again.
//
// Owns       nothing.
// Borrows    its arguments for the call.
// Thread     its reactor's.
// Allocates  never.
// Fails      never.
// Invariant  what is not idempotent is sent again only if the server said that it did not process
//            it, and that often at most; what a failing server makes us send again is bounded by
//            the budget.
#pragma once

#include <cstdint>
#include <optional>

#include "katana/base/values/instant.hpp"
#include "katana/http/client/call.hpp"
#include "katana/http/client/origin_health.hpp"
#include "katana/http/client/reactor_context.hpp"

namespace katana::client {

// How often a request was sent again. Repeating a request that a server states not to have
// processed is no retry: a server that closes each connection after some requests makes many of
// them, and does its work.
struct Repetitions {
  std::uint32_t retries = 0;      // at most retries_max
  std::uint32_t unprocessed = 0;  // at most unprocessed_max
};
inline constexpr std::uint32_t unprocessed_max = 32;     // for one request
inline constexpr std::uint32_t unprocessed_at_once = 4;  // without a pause

// The server has stated that it did not process it (RFC 9113 §6.8, §8.7).
bool is_unprocessed(Call& call) noexcept;

// How long to wait before a call that has ended is sent again, after the repetitions `done`, and no
// later than `deadline`. Empty: it is not sent again. May spend some of the budget; without one,
// nothing is sent again that needs it.
std::optional<Duration> pause_before_retry(ReactorContext& context, RetryBudget* budget, Call& call,
                                           const Repetitions& done, Instant deadline);

// Whether a call that has ended counts as a failure of its origin.
bool is_failure_of_origin(Call& call) noexcept;

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
