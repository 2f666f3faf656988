// Restrictions: a ring does what the engine submits, and nothing else. The kernel refuses every
// other entry and registration, so that a process under a filter of system calls, which does not
// see what a ring does, cannot open files or connect through one either.
//
// Owns       nothing.
// Thread     any, before the ring is enabled.
// Allocates  never.
// Fails      with the kernel's reason.
// Invariant  what entries.hpp submits is in the list.
#pragma once

#include "katana/base/system/result.hpp"
#include "katana/net/engine/uring/kernel.hpp"

namespace katana::engine {

// Once; it takes effect when the ring is enabled.
Result<void> restrict_ring(io_uring& ring);

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
