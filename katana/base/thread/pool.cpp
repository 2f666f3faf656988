#include "katana/base/thread/pool.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <system_error>

#include "katana/base/system/check.hpp"
#include "katana/base/system/cpu_placement.hpp"
#include "katana/base/system/cpus.hpp"
#include "katana/base/system/failure.hpp"
#include "katana/base/system/misuse.hpp"
#include "katana/base/system/printing.hpp"
#include "katana/base/system/quiet_thread.hpp"

namespace katana::thread {
namespace {

// At most some milliseconds, on a machine so busy that workers are interrupted.
constexpr int held_rounds_max = 1000;

std::unexpected<Error> wrong(const PoolOptions& options, std::string what) {
  return fail(Code::invalid_argument, fmt::format("pool '{}': {}", options.name, what));
}

Result<void> check_cpus(const PoolOptions& options) {
  const std::vector<int> available = allowed_cpus();
  if (available.empty()) return {};
  for (const int cpu : options.cpus) {
    if (!std::ranges::binary_search(available, cpu)) {
      return wrong(options, fmt::format("CPU {} is not available to this process; it may use {}",
                                        cpu, fmt::join(available, " ")));
    }
  }
  return {};
}

// Replaces zeros by defaults, and rounds sizes up to powers of two.
Result<void> complete(PoolOptions& options) {
  if (options.name.empty()) return wrong(options, "its name is empty: give it one");
  if (options.threads_min == 0) options.threads_min = usable_cpus();
  if (options.threads_max == 0) options.threads_max = options.threads_min;
  if (options.threads_max > threads_limit || options.threads_min > options.threads_max) {
    return wrong(options,
                 fmt::format("threads_min is {} and threads_max {}: give 1 <= min <= max <= {}",
                             options.threads_min, options.threads_max, threads_limit));
  }
  if (options.queue_max == 0 || options.queue_max > queue_limit) {
    return wrong(options,
                 fmt::format("queue_max is {}: give 1 to {}", options.queue_max, queue_limit));
  }
  options.queue_max = std::bit_ceil(options.queue_max);
  if (!std::has_single_bit(options.timed_one_in)) {
    return wrong(options,
                 fmt::format("timed_one_in is {}: give a power of two", options.timed_one_in));
  }
  if (auto checked = Autoscaler::check(options.autoscale); !checked) {
    return wrong(options, checked.error().describe());
  }
  return check_cpus(options);
}

}  // namespace

Pool::Pool(PoolOptions options)
    : options_(std::move(options)),
      single_(options_.threads_max == 1),
      scales_(options_.threads_min < options_.threads_max),
      queues_{JobQueue(options_.queue_max, options_.timed_one_in),
              JobQueue(options_.queue_max, options_.timed_one_in),
              JobQueue(options_.queue_max, options_.timed_one_in)},
      workers_(std::make_unique<Worker[]>(options_.threads_max)),
      autoscaler_(options_.autoscale),
      timer_thread_(options_.clock, [this](Instant now) { return keep(now); }) {
  parked_.reserve(options_.threads_max);
}

Pool::~Pool() {
  stop(StopMode::graceful);
  sink_->detach();
  sink_->release();
}

Result<std::unique_ptr<Pool>> Pool::create(PoolOptions options) {
  if (auto completed = complete(options); !completed) return std::unexpected(completed.error());
  std::unique_ptr<Pool> pool(new Pool(std::move(options)));
  if (pool->options_.stopped) {
    (void)pool->stop(StopMode::immediate);
  } else if (auto started = pool->start(); !started) {
    return std::unexpected(started.error());
  }
  return pool;
}

Result<void> Pool::start() {
  for (unsigned count = 0; count < options_.threads_min; ++count) {
    if (auto added = add_worker(); !added) return added;
  }
  return scales_ ? timer_thread_.start(options_.name) : Result<void>{};
}

Result<void> Pool::add_worker() {
  std::uint32_t index = 0;
  while (workers_[index].alive.load(std::memory_order_relaxed)) ++index;
  Worker& worker = workers_[index];
  worker.index = index;
  worker.retire = false;
  worker.signal.store(0, std::memory_order_relaxed);
  // It begins as a searcher: no other worker is woken for the work that it will find.
  idle_.fetch_add(one_searching, std::memory_order_seq_cst);
  try {
    worker.thread = quiet_thread([this, &worker] { work(worker); });
  } catch (const std::system_error& error) {
    leave_search();
    return fail(Code::unavailable,
                fmt::format("pool '{}': no thread for worker {}: {}. Raise the limit of threads, "
                            "or lower threads_max",
                            options_.name, index, error.what()));
  }
  worker.alive.store(true, std::memory_order_relaxed);
  threads_.fetch_add(1, std::memory_order_relaxed);
  const std::string number = fmt::format("/{}", index);
  const std::string name = options_.name.substr(0, 15 - number.size()) + number;
  (void)pthread_setname_np(worker.thread.native_handle(), name.c_str());  // only for display
  if (!options_.cpus.empty()) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(options_.cpus[index % options_.cpus.size()], &one);
    // Checked at create(). If the process has lost the CPU since, the thread runs on other CPUs.
    (void)pthread_setaffinity_np(worker.thread.native_handle(), sizeof one, &one);
  }
  return {};
}

void Pool::end_worker(Worker& worker) noexcept {
  worker.thread.join();
  worker.alive.store(false, std::memory_order_relaxed);
  threads_.fetch_sub(1, std::memory_order_relaxed);
}

StopReport Pool::stop(StopMode mode) {
  if (current_ == this) {
    die_of_misuse(
        "Pool::stop() was called by a worker of the pool, which would wait for its own end",
        "stop the pool on the thread that made it");
  }
  if (mode == StopMode::immediate) {
    abandoning_.store(true, std::memory_order_seq_cst);
    stop_source_.request_stop();
  }
  const std::lock_guard lock(stop_mutex_);
  if (!stopped_) halt();
  return report_;
}

void Pool::halt() {
  std::vector<Schedule::Held> dropped;
  {
    const std::lock_guard lock(time_mutex_);
    timed_closed_ = true;
    dropped = schedule_.take_all();
  }
  // After this no worker is added or removed.
  timer_thread_.stop();
  // First the lanes, then the mark that lets workers end: an empty lane then stays empty.
  for (JobQueue& queue : queues_) queue.close();
  closing_.store(true, std::memory_order_seq_cst);
  for (CapacityWait& wait : capacity_changed_) {
    wait.epoch.fetch_add(1, std::memory_order_release);
    futex_wake(&wait.epoch, INT32_MAX);
  }
  wake_all();
  for (unsigned index = 0; index < options_.threads_max; ++index) {
    if (workers_[index].thread.joinable()) end_worker(workers_[index]);
  }
  stopped_ = true;
  const Snapshot last = snapshot();
  report_.ran = last.ran + last.failed;
  report_.cancelled = last.cancelled;
  for (std::size_t queue = 0; queue < priority_count; ++queue) {
    KATANA_CHECK(queues_[queue].waiting() == 0);
    report_.not_run[queue] = not_run_[queue].load(std::memory_order_relaxed);
  }
  report_.timed_not_run = static_cast<std::uint64_t>(
      std::ranges::count_if(dropped, [](const auto& entry) { return !entry->cancelled.load(); }));
}

Admission Pool::offer_slowly(const Job& job, Priority priority, WhenFull when_full) {
  // A stopped pool never accepts, and runs nothing here either.
  const auto queue = static_cast<std::size_t>(priority);
  const bool own_worker = current_ == this;  // it would wait for room that only it can make
  if (when_full == WhenFull::wait && !own_worker) return wait_for_capacity(job, queue);
  JobQueue::Push pushed = queues_[queue].push(job, clock_reader());
  // A worker may be interrupted while it takes a job out of a slot. The slot is free soon, and the
  // queue is not really full.
  for (int round = 0; pushed == JobQueue::Push::full && round < held_rounds_max; ++round) {
    if (queued(queue) >= queues_[queue].size()) break;
    std::this_thread::yield();
    pushed = queues_[queue].push(job, clock_reader());
  }
  switch (pushed) {
    case JobQueue::Push::done: notify(); return Admission::accepted;
    case JobQueue::Push::full:
      if (when_full != WhenFull::fail) return run_here(job);
      refused_.fetch_add(1, std::memory_order_relaxed);
      return Admission::full;
    case JobQueue::Push::closed: break;
  }
  refused_.fetch_add(1, std::memory_order_relaxed);
  return Admission::stopped;
}

Admission Pool::wait_for_capacity(const Job& job, std::size_t queue) {
  if (Executor::current() != nullptr) {
    throw_misuse(
        "a job was given to a full pool with WhenFull::wait on a reactor, which would stall "
        "its connections",
        "give WhenFull::fail there, and answer 503 when the queue is full");
  }
  CapacityWait& wait = capacity_changed_[queue];
  while (true) {
    const std::uint32_t epoch = wait.epoch.load(std::memory_order_acquire);
    wait.asked.store(true, std::memory_order_seq_cst);
    switch (queues_[queue].push(job, clock_reader())) {
      case JobQueue::Push::done: notify(); return Admission::accepted;
      case JobQueue::Push::closed:
        refused_.fetch_add(1, std::memory_order_relaxed);
        return Admission::stopped;
      case JobQueue::Push::full: break;
    }
    // Workers signal when a quarter of the lane is free: a burst then costs few wakes. After a
    // millisecond the lane is checked again.
    futex_wait(wait.epoch, epoch, milliseconds(1));
  }
}

std::uint64_t Pool::queued(std::size_t queue) const noexcept {
  std::uint64_t count = queues_[queue].waiting();
  for (unsigned index = 0; index < options_.threads_max; ++index) {
    const Claim claim(workers_[index].claim.load(std::memory_order_relaxed));
    if (claim.queue() == queue) count += claim.count();
  }
  return count;
}

void Pool::notify_capacity(std::size_t queue) noexcept {
  if (queues_[queue].waiting() > queues_[queue].size() / 4 * 3) return;
  CapacityWait& wait = capacity_changed_[queue];
  if (!wait.asked.exchange(false, std::memory_order_seq_cst)) return;
  wait.epoch.fetch_add(1, std::memory_order_release);
  futex_wake(&wait.epoch, INT32_MAX);
}

Admission Pool::run_here(Job job) {
  ran_here_.fetch_add(1, std::memory_order_relaxed);
  Pool* const outer = std::exchange(running_here_, this);
  try {
    if (job.act(job.payload, Order::run) == Ended::failed) {
      failed_here_.fetch_add(1, std::memory_order_relaxed);
    }
  } catch (...) {
    failed_here_.fetch_add(1, std::memory_order_relaxed);
    report_failure(std::current_exception());
  }
  running_here_ = outer;
  return Admission::ran_here;
}

void Pool::drop(Job job) noexcept { (void)job.act(job.payload, Order::cancel); }

Error Pool::error_of(Admission admission) const {
  return admission == Admission::full
             ? Error(Code::resource_exhausted,
                     fmt::format("the queue of pool '{}' is full ({} jobs). Try later, raise "
                                 "queue_max, or submit with another WhenFull",
                                 options_.name, queue_max()))
             : Error(Code::unavailable, fmt::format("pool '{}' is stopped", options_.name));
}

void Pool::report_failure(std::exception_ptr failure) noexcept {
  try {
    if (options_.on_failure) {
      options_.on_failure(std::move(failure));
    } else {
      print_failure(failure);
    }
  } catch (...) {  // on_failure threw: the job is counted as failed already
  }
}

void Pool::print_failure(const std::exception_ptr& failure) {
  constexpr Duration period = seconds(1);
  const std::int64_t now_ns = now().ns;
  std::int64_t next_ns = print_after_ns_.load(std::memory_order_relaxed);
  // relaxed: both only decide which thread prints.
  if (now_ns < next_ns || !print_after_ns_.compare_exchange_strong(next_ns, now_ns + period.ns,
                                                                   std::memory_order_relaxed)) {
    not_printed_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const std::string place = fmt::format("pool '{}'", options_.name);
  std::string line = describe({.what = "a job threw", .exception = failure, .place = place});
  const std::uint64_t left_out = not_printed_.exchange(0, std::memory_order_relaxed);
  if (left_out > 0) line += fmt::format(" (and {} that were left out)", left_out);
  print_error_line(line);
}

void detail::throw_wait_misuse() {
  throw_misuse("a Future was waited for on a reactor, which would stall its connections",
               "co_await Pool::run() instead, or wait on a thread of a pool");
}

void detail::throw_run_misuse(bool without_executor) {
  if (without_executor) {
    throw_misuse("Pool::run() was awaited on a thread without a reactor",
                 "await it in a handler or another coroutine that a reactor runs; elsewhere use "
                 "Pool::submit() and Future::get()");
  }
  throw_misuse("Pool::run() was asked for WhenFull::wait, which would block the reactor",
               "give WhenFull::fail, and answer 503 when the queue is full");
}

detail::FailureSink* detail::FailureSink::of_this_thread() noexcept {
  Pool* const pool = Pool::running_here_ != nullptr ? Pool::running_here_ : Pool::current_;
  if (pool == nullptr) return nullptr;
  pool->sink_->share();
  return pool->sink_;
}

void detail::FailureSink::report(std::exception_ptr failure) noexcept {
  const std::lock_guard lock(mutex_);
  if (pool_ != nullptr) return pool_->report_failure(std::move(failure));
  try {
    const std::string line =
        describe({.what = "a job threw", .exception = failure, .place = "a pool that has ended"});
    print_error_line(line);
  } catch (...) {  // out of memory: no line is printed
  }
}

void detail::FailureSink::detach() noexcept {
  const std::lock_guard lock(mutex_);
  pool_ = nullptr;
}

Snapshot Pool::snapshot() const {
  const auto read = [](const std::atomic<std::uint64_t>& count) {
    return count.load(std::memory_order_relaxed);
  };
  Snapshot shot;
  shot.name = options_.name;
  shot.threads = threads_.load(std::memory_order_relaxed);
  shot.threads_parked = parked(idle_.load(std::memory_order_relaxed));
  for (unsigned index = 0; index < options_.threads_max; ++index) {
    const Worker& worker = workers_[index];
    shot.ran += worker.ended[static_cast<std::size_t>(Ended::ran)].read();
    shot.failed += worker.ended[static_cast<std::size_t>(Ended::failed)].read();
    shot.cancelled += worker.ended[static_cast<std::size_t>(Ended::cancelled)].read();
    shot.stolen += worker.stolen.read();
    worker.wait.add_to(shot.wait);
    worker.run.add_to(shot.run);
  }
  for (std::size_t queue = 0; queue < priority_count; ++queue) {
    shot.queued[queue] = queued(queue);
    shot.accepted += queues_[queue].pushed();
  }
  shot.refused = read(refused_);
  shot.ran_here = read(ran_here_);
  shot.failed_here = read(failed_here_);
  shot.wakes = read(wakes_);
  shot.scaled_up = read(scaled_up_);
  shot.scaled_down = read(scaled_down_);
  shot.scale_failures = read(scale_failures_);
  shot.busy = busy_until(now());
  const std::lock_guard lock(time_mutex_);
  shot.timed_waiting = schedule_.size();
  shot.timed_missed = timed_missed_;
  return shot;
}

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
