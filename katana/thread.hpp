// Thread pools.
//
// Links      thread
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/thread/pool.hpp"
#include "katana/thread/run.hpp"

// SPDX-License-Identifier: Apache-2.0
