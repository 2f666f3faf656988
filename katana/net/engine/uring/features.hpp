// Features: whether io_uring runs here, and which of its newer parts.
//
// Owns       nothing; a probe makes a small ring and drops it again.
// Thread     any.
// Fails      probe_uring() says in one line what forbids or lacks io_uring, and the remedy.
// Invariant  what is required is Linux 6.1; what is newer makes the engine better, not different.
#pragma once

#include <string>

#include "katana/base/system/result.hpp"

namespace katana::engine {

// What this kernel has beyond Linux 6.1.
struct UringFeatures {
  bool incremental = false;  // receive buffers are used up piece by piece
  bool min_wait = false;     // a wait can collect completions for a while

  // What is missing, in one line; empty when nothing is.
  std::string missing() const;
};

// Makes a small ring and looks. An Error says what forbids io_uring, and the remedy.
Result<UringFeatures> probe_uring();

// The reason why a ring cannot be made, from the error of io_uring_setup.
Error uring_error(const char* action, int error_number);

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
