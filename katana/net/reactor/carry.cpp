#include "katana/net/reactor/carry.hpp"

namespace katana::net {

bool Carry::make_space(std::size_t more) noexcept {
  const std::size_t wanted = size_ + more;
  if (wanted <= capacity()) {
    std::memmove(block_, block_ + begin_, size_);
    begin_ = 0;
    return true;
  }
  const bool large = wanted > pools_->small.block_bytes();
  if (large && wanted > pools_->large.block_bytes()) return false;
  char* const block = large ? pools_->large.take() : pools_->small.take();
  if (block == nullptr) return false;
  if (size_ > 0) std::memcpy(block, block_ + begin_, size_);
  const std::uint32_t kept = size_;
  give_back();
  block_ = block;
  size_ = kept;
  is_large_ = large;
  return true;
}

void Carry::give_back() noexcept {
  if (block_ != nullptr) pool().give(block_);
  block_ = nullptr;
  begin_ = 0;
  size_ = 0;
}

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
