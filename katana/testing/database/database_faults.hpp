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

#include <optional>
#include <string>
#include <utility>

#include "katana/base/values/instant.hpp"
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
  void delay(Duration time) noexcept { delay_ = time; }
  // Ends all faults above.
  void heal() { *this = {}; }

  // ---- for FaultyBackend
  const std::optional<database::Error>& outage() const noexcept { return outage_; }
  Duration delay() const noexcept { return delay_; }
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
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
