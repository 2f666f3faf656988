// Opening: what an attempt to open a database, and to apply its migrations, is told and tells.
//
// Owns       its function.
// Thread     a value; `stop` may be asked for by any thread.
// Allocates  as std::function does.
// Fails      an attempt that was stopped ends with Code::cancelled. One that may be repeated,
//            because the database is not there yet, ends with Code::unavailable, and any other Code
//            means that to repeat it would not help.
#pragma once

#include <stop_token>

#include "katana/base/system/function.hpp"

namespace katana::database {

struct Opening {
  // A stop ends the attempt with Code::cancelled; any thread may ask for it.
  std::stop_token stop = {};
  // The database answers and nothing else migrates it: what follows may take long, and is no wait.
  std::function<void()> on_reached = {};
  bool is_repeated = false;  // another attempt follows: none of its waits needs to be long
};

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
