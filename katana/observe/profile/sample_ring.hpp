// Sample, and SampleRing: the samples that the signal handler of one thread leaves for the thread
// of the profile.
//
// Owns       its samples.
// Thread     reserve() and commit() the sampled thread, in its handler; next() and pop() the thread
//            of the profile.
// Allocates  when it is made.
// Fails      reserve() is null when the ring is full. The caller counts the sample as lost.
// Invariant  next() gives whole samples, in their order.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "katana/base/text/bytes.hpp"
#include "katana/observe/crash/stack.hpp"

namespace katana::profile {

// A text within a sample; longer ones are cut.
template <std::size_t N>
struct SampleText {
  std::array<char, N> bytes;  // of them `used` are set
  std::uint16_t used = 0;     // in bytes

  // Safe in a signal handler. May cut within a character.
  void set(Bytes text) noexcept {
    used = static_cast<std::uint16_t>(text.size() < N ? text.size() : N);
    for (std::size_t index = 0; index < used; ++index) bytes[index] = text[index];
  }
  // A view into it.
  Bytes text() const noexcept { return {bytes.data(), used}; }
};

// Where a thread was, and for which request.
struct Sample {
  crash::Stack stack;           // the innermost address first
  std::uint32_t periods = 1;    // of the timer since the sample before
  SampleText<128> route = {};   // empty: it served no route
  SampleText<64> request = {};  // its id
  SampleText<32> trace = {};    // the id of its trace
};

class SampleRing {
 public:
  // The memory is not written: pages that no sample uses cost nothing.
  explicit SampleRing(std::size_t capacity)
      : capacity_(capacity), samples_(std::allocator<Sample>().allocate(capacity)) {}
  ~SampleRing() { std::allocator<Sample>().deallocate(samples_, capacity_); }
  SampleRing(const SampleRing&) = delete;
  SampleRing& operator=(const SampleRing&) = delete;

  // The place of the next sample, which commit() then publishes. Null: there is none.
  Sample* reserve() noexcept {
    const std::size_t end = end_.load(std::memory_order_relaxed);
    // Acquire: the reader has read what is written over.
    if (end - begin_.load(std::memory_order_acquire) == capacity_) return nullptr;
    return ::new (&samples_[end % capacity_]) Sample;
  }
  void commit() noexcept {
    // Release: the reader finds the sample whole.
    end_.store(end_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // The oldest sample, until pop(). Null: there is none.
  const Sample* next() const noexcept {
    const std::size_t begin = begin_.load(std::memory_order_relaxed);
    if (begin == end_.load(std::memory_order_acquire)) return nullptr;
    return &samples_[begin % capacity_];
  }
  // REQUIRES that next() gave a sample.
  void pop() noexcept {
    begin_.store(begin_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

 private:
  static_assert(std::is_trivially_destructible_v<Sample>);

  const std::size_t capacity_;
  Sample* const samples_;
  std::atomic<std::size_t> begin_{0};
  std::atomic<std::size_t> end_{0};
};

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
