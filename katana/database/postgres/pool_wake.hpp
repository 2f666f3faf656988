// wake(): has a pool look at its inbox. Apart from the pool, which includes Shared.
//
// Owns       nothing.
// Thread     the pool's.
// Allocates  never.
// Fails      never.
#pragma once

namespace katana::database::postgres {

class ConnectionPool;
void wake(ConnectionPool& pool) noexcept;

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
