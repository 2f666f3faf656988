// HeldMemory: what peers make a reactor keep outside of its pools, in one sum with one limit.
//
// Contents that are collected, messages that are not complete, replies that wait for a window, what
// suspended handlers hold, and batches that queues refer to: each holder says what it has, by the
// capacity that was allocated.
//
// Owns       numbers.
// Thread     its reactor's.
// Allocates  never.
// Fails      grow() is false when the limit would be passed; nothing is then counted.
// Invariant  used() is the sum of what all holders have charged; it is above bytes_max() only by
//            what cannot be refused (set()), until the reactor has shed the largest holders.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace katana {

enum class Holder : std::uint8_t {
  request,  // of HTTP: its head and content, its suspended handler, a reply that waits for a window
  message,  // of WebSocket, not complete
  queue,    // of slow readers of WebSocket and chat: batches, each once, and lists of them
  count_
};

inline constexpr std::size_t holder_count = static_cast<std::size_t>(Holder::count_);

class HeldMemory {
 public:
  explicit HeldMemory(std::size_t bytes_max) noexcept
      : bytes_max_(bytes_max), high_(bytes_max - bytes_max / 8) {}

  // `charged`, which is what a holder has charged so far, becomes `bytes`. False: there is no
  // memory for it. For a moment what grows is there twice, as before and as after.
  bool grow(Holder holder, std::size_t& charged, std::size_t bytes) noexcept {
    if (bytes > charged && (used_ > bytes_max_ || bytes > bytes_max_ - used_)) {
      ++refused_;
      strain_ |= pressed_bit;
      return false;
    }
    set(holder, charged, bytes);
    return true;
  }
  // The same for what is there already, or is small.
  void set(Holder holder, std::size_t& charged, std::size_t bytes) noexcept {
    used_ += bytes - charged;
    by_holder_[static_cast<std::size_t>(holder)] += bytes - charged;
    charged = bytes;
    strain_ = (used_ > high_ ? pressed_bit : 0u) | (used_ > bytes_max_ / 2 ? scarce_bit : 0u);
  }

  std::size_t used() const noexcept { return used_; }
  std::size_t used_by(Holder holder) const noexcept {
    return by_holder_[static_cast<std::size_t>(holder)];
  }
  std::size_t bytes_max() const noexcept { return bytes_max_; }
  // The largest holders are to give back what they have, until no more than low() is used.
  bool pressed() const noexcept { return (strain_ & pressed_bit) != 0; }
  void relieved() noexcept { strain_ &= ~pressed_bit; }
  // Those that hold much are to wait for one of them: more than half is used.
  bool scarce() const noexcept { return (strain_ & scarce_bit) != 0; }
  // Not 0: one of them. A word, because every request asks.
  unsigned strain() const noexcept { return strain_; }
  std::size_t low() const noexcept { return bytes_max_ - bytes_max_ / 4; }
  // Times that grow() was false.
  std::uint64_t refused() const noexcept { return refused_; }

 private:
  static constexpr unsigned scarce_bit = 1;
  static constexpr unsigned pressed_bit = 2;

  const std::size_t bytes_max_;
  const std::size_t high_;
  std::size_t used_ = 0;
  std::array<std::size_t, holder_count> by_holder_{};
  std::uint64_t refused_ = 0;
  unsigned strain_ = 0;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
