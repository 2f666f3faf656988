// Mailbox: messages from any thread to one reactor.
//
// Owns       nothing: a Message belongs to its sender until run() is called on the reactor, and
//            to the callee then. So a mailbox is bounded by the messages its senders hold, and
//            posting cannot fail.
// Thread     post() any; take_all() the reactor's.
// Allocates  never.
// Invariant  messages of one sender run in the order in which they were posted.
#pragma once

#include <atomic>

namespace katana::core {

struct Message {
  explicit Message(void (*action)(Message&) noexcept) noexcept : run(action) {}
  void (*run)(Message&) noexcept;
  Message* next = nullptr;
};

class Mailbox {
 public:
  // True: the mailbox was empty, so its reactor may sleep and has to be woken.
  bool post(Message& message) noexcept {
    Message* first = newest_.load(std::memory_order_relaxed);
    do {
      message.next = first;
      // release: what the sender wrote into the message is seen by take_all(), which acquires.
    } while (!newest_.compare_exchange_weak(first, &message, std::memory_order_release,
                                            std::memory_order_relaxed));
    return first == nullptr;
  }

  // Every message so far, oldest first, linked by `next`.
  Message* take_all() noexcept {
    // A plain load first: a turn without messages must not cost a locked instruction.
    if (newest_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    Message* newest = newest_.exchange(nullptr, std::memory_order_acquire);
    Message* oldest = nullptr;
    while (newest != nullptr) {
      Message* const before = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = before;
    }
    return oldest;
  }

 private:
  std::atomic<Message*> newest_ = nullptr;
};

}  // namespace katana::core
