// The operators new and delete that allocations.hpp samples. They are weak: operators that a
// program defines itself take their place. The other forms of the standard library call these.
// Memory of a larger alignment is not sampled.
#include <cstdlib>
#include <new>

#include "katana/observe/profile/allocations.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define KATANA_SANITIZER_ALLOCATES
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KATANA_SANITIZER_ALLOCATES
#endif

// The operators of a sanitizer stay: they find mismatches.
#ifndef KATANA_SANITIZER_ALLOCATES

namespace {

// Asks the program's handler for memory, as the standard says, until there is some.
[[gnu::noinline, gnu::cold]] void* allocate_again(std::size_t bytes) {
  for (;;) {
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
    if (void* const memory = std::malloc(bytes)) return memory;
  }
}

}  // namespace

[[gnu::weak, gnu::visibility("default")]] void* operator new(std::size_t bytes) {
  if (bytes == 0) [[unlikely]]
    bytes = 1;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) [[unlikely]]
    memory = allocate_again(bytes);
  if (katana::profile::allocations::detail::watches_allocations()) [[unlikely]] {
    katana::profile::allocations::detail::on_allocation(memory, bytes, __builtin_return_address(0));
  }
  return memory;
}

[[gnu::weak, gnu::visibility("default")]] void operator delete(void* memory) noexcept {
  if (katana::profile::allocations::detail::watches_frees()) [[unlikely]] {
    katana::profile::allocations::detail::on_free(memory);
  }
  std::free(memory);
}

[[gnu::weak, gnu::visibility("default")]] void operator delete(void* memory, std::size_t) noexcept {
  if (katana::profile::allocations::detail::watches_frees()) [[unlikely]] {
    katana::profile::allocations::detail::on_free(memory);
  }
  std::free(memory);
}

#endif

// SPDX-License-Identifier: Apache-2.0
