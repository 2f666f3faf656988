// Profiler: makes profiles of this process, one at a time, on a separate thread.
//
//   auto run = profiler.begin({.length = seconds(10), .hertz = 99, .write = to_folded});
//   if (!run) …                       // already_exists: another is being made, see ends_at_ns()
//   while (!(*run)->is_done()) co_await net::sleep_for(milliseconds(20));
//   Result<std::string> text = (*run)->take();
//
// Owns       the thread of the present profile.
// Thread     any.
// Allocates  during a profile. Without one it has neither a thread nor a timer.
// Fails      begin(): already_exists while the thread of another profile runs, cancelled after
//            close(), or as std::thread. take(): as ThreadSampler::start(), as
//            allocations::begin(), or no memory.
// Invariant  at most one profile is made at a time. Destroying its Run drops its result. Only the
//            destructor waits for a profile.
#pragma once

#include <sched.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/observe/profile/allocations.hpp"
#include "katana/observe/profile/profile.hpp"

namespace katana::profile {

// The length and the rate of a profile.
struct ProfileOptions {
  Duration length = seconds(10);  // of the clock on the wall, above 0
  Kind kind = Kind::cpu;          // of those that this process makes: not waiting
  unsigned hertz = 99;            // samples for each second of CPU time of a thread, 1 to 1000
  // Bytes that a sample of memory stands for, above 0.
  std::size_t interval_bytes = allocations::interval_bytes_unsaid;
  // Makes the result, on the thread of the profile. Required.
  std::function<std::string(const Profile& profile)> write = {};
};

namespace detail {
struct RunState;
}

// A profile that is being made. Destroying it ends the profile, which is then not written.
class Run {
 public:
  explicit Run(std::shared_ptr<detail::RunState> state) noexcept : state_(std::move(state)) {}
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Whether the result is there. Any thread.
  bool is_done() const noexcept;
  // REQUIRES is_done(). Once.
  Result<std::string> take();

 private:
  const std::shared_ptr<detail::RunState> state_;
};

class Profiler {
 public:
  // `program`: its name, for the profiles. Their thread may use the CPUs of the calling thread.
  explicit Profiler(std::string program);
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  Result<std::unique_ptr<Run>> begin(ProfileOptions options);
  // The end of the present profile, in nanoseconds since 1970. None: there is no profile, or it has
  // ended and is not written yet.
  std::optional<std::int64_t> ends_at_ns();
  // Ends the present profile now, and does not wait for it. Its result has what was found so far.
  // No other profile begins.
  void close() noexcept;

 private:
  const std::string program_;
  cpu_set_t cpus_;    // of the thread that made it; empty: not known
  std::mutex mutex_;  // of the members below; nothing waits while it is held
  bool is_closed_ = false;
  std::shared_ptr<detail::RunState> present_;
  std::thread thread_;
};

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
