// Opening: controls an attempt to open a database and to apply its migrations, and reports its
// progress.
//
// Owns       its functions.
// Thread     a value; `stop` may be asked for by any thread.
// Allocates  as std::function does.
// Fails      an attempt that was stopped ends with Code::cancelled. Code::unavailable means that
//            the database is not there yet, and that a retry may help. With any other Code a retry
//            does not help.
#pragma once

#include <span>
#include <stop_token>

#include "katana/base/system/function.hpp"

namespace katana::database {

struct Migration;

struct Opening {
  // A stop ends the attempt with Code::cancelled; any thread may ask for it.
  std::stop_token stop = {};
  // Called when the database answers and no other program migrates it. The work that follows may
  // take long, but waits for no other program.
  std::function<void()> on_reached = {};
  // Called after each commit of migrations, with those that it has applied; not for none.
  std::function<void(std::span<const Migration>)> on_migrated = {};
  bool is_repeated = false;  // another attempt follows: none of its waits needs to be long
};

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
