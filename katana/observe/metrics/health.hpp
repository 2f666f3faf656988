// Health: named checks, run beside the service, whose last results answer "is it alive?" and "may
// it be sent requests?" at once.
//
//   HealthChecks checks;
//   checks.add({.name = "database", .kind = CheckKind::readiness, .run = [&](std::stop_token) {
//     return database.ping();
//   }});
//   HealthReport report = checks.report(now);
//
// Owns       one thread for each check that may block, so that one which hangs keeps no other
//            one waiting.
// Borrows    what a check and the clock refer to. A check that hangs longer than stop_timeout when
//            the checks are destroyed is left behind, with its thread: what it refers to must then
//            live on.
// Thread     any. report() and refresh() never wait for a check.
// Allocates  when checks are added, run and reported.
// Fails      add() names a check that is there twice or has no function; a check that throws has
//            failed with what it threw.
// Invariant  a check never runs twice at once. Reports say how old each result is.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/text.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/observe/metrics/options.hpp"

namespace katana::metrics {

// A process that is not alive should be restarted; one that is not ready should be left alone until
// it is.
enum class CheckKind : std::uint8_t { liveness, readiness };

// A health check: its function, and how long a result counts.
struct Check {
  std::string name;                       // 1 to 100 bytes
  CheckKind kind = CheckKind::readiness;  // in /health, or in /ready
  // An Error says why. May block; the token says when its result is not needed any more.
  std::function<Result<void>(std::stop_token)> run;
  Duration timeout = seconds(2);    // running longer is a failure
  Duration fresh_for = seconds(1);  // a younger result is not asked for again
  // False: a failure is shown, and the whole is a warning that answers as a pass does.
  bool required = true;
  // False: it only looks at what is there, and runs in the caller's thread.
  bool may_block = true;
};

// Result of the last run. unknown: it has not run yet.
enum class CheckStatus : std::uint8_t { passed, failed, timed_out, unknown };
std::string_view status_name(CheckStatus status) noexcept;  // "pass", "fail", "timeout", "unknown"

// A check's last result.
struct CheckReport {
  std::string name;                           // Check::name
  CheckKind kind = CheckKind::readiness;      // Check::kind
  CheckStatus status = CheckStatus::unknown;  // unknown until the first run has ended
  std::string detail = {};                    // why it failed
  Duration took = {};    // of the last run that ended; of the present one when timed_out
  Duration age = {};     // since the result was known; never had one: 0
  bool required = true;  // false: a failure is a warning
};

// The last results of all checks of one kind.
struct HealthReport {
  std::vector<CheckReport> checks;  // in the order of add()
  // Every required check passed. No check at all: yes.
  bool healthy() const noexcept;
  // "fail", or "warn" when only checks that are not required have not passed.
  // {"status":"pass","checks":[{"name":…,"kind":…,"status":…,"duration_ms":…,"age_ms":…}]}
  Text to_json() const;
};

// What is known of one check at any moment; time is an argument.
class CheckState {
 public:
  explicit CheckState(Check check) : check_(std::move(check)) {}

  const Check& check() const noexcept { return check_; }  // as it was added
  // True, and running from here on: nothing is running, and the last result is no longer fresh.
  bool begin_if_due(Instant now);
  void finish(Result<void> result, Instant now);
  // Nothing is running, or for too long.
  bool all_finished(Instant now) const;
  // Calls it once the run that is under way has ended, on the thread that ran it. False: none is,
  // or it is overdue, and nothing is called.
  bool call_at_end(std::shared_ptr<const std::function<void()>> call, Instant now);
  CheckReport report(Instant now) const;

 private:
  bool overdue(Instant now) const { return running_ && now - began_ > check_.timeout; }

  const Check check_;
  mutable std::mutex mutex_;
  bool running_ = false;
  bool known_ = false;
  bool passed_ = false;
  std::string detail_;
  Instant began_;
  Instant finished_;
  Duration took_;
  std::vector<std::shared_ptr<const std::function<void()>>> at_end_;
};

// The checks of a program. Its threads run those that are due.
class HealthChecks {
 public:
  explicit HealthChecks(HealthOptions options = {});
  // Tells running checks to stop and waits at most stop_timeout for them.
  ~HealthChecks();
  HealthChecks(const HealthChecks&) = delete;
  HealthChecks& operator=(const HealthChecks&) = delete;

  // An Error: the name is empty, too long or taken, or there is no thread for it.
  Result<void> add(Check check);
  // Starts every check of the kind whose result is not fresh.
  void refresh(CheckKind kind);
  // Every check of the kind has ended or is overdue: report() would say nothing newer by waiting.
  bool all_finished(CheckKind kind) const;
  // Calls it each time that a check of the kind ends which runs now, on that check's thread; for
  // who waits, and asks all_finished() again then.
  void call_at_ends(CheckKind kind, std::function<void()> call);
  HealthReport report(CheckKind kind) const;
  // The shortest Check::fresh_for of the kind; never.ns without a check.
  Duration fresh_min(CheckKind kind) const;
  // The longest timeout of the kind: settled() after that, whatever hangs.
  Duration timeout_max(CheckKind kind) const;
  Instant now() const { return options_.clock(); }

 private:
  struct Runner;

  HealthOptions options_;
  mutable std::mutex mutex_;  // guards runners_
  std::vector<std::shared_ptr<Runner>> runners_;
};

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
