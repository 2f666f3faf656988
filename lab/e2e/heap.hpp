// Heap: the memory that this program took from operator new.
//
// Owns       counts; replaces the global operator new and delete of the program.
// Thread     counts of a thread are that thread's; those of the process are read by any.
// Allocates  as the loaded malloc does.
// Invariant  counting for the whole process is off unless asked for, since it costs a shared cache
//            line for every allocation.
#pragma once

#include <cstdint>

namespace e2e {

// Calls of operator new by this thread.
std::uint64_t heap_calls() noexcept;

struct HeapCounts {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::int64_t live_bytes = 0;  // by malloc's sizes, for memory taken since counting began
};

void count_heap_of_process() noexcept;
HeapCounts heap_of_process() noexcept;

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
