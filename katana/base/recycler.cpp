#include "katana/base/recycler.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <new>

#include "katana/base/poison.hpp"

namespace katana::recycler {
namespace {

struct Free {
  Free* next;
};

struct SizeClass {
  Free* first;
  std::uint32_t count;
};

// Classes are the powers of two from 64 bytes to recycled_bytes_max.
constexpr std::size_t smallest_bytes = 64;
constexpr std::size_t class_count = 9;
static_assert(smallest_bytes << (class_count - 1) == recycled_bytes_max);

// Plain data, so that reaching it needs no initialisation guard.
constinit thread_local std::array<SizeClass, class_count> classes{};
constinit thread_local bool emptied = false;

// A piece that is kept is poisoned but for the link that LeakSanitizer follows.
void mark_taken(Free* piece, std::size_t index) noexcept {
  unpoison(piece + 1, (smallest_bytes << index) - sizeof(Free));
}
void mark_kept(Free* piece, std::size_t index) noexcept {
  poison(piece + 1, (smallest_bytes << index) - sizeof(Free));
}

struct Emptier {
  // A thread that has ended keeps nothing: what is released after this goes to the heap.
  ~Emptier() {
    emptied = true;
    for (SizeClass& each : classes) {
      while (Free* const piece = each.first) {
        each.first = piece->next;
        mark_taken(piece, static_cast<std::size_t>(&each - classes.data()));
        ::operator delete(piece);
      }
    }
  }
};

std::size_t class_of(std::size_t bytes) noexcept {
  return bytes <= smallest_bytes
             ? 0
             : static_cast<std::size_t>(std::bit_width((bytes - 1) / smallest_bytes));
}

}  // namespace

void* allocate(std::size_t bytes) {
  if (bytes > recycled_bytes_max) return ::operator new(bytes);
  const std::size_t index = class_of(bytes);
  SizeClass& list = classes[index];
  if (Free* const piece = list.first) {
    list.first = piece->next;
    --list.count;
    mark_taken(piece, index);
    return piece;
  }
  return ::operator new(smallest_bytes << index);
}

void release(void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return;
  if (bytes <= recycled_bytes_max) {
    const std::size_t index = class_of(bytes);
    SizeClass& list = classes[index];
    if (list.count < kept_per_class_max && !emptied) {
      static thread_local Emptier emptier;
      list.first = new (memory) Free{list.first};
      ++list.count;
      mark_kept(list.first, index);
      return;
    }
  }
  ::operator delete(memory);
}

}  // namespace katana::recycler
