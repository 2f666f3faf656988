// PerThread: an object for each thread that asks for it, in an object that all of them share.
//
// Owns       the objects, until it ends itself.
// Thread     any; a thread sees its own object alone.
// Allocates  when a thread asks for the first time.
// Fails      never.
// Invariant  the lock is taken only by a thread that asks for the first time, or that uses more
//            than eight of them in turn.
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

  // `make()` gives a std::unique_ptr<T>.
  template <class Make>
  T& get(Make&& make) {
    // A number is given once, so an entry of one that is gone fits no other.
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
