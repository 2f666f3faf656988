// KeptBlock: the header block that a reader accepted last. When the same bytes come again, and no
// other block was read meanwhile, the reader's head is still valid.
//
// Owns       a copy of the block, unless it is long.
// Thread     its reader's.
// Allocates  never.
// Invariant  exact: a block is kept only if it puts nothing into the table that it is decoded with.
//            A block that reads the table is the same for its own inflater alone. A reader that
//            reads another block forgets the kept one. A connection that begins forgets it, too:
//            its inflater may lie at the address of an earlier one.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http2/inflater.hpp"

namespace katana::http2 {

// The effect of a block on the table that it is decoded with (RFC 7541 §6).
enum class BlockEffect : std::uint8_t {
  none,     // it means the same on every connection
  reads,    // it means the same until the table changes
  changes,  // or it is not a block
};
// Finds the effect in one pass, without decoding.
BlockEffect effect_of(Bytes block) noexcept;

class KeptBlock {
 public:
  // The block is the kept one, and means the same on this connection.
  bool is(const Inflater& inflater, Bytes block) noexcept {
    const bool same = block.size() == size_ && size_ != 0 && (of_ == nullptr || of_ == &inflater) &&
                      std::memcmp(block.data(), octets_.data(), size_) == 0;
    if (same) misses_ = 0;
    return same;
  }
  // It was read and accepted. Where blocks differ all the time one in sixteen is kept: to look at
  // each would be for nothing.
  void keep(const Inflater& inflater, Bytes block) noexcept {
    if (++misses_ > 4 && misses_ % 16 != 0) return;
    if (block.size() > octets_.size()) return;
    const BlockEffect effect = effect_of(block);
    if (effect == BlockEffect::changes) return;
    std::memcpy(octets_.data(), block.data(), block.size());
    size_ = block.size();
    of_ = effect == BlockEffect::reads ? &inflater : nullptr;
  }
  void forget() noexcept { size_ = 0; }

 private:
  std::size_t size_ = 0;          // 0: none is kept
  const Inflater* of_ = nullptr;  // null: it refers to the static table at most
  std::uint8_t misses_ = 0;       // since it came again
  std::array<char, 512> octets_;
};

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
