// The waits of a cache's loads. They are those of net/reactor/shared_wait.hpp, by the names that
// the cache's parts use.
//
// Owns       nothing.
// Thread     as net/reactor/shared_wait.hpp says of each.
#pragma once

#include "katana/net/reactor/lock.hpp"
#include "katana/net/reactor/shared_wait.hpp"

namespace katana::cache::detail {

using net::Lock;
using net::SharedPlaces;
using net::SharedWait;
using net::SharedWaiter;
using net::take_first;
using net::wake;

}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
