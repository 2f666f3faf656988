// StatementObserver: is told of each statement when it is over, for logs, metrics and traces.
//
//   class Tracing final : public database::StatementObserver {
//     void on_statement(const database::StatementReport& report) noexcept override { … }
//   };
//   database.backend().observe_statements(&tracing);   // before the first call
//
// These calls report themselves, whatever the backend: query(), query_one(), execute(), each
// statement of a batch, and the begin and the end of a transaction. A stream reports when it has
// ended. The duration is that of the call, from its begin until its answer is here. It includes the
// wait for a connection or the writer.
//
// Owns       the names of statements.
// Borrows    a report is lent for the call.
// Thread     on_statement() by that of the call's executor, in the activity of the call.
// Allocates  for a statement that was not seen before.
// Fails      never: on_statement() must not throw and must not block.
// Invariant  without an observer a call pays a branch. A report never has a parameter's value.
#pragma once

#include <cstdint>
#include <optional>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/memory/walked_list.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/stores/database/error.hpp"
#include "katana/stores/database/statement_name.hpp"

namespace katana::database {

// One statement that is over.
struct StatementReport {
  Bytes name = {};                   // see statement_name.hpp
  std::uint32_t number = 0;          // the name's, below StatementNames::count_max
  Bytes text = {};                   // empty: there is none, as of a commit
  Bytes system = {};                 // "sqlite", "postgresql"
  Instant began = {};                // by StatementObserver::now()
  Duration duration = {};            // of a stream: without the time that its reader took
  std::int64_t rows = 0;             // read, or else changed
  std::optional<Kind> failure = {};  // none: it succeeded. Kind::cancelled: its caller went away
  Bytes request_id = {};             // of the request that it was made for; empty: none
  Bytes trace_id = {};               // of that request's trace; empty: none
};

class StatementObserver {
 public:
  // The clock of `began` and `duration`.
  virtual Instant now() const noexcept { return monotonic_now(); }
  // A statement is over.
  virtual void on_statement(const StatementReport& report) noexcept = 0;

  StatementNames names;  // that reports have

 protected:
  ~StatementObserver() = default;
};

// The observer of a backend's calls, and the backend's name.
struct Observed {
  StatementObserver* by = nullptr;  // null: none
  Bytes system = {};                // StatementReport::system
};

namespace detail {

// One call, from its begin to its end. If it is destroyed before its end, it was cancelled. It is
// in the list of its thread meanwhile (ThreadLists).
class Observation : public WalkedItem<Observation> {
 public:
  Observation() noexcept = default;
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;
  ~Observation() {
    if (observer_ != nullptr) [[unlikely]]
      end(0, Kind::cancelled);
  }

  // `sql` lives as long as this; null: the order names the call. The call ends in `activity`, which
  // lives as long; null: in the activity that is current then.
  void begin(const Observed& observed, Order order, const Sql* sql,
             const Activity* activity) noexcept {
    if (observed.by != nullptr) [[unlikely]]
      start(observed, order, sql, activity);
  }
  void end(std::int64_t rows, std::optional<Kind> failure) noexcept {
    if (observer_ != nullptr) [[unlikely]]
      report(rows, failure);
  }
  // For a stream: its reader has its rows, and the time that passes now is not the statement's.
  void pause() noexcept {
    if (observer_ != nullptr) [[unlikely]]
      paused_at_ = observer_->now();
  }
  void resume() noexcept {
    if (observer_ == nullptr || paused_at_ == never) [[likely]]
      return;
    paused_.ns += (observer_->now() - paused_at_).ns;
    paused_at_ = never;
  }

  // ---- for lists of the running statements: REQUIRES that it was found in one ----
  StatementObserver& observer() const noexcept { return *observer_; }
  const StatementName& name() const noexcept;
  Bytes text() const noexcept;  // empty: it has none, as a commit
  Instant began() const noexcept { return began_; }
  // Its reader has its rows, and the database does nothing for it.
  bool is_paused() const noexcept { return paused_at_ != never; }
  // The activity that it began in; null: not known.
  const Activity* activity() const noexcept { return activity_; }

 private:
  void start(const Observed& observed, Order order, const Sql* sql,
             const Activity* activity) noexcept;
  void report(std::int64_t rows, std::optional<Kind> failure) noexcept;

  StatementObserver* observer_ = nullptr;  // null: it has not begun, or it is over
  Bytes system_ = {};
  const Sql* sql_ = nullptr;
  const Activity* activity_ = nullptr;
  Instant began_ = {};
  Instant paused_at_ = never;
  Duration paused_ = {};
  Order order_ = Order::read;
};

}  // namespace detail

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
