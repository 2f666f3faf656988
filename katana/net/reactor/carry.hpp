// Carry: the bytes of a connection that were received and not consumed yet.
//
// Owns       at most one pooled block, only while it holds bytes: a small block, or a large one if
//            necessary.
// Thread     its reactor's.
// Allocates  never; takes blocks from the reactor's pools.
// Fails      append() returns false and keeps nothing when the pools have no block that is large
//            enough.
// Invariant  bytes() stays at its address until the next append() or consume().
#pragma once

#include <cstring>

#include "katana/base/memory/block_pool.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::net {

// The pools of one reactor from which carries take their blocks.
struct CarryPools {
  BlockPool small;  // blocks for the rest of a request
  BlockPool large;  // blocks of receive_bytes_max
};

class Carry {
 public:
  explicit Carry(CarryPools& pools) noexcept : pools_(&pools) {}
  ~Carry() { give_back(); }
  Carry(const Carry&) = delete;
  Carry& operator=(const Carry&) = delete;

  bool empty() const noexcept { return size_ == 0; }
  Bytes bytes() const noexcept { return {block_ + begin_, size_}; }  // received and not consumed

  // Copies the bytes behind bytes().
  bool append(Bytes more) noexcept {
    if (more.size() > pools_->large.block_bytes()) return false;
    if (begin_ + size_ + more.size() > capacity() && !make_space(more.size())) return false;
    std::memcpy(block_ + begin_ + size_, more.data(), more.size());
    size_ += static_cast<std::uint32_t>(more.size());
    return true;
  }

  // REQUIRES count ≤ bytes().size().
  void consume(std::size_t count) noexcept {
    KATANA_REQUIRE(count <= size_);
    begin_ += static_cast<std::uint32_t>(count);
    size_ -= static_cast<std::uint32_t>(count);
    if (size_ == 0) give_back();
  }

  void clear() noexcept { give_back(); }  // gives the block back

 private:
  BlockPool& pool() const noexcept { return is_large_ ? pools_->large : pools_->small; }
  std::size_t capacity() const noexcept { return block_ != nullptr ? pool().block_bytes() : 0; }
  bool make_space(std::size_t more) noexcept;
  void give_back() noexcept;

  CarryPools* pools_;
  char* block_ = nullptr;
  std::uint32_t begin_ = 0;
  std::uint32_t size_ = 0;
  bool is_large_ = false;
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
