// Ghosts: the hashes of entries that were evicted before they were used twice. An entry that comes
// back soon then goes to the main queue (S3-FIFO's ghost queue).
//
// Owns       a table of fixed size, 8 bytes for each ghost.
// Thread     that of its Table's lock.
// Allocates  when it is made.
// Fails      never: a full set forgets its oldest ghost.
// Invariant  a ghost is forgotten after `capacity` others. One of 2^31 other hashes is taken for
//            a ghost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace katana::cache::detail {

class Ghosts {
 public:
  Ghosts() noexcept = default;
  // Holds at most `capacity` ghosts; 0: none.
  explicit Ghosts(std::size_t capacity);

  void add(std::uint64_t hash) noexcept;
  // Removes the ghost of this hash; true: there was one.
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
  // True until `capacity` other ghosts came after this one.
  bool lives(const Ghost& ghost) const noexcept {
    return ghost.mark != 0 && time_ - ghost.time < capacity_;
  }

  std::size_t capacity_ = 0;
  std::uint32_t time_ = 0;
  std::vector<Ghost> slots_;
};

}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
