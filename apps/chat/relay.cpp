#include "apps/chat/relay.hpp"

#include <bit>

#include "katana/base/system/check.hpp"

namespace katana::chat {

Relay::Relay(std::uint32_t capacity, Action on_batches, void* receiver, Action on_writable,
             void* sender)
    : mask_(capacity - 1),
      ring_(std::make_unique<Relayed[]>(capacity)),
      batches_doorbell_(*this, on_batches, receiver,
                        [](Message& message) noexcept { static_cast<Doorbell&>(message).ring(); }),
      writable_doorbell_(*this, on_writable, sender, [](Message& message) noexcept {
        auto& doorbell = static_cast<Doorbell&>(message);
        doorbell.owner.waiting_ = false;  // it may be rung again from here on
        doorbell.ring();
      }) {
  KATANA_REQUIRE(std::has_single_bit(capacity));
}

Relay::~Relay() {
  (void)take([](const Relayed& relayed) {
    relayed.block->drop();
    return true;
  });
}

bool Relay::push(const Relayed& relayed, bool& ring) noexcept {
  ring = false;
  if (!has_capacity()) return false;
  const std::uint32_t end = end_.load(std::memory_order_relaxed);
  relayed.block->share();
  ring_[end & mask_] = relayed;
  end_.store(end + 1, std::memory_order_seq_cst);
  ring = !rung_.exchange(true, std::memory_order_seq_cst);
  return true;
}

bool Relay::wait_for_capacity() noexcept {
  if (waiting_) return true;
  sender_waits_.store(true, std::memory_order_seq_cst);
  // The receiver may have made room before it could see that. If it saw it meanwhile it rings.
  waiting_ = !has_capacity() || !sender_waits_.exchange(false, std::memory_order_seq_cst);
  return waiting_;
}

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
