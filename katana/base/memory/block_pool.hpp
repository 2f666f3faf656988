// BlockPool: fixed-size blocks from one reservation of address space.
//
// Owns       the reservation. A block belongs to its taker until give().
// Thread     one: its reactor's.
// Allocates  once, in the constructor, address space only; a page costs memory when a block in
//            it is first used.
// Fails      take() is null when every block is out; the constructor throws std::bad_alloc.
// Invariant  available() + blocks out == capacity(); the destructor requires every block back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/memory/poison.hpp"

namespace katana {

class BlockPool {
 public:
  // Makes a pool of `capacity` blocks. block_bytes: at least 16, rounded up to a multiple of 16.
  BlockPool(std::size_t block_bytes, std::size_t capacity);
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // Takes a block; null: none is left. The block that was given back last comes first, because it
  // is in the cache.
  char* take() noexcept {
    if (free_ == nullptr) return take_untouched();
    Free* const block = free_;
    unpoison(block, block_bytes_);
    free_ = block->next;
    --available_;
    return reinterpret_cast<char*>(block);
  }

  // Gives a block back. REQUIRES a block of this pool that was not given back yet.
  void give(char* block) noexcept {
    // The list of free blocks lies in the blocks. An unused pool therefore costs nothing.
    Free* const freed = reinterpret_cast<Free*>(block);
    freed->next = free_;
    free_ = freed;
    ++available_;
    poison(block, block_bytes_);  // use after give() is reported
  }

  std::size_t block_bytes() const noexcept { return block_bytes_; }  // size of each block
  std::size_t capacity() const noexcept { return capacity_; }        // blocks in all
  std::size_t available() const noexcept { return available_; }      // blocks that take() can give

 private:
  struct Free {
    Free* next;
  };

  char* take_untouched() noexcept;

  Free* free_ = nullptr;
  std::size_t block_bytes_;
  std::size_t capacity_;
  std::size_t available_;
  std::size_t touched_ = 0;
  char* memory_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
