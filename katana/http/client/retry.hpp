// Retries: whether, and after which pause, a request is sent again.
//
// Owns       nothing.
// Borrows    its arguments for the call.
// Thread     its reactor's.
// Allocates  never.
// Fails      never.
// Invariant  a request that is not idempotent is sent again only if the server said that it did not
//            process it, at most unprocessed_max times. The budget bounds the retries that a
//            failing server causes.
#pragma once

#include <cstdint>
#include <optional>

#include "katana/base/values/instant.hpp"
#include "katana/http/client/call.hpp"
#include "katana/http/client/origin_health.hpp"
#include "katana/http/client/reactor_context.hpp"

namespace katana::client {

// How often a request was sent again. A repetition is no retry if the server stated that it did not
// process the request. A healthy server that closes each connection after some requests causes many
// of these.
struct Repetitions {
  std::uint32_t retries = 0;      // at most retries_max
  std::uint32_t unprocessed = 0;  // at most unprocessed_max
};
inline constexpr std::uint32_t unprocessed_max = 32;     // for one request
inline constexpr std::uint32_t unprocessed_at_once = 4;  // without a pause

// True if the server has stated that it did not process the request (RFC 9113 §6.8, §8.7).
bool is_unprocessed(Call& call) noexcept;

// Returns the pause before a call that has ended is sent again. `done` counts the repetitions so
// far. Empty: the call is not sent again, for example because the pause would end after `deadline`.
// May spend some of the budget. If there is none, retries that need one are not made.
std::optional<Duration> pause_before_retry(ReactorContext& context, RetryBudget* budget, Call& call,
                                           const Repetitions& done, Instant deadline);

// Returns whether a call that has ended counts as a failure of its origin.
bool is_failure_of_origin(Call& call) noexcept;

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
