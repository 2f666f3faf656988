#include "katana/base/memory/recycler.hpp"

namespace katana::recycler::detail {
namespace {

// A piece begins at a cache line. An object that two threads pass to each other is then one line if
// it fits.
constexpr std::align_val_t line{64};

constexpr std::uint32_t kept_max(std::size_t index) noexcept {
  return smallest_bytes << index <= small_bytes_max ? kept_small_max : kept_per_class_max;
}

constinit thread_local bool keeps = false;  // true once the thread has made its Emptier

struct Emptier {
  Emptier() noexcept {
    keeps = true;
    for (std::size_t index = 0; index < class_count; ++index)
      classes[index].capacity = kept_max(index);
  }
  // A thread that has ended keeps nothing: later releases go to the heap.
  ~Emptier() {
    for (std::size_t index = 0; index < class_count; ++index) {
      SizeClass& list = classes[index];
      list.capacity = 0;
      while (Free* const piece = list.first) {
        list.first = piece->next;
        mark_taken(piece, index);
        ::operator delete(piece, line);
      }
    }
  }
};

}  // namespace

void* allocate_from_heap(std::size_t bytes) {
  if (bytes > recycled_bytes_max) return ::operator new(bytes);
  return ::operator new(smallest_bytes << class_of(bytes), line);
}

void release_beyond_capacity(void* memory, std::size_t bytes) noexcept {
  if (bytes > recycled_bytes_max) {
    ::operator delete(memory);
    return;
  }
  if (!keeps) {
    static thread_local const Emptier emptier;
    const std::size_t index = class_of(bytes);
    keep(classes[index], memory, index);
    return;
  }
  ::operator delete(memory, line);
}

}  // namespace katana::recycler::detail

// SPDX-License-Identifier: Apache-2.0
