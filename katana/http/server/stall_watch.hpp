// StallWatch: notices a reactor that is busy with one turn for too long, while it lasts. A handler
// that blocks, or computes for long, holds up every connection of its reactor.
//
// It looks at the reactors from a separate thread. A reactor pays two stores and a load for each
// turn, and one that never returns is found, too. The thread looks when the present turn of a
// reactor would become a stall. When no reactor is busy it sleeps: the next turn sets its timer
// (one system call), and does not wake it. An idle process is never woken. The duration of a stall
// is exact to the interval between two looks.
//
//   warn  reactor 0 is stalled: busy for 132 ms with GET /report: … move what blocks to a pool
//   warn  reactor 0 was stalled for 418 ms by GET /report
//
// once for each site (a route, or all work without a name). Every stall is counted:
//
//   katana_reactor_stalls_total{reactor}           turns that took longer than the threshold
//   katana_reactor_stalled_seconds_total{reactor}  their duration
//
// Owns       its thread, from start() to stop(), and an alarm.
// Borrows    the reactors, and the sites that they name, for as long as it lives.
// Thread     one; its thread calls look() between start() and stop().
// Allocates  when a site is named for the first time.
// Fails      make() names the metric that could not be registered; start() fails without a
//            thread or a descriptor.
// Invariant  a stall is counted once, however many looks see it. While a reactor is busy, the timer
//            is set.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "katana/base/system/alarm.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/observe/log/logger.hpp"
#include "katana/observe/metrics/registry.hpp"

namespace katana::server {

class StallWatch {
 public:
  // The state of a reactor, as any thread can read it.
  struct Sight {
    Instant busy_since = never;  // never: it waits
    // The present work of the reactor, such as a route; null: no name is known.
    const std::string* site = nullptr;
  };

  // REQUIRES threshold > 0. `metrics` may be null.
  static Result<std::unique_ptr<StallWatch>> make(Duration threshold, log::Logger logger,
                                                  metrics::Registry* metrics);
  ~StallWatch();  // stop(). REQUIRES that the reactors do not run.
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;

  // Before start(). The reactors are numbered in the order of the calls.
  void add(net::Reactor& reactor);

  // Sets the function that look() calls when a reactor stalls, and when it moves again. It gets the
  // numbers of the reactors that are not stalled. Call it before start().
  void on_change(std::function<void(std::span<const unsigned>)> moved);

  // Starts the thread. An Error: the system has no thread or no descriptor left.
  Result<void> start();
  // Returns when the thread has ended; does nothing the second time. REQUIRES as the destructor.
  void stop() noexcept;

  // The work of the thread, with the observed state and the time as arguments.
  void look(std::size_t reactor, const Sight& sight, Instant now);
  // When the thread looks again after it has seen these states; never: when a turn begins.
  Instant next_look(std::span<const Sight> sights, Instant now) const noexcept;
  // The interval between two looks at a stall.
  Duration interval() const noexcept;
  std::uint64_t stalls() const noexcept { return stalls_.load(std::memory_order_relaxed); }

 private:
  struct Watched {
    net::Reactor* reactor = nullptr;
    metrics::Counter stalls;
    metrics::ObservedCounter seconds;
    Duration stalled = {};  // all stalls that are over
    Instant since = never;  // start of the present stall; never: there is none
    Duration seen = {};     // its duration at the last look
    const std::string* site = nullptr;
    bool told = false;  // it was logged, and its end will be
  };

  StallWatch(Duration threshold, log::Logger logger);
  void begin(Watched& watched, std::size_t number, const Sight& sight);
  void end(Watched& watched, std::size_t number);
  void tell_change();
  Instant look_at_all();
  void run();

  const Duration threshold_;
  const log::Logger logger_;
  std::optional<metrics::Family<metrics::Counter>> stall_family_;
  std::optional<metrics::Family<metrics::ObservedCounter>> seconds_family_;
  std::vector<Watched> watched_;
  std::vector<Sight> sights_;                    // what the last look saw
  std::unordered_set<const std::string*> told_;  // sites; null: work without a name
  std::atomic<std::uint64_t> stalls_ = 0;        // written by one thread
  std::function<void(std::span<const unsigned>)> on_change_;
  bool changed_ = false;

  Alarm alarm_;
  std::thread thread_;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
