// Thread pools.
//
// Links      base/thread
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/base/thread/pool.hpp"
#include "katana/base/thread/run.hpp"

// SPDX-License-Identifier: Apache-2.0
