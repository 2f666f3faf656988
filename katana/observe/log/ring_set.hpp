// RingSet: the rings of one Log, one for each thread that logs. All memory is reserved at the
// start.
//
// Owns       the memory of all rings, until its last user is gone. Users are the Log and each
//            thread that has a ring: a thread may end after the Log.
// Thread     attach() and the end of a thread any; the rest the writer's.
// Allocates  when it is made. Pages are used when a thread takes their ring.
// Fails      make(): resource_exhausted. attach() is null when every ring is taken.
// Invariant  a ring has at most one producer. The ring of a thread that ended is given to another
//            thread only after the writer has emptied it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "katana/base/system/result.hpp"
#include "katana/observe/log/ring.hpp"

namespace katana::log {

inline constexpr std::size_t logs_max = 8;  // in one process at a time

class RingSet {
 public:
  // REQUIRES ring_bytes to be a power of two.
  static Result<RingSet*> make(std::uint32_t rings, std::uint64_t ring_bytes);
  RingSet(const RingSet&) = delete;
  RingSet& operator=(const RingSet&) = delete;

  // For the Log, and for each thread that has a ring.
  void add_user() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }
  void remove_user() noexcept;  // the last user destroys the set

  // A ring for the calling thread, or null when all are taken.
  Ring* take() noexcept;
  std::span<Ring> rings() noexcept { return {rings_.get(), count_}; }
  std::uint64_t ring_bytes() const noexcept { return ring_bytes_; }

 private:
  RingSet(std::uint32_t rings, std::uint64_t ring_bytes, char* memory);
  ~RingSet();

  std::unique_ptr<Ring[]> rings_;
  std::uint32_t count_;
  std::uint64_t ring_bytes_;
  char* memory_;
  std::atomic<std::uint32_t> users_{1};
};

// A thread's ring in each Log. Without a destructor: access is then one addition to the thread
// pointer. A pthread key reports the end of the thread.
struct ThreadSlot {
  std::uint64_t generation = 0;  // of the Log; 0 is none
  Ring* ring = nullptr;          // null: the thread has none
  RingSet* set = nullptr;        // the set of that ring
};
// By LogPlace::index.
inline constinit thread_local std::array<ThreadSlot, logs_max> thread_slots{};

// Gives `slot` a ring of `set`, and releases the ring of an earlier Log. False: all rings are
// taken.
bool attach(ThreadSlot& slot, RingSet& set, std::uint64_t generation) noexcept;

// REQUIRED once before attach(): makes the rings of ended threads available again.
Result<void> prepare_thread_ends();

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
