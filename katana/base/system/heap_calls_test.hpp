// heap_calls(): how often this thread has called operator new, for tests of what promises not to.
//
// Thread     counts each thread separately.
// Fails      counts nothing under ThreadSanitizer, which brings its own operator new: a test
//            derives from HeapCallsTest and is skipped there.
// Invariant  replaces operator new and delete, so exactly one file of a test program includes it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "katana/base/system/thread_sanitizer_test.hpp"

namespace katana {

inline constinit thread_local std::uint64_t heap_call_count = 0;

inline std::uint64_t heap_calls() noexcept { return heap_call_count; }

class HeapCallsTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(KATANA_THREAD_SANITIZER)
    GTEST_SKIP() << "ThreadSanitizer has an operator new of its own";
#endif
  }
};

}  // namespace katana

#if !defined(KATANA_THREAD_SANITIZER)
// Out of line, because g++ takes the inlined free() for that of memory it saw operator new give.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++katana::heap_call_count;
  if (void* const memory = std::malloc(bytes != 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return ::operator new(bytes); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++katana::heap_call_count;
  const auto multiple = static_cast<std::size_t>(alignment);
  const std::size_t rounded = (bytes + multiple - 1) / multiple * multiple;
  if (void* const memory = std::aligned_alloc(multiple, rounded)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
// These, too: those of a sanitizer would not match the delete below.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++katana::heap_call_count;
  return std::malloc(bytes != 0 ? bytes : 1);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept {
  return ::operator new(bytes, tag);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
#endif

// SPDX-License-Identifier: Apache-2.0
