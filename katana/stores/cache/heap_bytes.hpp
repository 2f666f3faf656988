// The heap bytes of a cache's values: heap_bytes() of data/container/heap_bytes.hpp, by the names
// that the cache's parts use.
//
// Owns       nothing.
// Thread     a value's.
#pragma once

#include "katana/data/container/heap_bytes.hpp"

namespace katana::cache {

using container::allocation_bytes;
using container::heap_bytes;

}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
