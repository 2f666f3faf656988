// micro_common: the costs of the registry, interfaces, Result and the configuration.
//
//   micro_common [--quick] [--only SUBSTRING] [--json FILE]
//
// Times are processor time of the thread that works. Allocations are counted calls of operator new.
#include <cstdlib>
#include <new>

#include "questions.hpp"

namespace {
constinit thread_local std::uint64_t calls = 0;
}

namespace common_bench {
std::uint64_t heap_calls() noexcept { return calls; }
}  // namespace common_bench

// Out of line, because g++ takes the inlined free() for that of memory it saw operator new give.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++calls;
  if (void* const memory = std::malloc(bytes != 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main(int count, char** arguments) {
  micro::Suite suite("common", count, arguments);
  common_bench::ask_registry(suite);
  common_bench::ask_calls(suite);
  common_bench::ask_result(suite);
  common_bench::ask_config(suite);
  return suite.finish();
}

// SPDX-License-Identifier: Apache-2.0
