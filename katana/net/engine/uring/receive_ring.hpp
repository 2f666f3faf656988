// ReceiveRing: the buffers into which the kernel writes received bytes, shared by all links.
//
// Owns       the buffers and the queue in which the kernel finds the free ones.
// Thread     start() any; everything else that of its Ring.
// Blocks     start(), while the kernel has no memory, for memory_wait_max.
// Allocates  in start() only. Pages cost memory when the kernel first writes to them.
// Fails      start() returns the kernel's reason.
// Invariant  every buffer is the kernel's, or lies in completions that were not seen yet; a link
//            without arriving bytes has none.
//
// Whole buffers: each completion has one buffer. Incremental buffers (Linux 6.12) are filled from
// front to back by completions of any links. The place of a completion's bytes follows from earlier
// completions: claim() has to be called for each in the kernel's order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "katana/base/memory/poison.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/net/engine/uring/ring.hpp"

namespace katana::engine {

class ReceiveRing {
 public:
  static constexpr std::uint16_t group = 0;  // buffer group of the ring; there is one

  ReceiveRing() = default;
  ~ReceiveRing();
  ReceiveRing(const ReceiveRing&) = delete;
  ReceiveRing& operator=(const ReceiveRing&) = delete;

  // `count`: a power of two, at most 32,768.
  Result<void> start(Ring& ring, std::size_t buffer_bytes, std::uint32_t count, bool incremental);

  // The bytes of a completion that has a buffer. They are valid during the call that they are
  // delivered to.
  Bytes claim(const io_uring_cqe& completion) noexcept {
    const auto index = static_cast<std::uint16_t>(completion.flags >> IORING_CQE_BUFFER_SHIFT);
    const std::size_t count = completion.res > 0 ? static_cast<std::size_t>(completion.res) : 0;
    const Bytes bytes(buffer(index) + used_[index], count);
    if (incremental_ && (completion.flags & completion_buffer_more) != 0) {
      used_[index] += static_cast<std::uint32_t>(count);
    } else {
      used_[index] = 0;
      give(index);
    }
    if constexpr (is_poisoning) {
      poison(const_cast<char*>(lent_.data()), lent_.size());
      unpoison(const_cast<char*>(bytes.data()), bytes.size());
      lent_ = bytes;
    }
    return bytes;
  }

  // Gives buffers whose bytes were all claimed back to the kernel.
  void publish() noexcept {
    if (tail_ == published_) return;
    published_ = tail_;
    // release: the entries are written before the kernel sees the tail.
    std::atomic_ref(queue_->tail).store(tail_, std::memory_order_release);
  }

  std::size_t memory_bytes() const noexcept { return mapped_bytes_; }  // buffers and their queue

 private:
  char* buffer(std::uint16_t index) noexcept { return buffers_ + index * buffer_bytes_; }
  void give(std::uint16_t index) noexcept {
    // Member by member: the queue's tail lies in the last member of the first entry.
    io_uring_buf& entry = queue_->bufs[tail_++ & mask_];
    entry.addr = reinterpret_cast<std::uintptr_t>(buffer(index));
    entry.len = static_cast<std::uint32_t>(buffer_bytes_);
    entry.bid = index;
  }

  io_uring_buf_ring* queue_ = nullptr;
  char* buffers_ = nullptr;
  Bytes lent_;  // result of the last claim()
  std::size_t buffer_bytes_ = 0;
  std::size_t mapped_bytes_ = 0;
  std::uint16_t mask_ = 0;
  std::uint16_t tail_ = 0;
  std::uint16_t published_ = 0;
  bool incremental_ = false;
  std::vector<std::uint32_t> used_;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
