#include "lab/e2e/heap.hpp"

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constinit thread_local std::uint64_t calls_here = 0;
constinit std::atomic<bool> counts_all = false;
constinit std::atomic<std::uint64_t> calls = 0;
constinit std::atomic<std::uint64_t> bytes_taken = 0;
constinit std::atomic<std::int64_t> live_bytes = 0;

void* take(std::size_t bytes, std::size_t alignment) noexcept {
  ++calls_here;
  void* const memory =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(bytes != 0 ? bytes : 1)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
  if (counts_all.load(std::memory_order_relaxed)) [[unlikely]] {
    calls.fetch_add(1, std::memory_order_relaxed);
    bytes_taken.fetch_add(bytes, std::memory_order_relaxed);
    live_bytes.fetch_add(static_cast<std::int64_t>(malloc_usable_size(memory)),
                         std::memory_order_relaxed);
  }
  return memory;
}

void* take_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* const memory = take(bytes, alignment)) return memory;
  throw std::bad_alloc();
}

void give(void* memory) noexcept {
  if (counts_all.load(std::memory_order_relaxed)) [[unlikely]] {
    live_bytes.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(memory)),
                         std::memory_order_relaxed);
  }
  std::free(memory);
}

constexpr std::size_t plain = alignof(std::max_align_t);
std::size_t number(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

// Out of line, because g++ takes the inlined free() for that of memory it saw operator new give.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return take_or_throw(bytes, plain); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return take_or_throw(bytes, number(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { give(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { give(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { give(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  give(memory);
}

namespace e2e {

std::uint64_t heap_calls() noexcept { return calls_here; }

void count_heap_of_process() noexcept { counts_all.store(true, std::memory_order_relaxed); }

HeapCounts heap_of_process() noexcept {
  return {calls.load(std::memory_order_relaxed), bytes_taken.load(std::memory_order_relaxed),
          live_bytes.load(std::memory_order_relaxed)};
}

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
