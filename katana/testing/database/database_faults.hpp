// DatabaseFaults: failures and delays that a test wants of its database.
//
//   app.database_faults().unavailable();       // the file or the server is gone
//   app.database_faults().delay(seconds(2));   // in virtual time
//   app.database_faults().fail_next(database::Error(database::Kind::busy, "…"));
//   app.database_faults().heal();
//
// Calls fail with the kinds and texts of real failures. A transaction with a failed call is rolled
// back: later calls of it report failed_transaction.
//
// Owns       the requested faults.
// Thread     the test's.
// Allocates  as errors do.
// Fails      never.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "katana/base/values/instant.hpp"
#include "katana/base/values/random.hpp"
#include "katana/stores/database/error.hpp"

namespace katana::testing {

class DatabaseFaults {
 public:
  // Each call fails like one whose file cannot be read or whose server cannot be reached, and
  // /ready reports it, until heal().
  void unavailable(const std::string& why = "unable to open database file (14)") {
    outage_ = database::Error::unusable(why);
  }
  // The same, with a full disk.
  void disk_full() { unavailable("database or disk is full (13)"); }
  // Each call is refused because too many others wait, until heal().
  void overloaded() {
    refusal_.emplace(database::Kind::unavailable, "the database is busy: 8192 writes wait");
  }
  // The next `count` calls fail with this error.
  void fail_next(database::Error error, unsigned count = 1) {
    next_ = std::move(error);
    next_left_ = count;
  }
  // Each call takes so much longer, or fails at its own deadline if that comes first.
  void delay(Duration time) noexcept { delay_ = delay_max_ = time; }
  // Each call takes a time from `min` to `max` longer, drawn by the seed. Calls of other requests
  // run meanwhile, so that reads and writes of several requests interleave.
  void delay_between(Duration min, Duration max, std::uint64_t seed) noexcept {
    delay_ = min;
    delay_max_ = max;
    random_ = Random(seed);
  }
  // Ends all faults above.
  void heal() {
    const std::uint64_t calls = calls_;
    *this = {};
    calls_ = calls;
  }
  // Calls that the program has made so far.
  std::uint64_t calls() const noexcept { return calls_; }

  // ---- for FaultyBackend
  const std::optional<database::Error>& outage() const noexcept { return outage_; }
  bool delays() const noexcept { return delay_max_ > Duration{}; }
  Duration draw_delay() noexcept {
    if (delay_max_ <= delay_) return delay_;
    const auto wide = static_cast<std::uint64_t>((delay_max_ - delay_).ns);
    return delay_ + nanoseconds(static_cast<std::int64_t>(random_.between(0, wide)));
  }
  void note_call() noexcept { ++calls_; }
  // The error of the next call, if it fails; counts the call.
  std::optional<database::Error> take_failure() {
    if (outage_) return outage_;
    if (refusal_) return refusal_;
    if (next_left_ == 0) return std::nullopt;
    --next_left_;
    return next_;
  }

 private:
  std::optional<database::Error> outage_;
  std::optional<database::Error> refusal_;
  std::optional<database::Error> next_;
  unsigned next_left_ = 0;
  Duration delay_ = {};
  Duration delay_max_ = {};
  Random random_{1};
  std::uint64_t calls_ = 0;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
