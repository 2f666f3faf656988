#include "katana/base/memory/block_pool.hpp"

#include <sys/mman.h>

#include <new>

#include "katana/base/system/check.hpp"

namespace katana {

BlockPool::BlockPool(std::size_t block_bytes, std::size_t capacity)
    : block_bytes_((block_bytes + 15) / 16 * 16), capacity_(capacity), available_(capacity) {
  KATANA_REQUIRE(block_bytes >= sizeof(Free) && capacity > 0);
  // NORESERVE: the limit reserves only addresses. Memory is used page by page with the load.
  void* const memory = mmap(nullptr, block_bytes_ * capacity_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<char*>(memory);
}

BlockPool::~BlockPool() {
  KATANA_CHECK(available() == capacity_);
  unpoison(memory_, block_bytes_ * capacity_);
  munmap(memory_, block_bytes_ * capacity_);
}

char* BlockPool::take_untouched() noexcept {
  if (touched_ == capacity_) return nullptr;
  --available_;
  return memory_ + block_bytes_ * touched_++;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
