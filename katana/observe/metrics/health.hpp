// Health: named checks that run next to the service. Their last results answer at once whether it
// is alive, and whether it may be sent requests.
//
//   HealthChecks checks;
//   checks.add({.name = "database", .kind = CheckKind::readiness, .run = [&](std::stop_token) {
//     return database.ping();
//   }});
//   HealthReport report = checks.report(now);
//
// Owns       one thread for each check that may block: a hanging check keeps no other one waiting.
// Borrows    the objects that a check and the clock refer to. When the checks are destroyed, one
//            that hangs longer than stop_timeout is left behind, with its thread. Its objects must
//            then live on.
// Thread     any. report() and refresh() never wait for a check.
// Allocates  when checks are added, run and reported.
// Fails      add() names a check that is added twice or has no function. A check that throws has
//            failed with the exception's text.
// Invariant  a check never runs twice at once. Reports include the age of each result.
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

// A process that is not alive should be restarted; one that is not ready should get no requests
// until it is.
enum class CheckKind : std::uint8_t { liveness, readiness };

// A health check: its function, and how long a result is used.
struct Check {
  std::string name;                       // 1 to 100 bytes
  CheckKind kind = CheckKind::readiness;  // in /health, or in /ready
  // An Error gives the reason. May block; the token is set when its result is no longer needed.
  std::function<Result<void>(std::stop_token)> run;
  Duration timeout = seconds(2);    // a longer run is a failure
  Duration fresh_for = seconds(1);  // no new run while the result is younger
  // False: a failure is shown, and the whole is a warning, whose status code is that of a pass.
  bool required = true;
  // False: it only reads present state, and runs in the caller's thread.
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
  Duration took = {};    // of the last finished run; of the present one when timed_out
  Duration age = {};     // of the result; 0 without one
  bool required = true;  // false: a failure is a warning
};

// The last results of all checks of one kind.
struct HealthReport {
  std::vector<CheckReport> checks;  // in the order of add()
  // Whether every required check passed. True without any check.
  bool healthy() const noexcept;
  // "fail", or "warn" when only checks that are not required have not passed.
  // {"status":"pass","checks":[{"name":…,"kind":…,"status":…,"duration_ms":…,"age_ms":…}]}
  Text to_json() const;
};

// The state of one check; time is an argument.
class CheckState {
 public:
  explicit CheckState(Check check) : check_(std::move(check)) {}

  const Check& check() const noexcept { return check_; }  // as it was added
  // True if no run is in progress and the last result is no longer fresh; a run then begins.
  bool begin_if_due(Instant now);
  void finish(Result<void> result, Instant now);
  // Whether no run is in progress, or it is overdue.
  bool all_finished(Instant now) const;
  // Calls `call` once the present run has ended, on the thread that ran it. False, without a call,
  // if there is no run or it is overdue.
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

// The checks of a program. Its threads run the checks that are due.
class HealthChecks {
 public:
  explicit HealthChecks(HealthOptions options = {});
  // Tells running checks to stop and waits at most stop_timeout for them.
  ~HealthChecks();
  HealthChecks(const HealthChecks&) = delete;
  HealthChecks& operator=(const HealthChecks&) = delete;

  // An Error: the name is empty, too long or taken, or no thread could be made.
  Result<void> add(Check check);
  // Starts every check of the kind whose result is not fresh.
  void refresh(CheckKind kind);
  // Whether every check of the kind has ended or is overdue: waiting would not make report() newer.
  bool all_finished(CheckKind kind) const;
  // Calls `call` each time that a running check of the kind ends, on that check's thread. A waiting
  // caller then asks all_finished() again.
  void call_at_ends(CheckKind kind, std::function<void()> call);
  HealthReport report(CheckKind kind) const;
  // The shortest Check::fresh_for of the kind; never.ns without a check.
  Duration fresh_min(CheckKind kind) const;
  // The longest timeout of the kind: after it all_finished() is true, even if checks hang.
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
