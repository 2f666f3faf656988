// Retries: whether, and after which pause, a request is sent again.
//
// Owns       nothing.
// Borrows    its arguments for the call.
// Thread     its reactor's.
// Allocates  never.
// Fails      never.
// Invariant  what is not idempotent is sent again only if the server said that it did not process
//            it; what a failing server makes us send again is bounded by the budget.
#pragma once

#include <cstdint>
#include <optional>

#include "katana/base/instant.hpp"
#include "katana/client/call.hpp"
#include "katana/client/origin_health.hpp"
#include "katana/client/reactor_context.hpp"

namespace katana::client {

// How long to wait before a call that has ended is sent again, after `retries` repetitions and no
// later than `deadline`. Empty: it is not sent again. May spend some of the budget; without one,
// nothing is sent again that needs it.
std::optional<Duration> pause_before_retry(ReactorContext& context, RetryBudget* budget, Call& call,
                                           std::uint32_t retries, Instant deadline);

// Whether a call that has ended counts as a failure of its origin.
bool is_failure_of_origin(Call& call) noexcept;

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
