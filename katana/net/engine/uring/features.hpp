// Features: whether io_uring runs here, and which of its newer parts exist.
//
// Owns       nothing; a probe makes a small ring and drops it again.
// Thread     any.
// Blocks     probe_uring(), while the kernel has no memory, for twice memory_wait_max.
// Fails      probe_uring() says in one line why io_uring is forbidden or incomplete, and the
//            remedy.
// Invariant  Linux 6.1 is required; newer features make the engine better, not different.
#pragma once

#include <string>

#include "katana/base/system/result.hpp"

namespace katana::engine {

// The features of this kernel beyond Linux 6.1.
struct UringFeatures {
  bool incremental = false;  // receive buffers are used up piece by piece
  bool min_wait = false;     // a wait can collect completions for a while

  // The missing features, in one line; empty when there are none.
  std::string missing() const;
};

// Makes a small ring and checks. An Error says what forbids io_uring, and the remedy.
Result<UringFeatures> probe_uring();

// The reason why a ring cannot be made, from the error of io_uring_setup.
Error uring_error(const char* action, int error_number);

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
