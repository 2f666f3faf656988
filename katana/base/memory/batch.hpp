// Batch: messages for many connections, framed and stored once, and never changed after that.
//
// The messages of a chat room or a topic within one turn of a reactor are one batch. The outboxes
// of all recipients refer to it, as a whole or to parts.
//
//   Block   the memory: sizes and bytes. It counts its batches, one for each reactor, and is
//           destroyed with the last one.
//   Batch   one reactor's hold on a block. It counts that reactor's references, without an atomic.
//
// Owns       a Block its bytes; a Batch its share of the block.
// Thread     a Batch its reactor's; a Block any.
// Allocates  from the recycler; the origin's batch lies in its block.
// Fails      std::bad_alloc.
// Invariant  the bytes are immutable once the writer has shared them.
#pragma once

#include <atomic>
#include <cstdint>

#include "katana/base/memory/held_memory.hpp"
#include "katana/base/memory/retained.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana {

class Block;

class Batch final : public Retained {
 public:
  Bytes bytes() const noexcept;             // all messages, framed
  std::uint32_t messages() const noexcept;  // number of messages in bytes()
  // The allocated size of the block, with its header.
  std::size_t allocated_bytes() const noexcept;
  Block& block() noexcept { return *block_; }
  // Charges the allocated size of the block to the reactor's memory, once. The charge lasts until
  // the last reference to the batch is gone. Each reactor's batch charges the whole block. Borrows
  // `memory` until then.
  void charge_to(HeldMemory& memory) noexcept {
    if (memory_ != nullptr) return;
    memory_ = &memory;
    std::size_t charged = 0;
    memory.set(Holder::queue, charged, allocated_bytes());
  }

 private:
  friend class Block;
  void discharge() noexcept {
    if (memory_ == nullptr) return;
    std::size_t charged = allocated_bytes();
    memory_->set(Holder::queue, charged, 0);
  }
  Batch(Block& block, void (*action)(Retained&) noexcept) noexcept
      : Retained(action), block_(&block) {}
  Block* block_;
  HeldMemory* memory_ = nullptr;  // null: not charged
};

// The memory of one or more messages, shared by the reactors with outboxes that refer to it.
class Block {
 public:
  // Makes a block with room for `size` bytes. Returns its batch for this reactor, to which the
  // caller has a reference. The caller writes the bytes to data() before it shares the block.
  static Batch& make(std::size_t size, std::uint32_t messages);
  // Returns the batch of another reactor, to which the caller has a reference. REQUIRES a share(),
  // which it takes over.
  Batch& adopt();

  // Adds a share. The caller must end it by adopt() or drop().
  void share() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }
  void drop() noexcept;

  char* data() noexcept { return reinterpret_cast<char*>(this + 1); }
  // All messages, framed.
  Bytes bytes() const noexcept { return {reinterpret_cast<const char*>(this + 1), size_}; }
  std::uint32_t messages() const noexcept { return messages_; }  // number of messages in bytes()
  std::size_t allocated_bytes() const noexcept;                  // with this header

 private:
  Block(std::size_t size, std::uint32_t messages) noexcept;
  static void on_origin_released(Retained& batch) noexcept;
  static void on_adopted_released(Retained& batch) noexcept;

  std::atomic<std::uint32_t> holders_ = 1;
  std::uint32_t size_;
  std::uint32_t messages_;
  Batch origin_;
};

inline Bytes Batch::bytes() const noexcept { return block_->bytes(); }
inline std::uint32_t Batch::messages() const noexcept { return block_->messages(); }
inline std::size_t Batch::allocated_bytes() const noexcept { return block_->allocated_bytes(); }

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
