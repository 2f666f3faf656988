// Startup: the parts of a program, started in the order of their needs and stopped in reverse.
//
//   Startup startup;
//   startup.add({.name = "database", .needs = {"configuration"}, .start = open, .stop = close,
//                .remedy = "check database.url"});
//   Result<void> started = startup.start();
//
// Owns       the steps that are added; the threads that start parts beside the caller's, until
//            start() returns.
// Thread     one; start() runs parts that do not need one another on several.
// Allocates  freely.
// Fails      start() names every part that failed, its needs, the cause and the remedy.
//            Started parts are stopped by then. A part that throws has failed.
// Invariant  a part begins after all parts that it needs have started, and is stopped before any of
//            them. After a failure the parts that do not need the failed one still begin: one start
//            then reports every mistake that it can find.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "katana/app/start_step.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::app {

// In milliseconds, for records that people read: whole from 10 ms on, else with two digits.
double short_ms(Duration duration);

// How long the start of one part took.
struct PartReport {
  std::string name;     // StartStep::name
  Duration began = {};  // since the first part
  Duration took = {};   // from the call of its start() to its return
};

class Startup {
 public:
  // Replaces the monotonic clock in tests.
  using Clock = std::function<Instant()>;

  explicit Startup(Clock clock = {});  // none: the machine's
  Startup(const Startup&) = delete;
  Startup& operator=(const Startup&) = delete;
  ~Startup();  // stop()

  // Before start(). An unknown or circular need is an Error of start().
  void add(StartStep part);
  // Without a thread: parts that do not need one another start in the order of add().
  void start_one_by_one() noexcept { threads_ = false; }
  Result<void> start();
  // Stops every part that started, the last first. Called once.
  void stop() noexcept;

  // Reports of the parts that have started, in the order in which their starts ended.
  const std::vector<PartReport>& reports() const noexcept { return reports_; }
  // "configuration 0.3 ms, log 0.1 ms, …"
  std::string describe() const;

 private:
  enum class State : std::uint8_t { waiting, running, started, failed };
  struct Held {
    StartStep part;
    std::vector<std::size_t> needs;
    State state = State::waiting;
  };

  Result<void> resolve();
  bool may_begin(const Held& held) const;
  Held* take_ready();
  void work();
  void add_worker();
  void run(Held& held, std::unique_lock<std::mutex>& lock);
  Error error_of(const StartStep& part, const Error& cause) const;

  const Clock clock_;
  bool threads_ = true;
  std::vector<Held> parts_;
  std::mutex mutex_;  // of the members below, and the states of parts_
  std::condition_variable changed_;
  std::vector<std::thread> workers_;
  std::vector<PartReport> reports_;
  std::vector<std::size_t> started_;  // in that order
  std::vector<Error> failures_;
  std::size_t running_ = 0;
  Instant began_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
