// poison() and unpoison(): tell AddressSanitizer which memory of a pool is free. It then reports
// any use of that memory. Lending: shared memory that one call may read. Without AddressSanitizer
// they do nothing.
//
// Fails      use of poisoned memory ends the process with a report.
// Thread     any.
// Allocates  never.
#pragma once

#include <cstddef>

#if defined(KATANA_WITHOUT_POISON)  // for a library that was built without the sanitizer
#elif defined(__SANITIZE_ADDRESS__)
#define KATANA_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KATANA_ADDRESS_SANITIZER 1
#endif
#endif

#if defined(KATANA_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#endif

namespace katana {

#if defined(KATANA_ADDRESS_SANITIZER)
inline constexpr bool is_poisoning = true;
inline void poison(void* memory, std::size_t bytes) noexcept {
  __asan_poison_memory_region(memory, bytes);
}
inline void unpoison(void* memory, std::size_t bytes) noexcept {
  __asan_unpoison_memory_region(memory, bytes);
}
#else
// False in a build without AddressSanitizer: poison() and unpoison() do nothing then.
inline constexpr bool is_poisoning = false;
inline void poison(void*, std::size_t) noexcept {}
inline void unpoison(void*, std::size_t) noexcept {}
#endif

// The memory can be used until this object is destroyed, and again in the next Lending of it. Its
// owner calls unpoison() before the memory goes back to the heap or the stack.
class Lending {
 public:
  Lending(const void* memory, std::size_t bytes) noexcept
      : memory_(const_cast<void*>(memory)), bytes_(bytes) {
    unpoison(memory_, bytes_);
  }
  ~Lending() { poison(memory_, bytes_); }
  Lending(const Lending&) = delete;
  Lending& operator=(const Lending&) = delete;

 private:
  void* memory_;
  std::size_t bytes_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
