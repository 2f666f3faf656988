// Outputs: where encoders write, a window of memory at a time.
//
//   StringOutput   behind what a std::string holds
//   TextOutput     behind what a Text holds: recycled memory, no heap call once warm
//   OutboxOutput   into the blocks of an Outbox
//
// An encoder asks room(at, count) for `count` bytes behind `at`, up to which everything is
// written, and gets where to go on; finish(at) ends it.
//
// Borrows    its target, until finish().
// Thread     the target's.
// Allocates  as the target does: OutboxOutput never.
// Fails      finish() is false when the target was full. Until then bytes go to a spare window, so
//            that encoders need no branch for it.
// Invariant  count ≤ window_bytes_max.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "katana/base/memory/outbox.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"

namespace katana::container {

inline constexpr std::size_t window_bytes_max = 1024;  // that reserve() may be asked for at once

// Appends to a std::string, which grows.
class StringOutput {
 public:
  explicit StringOutput(std::string& to) : to_(to), begin_bytes_(to.size()) { use(to.capacity()); }
  char* begin() noexcept { return to_.data() + begin_bytes_; }
  // A place for `count` bytes, of which the ones up to `at` are kept. REQUIRES count ≤
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
  // Bytes behind what is written are written before anybody reads them, so filling them first
  // would be for nothing.
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

// Written bytes stay in the outbox even when it is full before the end: the reply is then to be
// aborted.
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
  // The first window is what a short value needs, so that the block which the head of a reply began
  // is used; then come whole blocks.
  static constexpr std::size_t first_bytes = 512;

  [[gnu::noinline]] char* next_window(char* at, std::size_t count) noexcept;
  void close_window(char* at) noexcept;

  Outbox& to_;
  char* begin_ = nullptr;
  char* end_ = nullptr;
  bool full_ = false;
  // Takes what a block is too small for, to be copied; and, once full, bytes that are not read.
  std::array<char, window_bytes_max> spare_;
};

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
