#include "katana/stores/jobs/queue/queue_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/net/reactor/spawn.hpp"
#include "katana/net/reactor/timeout.hpp"
#include "katana/observe/trace/root_span.hpp"
#include "katana/observe/trace/trace_parent.hpp"

namespace katana::queue {
namespace {

// Jobs that end within this time of one another share a claim.
constexpr Duration claim_gap = milliseconds(2);
// The pause before a failed statement about the end of an attempt is tried again.
constexpr Duration conclusion_pause = milliseconds(200);
// The pause between two renewals of leases, unless the leases are shorter.
constexpr Duration renewal_pause = seconds(1);

Task<void> pause(Duration duration) { co_await net::sleep_for(duration); }

Task<Result<void>> stop_after(Delivery& delivery, Duration grace) {
  co_await delivery.until_stopped();
  co_await net::sleep_for(grace);
  co_return fail(Code::cancelled, delivery.stopped() == Stopped::draining
                                      ? "cancelled: the program ends"
                                      : "cancelled: the lease was lost");
}

}  // namespace

// Registers the loop's waker, and removes it with the loop, also when its frame is destroyed.
class QueueRunner::Ends {
 public:
  explicit Ends(QueueRunner& runner) : runner_(runner) {
    runner_.waker_->attach(runner_.reactor_, runner_.signal_, runner_.woken_);
    runner_.queue_.add_waker(runner_.handler_.queue, runner_.waker_);
  }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  ~Ends() {
    runner_.queue_.remove_waker(runner_.waker_);
    runner_.waker_->detach();
    runner_.attempts_.cancel();
    runner_.active_ = false;
  }

 private:
  QueueRunner& runner_;
};

// Keeps a delivery in the list of running ones, for as long as its frame is there.
class QueueRunner::Running {
 public:
  Running(QueueRunner& runner, Delivery& delivery) noexcept : runner_(runner), delivery_(delivery) {
    runner_.deliveries_.push_back(delivery_);
    KATANA_CHECK(runner_.deliveries_.size() <= runner_.handler_.options.concurrency);
    runner_.instruments_.running.set(static_cast<double>(runner_.deliveries_.size()));
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    runner_.deliveries_.remove(delivery_);
    runner_.instruments_.running.set(static_cast<double>(runner_.deliveries_.size()));
    runner_.on_place_free();
  }

 private:
  QueueRunner& runner_;
  Delivery& delivery_;
};

QueueRunner::QueueRunner(net::Reactor& reactor, JobQueue& queue, QueueHandler& handler,
                         QueueInstruments instruments, QueueRunnerOptions options)
    : TimerEntry([](TimerEntry& entry) noexcept { static_cast<QueueRunner&>(entry).on_time(); }),
      reactor_(reactor),
      queue_(queue),
      handler_(handler),
      instruments_(std::move(instruments)),
      options_(std::move(options)),
      place_("queue " + handler.queue),
      random_(options_.seed),
      waker_(std::make_shared<Waker>()),
      attempts_({.tasks_max = handler.options.concurrency, .failures = options_.failures}) {
  KATANA_REQUIRE(handler.options.check(handler.queue));
}

QueueRunner::~QueueRunner() { KATANA_REQUIRE(!active_); }

void QueueRunner::start() noexcept { reactor_.timers().arm(*this, reactor_.now()); }

void QueueRunner::on_time() noexcept {
  if (reactor_.draining() || std::exchange(started_, true)) return;
  active_ = true;
  const auto spawned = reactor_.tasks().spawn(run(), place_);
  if (spawned) return;
  active_ = false;
  started_ = false;
  tell({.what = "it could not begin, and tries again",
        .error = &spawned.error(),
        .place = place_,
        .severity = Severity::warning});
  reactor_.timers().arm(*this, reactor_.now() + handler_.options.poll);
}

Duration QueueRunner::jittered(Duration duration) noexcept {
  const std::int64_t fifth = duration.ns / 5;
  const auto chance = random_.below(static_cast<std::uint64_t>(2 * fifth + 1));
  return Duration{duration.ns - fifth + static_cast<std::int64_t>(chance)};
}

// ---- claiming

Task<void> QueueRunner::run() {
  const Ends ends(*this);
  // The first of them is the only one that ends.
  (void)co_await when_any(work(), look_after_leases(), look_after_table());
}

Task<void> QueueRunner::work() {
  while (!draining()) {
    if (!more_ && !woken_) co_await wait(jittered(handler_.options.poll));
    if (draining()) break;
    co_await await_places();
    if (draining()) break;
    woken_ = false;
    co_await claim();
  }
  co_await drain();
}

Task<void> QueueRunner::await_signal() { co_await signal_.wait(); }

// Waits until there is a signal, or the time has passed, or the reactor drains.
Task<void> QueueRunner::wait(Duration duration) {
  signal_.reset();
  (void)co_await when_any(net::sleep_unless_draining(duration), await_signal());
}

// Waits until half of the places are free: a claim then brings several jobs. It waits for fewer
// when no more become free for a moment.
Task<void> QueueRunner::await_places() {
  const std::size_t half = (std::size_t{handler_.options.concurrency} + 1) / 2;
  bool waited = false;
  while (!draining() && places() < half) {
    if (waited) co_return;
    places_wanted_ = places() == 0 ? 1 : half;
    waited = places() > 0;
    co_await wait(waited ? claim_gap : handler_.options.lease);
  }
}

void QueueRunner::on_place_free() noexcept {
  if (places() >= places_wanted_) signal_.set();
}

Task<void> QueueRunner::claim() {
  const database::Result<void> made = co_await queue_.table().make();
  if (!made) {
    more_ = false;
    co_return note_failure(made.error(), "its table cannot be made or found");
  }
  const std::size_t count = places();
  // The row's lease begins later than this.
  const Instant lease_until = reactor_.now() + handler_.options.lease;
  database::Result<std::vector<ClaimedJob>> claimed = co_await queue_.table().claim(
      handler_.queue, static_cast<std::int64_t>(count), handler_.options.lease, options_.worker);
  instruments_.claims.add();
  if (!claimed) {
    more_ = false;
    // Jobs of a claim whose answer was lost come back when their leases are over.
    co_return note_failure(claimed.error(), "jobs could not be claimed");
  }
  note_success();
  more_ = claimed->size() == count;
  for (ClaimedJob& job : *claimed) begin(std::move(job), lease_until);
}

void QueueRunner::begin(ClaimedJob job, Instant lease_until) {
  const std::string request_id = job.request_id;  // kept until the task has copied it
  const Activity activity{.site = &place_, .name = request_id};
  const ActivityScope as(&activity);
  const SiteScope site(&place_);
  // Refused when the scope is closed; the job comes back when its lease is over.
  (void)attempts_.spawn(attempt(std::move(job), lease_until), place_);
}

// ---- the end of the program

Task<void> QueueRunner::drain() {
  const Instant end = reactor_.now() + handler_.options.drain_grace;
  places_wanted_ = handler_.options.concurrency;
  while (!deliveries_.empty() && reactor_.now() < end) {
    signal_.reset();
    (void)co_await when_any(pause(end - reactor_.now()), await_signal());
  }
  for (Delivery* each = deliveries_.first(); each != nullptr; each = each->next_in_list()) {
    each->stop(Stopped::draining);
  }
  co_await attempts_.join();
}

// ---- leases

Task<void> QueueRunner::look_after_leases() {
  const Duration third = handler_.options.lease / 3;
  const Duration soon = std::min(third, renewal_pause);
  Duration next = third;
  while (true) {
    co_await net::sleep_for(jittered(next));
    const bool renewed = co_await renew(soon);
    next = renewed ? third : soon;
  }
}

// No other worker gets a job before its handler has had the time to stop: `soon` is when this is
// asked again after a failure.
Task<bool> QueueRunner::renew(Duration soon) {
  std::vector<std::int64_t> ids;
  for (Delivery* each = deliveries_.first(); each != nullptr; each = each->next_in_list()) {
    if (each->stopped() != Stopped::lease_lost) ids.push_back(each->id());
  }
  if (ids.empty()) co_return true;
  std::ranges::sort(ids);
  const std::vector<std::int64_t> asked_for = ids;
  const Instant lease_until = reactor_.now() + handler_.options.lease;
  const database::Result<std::vector<Lease>> renewed = co_await queue_.table().renew(
      handler_.queue, options_.worker, std::move(ids), handler_.options.lease);
  if (!renewed) note_failure(renewed.error(), "leases could not be renewed");
  const Instant last = reactor_.now() + soon + handler_.options.stop_grace;
  note_renewed(asked_for, renewed ? &*renewed : nullptr, lease_until, last);
  co_return renewed.has_value();
}

// `renewed`: null: the database did not answer.
void QueueRunner::note_renewed(const std::vector<std::int64_t>& asked_for,
                               const std::vector<Lease>* renewed, Instant lease_until,
                               Instant last) noexcept {
  for (Delivery* each = deliveries_.first(); each != nullptr; each = each->next_in_list()) {
    if (!std::ranges::binary_search(asked_for, each->id())) continue;
    const auto is_it = [each](const Lease& lease) {
      return lease.id == each->id() && lease.fence == each->fence();
    };
    if (renewed != nullptr && std::ranges::any_of(*renewed, is_it)) {
      each->lease_until = std::max(each->lease_until, lease_until);
    } else if (renewed != nullptr || last >= each->lease_until) {
      each->stop(Stopped::lease_lost);
    }
  }
}

// Looks for jobs whose worker is dead, removes jobs that are kept for long enough, and counts jobs.
Task<void> QueueRunner::look_after_table() {
  while (true) {
    co_await clean();
    co_await net::sleep_for(jittered(Duration{handler_.options.lease.ns / 2}));
  }
}

Task<void> QueueRunner::clean() {
  const HandlerOptions& options = handler_.options;
  JobTable& table = queue_.table();
  const database::Result<void> made = co_await table.make();
  if (!made) co_return;  // told by claim()
  const database::Result<std::vector<ExpiredJob>> expired =
      co_await table.expire(handler_.queue, options.attempts_max);
  if (!expired) co_return note_failure(expired.error(), "leases that are over were not found");
  instruments_.expired.add(expired->size());
  for (const ExpiredJob& job : *expired) {
    const bool is_dead = job.state == JobState::dead;
    const std::string what =
        fmt::format("the lease of job {} ended in attempt {}: {}", job.id, job.attempts,
                    is_dead ? "it is a dead letter" : "it is done again");
    tell(
        {.what = what, .place = place_, .severity = is_dead ? Severity::error : Severity::warning});
    if (!is_dead) woken_ = true;
  }
  if (woken_) signal_.set();
  static constexpr std::array ended = {JobState::done, JobState::dead};
  for (const JobState state : ended) {
    const bool is_done = state == JobState::done;
    const std::int64_t most = is_done ? options.done_max : options.dead_max;
    const Duration kept = is_done ? options.done_kept : options.dead_kept;
    const database::Result<std::int64_t> gone =
        co_await table.purge(handler_.queue, state, kept, most);
    if (!gone) co_return note_failure(gone.error(), "old jobs were not removed");
    instruments_.removed.add(static_cast<std::uint64_t>(*gone));
  }
  const database::Result<QueueDepth> depth = co_await table.depth(handler_.queue);
  if (!depth) co_return note_failure(depth.error(), "its depth could not be read");
  instruments_.ready.set(static_cast<double>(depth->ready));
  instruments_.delayed.set(static_cast<double>(depth->delayed));
  instruments_.dead.set(static_cast<double>(depth->dead));
  instruments_.oldest.set(static_cast<double>(depth->waited_us) / 1e6);
}

// ---- one attempt

Task<void> QueueRunner::attempt(ClaimedJob job, Instant lease_until) {
  Delivery delivery(queue_.table(), handler_.queue, std::move(job),
                    handler_.options.done_kept > Duration{});
  delivery.lease_until = lease_until;
  const Running running(*this, delivery);
  instruments_.wait.observe(delivery.waited());
  const Instant began = reactor_.now();
  Attempt ended;
  try {
    ended.result = co_await until_stopped(delivery);
  } catch (...) {
    ended.thrown = std::current_exception();
  }
  instruments_.run.observe(reactor_.now() - began);
  const Ended how = co_await conclude(delivery, std::move(ended));
  instruments_.attempts[static_cast<std::size_t>(how)].add();
}

void QueueRunner::add_attributes(trace::SpanRecord& record,
                                 const Delivery& delivery) const noexcept {
  record.add("katana.queue.name", handler_.queue);
  record.add("katana.queue.job_id", delivery.id());
  record.add("katana.queue.attempt", delivery.attempt());
  if (!delivery.request_id().empty()) record.add("katana.request_id", delivery.request_id());
  if (const auto producer = trace::parse_trace_parent(delivery.producer_trace())) {
    record.link = trace::remote_context(*producer);
  }
}

Task<Result<void>> QueueRunner::call(Delivery& delivery) {
  trace::RootSpan span(options_.tracer, place_, trace::SpanKind::consumer);
  try {
    Task<Result<void>> called = handler_.handler(delivery);
    Result<void> done = co_await net::with_timeout(std::move(called), handler_.options.timeout);
    span.end(done, [&](trace::SpanRecord& record) { add_attributes(record, delivery); });
    co_return done;
  } catch (...) {
    span.fail("exception", [&](trace::SpanRecord& record) { add_attributes(record, delivery); });
    throw;
  }
}

Task<Result<void>> QueueRunner::until_stopped(Delivery& delivery) {
  auto first = co_await when_any(call(delivery), stop_after(delivery, handler_.options.stop_grace));
  if (first.index() == 0) co_return std::get<0>(std::move(first));
  co_return std::get<1>(std::move(first));
}

Ended QueueRunner::outcome_of(const Delivery& delivery, const Attempt& ended) const noexcept {
  if (ended.result && !ended.thrown) return Ended::done;
  if (delivery.stopped() == Stopped::lease_lost) return Ended::lost;
  if (delivery.stopped() == Stopped::draining) return Ended::given_back;
  const bool is_last = delivery.attempt() >= std::int64_t{handler_.options.attempts_max};
  return is_last || delivery.gives_up() ? Ended::dead : Ended::retried;
}

Task<Ended> QueueRunner::conclude(Delivery& delivery, Attempt ended) {
  const Ended how = outcome_of(delivery, ended);
  std::string cause;
  if (how != Ended::done) {
    const Failure failure{.what = ended.thrown ? "the handler threw" : "the handler failed",
                          .exception = ended.thrown,
                          .error = ended.thrown ? nullptr : &ended.result.error(),
                          .place = place_,
                          .request_id = delivery.request_id(),
                          .severity = how == Ended::dead ? Severity::error : Severity::warning};
    if (how != Ended::given_back) tell(failure);
    cause = cause_of(failure).substr(0, failure_bytes_max);
  }
  // A transaction of the handler's has noted the end.
  const bool is_noted = how == Ended::done && delivery.is_completed_within();
  if (how == Ended::lost || is_noted) co_return how;
  bool may_be_noted = false;  // by a statement whose answer was lost
  while (true) {
    const database::Result<bool> noted = co_await note_end(delivery, how, cause);
    if (noted) {
      note_success();
      if (*noted || may_be_noted || delivery.is_completed_within()) co_return how;
      co_return Ended::lost;
    }
    note_failure(noted.error(), "the end of a job could not be noted");
    may_be_noted |= noted.error().kind() == database::Kind::unknown_outcome;
    if (reactor_.now() + conclusion_pause >= delivery.lease_until) break;
    co_await net::sleep_for(conclusion_pause);
  }
  const std::string what =
      fmt::format("the end of job {} ({}) was not noted while its lease lasted: it is done again",
                  delivery.id(), name_of(how));
  tell({.what = what, .place = place_, .severity = Severity::warning});
  co_return Ended::unknown;
}

Task<database::Result<bool>> QueueRunner::note_end(Delivery& delivery, Ended how,
                                                   std::string cause) {
  JobTable& table = queue_.table();
  const Lease lease = delivery.lease();
  if (how == Ended::done) {
    const database::Queries& queries = table.database();
    co_return co_await table.finish(queries, lease, handler_.options.done_kept > Duration{});
  }
  if (how == Ended::given_back) co_return co_await table.release(lease);
  if (how == Ended::dead) co_return co_await table.bury(lease, std::move(cause));
  const auto failures = static_cast<std::uint64_t>(delivery.attempt());
  Duration pause = delivery.pause_wanted();
  if (pause <= Duration{}) pause = backoff_of(handler_.options, failures, random_.next());
  co_return co_await table.retry(lease, pause, std::move(cause));
}

// ---- reports

// The first failure may be a moment, such as a transaction that another write waited for.
void QueueRunner::note_failure(const database::Error& error, const char* what) noexcept {
  instruments_.failures.add();
  if (++failed_in_a_row_ < 2) return;
  tell({.what = what, .error = &error, .place = place_, .severity = Severity::warning});
}

void QueueRunner::tell(const Failure& failure) const noexcept {
  FailureObserver* const observer =
      options_.failures != nullptr ? options_.failures : reactor_.tasks().options().failures;
  if (observer != nullptr) observer->on_failure(failure);
}

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
