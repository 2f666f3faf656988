#include "katana/base/memory/batch.hpp"

#include <bit>
#include <new>

#include "katana/base/memory/recycler.hpp"

namespace katana {

Block::Block(std::size_t size, std::uint32_t messages) noexcept
    : size_(static_cast<std::uint32_t>(size)),
      messages_(messages),
      origin_(*this, &Block::on_origin_released) {}

Batch& Block::make(std::size_t size, std::uint32_t messages) {
  auto* const block = new (recycler::allocate(sizeof(Block) + size)) Block(size, messages);
  block->origin_.retain();
  return block->origin_;
}

Batch& Block::adopt() {
  auto* const batch =
      new (recycler::allocate(sizeof(Batch))) Batch(*this, &Block::on_adopted_released);
  batch->retain();
  return *batch;
}

void Block::drop() noexcept {
  // acquire, release: the last holder sees what the others did with the bytes. A block that only
  // one reactor has ever used needs no locked instruction.
  if (holders_.load(std::memory_order_acquire) != 1 &&
      holders_.fetch_sub(1, std::memory_order_acq_rel) != 1) {
    return;
  }
  const std::size_t bytes = sizeof(Block) + size_;
  this->~Block();
  recycler::release(this, bytes);
}

// The recycler's classes are powers of two. Larger blocks come from the heap in their exact size.
std::size_t Block::allocated_bytes() const noexcept {
  const std::size_t bytes = sizeof(Block) + size_;
  return bytes > recycler::recycled_bytes_max ? bytes : std::bit_ceil(bytes);
}

void Block::on_origin_released(Retained& batch) noexcept {
  auto& origin = static_cast<Batch&>(batch);
  origin.discharge();
  origin.block().drop();
}

void Block::on_adopted_released(Retained& batch) noexcept {
  auto& adopted = static_cast<Batch&>(batch);
  Block& block = adopted.block();
  adopted.discharge();
  adopted.~Batch();
  recycler::release(&adopted, sizeof(Batch));
  block.drop();
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
