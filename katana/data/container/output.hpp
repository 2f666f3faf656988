// Outputs: the destinations of encoders, which get one window of memory at a time.
//
//   StringOutput   appends to a std::string
//   TextOutput     appends to a Text: recycled memory, no heap call after warm-up
//   OutboxOutput   into the blocks of an Outbox
//
// An encoder calls reserve(at, count) for `count` more bytes; all bytes up to `at` are written. It
// gets the place to go on. finish(at) ends the output.
//
// Borrows    its target, until finish().
// Thread     the target's.
// Allocates  as the target does: OutboxOutput never.
// Fails      finish() is false when the target was full. Until then bytes go to a spare window:
//            encoders need no branch for a full target.
// Invariant  count ≤ window_bytes_max.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "katana/base/memory/outbox.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"

namespace katana::container {

inline constexpr std::size_t window_bytes_max = 1024;  // largest count of one reserve()

// Appends to a std::string, which grows.
class StringOutput {
 public:
  explicit StringOutput(std::string& to) : to_(to), begin_bytes_(to.size()) { use(to.capacity()); }
  char* begin() noexcept { return to_.data() + begin_bytes_; }
  // Returns a place for `count` bytes. The bytes up to `at` are kept. REQUIRES count ≤
  // window_bytes_max.
  char* reserve(char* at, std::size_t count) {
    return static_cast<std::size_t>(end_ - at) >= count ? at : grow(at, count);
  }
  // Always true: a string is never full.
  bool finish(char* at) {
    to_.erase(static_cast<std::size_t>(at - to_.data()));
    return true;
  }

 private:
  // The bytes are written before they are read. It therefore does not fill them first.
  void use(std::size_t bytes) {
    to_.resize_and_overwrite(bytes, [](char*, std::size_t size) { return size; });
    end_ = to_.data() + to_.size();
  }
  [[gnu::noinline]] char* grow(char* at, std::size_t count);

  std::string& to_;
  std::size_t begin_bytes_;
  char* end_;
};

// Appends to a Text, which grows.
class TextOutput {
 public:
  explicit TextOutput(Text& to) noexcept : to_(to), end_(to.data() + to.size()) {}
  char* begin() noexcept { return end_; }
  // As StringOutput::reserve().
  char* reserve(char* at, std::size_t count) {
    return static_cast<std::size_t>(end_ - at) >= count ? at : grow(at, count);
  }
  // Always true: a Text is never full.
  bool finish(char* at) {
    if (at != nullptr) to_.resize(static_cast<std::size_t>(at - to_.data()));
    return true;
  }

 private:
  [[gnu::noinline]] char* grow(char* at, std::size_t count);

  Text& to_;
  char* end_;
};

// Appends to an Outbox. Written bytes stay in it even when it is full before the end. The caller
// must then abort the reply.
class OutboxOutput {
 public:
  explicit OutboxOutput(Outbox& to) noexcept : to_(to) {}
  char* begin() noexcept { return nullptr; }
  // As StringOutput::reserve(); the place may be in the next block.
  char* reserve(char* at, std::size_t count) noexcept {
    return static_cast<std::size_t>(end_ - at) >= count ? at : next_window(at, count);
  }
  // False: the reactor had no block left, and bytes were dropped.
  bool finish(char* at) noexcept {
    close_window(at);
    return !full_;
  }

 private:
  // The first window is small enough for a short value, and uses the block that the head of a reply
  // began. The next windows are whole blocks.
  static constexpr std::size_t first_bytes = 512;

  [[gnu::noinline]] char* next_window(char* at, std::size_t count) noexcept;
  void close_window(char* at) noexcept;

  Outbox& to_;
  char* begin_ = nullptr;
  char* end_ = nullptr;
  bool full_ = false;
  // Takes bytes that a block is too small for, to copy them; in a full outbox, bytes to be dropped.
  std::array<char, window_bytes_max> spare_;
};

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
