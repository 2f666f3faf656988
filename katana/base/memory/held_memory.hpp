// HeldMemory: what clients make a reactor keep outside of its pools, in one sum with one limit.
//
// Contents that are collected, messages that are not complete, replies that wait for a window, what
// suspended handlers hold, and batches that queues refer to: each holder says what it has, by the
// capacity that was allocated. HeldCharge: what one holder has charged; it moves with the work.
//
// Owns       numbers.
// Thread     its reactor's.
// Allocates  never.
// Fails      grow() is false when the limit would be passed; nothing is then counted.
// Invariant  used() is the sum of what all holders have charged; it is above bytes_max() only by
//            what cannot be refused (set()), until the reactor has shed the largest holders. Work
//            that cannot be ended (Holder::work) is refused beyond half of bytes_max(), so what is
//            left can always be shed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace katana {

// For what memory is charged.
enum class Holder : std::uint8_t {
  request,  // of HTTP: its head and content, its suspended handler, a reply that waits for a window
  message,  // of WebSocket, not complete
  queue,    // of slow readers of WebSocket and chat: batches, each once, and lists of them
  work,     // of requests, that goes on when their clients leave
  count_
};

// Array size for sums by Holder.
inline constexpr std::size_t holder_count = static_cast<std::size_t>(Holder::count_);

class HeldMemory {
 public:
  explicit HeldMemory(std::size_t bytes_max) noexcept
      : bytes_max_(bytes_max), high_(bytes_max - bytes_max / 8) {}

  // `charged`, which is what a holder has charged so far, becomes `bytes`. False: there is no
  // memory for it. For a moment what grows is there twice, as before and as after.
  bool grow(Holder holder, std::size_t& charged, std::size_t bytes) noexcept {
    if (bytes > charged && !(takes(bytes) && may_last(holder, bytes - charged))) return false;
    set(holder, charged, bytes);
    return true;
  }
  // False: there is no memory for so much more, and the caller goes without.
  bool takes(std::size_t bytes) noexcept {
    if (used_ <= bytes_max_ && bytes <= bytes_max_ - used_) return true;
    ++refused_;
    strain_ |= pressed_bit;
    return false;
  }
  // The same for what is there already, or is small.
  void set(Holder holder, std::size_t& charged, std::size_t bytes) noexcept {
    used_ += bytes - charged;
    by_holder_[static_cast<std::size_t>(holder)] += bytes - charged;
    charged = bytes;
    strain_ = (used_ > high_ ? pressed_bit : 0u) | (used_ > bytes_max_ / 2 ? scarce_bit : 0u);
  }

  std::size_t used() const noexcept { return used_; }  // charged by all holders, in bytes
  // The part of used() that this holder has.
  std::size_t used_by(Holder holder) const noexcept {
    return by_holder_[static_cast<std::size_t>(holder)];
  }
  std::size_t bytes_max() const noexcept { return bytes_max_; }  // the limit, in bytes
  // The largest holders are to give back what they have, until no more than low() is used.
  bool pressed() const noexcept { return (strain_ & pressed_bit) != 0; }
  void relieved() noexcept { strain_ &= ~pressed_bit; }
  // Those that hold much are to wait for one of them: more than half is used.
  bool scarce() const noexcept { return (strain_ & scarce_bit) != 0; }
  // Not 0: one of them. A word, because every request asks.
  unsigned strain() const noexcept { return strain_; }
  std::size_t low() const noexcept { return bytes_max_ - bytes_max_ / 4; }
  // Times that grow() or takes() was false.
  std::uint64_t refused() const noexcept { return refused_; }

 private:
  bool may_last(Holder holder, std::size_t more) noexcept {
    if (holder != Holder::work) return true;
    const std::size_t most = bytes_max_ / 2;
    const std::size_t lasting = used_by(Holder::work);
    if (lasting <= most && more <= most - lasting) return true;
    ++refused_;
    return false;
  }

  static constexpr unsigned scarce_bit = 1;
  static constexpr unsigned pressed_bit = 2;

  const std::size_t bytes_max_;
  const std::size_t high_;
  std::size_t used_ = 0;
  std::array<std::size_t, holder_count> by_holder_{};
  std::uint64_t refused_ = 0;
  unsigned strain_ = 0;
};

// Gives back what it has charged when it is destroyed.
class HeldCharge {
 public:
  HeldCharge() noexcept = default;
  // Borrows the memory.
  HeldCharge(HeldMemory& memory, Holder holder) noexcept : memory_(&memory), holder_(holder) {}
  HeldCharge(HeldCharge&& other) noexcept
      : memory_(other.memory_), bytes_(std::exchange(other.bytes_, 0)), holder_(other.holder_) {}
  HeldCharge& operator=(HeldCharge&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    std::swap(holder_, other.holder_);
    return *this;
  }
  ~HeldCharge() {
    if (bytes_ != 0) memory_->set(holder_, bytes_, 0);
  }

  // As HeldMemory has them. REQUIRE one with a memory.
  bool grow(std::size_t bytes) noexcept { return memory_->grow(holder_, bytes_, bytes); }
  void set(std::size_t bytes) noexcept { memory_->set(holder_, bytes_, bytes); }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  HeldMemory* memory_ = nullptr;  // null: it charges nothing
  std::size_t bytes_ = 0;
  Holder holder_ = Holder::request;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
