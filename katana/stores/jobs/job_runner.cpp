#include "katana/stores/jobs/job_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "katana/base/coroutine/when.hpp"
#include "katana/base/system/check.hpp"
#include "katana/data/config/units.hpp"
#include "katana/net/reactor/spawn.hpp"
#include "katana/net/reactor/timeout.hpp"
#include "katana/observe/trace/root_span.hpp"

namespace katana::jobs {
namespace {

using std::chrono::microseconds;

// A change of the system clock while the timer runs is noticed after this time.
constexpr Duration look_again = seconds(60);

constexpr Duration between(Timestamp from, Timestamp to) noexcept {
  constexpr std::int64_t us_max = never.ns / 1000;
  return Duration{std::clamp<std::int64_t>((to - from).count(), 0, us_max) * 1000};
}
constexpr Timestamp later(Timestamp time, Duration by) noexcept {
  return time + microseconds(by.ns / 1000);
}

}  // namespace

// The notes about a run, in its frame: the run ends with them also when the frame is destroyed.
class JobRunner::Run {
 public:
  explicit Run(JobRunner& runner) noexcept : began(runner.reactor_.now()), runner_(runner) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() { runner_.on_end(began, outcome, thrown); }

  Instant began;
  Result<Outcome> outcome = fail(Code::cancelled, "cancelled: the program ends");
  std::exception_ptr thrown;

 private:
  JobRunner& runner_;
};

JobRunner::JobRunner(net::Reactor& reactor, Job& job, JobStatus& status, JobRunnerOptions options)
    : TimerEntry([](TimerEntry& entry) noexcept { static_cast<JobRunner&>(entry).on_time(); }),
      reactor_(reactor),
      job_(job),
      status_(status),
      options_(options),
      place_("job " + job.name),
      random_(options.seed) {
  KATANA_REQUIRE(job.check());
  KATANA_REQUIRE(!job.options.one_instance || options.lock != nullptr);
}

JobRunner::~JobRunner() { KATANA_REQUIRE(!running_); }

void JobRunner::start() noexcept { reactor_.timers().arm(*this, reactor_.now()); }

void JobRunner::on_time() noexcept {
  if (reactor_.draining()) return;
  const Schedule& schedule = job_.schedule;
  const bool repeats = schedule.kind() != Schedule::Kind::after;
  const Timestamp now = wall();
  if (!std::exchange(started_, true)) {
    due_ = schedule.next(now);
    status_.set_overdue_at(overdue_after(now));
    if (job_.options.run_at_start) {
      if (!repeats) due_.reset();
      begin(now);
    }
    return arm();
  }
  // The system's clock was set back: an interval is not to last longer for it.
  if (due_ && schedule.kind() != Schedule::Kind::cron) {
    due_ = std::min(*due_, schedule.next(now));
  }
  if (reactor_.now() >= retry_at_ && !running_ && !(due_ && *due_ <= now)) begin_retry();
  if (due_ && *due_ <= now) {
    const Schedule::Passed passed = schedule.passed(*due_, now);
    if (passed.count > 1) status_.skip(Skipped::late, passed.count - 1);
    due_ = repeats ? std::optional(schedule.next(now)) : std::nullopt;
    begin(passed.last);
  }
  arm();
}

void JobRunner::begin(Timestamp tick) noexcept {
  if (running_) return status_.skip(Skipped::running);
  if (reactor_.now() < resume_at_) {
    if (!due_) due_ = job_.schedule.next(wall());
    return status_.skip(Skipped::backing_off);
  }
  begin_run({.tick = tick, .claimed = tick});
}

void JobRunner::begin_retry() noexcept {
  const Timestamp later_tick = std::max(wall(), last_.claimed + microseconds(1));
  if (job_.schedule.kind() == Schedule::Kind::after) due_.reset();  // from the end of the retry
  begin_run({.tick = last_.tick, .claimed = later_tick, .number = last_.number + 1});
}

void JobRunner::begin_run(const Attempt& attempt) noexcept {
  KATANA_CHECK(!running_);
  retry_at_ = never;
  last_ = attempt;
  running_ = true;
  status_.begin(attempt.number > 1);
  const ActivityScope as(&activity_);
  const SiteScope site(&place_);
  // Refused when the reactor has too many tasks: the frame is destroyed, and its Run has not begun.
  const auto spawned = reactor_.tasks().spawn(run(attempt), place_);
  if (!spawned) on_end(reactor_.now(), std::unexpected(spawned.error()), nullptr);
}

void JobRunner::arm() noexcept {
  if (!due_ && retry_at_ == never) return;
  Duration wait = look_again;
  if (due_) wait = std::min(wait, between(wall(), *due_));
  wait = std::min(wait, std::max(retry_at_ - reactor_.now(), Duration{}));
  reactor_.timers().arm(*this, reactor_.now() + wait);
}

Instant JobRunner::overdue_after(Timestamp wall) const noexcept {
  const unsigned intervals = job_.options.intervals_without_success_max;
  if (intervals == 0) return never;
  Timestamp end = wall;
  for (unsigned count = 0; count < intervals && end < Timestamp::max(); ++count) {
    end = job_.schedule.next(end);
  }
  const Instant now = reactor_.now();
  const Instant at = now + std::min(between(wall, end), never - now);
  return at + std::min(job_.options.jitter, never - at);
}

Task<void> JobRunner::run(Attempt attempt) {
  Run noted(*this);
  try {
    if (attempt.number == 1 && job_.options.jitter > Duration{}) {
      const auto ns = random_.below(static_cast<std::uint64_t>(job_.options.jitter.ns));
      if (!co_await net::sleep_unless_draining({static_cast<std::int64_t>(ns)})) {
        noted.outcome = Outcome::ending;
        co_return;
      }
      noted.began = reactor_.now();
    }
    noted.outcome = co_await try_once(attempt);
  } catch (...) {
    noted.thrown = std::current_exception();
  }
}

void JobRunner::add_attributes(trace::SpanRecord& record, const JobRun& run) const noexcept {
  record.add("katana.job.name", job_.name);
  record.add("katana.job.attempt", run.attempt);
}

Task<Result<void>> JobRunner::run_once(JobRun run) {
  trace::RootSpan span(options_.tracer, place_);
  try {
    Result<void> ran = co_await net::with_timeout(job_.run(run), job_.options.timeout);
    span.end(ran, [&](trace::SpanRecord& record) { add_attributes(record, run); });
    co_return ran;
  } catch (...) {
    span.fail("exception", [&](trace::SpanRecord& record) { add_attributes(record, run); });
    throw;
  }
}

Task<Result<void>> JobRunner::run_leased(JobRun run, JobClaim claim, Instant asked) {
  auto both = when_any(run_once(run), keep(std::move(claim), asked));
  auto first = co_await both;
  if (first.index() == 0) co_return std::get<0>(std::move(first));
  co_return std::get<1>(std::move(first));
}

// A claim that was requested at `asked` lasts for at least a lease from then on, whenever the
// answer came.
Task<Result<void>> JobRunner::keep(JobClaim claim, Instant asked) {
  const Duration lease = options_.lock->lease();
  const Duration pause = nanoseconds(lease.ns / 3);
  const Duration retry = nanoseconds(lease.ns / 30);
  Duration next = pause;
  for (;;) {
    co_await net::sleep_for(next);
    const Instant now = reactor_.now();
    const Result<bool> renewed = co_await options_.lock->renew(claim);
    if (renewed && !*renewed) {
      co_return fail(Code::unavailable,
                     "cancelled: the lease of its lock has ended, and another instance may run it");
    }
    if (renewed) {
      asked = now;
      next = pause;
    } else if (reactor_.now() + retry >= asked + lease) {
      co_return std::unexpected(
          renewed.error().within("cancelled: the lease of its lock could not be renewed"));
    } else {
      next = retry;
    }
  }
}

Task<Result<JobRunner::Outcome>> JobRunner::try_once(Attempt attempt) {
  const JobRun run{.tick = attempt.tick,
                   .fence = static_cast<std::uint64_t>(attempt.claimed.time_since_epoch().count()),
                   .attempt = attempt.number};
  JobClaim claim;
  const Instant asked = reactor_.now();
  if (job_.options.one_instance) {
    const Timestamp now = wall();
    claim = {.job = job_.name,
             .tick = attempt.claimed,
             .now = now,
             .until = later(now, job_.options.timeout)};
    const Result<bool> claimed = co_await options_.lock->try_acquire(claim);
    if (!claimed) co_return std::unexpected(claimed.error().within("the lock of the job"));
    if (!*claimed) co_return Outcome::other_instance;
  }
  Result<void> ran;
  std::exception_ptr thrown;
  try {
    if (job_.options.one_instance && options_.lock->lease() > Duration{}) {
      ran = co_await run_leased(run, claim, asked);
    } else {
      ran = co_await run_once(run);
    }
  } catch (...) {
    thrown = std::current_exception();
  }
  if (job_.options.one_instance) co_await release(std::move(claim), thrown != nullptr || !ran);
  if (thrown) std::rethrow_exception(std::move(thrown));
  if (!ran) co_return std::unexpected(ran.error());
  co_return Outcome::succeeded;
}

Task<void> JobRunner::release(JobClaim claim, bool failed) {
  const bool pauses = job_.schedule.kind() == Schedule::Kind::after && !(failed && may_retry());
  const Timestamp free_at = pauses ? job_.schedule.next(wall()) : wall();
  const Result<void> released = co_await options_.lock->release(std::move(claim), free_at);
  if (released) co_return;
  tell({.what = "its lock could not be released, and others wait for its timeout",
        .error = &released.error(),
        .place = place_,
        .severity = Severity::warning});
}

void JobRunner::on_end(Instant began, const Result<Outcome>& outcome,
                       const std::exception_ptr& thrown) noexcept {
  KATANA_CHECK(std::exchange(running_, false));
  const Timestamp now = wall();
  if (!due_) due_ = job_.schedule.next(now);
  if (outcome && !thrown && *outcome != Outcome::succeeded) {
    status_.end_unused();
    if (*outcome == Outcome::other_instance) {
      status_.skip(Skipped::other_instance);
      status_.set_overdue_at(overdue_after(now));
    }
  } else if (thrown != nullptr || !outcome) {
    const Failure failure{.what = thrown ? "it threw" : "it failed",
                          .exception = thrown,
                          .error = thrown ? nullptr : &outcome.error(),
                          .place = place_};
    status_.end(now, reactor_.now() - began, cause_of(failure), never);
    on_failure(failure, now);
  } else {
    failures_in_a_row_ = 0;
    status_.end(now, reactor_.now() - began, {}, overdue_after(now));
  }
  if (!reactor_.draining()) arm();
}

void JobRunner::on_failure(const Failure& failure, Timestamp now) noexcept {
  back_off();
  Failure told = failure;
  std::string what(failure.what);
  if (const std::optional<Duration> delay = plan_retry(now)) {
    what += fmt::format(", retry {} of {} follows in {}", last_.number,
                        job_.options.retry.retries_max, config::write_duration(*delay));
    told.severity = Severity::warning;
  } else if (last_.number > 1) {
    what += fmt::format(", as did {} attempts before", last_.number - 1);
  }
  told.what = what;
  tell(told);
}

bool JobRunner::may_retry() const noexcept {
  return last_.number <= job_.options.retry.retries_max && !reactor_.draining();
}

std::optional<Duration> JobRunner::plan_retry(Timestamp now) noexcept {
  if (!may_retry()) return std::nullopt;
  const JobRetry& retry = job_.options.retry;
  Duration delay = retry.delay;
  for (unsigned count = 1; count < last_.number && delay < retry.delay_max; ++count) {
    delay = delay * 2;
  }
  delay = std::min(delay, retry.delay_max);
  const std::int64_t fifth = delay.ns / 5;
  const auto chance = random_.below(static_cast<std::uint64_t>(2 * fifth + 1));
  // Rounded to a millisecond, as a log record shows it.
  const std::int64_t ms = (delay.ns - fifth + static_cast<std::int64_t>(chance)) / 1'000'000;
  delay = milliseconds(std::max<std::int64_t>(ms, 1));
  if (due_ && later(now, delay) >= *due_) return std::nullopt;
  retry_at_ = reactor_.now() + delay;
  return delay;
}

void JobRunner::tell(const Failure& failure) const noexcept {
  FailureObserver* const observer =
      options_.failures != nullptr ? options_.failures : reactor_.tasks().options().failures;
  if (observer != nullptr) observer->on_failure(failure);
}

void JobRunner::back_off() noexcept {
  ++failures_in_a_row_;
  const JobOptions& options = job_.options;
  if (options.backoff <= Duration{}) return;
  Duration pause = options.backoff;
  for (std::uint32_t count = 1; count < failures_in_a_row_ && pause < options.backoff_max;
       ++count) {
    pause = pause * 2;
  }
  resume_at_ = reactor_.now() + std::min(pause, options.backoff_max);
}

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
