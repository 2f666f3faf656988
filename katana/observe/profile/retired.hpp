// Retired: objects that signal handlers may still use. They are freed when no handler runs.
//
//   // The handler:
//   handlers.fetch_add(1);
//   if (Object* const object = place.load()) …
//   handlers.fetch_sub(1);
//
//   // The owner:
//   retired.take(place);
//   retired.free_unused(handlers);               // now and then
//
// Owns       the objects. The destructor frees them: no handler may run then.
// Thread     the owner's.
// Allocates  take().
// Fails      never.
// Invariant  an object is freed after a moment at which no handler ran and no place had it. All
//            atomic operations are sequentially consistent: a handler that begins after that moment
//            finds the place empty.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

namespace katana::profile {

template <class T>
class Retired {
 public:
  // Takes the object of a place, which is then null. Without memory the object stays there.
  void take(std::atomic<T*>& place) {
    objects_.emplace_back();
    objects_.back().reset(place.exchange(nullptr));
  }
  // `handlers`: the number of those that run.
  void free_unused(const std::atomic<int>& handlers) noexcept {
    if (handlers.load() == 0) objects_.clear();
  }

 private:
  std::vector<std::unique_ptr<T>> objects_;
};

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
