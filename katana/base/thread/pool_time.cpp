// The timed work of a pool: delayed and periodic jobs, and scaling.
#include <algorithm>

#include "katana/base/system/check.hpp"
#include "katana/base/thread/pool.hpp"

namespace katana::thread {
namespace {

constexpr Duration full_retry = milliseconds(1);

}  // namespace

Result<TimedJob> TimedJob::begin(Pool& pool, Schedule::Held entry, Duration delay) {
  if (delay < Duration{}) {
    return fail(Code::invalid_argument, "a delay is negative, or a period not above 0");
  }
  if (auto started = pool.timer_thread_.start(pool.options_.name); !started) {
    return std::unexpected(started.error());
  }
  const Instant now = pool.now();
  entry->due = delay < never - now ? now + delay : never;
  {
    const std::lock_guard lock(pool.time_mutex_);
    if (pool.timed_closed_) return std::unexpected(pool.error_of(Admission::stopped));
    pool.schedule_.add(entry);
  }
  pool.timer_thread_.look_again();
  return TimedJob(std::move(entry));
}

Instant Pool::keep(Instant present) {
  if (scales_) scale(present);
  const std::lock_guard lock(time_mutex_);
  if (!timed_closed_) queue_due(present);
  return std::min(schedule_.next(), scale_due_);
}

void Pool::queue_due(Instant present) {
  while (const Schedule::Held entry = schedule_.take_due(present)) {
    if (entry->cancelled.load(std::memory_order_relaxed)) continue;
    const Job job = make_job([this, entry] { run_timed(entry); }, entry->options.cancel);
    JobQueue& queue = queues_[static_cast<std::size_t>(entry->options.priority)];
    if (queue.push(job, [present] { return present.ns; }) == JobQueue::Push::done) {
      notify();
    } else {  // full: closed it cannot be before timed_closed_
      drop(job);
      entry->due = present + full_retry;
      schedule_.add(entry);
    }
  }
}

void Pool::run_timed(const Schedule::Held& entry) {
  // The next turn follows, however this one ends.
  struct NextTurn {
    Pool& pool;
    const Schedule::Held& entry;
    ~NextTurn() { pool.arm_next_turn(entry); }
  } const next_turn{*this, entry};
  if (!entry->cancelled.load(std::memory_order_relaxed)) entry->f();
}

void Pool::arm_next_turn(const Schedule::Held& entry) {
  if (entry->period <= Duration{} || entry->cancelled.load(std::memory_order_relaxed)) return;
  {
    const std::lock_guard lock(time_mutex_);
    if (timed_closed_) return;
    entry->due = Schedule::next_turn(entry->due, entry->period, now(), timed_missed_);
    schedule_.add(entry);
  }
  timer_thread_.look_again();
}

Duration Pool::busy_until(Instant present) const noexcept {
  Duration busy;
  for (unsigned index = 0; index < options_.threads_max; ++index) {
    const std::int64_t since_ns = workers_[index].busy_since.load(std::memory_order_relaxed);
    busy.ns += static_cast<std::int64_t>(workers_[index].busy_ns.read());
    if (since_ns != Worker::not_busy) busy.ns += std::max<std::int64_t>(present.ns - since_ns, 0);
  }
  return busy;
}

// True if there is no work, and no worker to remove.
bool Pool::quiet() const noexcept {
  if (threads_.load(std::memory_order_relaxed) != options_.threads_min || any_work()) return false;
  for (unsigned index = 0; index < options_.threads_max; ++index) {
    if (workers_[index].busy_since.load(std::memory_order_seq_cst) != Worker::not_busy) {
      return false;
    }
  }
  return true;
}

// A quiet pool is not scaled: its timer thread can sleep. A worker that becomes busy notes that
// first, and then checks whether scaling rests. The order here is the reverse.
void Pool::scale(Instant present) {
  if (scale_due_ == never) {
    if (scaling_rests_.load(std::memory_order_seq_cst)) return;
    scaled_at_ = present;
    busy_before_ = busy_until(present);
    scale_due_ = present + options_.autoscale.interval;
    return;
  }
  if (present < scale_due_) return;
  const Duration busy = busy_until(present);
  const unsigned threads = threads_.load(std::memory_order_relaxed);
  const double share = static_cast<double>(busy.ns - busy_before_.ns) /
                       (static_cast<double>((present - scaled_at_).ns) * threads);
  scaled_at_ = present;
  busy_before_ = busy;
  scale_due_ = present + options_.autoscale.interval;
  switch (autoscaler_.next(share, threads, options_.threads_min, options_.threads_max)) {
    case Autoscaler::Step::up: scale_up(); break;
    case Autoscaler::Step::down: scale_down(); break;
    case Autoscaler::Step::none: break;
  }
  if (!quiet()) return;
  scaling_rests_.store(true, std::memory_order_seq_cst);
  if (quiet() || !scaling_rests_.exchange(false, std::memory_order_seq_cst)) scale_due_ = never;
}

void Pool::scale_up() {
  if (add_worker()) {
    scaled_up_.fetch_add(1, std::memory_order_relaxed);
  } else {
    scale_failures_.fetch_add(1, std::memory_order_relaxed);
  }
}

void Pool::scale_down() noexcept {
  Worker* worker;
  {
    const std::lock_guard lock(park_mutex_);
    if (parked_.empty()) return;  // all have found work just now: they are needed
    worker = parked_.front();     // the worker that has slept longest
    parked_.erase(parked_.begin());
    idle_.fetch_sub(one_parked, std::memory_order_seq_cst);
  }
  worker->retire = true;
  worker->signal.store(1, std::memory_order_release);
  futex_wake(&worker->signal, 1);
  end_worker(*worker);
  scaled_down_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
