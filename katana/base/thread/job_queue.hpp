// JobQueue: a bounded queue of jobs from any thread to any worker, first come, first served.
//
// Owns       its slots; a job from push() until take().
// Thread     any, for everything.
// Allocates  at construction. The memory of slots that were never used is not touched.
// Fails      push() returns full or closed, and the caller keeps the job.
// Invariant  every pushed job is claimed once and taken once, also during close(). The closed mark
//            is part of the word by which a push takes its position.
//
// A position is a count of jobs since the start; its slot is position modulo size.
//   tail_  positions below it belong to a push. A push moves it by one locked compare-exchange. A
//          worker that is about to sleep reads tail_. The exchange therefore also orders the push
//          before its read of the count of sleepers.
//   act    of a slot: null is free; otherwise the slot has the job of a position below tail_.
//   head_  positions below it are claimed, several at a time. A claimed job stays in its slot until
//          it is taken. Another worker can therefore steal the claim.
// A push needs a free slot, and the position one lap earlier must be claimed. A null slot alone is
// not enough: an earlier push may have its position and not have written its job yet.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "katana/base/thread/job.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::thread {

class JobQueue {
 public:
  // Result of push().
  enum class Push : std::uint8_t { done, full, closed };
  static constexpr std::int64_t not_timed = -1;  // instead of a time: the job is not measured

  // `size` and `timed_one_in` are powers of two.
  JobQueue(std::size_t size, std::size_t timed_one_in);
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;
  // REQUIRES that the queue is empty.
  ~JobQueue() = default;

  // Adds a job. `write(payload)` makes the callable in its slot. A copy through a Job would cost
  // more than the rest of a push, because it reads at once what several writes have just stored.
  // `now()` is called for the positions whose waiting time is measured.
  template <class Write, class Now>
  Push push(Job::Act act, Write&& write, Now&& now) noexcept;
  template <class Now>
  Push push(const Job& job, Now&& now) noexcept {
    return push(
        job.act, [&job](void* payload) { std::memcpy(payload, job.payload, Job::payload_bytes); },
        std::forward<Now>(now));
  }

  // Claims jobs in a row from position `begin`, and returns their number. It is at most `count_max`
  // and at most one in `share` of the waiting jobs, but at least one. 0: no job waits, or its push
  // is not complete.
  std::size_t claim(std::size_t count_max, std::size_t share, std::uint64_t& begin) noexcept;

  // Takes the job at a claimed position, once. `pushed_ns` becomes the time of its push, or
  // not_timed.
  Job take(std::uint64_t position, std::int64_t& pushed_ns) noexcept;

  // Closes the queue: no later push succeeds.
  void close() noexcept { tail_.fetch_or(closed_mark, std::memory_order_seq_cst); }

  // An estimate without memory order, for a worker that checks again anyway.
  bool looks_empty() const noexcept {
    return (tail_.load(std::memory_order_relaxed) & ~closed_mark) ==
           head_.load(std::memory_order_relaxed);
  }
  // The number of unclaimed jobs. Other threads may change it at any moment.
  std::uint64_t waiting() const noexcept {
    // Read the head first: it never passes a tail that is read later.
    const std::uint64_t head = head_.load(std::memory_order_seq_cst);
    return pushed() - head;
  }
  // The number of jobs that were ever pushed.
  std::uint64_t pushed() const noexcept {
    return tail_.load(std::memory_order_seq_cst) & ~closed_mark;
  }
  // The position below which all positions are claimed.
  std::uint64_t claimed() const noexcept { return head_.load(std::memory_order_relaxed); }
  std::size_t size() const noexcept { return mask_ + 1; }

 private:
  static constexpr std::uint64_t closed_mark = std::uint64_t{1} << 63;
  static constexpr std::uint64_t prefetch_ahead = 8;  // slots; two to a cache line

  struct alignas(32) Slot {
    std::atomic<Job::Act> act;
    alignas(8) std::byte payload[Job::payload_bytes];
  };
  struct Freer {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };

  // Both sides write to the slot that they reach, and its cache line comes from the other side.
  static void fetch_to_write(Slot& slot) noexcept {
#if defined(__x86_64__)
    // Unless the build is tuned for a CPU, __builtin_prefetch asks for a copy to read. All x86-64
    // processors accept prefetchw.
    asm volatile("prefetchw %0" : : "m"(slot));
#else
    __builtin_prefetch(&slot, 1);
#endif
  }
  Slot& slot(std::uint64_t position) const noexcept { return slots_[position & mask_]; }
  std::atomic<std::int64_t>& time(std::uint64_t position) const noexcept {
    return times_[(position / timed_one_in_) & times_mask_];
  }
  bool full(std::uint64_t position) noexcept;

  std::size_t mask_;
  std::size_t timed_one_in_;
  std::size_t times_mask_;
  std::unique_ptr<void, Freer> memory_;
  Slot* slots_;
  std::unique_ptr<std::atomic<std::int64_t>[]> times_;
  // Each side has a cache line: the counter that it moves, and the other side's last seen counter.
  alignas(64) std::atomic<std::uint64_t> tail_ = 0;
  std::atomic<std::uint64_t> head_seen_ = 0;
  alignas(64) std::atomic<std::uint64_t> head_ = 0;
  std::atomic<std::uint64_t> tail_seen_ = 0;
};

template <class Write, class Now>
JobQueue::Push JobQueue::push(Job::Act act, Write&& write, Now&& now) noexcept {
  std::uint64_t position = tail_.load(std::memory_order_relaxed);
  do {
    if ((position & closed_mark) != 0) return Push::closed;
    if (full(position)) {
      const std::uint64_t latest = tail_.load(std::memory_order_relaxed);
      if (latest == position) return Push::full;
      position = latest;
      // Try again with the new position: the exchange below cannot succeed with a stale one.
      continue;
    }
    // seq_cst: a total order with the count of sleepers, see Pool::notify().
    if (tail_.compare_exchange_weak(position, position + 1, std::memory_order_seq_cst,
                                    std::memory_order_relaxed)) {
      break;
    }
  } while (true);
  Slot& mine = slot(position);
  write(static_cast<void*>(mine.payload));
  if ((position & (timed_one_in_ - 1)) == 0) {
    time(position).store(now(), std::memory_order_relaxed);
  }
  // release: a thread that sees the job sees its payload and time.
  mine.act.store(act, std::memory_order_release);
  // The line comes from the worker that emptied it. Prefetched now, it is present when needed.
  fetch_to_write(slot(position + prefetch_ahead));
  return Push::done;
}

inline bool JobQueue::full(std::uint64_t position) noexcept {
  // acquire: the worker that freed the slot has read its job.
  if (slot(position).act.load(std::memory_order_acquire) != nullptr) return true;
  if (position - head_seen_.load(std::memory_order_relaxed) <= mask_) return false;
  const std::uint64_t head = head_.load(std::memory_order_acquire);
  head_seen_.store(head, std::memory_order_relaxed);
  // Signed: a stale position may lie below the head.
  return static_cast<std::int64_t>(position - head) > static_cast<std::int64_t>(mask_);
}

inline std::size_t JobQueue::claim(std::size_t count_max, std::size_t share,
                                   std::uint64_t& begin) noexcept {
  std::uint64_t head = head_.load(std::memory_order_acquire);
  while (true) {
    std::uint64_t tail = tail_seen_.load(std::memory_order_acquire);
    // The last seen tail is enough for most claims. The senders then keep the line of tail_.
    if (static_cast<std::int64_t>(tail - head) < static_cast<std::int64_t>(count_max * share)) {
      tail = pushed();
      if (tail == head) return 0;
      // release: passes on the writes that the pushes below the tail released.
      tail_seen_.store(tail, std::memory_order_release);
      if (static_cast<std::int64_t>(tail - head) < 0) {
        head = head_.load(std::memory_order_acquire);
        continue;
      }
    }
    const std::size_t part = (tail - head) / share;
    const std::size_t wanted = part < 1 ? 1 : part < count_max ? part : count_max;
    for (std::size_t ahead = 0; ahead < wanted; ahead += 2) fetch_to_write(slot(head + ahead));
    std::size_t count = 0;
    while (count < wanted && head + count != tail &&
           slot(head + count).act.load(std::memory_order_acquire) != nullptr) {
      ++count;
    }
    if (count == 0) {
      const std::uint64_t latest = head_.load(std::memory_order_acquire);
      if (latest == head) return 0;
      head = latest;
      continue;
    }
    if (head_.compare_exchange_weak(head, head + count, std::memory_order_seq_cst,
                                    std::memory_order_acquire)) {
      begin = head;
      return count;
    }
  }
}

inline Job JobQueue::take(std::uint64_t position, std::int64_t& pushed_ns) noexcept {
  Slot& given = slot(position);
  Job job;
  job.act = given.act.load(std::memory_order_acquire);
  std::memcpy(job.payload, given.payload, Job::payload_bytes);
  pushed_ns = (position & (timed_one_in_ - 1)) == 0 ? time(position).load(std::memory_order_relaxed)
                                                    : not_timed;
  // release: the job has been read before the slot is free.
  given.act.store(nullptr, std::memory_order_release);
  return job;
}

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
