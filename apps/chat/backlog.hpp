// Backlog: what a member is to receive and its outbox has no room for, oldest first.
//
// Owns       a reference to the batch of each entry; no memory while it is empty.
// Thread     its reactor's.
// Allocates  when it grows: a reader that keeps up has none.
// Fails      std::bad_alloc.
// Invariant  charged_bytes() is never less than the memory that the entries keep alive: a block is
//            charged whole, to the last entry that refers to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "katana/base/memory/batch.hpp"

namespace katana::chat {

// The queue of one Member.
class Backlog {
 public:
  // Lines that follow one another in a batch.
  struct Entry {
    Batch* batch;            // with a share, which pop() gives up
    std::uint32_t begin;     // first byte of the lines, in the batch
    std::uint32_t size;      // their bytes
    std::uint32_t messages;  // lines that these are
    std::uint32_t charged;   // for the entry; the block, too, in its last entry
    // The lines; they live as long as the entry.
    Bytes bytes() const noexcept { return batch->bytes().substr(begin, size); }
  };

  Backlog() = default;
  ~Backlog() { (void)clear(); }
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;

  bool empty() const noexcept { return first_ == entries_.size(); }
  // The bytes of the list of entries and of the blocks that the entries keep.
  std::size_t charged_bytes() const noexcept { return charged_; }
  // The bytes of the list of entries alone.
  std::size_t list_bytes() const noexcept { return entries_.capacity() * sizeof(Entry); }

  // Takes a share of the batch. REQUIRES that `begin` and `size` are within it.
  void push(Batch& batch, std::uint32_t begin, std::uint32_t size, std::uint32_t messages);
  // REQUIRES an entry.
  const Entry& front() const noexcept { return entries_[first_]; }
  void pop() noexcept;
  // Drops the entries of the oldest batch, and returns how many messages those were.
  std::uint64_t drop_oldest() noexcept;
  // The same for all.
  std::uint64_t clear() noexcept;

 private:
  std::vector<Entry> entries_;
  std::size_t first_ = 0;
  std::size_t charged_ = 0;
};

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
