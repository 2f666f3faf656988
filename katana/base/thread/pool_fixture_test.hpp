// Helpers for the tests of a pool: pools that must start, a job that holds a worker, and a wait for
// a condition.
//
// Thread     any.
// Fails      by failing the test; a condition that never comes runs into the time limit of ctest.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>

#include "katana/base/thread/pool.hpp"

namespace katana::thread {

inline std::unique_ptr<Pool> make_pool(PoolOptions options) {
  auto pool = Pool::create(std::move(options));
  if (!pool) {
    ADD_FAILURE() << pool.error().describe();
    std::abort();
  }
  return std::move(*pool);
}
inline std::unique_ptr<Pool> make_pool(unsigned threads) {
  return make_pool({.name = "test", .threads_min = threads});
}

inline void wait_until(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::yield();
}

// Jobs that hold the workers they run on until open(). They share the state on which they wait: the
// gate may be destroyed before the last of them has left.
class Gate {
 public:
  ~Gate() { open(); }
  // Returns when a worker is inside.
  void hold(Pool& pool) {
    ++held_;
    EXPECT_EQ(pool.post([doors = doors_] {
      doors->entered.release();
      doors->leave.acquire();
    }),
              Admission::accepted);
    doors_->entered.acquire();
  }
  void open() {
    doors_->leave.release(held_);
    held_ = 0;
  }

 private:
  struct Doors {
    std::counting_semaphore<> entered{0};
    std::counting_semaphore<> leave{0};
  };
  std::ptrdiff_t held_ = 0;
  std::shared_ptr<Doors> doors_ = std::make_shared<Doors>();
};

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
