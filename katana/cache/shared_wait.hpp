// The waits of a cache's loads: those of core/shared_wait.hpp, by the names that the cache's parts
// use.
//
// Owns       nothing.
// Thread     as core/shared_wait.hpp says of each.
#pragma once

#include "katana/core/lock.hpp"
#include "katana/core/shared_wait.hpp"

namespace katana::cache::detail {

using core::Lock;
using core::SharedPlaces;
using core::SharedWait;
using core::SharedWaiter;
using core::take_first;
using core::wake;

}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
