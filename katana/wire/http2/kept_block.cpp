#include "katana/wire/http2/kept_block.hpp"

namespace katana::http2 {
namespace {

constexpr std::size_t static_entries = 61;

// An integer with a prefix (RFC 7541 §5.1). False: it is cut off, or larger than a block can mean.
bool skip_integer(Bytes& block, unsigned prefix, std::size_t& value) noexcept {
  const std::size_t all = (std::size_t{1} << prefix) - 1;
  value = static_cast<unsigned char>(block[0]) & all;
  block.remove_prefix(1);
  if (value < all) return true;
  for (unsigned shift = 0; shift <= 21; shift += 7) {
    if (block.empty()) return false;
    const auto octet = static_cast<unsigned char>(block[0]);
    block.remove_prefix(1);
    value += std::size_t{octet & 0x7fu} << shift;
    if (octet < 0x80) return true;
  }
  return false;
}

bool skip_string(Bytes& block) noexcept {
  std::size_t size = 0;
  if (block.empty() || !skip_integer(block, 7, size) || size > block.size()) return false;
  block.remove_prefix(size);
  return true;
}

}  // namespace

BlockEffect effect_of(Bytes block) noexcept {
  BlockEffect effect = BlockEffect::none;
  while (!block.empty()) {
    const auto first = static_cast<unsigned char>(block[0]);
    const bool indexed = (first & 0x80) != 0;
    if (!indexed && first >= 0x20) return BlockEffect::changes;  // a new entry, or a new size
    std::size_t index = 0;
    if (!skip_integer(block, indexed ? 7 : 4, index)) return BlockEffect::changes;
    if (index > static_entries) effect = BlockEffect::reads;
    if (indexed) continue;
    if (index == 0 && !skip_string(block)) return BlockEffect::changes;
    if (!skip_string(block)) return BlockEffect::changes;
  }
  return effect;
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
