// Outputs: the engine's own copies of short output, each until the kernel has taken it.
//
// Owns       the blocks; the kernel borrows one from its submission to its completion.
// Thread     its engine's.
// Allocates  at construction only; a page costs memory when a block in it is first used.
// Fails      take() is `none` when every block is out.
// Invariant  a block is free, staged (append() may write to it), or under way (the kernel reads
//            it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/net/engine/engine.hpp"

namespace katana::engine {

// One block of output of one link.
struct Output {
  // The interval between checks of the blocks of closed links.
  static constexpr Duration delivery_check_max = seconds(1);
  // free: to be taken. staged: bytes may be appended. under_way: the kernel reads it.
  enum class State : std::uint8_t { free, staged, under_way };
  State state = State::free;  // see State
  bool abandoned = false;     // its link is closed; its bytes are still delivered
  bool dropped = false;       // its link was reset; its bytes are not delivered
  int fd = -1;                // socket of the link
  Link link;                  // may be closed already
  std::uint32_t begin = 0;    // earlier bytes have been taken
  std::uint32_t end = 0;      // bytes beyond it are free
  Instant abandoned_at{};     // when its link was closed; counts if `abandoned`
};

class Outputs {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;  // result of take(): every block is out

  Outputs(std::uint32_t count, std::size_t block_bytes)
      : block_bytes_(block_bytes),
        outputs_(count),
        memory_(std::make_unique_for_overwrite<char[]>(count * block_bytes)) {
    free_.reserve(count);
    // Taken from the back: the block given back last comes first, because it is the one in cache.
    for (std::uint32_t index = count; index > 0; --index) free_.push_back(index - 1);
  }

  // A staged block, without bytes.
  std::uint32_t take(Link link, int fd) noexcept {
    if (free_.empty()) return none;
    const std::uint32_t index = free_.back();
    free_.pop_back();
    outputs_[index] = Output{.state = Output::State::staged, .fd = fd, .link = link};
    return index;
  }
  // Frees the block. REQUIRES that the kernel does not read it.
  void give(std::uint32_t index) noexcept {
    outputs_[index].state = Output::State::free;
    free_.push_back(index);
  }

  // Whether append() has room for `count` bytes.
  bool has_capacity(std::uint32_t index, std::size_t count) const noexcept {
    return count <= block_bytes_ - outputs_[index].end;
  }
  // Copies the parts. REQUIRES room and a staged block.
  void append(std::uint32_t index, std::span<const iovec> parts) noexcept {
    Output& output = outputs_[index];
    for (const iovec& part : parts) {
      std::memcpy(bytes(index) + output.end, part.iov_base, part.iov_len);
      output.end += static_cast<std::uint32_t>(part.iov_len);
    }
  }

  Output& operator[](std::uint32_t index) noexcept { return outputs_[index]; }
  // Begin of the block.
  char* bytes(std::uint32_t index) noexcept { return memory_.get() + index * block_bytes_; }
  std::size_t block_bytes() const noexcept { return block_bytes_; }  // size of each block
  // Blocks in all.
  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(outputs_.size()); }
  std::size_t available() const noexcept { return free_.size(); }  // blocks that take() can give

 private:
  std::size_t block_bytes_;
  std::vector<Output> outputs_;
  std::unique_ptr<char[]> memory_;
  std::vector<std::uint32_t> free_;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
