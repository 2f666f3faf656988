#include "katana/observe/metrics/health.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <thread>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/quiet_thread.hpp"
#include "katana/base/text/json_string.hpp"

namespace katana::metrics {

std::string_view status_name(CheckStatus status) noexcept {
  switch (status) {
    case CheckStatus::passed: return "pass";
    case CheckStatus::failed: return "fail";
    case CheckStatus::timed_out: return "timeout";
    case CheckStatus::unknown: return "unknown";
  }
  return "unknown";
}

bool HealthReport::healthy() const noexcept {
  return std::ranges::all_of(checks, [](const CheckReport& check) {
    return !check.required || check.status == CheckStatus::passed;
  });
}

Text HealthReport::to_json() const {
  Text out;
  const bool all = std::ranges::all_of(
      checks, [](const CheckReport& check) { return check.status == CheckStatus::passed; });
  out.append(all         ? R"({"status":"pass","checks":[)"
             : healthy() ? R"({"status":"warn","checks":[)"
                         : R"({"status":"fail","checks":[)");
  for (const CheckReport& check : checks) {
    if (&check != &checks.front()) out.push_back(',');
    out.append(R"({"name":)");
    append_json_text(out, check.name);
    out.append(format_text(R"(,"kind":"{}","status":"{}","duration_ms":{:.3f},"age_ms":{:.3f})",
                           check.kind == CheckKind::liveness ? "liveness" : "readiness",
                           status_name(check.status), milliseconds_of(check.took),
                           milliseconds_of(check.age))
                   .bytes());
    if (!check.required) out.append(R"(,"required":false)");
    if (!check.detail.empty()) {
      out.append(R"(,"detail":)");
      append_json_text(out, check.detail);
    }
    out.push_back('}');
  }
  out.append("]}");
  return out;
}

bool CheckState::begin_if_due(Instant now) {
  const std::lock_guard lock(mutex_);
  if (running_ || (known_ && now - finished_ < check_.fresh_for)) return false;
  running_ = true;
  began_ = now;
  return true;
}

void CheckState::finish(Result<void> result, Instant now) {
  std::vector<std::shared_ptr<const std::function<void()>>> calls;
  {
    const std::lock_guard lock(mutex_);
    running_ = false;
    known_ = true;
    finished_ = now;
    took_ = now - began_;
    passed_ = result.has_value();
    detail_ = passed_ ? "" : result.error().describe();
    calls.swap(at_end_);
  }
  for (const auto& each : calls) (*each)();
}

bool CheckState::call_at_end(std::shared_ptr<const std::function<void()>> call, Instant now) {
  const std::lock_guard lock(mutex_);
  if (!running_ || overdue(now)) return false;
  at_end_.push_back(std::move(call));
  return true;
}

bool CheckState::all_finished(Instant now) const {
  const std::lock_guard lock(mutex_);
  return !running_ || overdue(now);
}

CheckReport CheckState::report(Instant now) const {
  const std::lock_guard lock(mutex_);
  CheckReport report;
  report.name = check_.name;
  report.kind = check_.kind;
  report.required = check_.required;
  if (known_) report.age = now - finished_;
  if (overdue(now)) {
    report.status = CheckStatus::timed_out;
    report.took = now - began_;
    report.detail = fmt::format("has been running for {:.0f} ms; its limit is {:.0f} ms",
                                milliseconds_of(report.took), milliseconds_of(check_.timeout));
    return report;
  }
  report.took = took_;
  if (!known_) return report;
  // It ended, but too late.
  if (passed_ && took_ > check_.timeout) {
    report.status = CheckStatus::timed_out;
    report.detail = fmt::format("took {:.0f} ms; its limit is {:.0f} ms", milliseconds_of(took_),
                                milliseconds_of(check_.timeout));
    return report;
  }
  report.status = passed_ ? CheckStatus::passed : CheckStatus::failed;
  report.detail = detail_;
  return report;
}

// One check and its thread, which keeps it alive.
struct HealthChecks::Runner {
  Runner(Check check, std::function<Instant()> now)
      : state(std::move(check)), clock(std::move(now)) {}

  CheckState state;
  const std::function<Instant()> clock;
  std::mutex mutex;  // guards the next members
  std::condition_variable_any changed;
  bool wanted = false;
  bool ended = false;

  void want() {
    const std::lock_guard lock(mutex);
    wanted = true;
    changed.notify_all();
  }

  void run(const std::stop_token& told) {
    for (;;) {
      std::unique_lock lock(mutex);
      if (!changed.wait(lock, told, [this] { return wanted; }) || told.stop_requested()) break;
      wanted = false;
      lock.unlock();
      Result<void> result = run_once(told);
      state.finish(std::move(result), clock());
    }
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  }

  Result<void> run_once(const std::stop_token& told) const {
    try {
      return state.check().run(told);
    } catch (const std::exception& thrown) {
      return fail(Code::internal, fmt::format("the check threw: {}", thrown.what()));
    } catch (...) {
      return fail(Code::internal, "the check threw an object that is not a std::exception");
    }
  }

  bool wait_for_end(std::chrono::nanoseconds longest) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, longest, [this] { return ended; });
  }

  std::stop_source stop;
};

HealthChecks::HealthChecks(HealthOptions options) : options_(std::move(options)) {
  if (!options_.clock) options_.clock = monotonic_now;
}

HealthChecks::~HealthChecks() {
  for (const auto& runner : runners_) runner->stop.request_stop();
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::nanoseconds(options_.stop_timeout.ns);
  for (const auto& runner : runners_) {
    // The thread is detached and holds its Runner: one that hangs is left behind, not waited for.
    runner->wait_for_end(std::max<std::chrono::nanoseconds>(
        deadline - std::chrono::steady_clock::now(), std::chrono::nanoseconds(0)));
  }
}

Result<void> HealthChecks::add(Check check) {
  constexpr std::size_t name_bytes_most = 100;
  if (check.name.empty() || check.name.size() > name_bytes_most || !check.run ||
      check.timeout <= Duration{}) {
    return fail(Code::invalid_argument,
                fmt::format("health check '{}': it needs a name of 1 to {} bytes, a function and a "
                            "timeout above zero",
                            check.name, name_bytes_most));
  }
  const std::lock_guard lock(mutex_);
  for (const auto& runner : runners_) {
    if (runner->state.check().name == check.name) {
      return fail(Code::already_exists,
                  fmt::format("health check '{}' is there already: give this one another name",
                              check.name));
    }
  }
  if (!options_.threads) check.may_block = false;
  auto runner = std::make_shared<Runner>(std::move(check), options_.clock);
  if (!runner->state.check().may_block) {
    runner->ended = true;
    runners_.push_back(std::move(runner));
    return {};
  }
  try {
    quiet_thread([runner] { runner->run(runner->stop.get_token()); }).detach();
  } catch (const std::system_error& error) {
    return fail(Code::resource_exhausted, fmt::format("health check '{}': no thread for it: {}",
                                                      runner->state.check().name, error.what()));
  }
  runners_.push_back(std::move(runner));
  return {};
}

void HealthChecks::refresh(CheckKind kind) {
  const Instant now = options_.clock();
  const std::lock_guard lock(mutex_);
  for (const auto& runner : runners_) {
    if (runner->state.check().kind != kind || !runner->state.begin_if_due(now)) continue;
    if (runner->state.check().may_block) {
      runner->want();
    } else {
      runner->state.finish(runner->run_once(runner->stop.get_token()), options_.clock());
    }
  }
}

bool HealthChecks::all_finished(CheckKind kind) const {
  const Instant now = options_.clock();
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(runners_, [&](const auto& runner) {
    return runner->state.check().kind != kind || runner->state.all_finished(now);
  });
}

void HealthChecks::call_at_ends(CheckKind kind, std::function<void()> call) {
  const auto shared = std::make_shared<const std::function<void()>>(std::move(call));
  const Instant now = options_.clock();
  const std::lock_guard lock(mutex_);
  for (const auto& runner : runners_) {
    if (runner->state.check().kind == kind) (void)runner->state.call_at_end(shared, now);
  }
}

HealthReport HealthChecks::report(CheckKind kind) const {
  const Instant now = options_.clock();
  HealthReport report;
  const std::lock_guard lock(mutex_);
  for (const auto& runner : runners_) {
    if (runner->state.check().kind == kind) report.checks.push_back(runner->state.report(now));
  }
  return report;
}

Duration HealthChecks::fresh_min(CheckKind kind) const {
  Duration shortest{never.ns};
  const std::lock_guard lock(mutex_);
  for (const auto& runner : runners_) {
    const Check& check = runner->state.check();
    if (check.kind == kind) shortest = std::min(shortest, check.fresh_for);
  }
  return shortest;
}

Duration HealthChecks::timeout_max(CheckKind kind) const {
  Duration longest;
  const std::lock_guard lock(mutex_);
  for (const auto& runner : runners_) {
    const Check& check = runner->state.check();
    if (check.kind == kind) longest = std::max(longest, check.timeout);
  }
  return longest;
}

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
