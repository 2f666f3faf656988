// Ring: the records of one thread on their way to the writer. One producer, one consumer.
//
//   reserve(n) → n bytes in one piece, or null when full       producer
//   commit(n)  → they may be read                              producer
//   published(), front(), pop(n), release()                    consumer
//
// Positions only grow; a byte's place is its position modulo the capacity. A record never wraps:
// the rest of a lap that is too small is marked as padding.
//
// The producer compares with one number, limit_. It is the nearest of the end of the lap, the
// middle of the ring, and the ring's end. At the middle the writer is asked to hurry. An ordinary
// record therefore reads no line that the consumer writes. The last eighth is for records of warn
// and above: a flood of lesser ones finds the ring full before they do. Only the rare path knows
// the level.
//
// Owns       nothing: RingSet owns the memory.
// Thread     one producer and one consumer at a time; RingSet assigns both.
// Allocates  never.
// Fails      reserve() is null when full.
// Invariant  bytes that the consumer has not released are not overwritten.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>

#include "katana/base/system/check.hpp"
#include "katana/observe/log/record.hpp"

namespace katana::log {

inline constexpr std::size_t cache_line_bytes = 64;  // of every processor that katana runs on

class Ring {
 public:
  // The state of a ring.
  //   free    no thread has it
  //   open    a thread has it
  //   closed  its thread has ended; records may be left
  enum class State : std::uint32_t { free, open, closed };  // closed: its thread has ended

  // Called before the first record; `capacity` is a power of two.
  void set_memory(char* data, std::uint64_t capacity) noexcept {
    data_ = data;
    mask_ = capacity - 1;
    limit_ = capacity / 2;
  }
  // Bytes for records, padding included.
  std::uint64_t capacity() const noexcept { return mask_ + 1; }

  // Producer ---------------------------------------------------------------------------------

  // REQUIRES bytes to be a multiple of record_alignment, and at most a quarter of the capacity.
  char* reserve(std::uint64_t bytes, Level level) noexcept {
    if (head_ + bytes > limit_) [[unlikely]] {
      if (!extend_limit(bytes, level)) return nullptr;
    }
    return data_ + (head_ & mask_);
  }
  void commit(std::uint64_t bytes) noexcept {
    head_ += bytes;
    // release: a thread that sees the new position sees the record.
    published_.store(head_, std::memory_order_release);
    own_lines_ahead();
  }
  // Clears hurry(): more than half was in use at the last search for room.
  void take_hurry() noexcept { hurry_ = always_; }
  bool hurry() const noexcept { return hurry_; }
  // Sets hurry() after every record: for the ring of a synchronous Log.
  void always_hurry() noexcept { always_ = hurry_ = true; }
  // Whether a quarter of the ring is free. A waiting producer goes on from there: with less, the
  // lines that it fetches ahead would be those that are being read.
  bool has_capacity() const noexcept {
    // relaxed: reserve() looks again, with acquire.
    return head_ - released_.load(std::memory_order_relaxed) <= capacity() / 4 * 3;
  }
  void count_dropped(Level level) noexcept {
    add(dropped_, 1);
    if (level >= Level::warn) add(dropped_warnings_, 1);
  }

  // Consumer ---------------------------------------------------------------------------------

  // acquire: pairs with commit().
  std::uint64_t published() const noexcept { return published_.load(std::memory_order_acquire); }
  std::uint64_t read_position() const noexcept { return read_; }
  // The record at the read position. REQUIRES read_position() < a published position.
  const RecordHead& front() const noexcept {
    return *std::launder(reinterpret_cast<const RecordHead*>(data_ + (read_ & mask_)));
  }
  void pop(std::uint64_t bytes) noexcept { read_ += bytes; }
  // Gives popped bytes back to the producer. release: they are no longer read.
  void release() noexcept { released_.store(read_, std::memory_order_release); }
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
  // The dropped records of warn and above.
  std::uint64_t dropped_warnings() const noexcept {
    return dropped_warnings_.load(std::memory_order_relaxed);
  }
  std::uint64_t dropped_told = 0;  // part of dropped() that the log has reported

  // Any thread -------------------------------------------------------------------------------

  // The number of bytes that were committed and not released, a moment ago.
  std::uint64_t waiting() const noexcept {
    // acquire, before the other load: released bytes had been published, so the result is never <
    // 0.
    const std::uint64_t released = released_.load(std::memory_order_acquire);
    return published_.load(std::memory_order_relaxed) - released;
  }

  // Both -------------------------------------------------------------------------------------

  std::atomic<State> state{State::free};    // free → open → closed → free
  std::atomic<std::uint32_t> thread_id{0};  // gettid(2) of its thread; 0: none yet

 private:
  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t count) noexcept {
    // One thread writes it, so a load and a store are enough.
    counter.store(counter.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }

  // Lines of the next records come from the consumer's cache: fetched early, they are here in time.
  // A hint; nothing depends on it.
  void own_lines_ahead() const noexcept {
#if defined(__x86_64__)
    constexpr std::uint64_t ahead_bytes = 8 * cache_line_bytes;
    const char* const near = data_ + ((head_ + ahead_bytes) & mask_);
    const char* const next = data_ + ((head_ + ahead_bytes + cache_line_bytes) & mask_);
    asm volatile("prefetchw %0" : : "m"(*near));
    asm volatile("prefetchw %0" : : "m"(*next));
#endif
  }

  [[gnu::noinline]] bool extend_limit(std::uint64_t bytes, Level level) noexcept {
    const std::uint64_t lesser = capacity() / 8 * 7;  // the part that records below warn may fill
    const std::uint64_t lap_left = capacity() - (head_ & mask_);
    const std::uint64_t needed = bytes <= lap_left ? bytes : lap_left + bytes;
    // acquire: pairs with release(): the consumer has finished with overwritten bytes.
    const std::uint64_t released = released_.load(std::memory_order_acquire);
    if (head_ + needed - released > (level >= Level::warn ? capacity() : lesser)) {
      hurry_ = true;
      return false;
    }
    if (bytes > lap_left) {
      const RecordPrefix padding = {static_cast<std::uint32_t>(lap_left), 0, Level::off,
                                    only_padding};
      std::memcpy(data_ + (head_ & mask_), &padding, sizeof padding);
      head_ += lap_left;  // published with the next record
    }
    const bool above_half = head_ + bytes - released > capacity() / 2;
    hurry_ = above_half || always_;
    const std::uint64_t end = released + (above_half ? lesser : capacity() / 2);
    const std::uint64_t lap_end = head_ + capacity() - (head_ & mask_);
    limit_ = std::min(end, lap_end);
    return true;
  }

  alignas(cache_line_bytes) std::uint64_t head_ = 0;  // the producer's line
  std::uint64_t limit_ = 0;
  std::uint64_t mask_ = 0;
  char* data_ = nullptr;
  bool hurry_ = false;
  bool always_ = false;
  alignas(cache_line_bytes) std::atomic<std::uint64_t> published_{0};  // producer to consumer
  // Next to members that the consumer reads anyway: the producer's own line stays its own.
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> dropped_warnings_{0};
  alignas(cache_line_bytes) std::atomic<std::uint64_t> released_{0};  // consumer to producer
  std::uint64_t read_ = 0;
};

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
