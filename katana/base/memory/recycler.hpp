// Recycler: small pieces of memory for requests (coroutine frames, owned requests, text). The
// thread that frees a piece keeps it. After warm-up a request costs no call of the heap.
//
// Owns       a bounded list of free pieces per size class and thread; the rest goes back to the
//            heap.
// Thread     any; a piece may be freed by another thread than the one that took it.
// Allocates  from the heap when its list is empty or the size is above recycled_bytes_max.
// Fails      allocate() throws std::bad_alloc.
// Invariant  a piece of at most recycled_bytes_max begins at the start of a cache line.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include "katana/base/memory/poison.hpp"
#include "katana/base/system/hints.hpp"

namespace katana::recycler {

inline constexpr std::size_t recycled_bytes_max = 16 * 1024;  // larger pieces come from the heap
// The number of free pieces of each size that a thread keeps.
inline constexpr std::size_t kept_per_class_max = 256;
// A thread keeps more small pieces, because a burst of jobs and frames needs hundreds. They are
// 448 KiB.
inline constexpr std::size_t small_bytes_max = 256;
inline constexpr std::size_t kept_small_max = 1024;

namespace detail {

// Classes are the powers of two from 64 bytes to recycled_bytes_max.
inline constexpr std::size_t smallest_bytes = 64;
inline constexpr std::size_t class_count = 9;
static_assert(smallest_bytes << (class_count - 1) == recycled_bytes_max);

struct Free {
  Free* next;
};
struct SizeClass {
  Free* first;
  std::uint32_t
      capacity;  // room for more pieces; 0 until the thread's first release, and after its end
};
// Plain data: access needs no initialisation guard.
inline constinit thread_local std::array<SizeClass, class_count> classes{};

constexpr std::size_t class_of(std::size_t bytes) noexcept {
  return bytes <= smallest_bytes
             ? 0
             : static_cast<std::size_t>(std::bit_width((bytes - 1) / smallest_bytes));
}
// A kept piece is poisoned, except for the link that LeakSanitizer follows.
inline void mark_taken(Free* piece, std::size_t index) noexcept {
  unpoison(piece + 1, (smallest_bytes << index) - sizeof(Free));
}
inline void keep(SizeClass& list, void* memory, std::size_t index) noexcept {
  list.first = new (memory) Free{list.first};
  --list.capacity;
  poison(list.first + 1, (smallest_bytes << index) - sizeof(Free));
}

KATANA_RARE void* allocate_from_heap(std::size_t bytes);
KATANA_RARE void release_beyond_capacity(void* memory, std::size_t bytes) noexcept;

}  // namespace detail

// Returns at least `bytes` bytes. Inline, because almost all callers pass a constant.
inline void* allocate(std::size_t bytes) {
  if (bytes > recycled_bytes_max) return detail::allocate_from_heap(bytes);
  const std::size_t index = detail::class_of(bytes);
  detail::SizeClass& list = detail::classes[index];
  detail::Free* const piece = list.first;
  if (piece == nullptr) [[unlikely]]
    return detail::allocate_from_heap(bytes);
  list.first = piece->next;
  ++list.capacity;
  detail::mark_taken(piece, index);
  return piece;
}

// Frees memory of allocate(). `bytes` is the size that was given to allocate().
inline void release(void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return;
  if (bytes <= recycled_bytes_max) {
    const std::size_t index = detail::class_of(bytes);
    detail::SizeClass& list = detail::classes[index];
    if (list.capacity != 0) [[likely]] {
      detail::keep(list, memory, index);
      return;
    }
  }
  detail::release_beyond_capacity(memory, bytes);
}

// An allocator for containers and shared pointers.
template <class T>
struct Allocator {
  using value_type = T;
  Allocator() = default;
  template <class U>
  Allocator(const Allocator<U>&) noexcept {}  // NOLINT: allocators convert
  // Throws std::bad_alloc.
  T* allocate(std::size_t count) {
    static_assert(alignof(T) <= 64, "a piece begins with a cache line");
    return static_cast<T*>(recycler::allocate(count * sizeof(T)));
  }
  // Any thread may call it. `count` is the number that was given to allocate().
  void deallocate(T* memory, std::size_t count) noexcept {
    recycler::release(memory, count * sizeof(T));
  }
  template <class U>
  bool operator==(const Allocator<U>&) const noexcept {
    return true;
  }
};

}  // namespace katana::recycler

// SPDX-License-Identifier: Apache-2.0
