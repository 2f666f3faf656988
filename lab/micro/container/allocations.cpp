// Counts allocations of the whole program.
#include <cstdlib>
#include <new>

#include "users.hpp"

namespace {
constinit thread_local std::uint64_t count = 0;
}

namespace bench {
std::uint64_t allocations() { return count; }
}  // namespace bench

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++count;
  if (void* const memory = std::malloc(bytes != 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return ::operator new(bytes); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

// SPDX-License-Identifier: Apache-2.0
