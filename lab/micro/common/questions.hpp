// The questions of micro_common, a file each.
//
// Thread     one; the concurrent questions start their own threads.
// Invariant  every subject's work is checked (micro::expect).
#pragma once

#include <cstdint>

#include "../micro.hpp"

namespace common_bench {

// The number of calls of operator new by this thread. Defined in common_bench.cpp.
std::uint64_t heap_calls() noexcept;

void ask_registry(micro::Suite& suite);
void ask_calls(micro::Suite& suite);
void ask_result(micro::Suite& suite);
void ask_config(micro::Suite& suite);

// One subject's round: `operations` times `work`, in processor time of this thread. Other programs
// of the machine are not counted.
template <class Work>
micro::Sample timed(micro::Suite& suite, std::uint64_t full, Work work) {
  const std::uint64_t operations = suite.operations(full);
  return micro::time_operations(operations, [&] {
    for (std::uint64_t count = 0; count < operations; ++count) work();
  });
}

}  // namespace common_bench

// SPDX-License-Identifier: Apache-2.0
