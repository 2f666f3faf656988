// HeldMemory: the memory that clients make a reactor keep outside its pools, as one sum with one
// limit.
//
// Its holders are collected request bodies, incomplete messages, replies that wait for a window,
// suspended handlers, and batches in queues. Each holder reports the capacity that it allocated.
// HeldCharge: the charge of one holder; it moves with the work.
//
// Owns       numbers.
// Thread     its reactor's.
// Allocates  never.
// Fails      grow() is false when the limit would be passed; nothing is then counted.
// Invariant  used() is the sum of all charges. Only charges that cannot be refused (set()) lift it
//            above bytes_max(), until the reactor has shed the largest holders. Work that cannot
//            be ended (Holder::work) is refused beyond half of bytes_max(). The reactor can
//            therefore always shed the rest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace katana {

// The kind of holder that charges memory.
enum class Holder : std::uint8_t {
  request,  // HTTP: head and body, suspended handler, reply that waits for a window
  message,  // an incomplete message of WebSocket
  queue,    // slow readers of WebSocket and chat: batches, each once, and lists of them
  work,     // work of requests that goes on when their clients leave
  count_
};

// Array size for sums by Holder.
inline constexpr std::size_t holder_count = static_cast<std::size_t>(Holder::count_);

class HeldMemory {
 public:
  explicit HeldMemory(std::size_t bytes_max) noexcept
      : bytes_max_(bytes_max), high_(bytes_max - bytes_max / 8) {}

  // Changes a holder's charge from `charged` to `bytes`. False: the limit does not allow it. While
  // memory grows, its old and its new size exist at once.
  bool grow(Holder holder, std::size_t& charged, std::size_t bytes) noexcept {
    if (bytes > charged && !(takes(bytes) && may_last(holder, bytes - charged))) return false;
    set(holder, charged, bytes);
    return true;
  }
  // False: the limit does not allow `bytes` more, and the caller must do without.
  bool takes(std::size_t bytes) noexcept {
    if (used_ <= bytes_max_ && bytes <= bytes_max_ - used_) return true;
    ++refused_;
    strain_ |= pressed_bit;
    return false;
  }
  // The same without a limit, for memory that is already allocated, or small.
  void set(Holder holder, std::size_t& charged, std::size_t bytes) noexcept {
    used_ += bytes - charged;
    by_holder_[static_cast<std::size_t>(holder)] += bytes - charged;
    charged = bytes;
    strain_ = (used_ > high_ ? pressed_bit : 0u) | (used_ > bytes_max_ / 2 ? scarce_bit : 0u);
  }

  std::size_t used() const noexcept { return used_; }  // charged by all holders, in bytes
  // The part of used() that this kind of holder has charged, in bytes.
  std::size_t used_by(Holder holder) const noexcept {
    return by_holder_[static_cast<std::size_t>(holder)];
  }
  std::size_t bytes_max() const noexcept { return bytes_max_; }  // the limit, in bytes
  // True: the largest holders must give back memory until used() is at most low().
  bool pressed() const noexcept { return (strain_ & pressed_bit) != 0; }
  void relieved() noexcept { strain_ &= ~pressed_bit; }
  // True: more than half is used. Large holders must wait until another one gives back memory.
  bool scarce() const noexcept { return (strain_ & scarce_bit) != 0; }
  // Not 0: pressed() or scarce(). One word, because every request reads it.
  unsigned strain() const noexcept { return strain_; }
  std::size_t low() const noexcept { return bytes_max_ - bytes_max_ / 4; }
  // The number of times that grow() or takes() returned false.
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

// The charge of one holder. The destructor gives it back.
class HeldCharge {
 public:
  HeldCharge() noexcept = default;
  // Borrows `memory`.
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

  // As the functions of HeldMemory. They REQUIRE a charge that was made with a memory.
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
