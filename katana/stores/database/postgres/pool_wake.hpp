// wake(): has a pool look at its inbox. cancel_answered(): a cancel request has ended. Apart from
// the pool, which includes Shared.
//
// Owns       nothing.
// Thread     the pool's.
// Allocates  never.
// Fails      never.
#pragma once

#include <cstdint>

namespace katana::database::postgres {

class ConnectionPool;
void wake(ConnectionPool& pool) noexcept;
// `connection`: its number in the pool; unknown if it was closed since.
void cancel_answered(ConnectionPool& pool, std::uint64_t connection, bool is_over) noexcept;

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
