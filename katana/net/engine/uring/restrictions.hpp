// Restrictions: a ring does what the engine submits, and nothing else. The kernel refuses every
// other entry and registration. A filter of system calls does not see what a ring does: without the
// restrictions a filtered process could open files or connect through one.
//
// Owns       nothing.
// Thread     any, before the ring is enabled.
// Allocates  never.
// Fails      with the kernel's reason.
// Invariant  the list contains every entry that entries.hpp submits.
#pragma once

#include "katana/base/system/result.hpp"
#include "katana/net/engine/uring/kernel.hpp"

namespace katana::engine {

// Called once; the restrictions take effect when the ring is enabled.
Result<void> restrict_ring(io_uring& ring);

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
