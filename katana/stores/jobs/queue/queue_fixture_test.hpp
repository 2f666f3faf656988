// QueueTest: a job queue on SQLite in memory and workers on a reactor, in virtual time. The
// reactor's second 1000 is 00:16:40 of 1970.
//
// Owns       the fixture owns everything.
// Thread     one.
// Fails      by failing the test.
// Invariant  nothing happens but in the turns that a test asks for.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "katana/net/reactor/reactor_fixture_test.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/stores/jobs/queue/queue_runner.hpp"
#include "katana/stores/jobs/queue/queue_worker.hpp"
#include "katana/testing/database/temporary_database.hpp"

namespace katana::queue {

struct Note {
  std::int64_t number = 0;
  std::string text;
};
KATANA_DESCRIBE(Note, number, text)

struct ToldFailures final : FailureObserver {
  void on_failure(const Failure& failure) noexcept override { lines.push_back(describe(failure)); }
  std::vector<std::string> lines;
};

class QueueTest : public net::ReactorTest {
 protected:
  QueueTest() { turn(); }
  ~QueueTest() override {
    reactor().tasks().cancel();
    workers_.clear();
  }

  database::Database& db() { return database_.database(); }
  testing::DatabaseFaults& faults() { return database_.faults(); }
  JobQueue& queue() { return queue_; }

  // Runs a task to its end, in as many turns as it takes; no time passes.
  template <class T>
  T run(Task<T> task) {
    task.start();
    for (int turns = 0; !task.done() && turns < 100'000; ++turns) turn();
    EXPECT_TRUE(task.done());
    return task.result();
  }
  std::int64_t put(std::int64_t number, EnqueueOptions options = {},
                   const std::string& name = "notes") {
    const Note note{number, "note"};
    const Result<Enqueued> queued = run(queue_.enqueue(name, note, options));
    EXPECT_TRUE(queued) << queued.error().describe();
    return queued ? queued->id : 0;
  }
  // Time passes in steps.
  void pass(Duration time, Duration step = milliseconds(50)) {
    for (std::int64_t left = time.ns; left > 0; left -= step.ns) {
      for (int turns = 0; turns < 12; ++turns) turn();
      turn(step);
    }
    for (int turns = 0; turns < 60; ++turns) turn();
  }
  // Adds a process that works the queue "notes": it records its jobs, and runs `on_note`.
  Worker& work(HandlerOptions options = {}) {
    workers_.push_back(std::make_unique<Worker>(queue_));
    Worker& worker = *workers_.back();
    worker.handle<Note>(
        "notes", [this](Note note, Delivery& delivery) { return take(std::move(note), delivery); },
        options);
    begin(worker);
    return worker;
  }
  void begin(Worker& worker) {
    const std::string name = "worker " + std::to_string(++worker_count_);
    const auto started = worker.start(
        reactor(), {.metrics = metrics_, .failures = &failures, .seed = 7, .worker = name});
    ASSERT_TRUE(started) << started.error().describe();
  }
  std::vector<JobInfo> jobs(JobState state, const std::string& name = "notes") {
    auto listed = run(queue_.list(name, state));
    EXPECT_TRUE(listed) << listed.error().describe();
    return listed ? *std::move(listed) : std::vector<JobInfo>();
  }
  std::uint64_t ended(Ended how, const std::string& name = "notes") {
    const auto instruments = QueueInstruments::make(metrics_, name);
    return instruments->attempts[static_cast<std::size_t>(how)].value();
  }
  double now_s() { return static_cast<double>(reactor().now().ns) / 1e9; }

  std::vector<std::int64_t> taken;  // numbers, in the order of their begin
  std::vector<std::int64_t> done;
  std::vector<std::int64_t> fences;
  std::vector<double> times;  // when they began
  std::size_t at_once_most = 0;
  Duration takes;  // of a handler
  std::function<Result<void>(const Note&, Delivery&)> on_note;
  std::function<void(const Note&, Delivery&)> on_begin;
  ToldFailures failures;

  testing::TemporaryDatabase database_;
  metrics::Registry metrics_;
  JobQueue queue_{database_.database()};
  std::vector<std::unique_ptr<Worker>> workers_;

 private:
  struct Counted {
    explicit Counted(std::size_t& counter) : count(counter) { ++count; }
    ~Counted() { --count; }
    std::size_t& count;
  };
  Task<Result<void>> take(Note note, Delivery& delivery) {
    const Counted counted(at_once_);
    at_once_most = std::max(at_once_most, at_once_);
    taken.push_back(note.number);
    fences.push_back(delivery.fence());
    times.push_back(now_s());
    if (on_begin) on_begin(note, delivery);
    co_await net::sleep_for(takes);
    if (on_note) {
      Result<void> result = on_note(note, delivery);
      if (!result) co_return result;
    }
    done.push_back(note.number);
    co_return {};
  }

  std::size_t at_once_ = 0;
  int worker_count_ = 0;
};

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
