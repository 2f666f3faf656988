// ThreadSampler: samples the stacks of all threads of the process, each by a timer of its own CPU
// time (timer_create(2)). The signal handler of the thread writes the sample.
//
//   auto sampler = ThreadSampler::start(99);
//   (*sampler)->watch_threads();              // now and then, for threads that began since
//   (*sampler)->take([](pid_t thread, const Sample& sample) { … });
//
// The kernel looks at these timers at its ticks, 250 times a second in Debian. A timer that is due
// more often gives one sample for several periods.
//
// Owns       the timers, and a ring for each thread. The handler of crash::stack_signal() stays.
// Thread     the one that makes it, which it does not sample.
// Allocates  start() and watch_threads(); the handler never.
// Fails      start(): another sampler is there, the program uses the signal otherwise, or the
//            kernel refuses all timers. Samples without room are lost() and counted. Threads after
//            threads_max, and those whose timer the kernel refuses, have no samples and are counted
//            by left_out(). Threads that block the signal have no samples.
// Invariant  the handler takes no lock, and makes only calls that are safe in it. A fault of the
//            unwinder ends its stack.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/observe/profile/sample_ring.hpp"

namespace katana::profile {

inline constexpr std::size_t threads_max = 1024;  // that are sampled

class ThreadSampler {
 public:
  // `hertz`: samples for each second of CPU time of a thread, 1 to 1000.
  static Result<std::unique_ptr<ThreadSampler>> start(unsigned hertz);
  ~ThreadSampler();
  ThreadSampler(const ThreadSampler&) = delete;
  ThreadSampler& operator=(const ThreadSampler&) = delete;

  // Begins to sample threads that began since, and forgets those that ended.
  void watch_threads();
  // The same with this list of threads. A thread that it misses is not forgotten while it lives.
  void watch_listed(const std::vector<pid_t>& listed);
  // `thread`: gettid(2) of the sampled thread. The sample is valid during the call.
  using OnSample = std::function<void(pid_t thread, const Sample& sample)>;
  // Takes all samples so far.
  void take(const OnSample& on_sample);

  // CPU time between two samples of a thread.
  Duration period() const noexcept { return period_; }
  std::uint64_t lost() const noexcept;  // periods without a sample, for lack of room
  std::size_t left_out() const noexcept { return left_out_.size(); }  // threads without a timer

 private:
  struct Session;
  explicit ThreadSampler(unsigned hertz);
  Result<void> watch_all(const std::vector<pid_t>& listed);
  Result<void> watch(pid_t thread);

  const Duration period_;
  const std::size_t ring_size_;
  std::set<pid_t> left_out_;
  std::unique_ptr<Session> session_;
};

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
