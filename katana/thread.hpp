// Thread pools.
//
// Links      base/thread
#pragma once

#include "katana/base/thread/loop.hpp"
#include "katana/base/thread/pool.hpp"
#include "katana/base/thread/run.hpp"

// SPDX-License-Identifier: Apache-2.0
