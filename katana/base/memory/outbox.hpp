// Outbox: bytes that are queued for the other side, in order.
//
// Owns       the pooled blocks it took; gives each back once it is sent.
// Borrows    the arguments of refer(), until advance() passes them; then it releases a Retained.
//            The same holds for a file; the engine reads its bytes (front_file()).
// Thread     its reactor's only.
// Allocates  never; takes blocks from the reactor's BlockPool.
// Fails      when it is full: reserve() is null, write() and refer() are false and write nothing.
// Invariant  bytes returned by gather() are immutable and do not move until advance() passes them.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "katana/base/memory/block_pool.hpp"
#include "katana/base/memory/retained.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/file_part.hpp"

namespace katana {

// A block holds bytes from its front, and segments from its back. A segment is a run of the
// block's own bytes, or of borrowed ones. One kind of block therefore serves both, and an empty
// outbox is five words.
class Outbox {
 public:
  // Limits of the pool's block size: room for one segment, and no more segments than 16 bits count.
  static constexpr std::size_t block_bytes_min = 64;
  static constexpr std::size_t block_bytes_max = 512 * 1024;

  explicit Outbox(BlockPool& blocks) noexcept : blocks_(&blocks) {
    KATANA_REQUIRE(blocks.block_bytes() >= block_bytes_min &&
                   blocks.block_bytes() <= block_bytes_max);
  }
  ~Outbox() { clear(); }
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // The largest count that reserve() can give from this pool.
  std::size_t reserve_bytes_max() const noexcept {
    return blocks_->block_bytes() - sizeof(Block) - sizeof(Segment);
  }

  // True: the next calls that add up to `count` bytes in at most four pieces will not fail.
  bool has_capacity(std::size_t count) const noexcept {
    const std::size_t blocks = blocks_->available();
    return blocks >= 4 && count <= (blocks - 3) * reserve_bytes_max();
  }

  // Room for `count` bytes, to be written in place. It is valid until the next call of a member
  // other than commit(). Without a commit(), its block stays until clear() or until all is sent.
  [[gnu::always_inline]] char* reserve(std::size_t count) noexcept {
    if (tail_ != nullptr && space_left(*tail_) >= count) return bytes(*tail_) + tail_->bytes_end;
    return reserve_in_new_block(count);
  }

  // reserve() and commit() in one call. `fill` gets room for `most` bytes, writes at least one, and
  // returns the end of its bytes. False, without a call of `fill`: bytes are pending already, or no
  // block has room.
  template <class Fill>
  [[gnu::always_inline]] bool write_first(std::size_t most, Fill fill) noexcept {
    if (head_ != nullptr || most > reserve_bytes_max()) return false;
    char* const memory = blocks_->take();
    if (memory == nullptr) [[unlikely]]
      return false;
    char* const begin = memory + sizeof(Block);
    const auto size = static_cast<std::size_t>(fill(begin) - begin);
    Block* const block = new (memory) Block{nullptr, static_cast<std::uint32_t>(size), 0, 1};
    segment(*block, 0) = {begin, size, nullptr};
    head_ = tail_ = block;
    pending_ = size;
    return true;
  }

  // Queues the first `count` bytes of the last reserve(). REQUIRES that so many were reserved.
  [[gnu::always_inline]] void commit(std::size_t count) noexcept {
    if (count == 0) return;  // an empty segment would take capacity that was not reserved
    Block& block = *tail_;
    char* const data = bytes(block) + block.bytes_end;
    block.bytes_end += static_cast<std::uint32_t>(count);
    pending_ += count;
    if (block.segments_end != block.segments_begin) {
      Segment& last = segment(block, block.segments_end - 1);
      if (last.memory == nullptr && last.data + last.size == data) {
        last.size += count;
        return;
      }
    }
    segment(block, block.segments_end++) = {data, count, nullptr};
  }

  // Copies all of `text`, or nothing.
  bool write(Bytes text) noexcept;

  // Queues `text` without a copy. REQUIRES it to stay unchanged until advance() passes it.
  bool refer(Bytes text) noexcept;
  // The same for text that `memory` retains. Releases `memory` once all of `text` is passed.
  bool refer(Bytes text, Retained& memory) noexcept;

  // The same for a part of a file. pending() counts its bytes; no block holds them.
  bool refer(const FilePart& part) noexcept;

  // Fills `out` with the pending bytes, oldest first and up to the first file. Returns the number
  // of filled entries: 0 when a file comes first. REQUIRES room for at least one.
  std::size_t gather(std::span<iovec> out) const noexcept {
    return gather_only(out[0]) ? 1 : gather_all(out);
  }
  // Fills `out` if one run of bytes in one block is all that is pending, which is nearly always the
  // case. False: it is not, and `out` is unchanged.
  [[gnu::always_inline]] bool gather_only(iovec& out) const noexcept {
    if (has_files_ || head_ == nullptr || head_ != tail_ || head_->segments_begin != 0 ||
        head_->segments_end != 1) {
      return false;
    }
    out = entry_of(segment(*head_, 0));
    return true;
  }
  // Notes that the other side took all bytes of gather_only().
  [[gnu::always_inline]] void advance_only() noexcept {
    pending_ = 0;
    if (retains_) [[unlikely]]
      let_go_of_all();
    blocks_->give(reinterpret_cast<char*>(head_));
    head_ = tail_ = nullptr;
  }
  // True: a file may be pending.
  bool has_files() const noexcept { return has_files_; }
  // The file behind the first `skipped` segments, which gather() counted. Its size is 0 when there
  // is no file at that place.
  FilePart file_behind(std::size_t skipped) const noexcept;
  // The file that is to be sent next. Its size is 0 when a file does not come next.
  FilePart front_file() const noexcept { return file_behind(0); }

  // Notes that the other side took `count` bytes. REQUIRES count ≤ pending().
  [[gnu::always_inline]] void advance(std::size_t count) noexcept {
    KATANA_REQUIRE(count <= pending_);
    if (count == pending_) {
      clear();
    } else {
      advance_part(count);
    }
  }

  // Forgets everything that is pending.
  [[gnu::always_inline]] void clear() noexcept {
    pending_ = 0;
    if (retains_) let_go_of_all();
    while (head_ != nullptr) drop_head();
  }

  // Calls `visit(Bytes, const Retained*)` for all pending bytes, oldest first. Skips files.
  template <class Visit>
  void for_each_pending(Visit&& visit) const {
    for (Block* block = head_; block != nullptr; block = block->next) {
      for (std::size_t index = block->segments_begin; index != block->segments_end; ++index) {
        const Segment& each = segment(*block, index);
        if (is_file(each)) continue;
        visit(Bytes(each.data, each.size), static_cast<const Retained*>(each.memory));
      }
    }
  }

  BlockPool& blocks() const noexcept { return *blocks_; }  // where blocks come from and go to
  // The number of blocks that it holds. It walks the list, for the case that blocks are scarce.
  std::size_t blocks_held() const noexcept {
    std::size_t count = 0;
    for (const Block* block = head_; block != nullptr; block = block->next) ++count;
    return count;
  }
  std::size_t pending() const noexcept { return pending_; }
  bool empty() const noexcept { return pending_ == 0; }

 private:
  struct Segment {
    const char* data;  // for a file: the offset
    std::size_t size;
    Retained* memory;  // null: the bytes are this outbox's own, or stay for ever
  };
  struct Block {
    Block* next;
    std::uint32_t bytes_end;  // offset in bytes()
    std::uint16_t segments_begin;
    std::uint16_t segments_end;
  };

  static char* bytes(Block& block) noexcept { return reinterpret_cast<char*>(&block + 1); }
  Segment& segment(Block& block, std::size_t index) const noexcept {
    auto* const end =
        reinterpret_cast<Segment*>(reinterpret_cast<char*>(&block) + blocks_->block_bytes());
    return end[-1 - static_cast<std::ptrdiff_t>(index)];
  }
  // Bytes that can be added to a block together with the segment that they may need.
  std::size_t space_left(const Block& block) const noexcept {
    const std::size_t used =
        sizeof(Block) + block.bytes_end + sizeof(Segment) * (std::size_t{block.segments_end} + 1);
    return used < blocks_->block_bytes() ? blocks_->block_bytes() - used : 0;
  }
  [[gnu::always_inline]] char* reserve_in_new_block(std::size_t count) noexcept {
    if (count > reserve_bytes_max() || !add_block()) return nullptr;
    return bytes(*tail_);
  }
  [[gnu::always_inline]] bool add_block() noexcept {
    char* const memory = blocks_->take();
    if (memory == nullptr) return false;
    Block* const block = new (memory) Block{nullptr, 0, 0, 0};
    (tail_ != nullptr ? tail_->next : head_) = block;
    tail_ = block;
    return true;
  }
  void drop_head() noexcept {
    Block* const block = head_;
    head_ = block->next;
    if (head_ == nullptr) tail_ = nullptr;
    blocks_->give(reinterpret_cast<char*>(block));
  }
  static iovec entry_of(const Segment& segment) noexcept {
    return {const_cast<char*>(segment.data), segment.size};  // iovec has no const form
  }
  static bool is_file(const Segment& segment) noexcept {
    return segment.memory != nullptr && segment.memory->descriptor >= 0;
  }
  static FilePart part_of(const Segment& segment) noexcept {
    return {segment.memory, reinterpret_cast<std::uintptr_t>(segment.data), segment.size};
  }
  bool add_reference(Bytes text, Retained* memory) noexcept;
  std::size_t gather_all(std::span<iovec> out) const noexcept;
  void advance_part(std::size_t count) noexcept;
  void let_go_of_all() noexcept;

  BlockPool* blocks_;
  Block* head_ = nullptr;
  Block* tail_ = nullptr;
  std::size_t pending_ = 0;
  bool retains_ = false;    // a segment may have a Retained
  bool has_files_ = false;  // a segment may be a file
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
