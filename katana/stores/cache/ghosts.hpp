// Ghosts: the hashes of what was forgotten before it was used twice, so that what comes again soon
// is taken for good (S3-FIFO's ghost queue).
//
// Owns       a table of fixed size, 8 bytes for each ghost.
// Thread     that of its Table's lock.
// Allocates  when it is made.
// Fails      never: what is full forgets the oldest of a set.
// Invariant  a ghost is forgotten after `capacity` others. One of 2^31 strangers is taken for one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace katana::cache::detail {

class Ghosts {
 public:
  Ghosts() noexcept = default;
  // Of so many; 0: none.
  explicit Ghosts(std::size_t capacity);

  void add(std::uint64_t hash) noexcept;
  // It was one, and is none any more.
  bool take(std::uint64_t hash) noexcept;
  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t bytes() const noexcept { return bytes_for(capacity_); }
  static std::size_t bytes_for(std::size_t capacity) noexcept;

 private:
  static constexpr std::size_t ways = 8;  // one cache line
  struct Ghost {
    std::uint32_t mark = 0;  // 0: free
    std::uint32_t time = 0;  // counted in ghosts
  };
  static std::size_t slots_for(std::size_t capacity) noexcept;
  static std::uint32_t mark_of(std::uint64_t hash) noexcept {
    return static_cast<std::uint32_t>(hash >> 32) | 1;
  }
  Ghost* set_of(std::uint64_t hash) noexcept {
    return slots_.data() + (hash & (slots_.size() / ways - 1)) * ways;
  }
  // As long as `capacity` others came since.
  bool lives(const Ghost& ghost) const noexcept {
    return ghost.mark != 0 && time_ - ghost.time < capacity_;
  }

  std::size_t capacity_ = 0;
  std::uint32_t time_ = 0;
  std::vector<Ghost> slots_;
};

}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
