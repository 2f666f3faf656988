// Relay: batches from one reactor to another, bounded.
//
// Owns       a ring of batches, and its share of the block of each.
// Thread     push() and wait_for_room() the sender's; take() the receiver's. One of each.
// Allocates  at construction.
// Fails      push() is false when the ring is full; nothing is then taken.
// Invariant  a pushed batch is taken once, in order. The receiver is rung for once, however much is
//            pushed before it answers; the sender too, when it waits for room.
//
// The doorbells are messages of a base::Mailbox, so the receiver takes everything within the turn
// that it is rung in.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "apps/chat/directory.hpp"
#include "katana/base/coroutine/executor.hpp"
#include "katana/base/memory/batch.hpp"

namespace katana::chat {

// Lines of one block, on their way to another reactor.
struct Relayed {
  RoomKey room;            // its members are to get the lines
  Block* block = nullptr;  // with a share
  // The lines in it.
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
  std::uint32_t messages = 0;
  std::uint64_t sequence = 0;  // in the room's history; 0: there is none
};

class Relay {
 public:
  // Called with the `receiver` or `sender` it was given with.
  using Action = void (*)(void* context, Relay& relay) noexcept;

  // `on_batches` is called on the receiver's thread when there is something to take. `on_writable`
  // is called on the sender's thread when a push() that failed may work again. capacity: a power of
  // two.
  Relay(std::uint32_t capacity, Action on_batches, void* receiver, Action on_writable,
        void* sender);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // Shares the block. True in `ring`: post batches_doorbell() to the receiver.
  bool push(const Relayed& relayed, bool& ring) noexcept;
  // After a push() that failed: on_writable will be called, unless there is room already (false).
  bool wait_for_capacity() noexcept;

  // The work that take() leaves to its caller.
  struct Taken {
    bool more;  // perhaps: it is not announced, so it is to be asked for
    bool ring;  // post writable_doorbell() to the sender
  };
  // Calls `take(Relayed)` for each batch, until that is false.
  template <class Take>
  Taken take(Take&& take) noexcept {
    std::uint32_t begin = begin_.load(std::memory_order_relaxed);
    bool more = true;
    for (bool go_on = true; go_on;) {
      // acquire: the batches up to there are written.
      if (begin == end_.load(std::memory_order_seq_cst)) {
        if (await_ring(begin)) {
          more = false;
          break;
        }
        continue;
      }
      const Relayed relayed = ring_[begin & mask_];
      // release: the sender may use the place again.
      begin_.store(++begin, std::memory_order_seq_cst);
      go_on = take(relayed);
    }
    return {more, sender_waits_.exchange(false, std::memory_order_seq_cst)};
  }

  // Runs `on_batches` where it is posted; it is the relay's, and posted once at a time.
  Message& batches_doorbell() noexcept { return batches_doorbell_; }
  // Runs `on_writable`, likewise.
  Message& writable_doorbell() noexcept { return writable_doorbell_; }

 private:
  struct Doorbell : Message {
    Doorbell(Relay& relay, Action action, void* whose, void (*rung)(Message&) noexcept) noexcept
        : Message(rung), owner(relay), act(action), context(whose) {}
    void ring() noexcept { act(context, owner); }
    Relay& owner;
    Action act;
    void* context;
  };

  // Everything was taken. False: more was pushed before it could be rung for.
  bool await_ring(std::uint32_t begin) noexcept {
    // seq_cst: a thread that pushes after this sees it and rings, or this sees what it pushed.
    rung_.store(false, std::memory_order_seq_cst);
    if (begin == end_.load(std::memory_order_seq_cst)) return true;
    return rung_.exchange(true, std::memory_order_seq_cst);  // true: it has rung by now
  }
  bool has_capacity() const noexcept {
    return end_.load(std::memory_order_relaxed) - begin_.load(std::memory_order_seq_cst) <= mask_;
  }

  const std::uint32_t mask_;
  bool waiting_ = false;  // the sender's: writable_doorbell() is going to be rung, or is on its way
  std::unique_ptr<Relayed[]> ring_;
  Doorbell batches_doorbell_;
  Doorbell writable_doorbell_;
  // The two sides write to their own lines.
  alignas(64) std::atomic<std::uint32_t> begin_ = 0;
  alignas(64) std::atomic<std::uint32_t> end_ = 0;
  alignas(64) std::atomic<bool> rung_ = false;
  std::atomic<bool> sender_waits_ = false;
};

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
