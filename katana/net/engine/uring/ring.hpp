// Ring: the two queues that are shared with the kernel.
//
// Owns       the ring's descriptor and memory.
// Thread     start() any; everything else on the thread that calls enter() first, which the kernel
//            relies on (IORING_SETUP_SINGLE_ISSUER). The destructor may run on another.
// Allocates  in start() only.
// Blocks     start(), while the kernel has no memory for the rings, for memory_wait_max.
// Fails      start() names the missing part. A null result of next(): the queue is full and the
//            kernel takes nothing at present. A call of enter() aborts on lost completions (no
//            kernel memory).
// Invariant  completions are seen in the kernel's order, each once.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/net/engine/uring/kernel.hpp"
#include "katana/net/engine/uring/options.hpp"

namespace katana::engine {

// DEFER_TASKRUN: the kernel does its deferred work only inside enter(), never in between.
// R_DISABLED: the ring belongs to the thread that enables it, which may differ from the one that
// starts it. SUBMIT_ALL: a refused entry does not hold up later ones.
inline constexpr std::uint32_t ring_setup_flags =
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_R_DISABLED |
    IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;

// The longest time that start() waits for memory. The kernel gives back the memory of a ring some
// time after its end. It may also refuse before it takes memory back from its file cache. A program
// that starts while its predecessor ends would otherwise fail at random.
inline constexpr Duration memory_wait_max = seconds(2);

// Calls `make` until it returns something else than -ENOMEM or memory_wait_max is over. Calls
// `pause` with a Duration in between: 1 ms at first, then twice as long each time, up to 128 ms.
// Returns the last result.
template <class Make, class Pause>
int make_when_memory_is_free(Make make, Pause pause) {
  Duration waited{};
  for (Duration next = milliseconds(1);;) {
    const int result = make();
    if (result != -ENOMEM || waited >= memory_wait_max) return result;
    pause(next);
    waited += next;
    next = std::min(next * 2, milliseconds(128));
  }
}

// io_uring_queue_init_params() and io_uring_register_buf_ring(), waiting for memory. Return 0 or a
// negative errno.
int make_ring(std::uint32_t submissions, io_uring& ring, io_uring_params& parameters);
int make_receive_ring(io_uring& ring, io_uring_buf_reg& registration);

// When the wait of enter() ends: after `completions` of them, after `at_most`, or, once `collect`
// is over, after the first.
struct Wait {
  Duration at_most{};             // 0: it does not wait
  std::uint32_t completions = 1;  // that end the wait
  Duration collect{};             // 0: the wait ends with the first completions
};

class Ring {
 public:
  Ring() = default;
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Makes the ring. An Error says which feature or right is missing.
  Result<void> start(const UringOptions& options);
  const UringRules& rules() const noexcept { return rules_; }  // resolved by start()
  io_uring& raw() noexcept { return ring_; }                   // for functions of liburing
  // Memory of the queues, in bytes.
  std::size_t memory_bytes() const noexcept;

  // A cleared entry of the submission queue; null: see Fails.
  io_uring_sqe* next() noexcept {
    io_uring_sqe* entry = take_entry();
    if (entry == nullptr) [[unlikely]] {
      enter(Wait{}, false);
      entry = take_entry();
    }
    return entry;
  }

  // Submits the queued entries, lets the kernel do its work, and waits.
  void enter(const Wait& wait) noexcept;

  // The most completions of a turn. The rest waits for the next turn, which then does not wait: a
  // burst of new connections must not keep the turn to itself.
  static constexpr unsigned reaped_max = 1024;

  // Calls `use` for each completion that is here now, up to reaped_max. Afterwards their places
  // belong to the kernel again.
  template <class Use>
  void reap(Use use) noexcept {
    io_uring_cq& queue = ring_.cq;
    unsigned head = *queue.khead;
    // acquire: the kernel wrote the entries before the tail. release: this thread has read them.
    const unsigned here = std::atomic_ref(*queue.ktail).load(std::memory_order_acquire);
    if (head == here) return;
    const unsigned tail = here - head > reaped_max ? head + reaped_max : here;
    for (; head != tail; ++head) use(queue.cqes[head & queue.ring_mask]);
    std::atomic_ref(*queue.khead).store(head, std::memory_order_release);
  }

  // The number of completions that have arrived and were not seen yet.
  unsigned completions() const noexcept {
    return std::atomic_ref(*ring_.cq.ktail).load(std::memory_order_acquire) - *ring_.cq.khead;
  }

 private:
  io_uring_sqe* take_entry() noexcept {
    io_uring_sq& queue = ring_.sq;
    // acquire: the kernel has read an entry before it moved the head past it.
    const unsigned head = std::atomic_ref(*queue.khead).load(std::memory_order_acquire);
    if (queue.sqe_tail - head == queue.ring_entries) return nullptr;
    io_uring_sqe* const entry = &queue.sqes[queue.sqe_tail++ & queue.ring_mask];
    *entry = io_uring_sqe{};
    return entry;
  }

  void enter(const Wait& wait, bool gets_events) noexcept;
  void enable() noexcept;

  io_uring ring_{};
  UringRules rules_;
  int enter_fd_ = -1;  // an index among the thread's registered rings, or the descriptor
  bool registered_ = false;
  bool started_ = false;
  bool enabled_ = false;
  pthread_t owner_{};
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
