// Mailbox: a queue of messages from any thread to one executor.
//
// Owns       nothing: a Message belongs to its sender until run() is called by the executor,
//            and to the callee then. Therefore a mailbox is bounded by the messages its senders
//            hold, and posting cannot fail.
// Thread     post() any; take_all() the executor's.
// Allocates  never.
// Invariant  messages of one sender run in the order in which they were posted.
#pragma once

#include <atomic>

#include "katana/base/coroutine/executor.hpp"

namespace katana {

class Mailbox {
 public:
  // Adds a message. True: the mailbox was empty, and its executor may sleep and must be woken.
  bool post(Message& message) noexcept {
    Message* first = newest_.load(std::memory_order_relaxed);
    do {
      message.next = first;
      // At least release: take_all() acquires and sees what the sender wrote into the message.
      // has_messages() needs seq_cst, which costs nothing more in a locked instruction.
    } while (!newest_.compare_exchange_weak(first, &message, std::memory_order_seq_cst,
                                            std::memory_order_relaxed));
    return first == nullptr;
  }

  // Ordered by seq_cst with the steps of an executor before it sleeps.
  bool has_messages() const noexcept { return newest_.load(std::memory_order_seq_cst) != nullptr; }

  // Takes all messages, oldest first, linked by `next`; null: there are none.
  Message* take_all() noexcept {
    // A plain load first: a turn without messages must not cost a locked instruction.
    if (newest_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    // Release, too: a thread that finds the mailbox empty may post its wake-up message again.
    // This thread is done with that message by then.
    Message* newest = newest_.exchange(nullptr, std::memory_order_acq_rel);
    Message* oldest = nullptr;
    while (newest != nullptr) {
      Message* const prev = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = prev;
    }
    return oldest;
  }

 private:
  std::atomic<Message*> newest_ = nullptr;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
