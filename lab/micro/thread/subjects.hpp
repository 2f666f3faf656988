// The pools that micro_thread compares: KATANA's, and those its users would otherwise pick.
//
// Owns       each its threads.
// Thread     post() the one thread of the benchmark.
// Invariant  every subject runs each job once; the benchmark counts them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "katana/base/thread/pool.hpp"

#if defined(HAVE_MOODYCAMEL)
#include <concurrentqueue/blockingconcurrentqueue.h>
#endif
#if defined(HAVE_TBB)
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#endif

namespace bench {

using katana::thread::Admission;
using katana::thread::Pool;
using katana::thread::WhenFull;

inline std::unique_ptr<Pool> make_katana(unsigned workers, std::size_t queue_max) {
  auto pool = Pool::create({.name = "bench", .threads_min = workers, .queue_max = queue_max});
  if (!pool) std::abort();
  return std::move(*pool);
}

// The plain one: a lock and a notification for each job.
class DequePool {
 public:
  explicit DequePool(unsigned workers) {
    for (unsigned count = 0; count < workers; ++count) {
      threads_.emplace_back([this] { work(); });
    }
  }
  ~DequePool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& each : threads_) each.join();
  }
  template <class F>
  void post(F&& f) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.emplace_back(std::forward<F>(f));
    }
    changed_.notify_one();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

#if defined(HAVE_MOODYCAMEL)
// A pool on the fastest queue that we know. Workers take up to 32 jobs at once, each with its
// consumer token. They sleep on the queue's semaphore, which spins before it sleeps. The pool has
// no limit, counts nothing and measures nothing, and a job that throws ends the process.
class MoodycamelPool {
 public:
  explicit MoodycamelPool(unsigned workers) {
    for (unsigned count = 0; count < workers; ++count) {
      threads_.emplace_back([this] { work(); });
    }
  }
  ~MoodycamelPool() {
    // An empty function ends the worker that takes it; it takes no other along.
    for (std::thread& each : threads_) {
      queue_.enqueue({});
      ended_.acquire_one();
      (void)each;
    }
    for (std::thread& each : threads_) each.join();
  }
  template <class F>
  void post(F&& f) {
    queue_.enqueue(std::function<void()>(std::forward<F>(f)));
  }

 private:
  struct Ended {
    std::atomic<unsigned> count = 0;
    unsigned taken = 0;
    void acquire_one() {
      while (count.load() == taken) std::this_thread::yield();
      ++taken;
    }
  };
  void work() {
    moodycamel::ConsumerToken token(queue_);
    std::function<void()> jobs[32];
    while (true) {
      const std::size_t count = queue_.wait_dequeue_bulk(token, jobs, 32);
      for (std::size_t index = 0; index < count; ++index) {
        if (!jobs[index]) {
          ended_.count.fetch_add(1);
          return;
        }
        jobs[index]();
      }
    }
  }
  moodycamel::BlockingConcurrentQueue<std::function<void()>> queue_;
  Ended ended_;
  std::vector<std::thread> threads_;
};
#endif

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
