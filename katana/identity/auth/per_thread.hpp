// PerThread: a shared object that holds one T for each thread that calls get().
//
// Owns       the objects, until it is destroyed.
// Thread     any; a thread sees only its own object.
// Allocates  at the first call of a thread.
// Fails      never.
// Invariant  a thread takes the lock only at its first call, or when several PerThread objects
//            share one of its eight entries.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace katana::auth {

template <class T>
class PerThread {
 public:
  PerThread() noexcept : number_(next_number().fetch_add(1, std::memory_order_relaxed)) {}

  // Returns the object of this thread. `make()` returns a std::unique_ptr<T>.
  template <class Make>
  T& get(Make&& make) {
    // Numbers are never reused. The entry of a destroyed PerThread therefore matches no other.
    struct Known {
      std::uint64_t number = 0;
      T* object = nullptr;
    };
    static thread_local std::array<Known, 8> known;
    Known& entry = known[number_ % known.size()];
    if (entry.number != number_) [[unlikely]] {
      const std::lock_guard lock(mutex_);
      auto& object = objects_[std::this_thread::get_id()];
      if (object == nullptr) object = make();
      entry = {number_, object.get()};
    }
    return *entry.object;
  }

 private:
  static std::atomic<std::uint64_t>& next_number() noexcept {
    static constinit std::atomic<std::uint64_t> next = 1;
    return next;
  }

  const std::uint64_t number_;
  std::mutex mutex_;
  std::map<std::thread::id, std::unique_ptr<T>> objects_;
};

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
