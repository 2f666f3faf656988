// Pool: named worker threads that run jobs from a bounded queue.
//
//   auto pool = thread::Pool::create({.name = "files", .threads_min = 2});
//   (*pool)->post([] { … });                              // without a waiter
//   Future<int> answer = (*pool)->submit([] { … });       // a thread waits
//   Result<int> answer = co_await (*pool)->run([] { … }); // a coroutine waits
//
// Owns       its threads, and every accepted job until it has ended.
// Borrows    the clock of its options.
// Thread     everything but create() and the destructor may be called by any; stop() and the
//            destructor not by a worker of this pool.
// Allocates  at create(); for a job see make_job(), Future and Run.
// Fails      create() returns an Error that names the option. A refused submission returns the
//            reason: full, or stopped.
// Invariant  an accepted job ends exactly once: it ran, or it was cancelled and counted. With one
//            worker, jobs of one priority begin in the order in which they were accepted. With
//            more workers the order is nearly the same.
//
// Awake workers: `idle_` counts workers that search for work and workers that are parked. A
// thread that adds work wakes a parked worker only if none searches. The last searcher that finds
// work wakes the next worker if more work is left. Therefore a burst of any size costs its sender
// one wake, and a busy pool costs it none. A worker that parks counts itself first and then looks
// once more. A thread that adds work adds it first and then reads the count. One of the two sees
// the other, because both use the total order of seq_cst.
//
// Idle workers steal jobs that another worker has claimed and not begun. No job therefore waits
// behind a long one while a worker is idle.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "katana/base/system/futex.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/thread/autoscaler.hpp"
#include "katana/base/thread/clock.hpp"
#include "katana/base/thread/future.hpp"
#include "katana/base/thread/job.hpp"
#include "katana/base/thread/job_queue.hpp"
#include "katana/base/thread/pool_options.hpp"
#include "katana/base/thread/run.hpp"
#include "katana/base/thread/schedule.hpp"
#include "katana/base/thread/snapshot.hpp"
#include "katana/base/thread/timed_job.hpp"
#include "katana/base/thread/timer_thread.hpp"
#include "katana/base/thread/worker.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::thread {

// The result of a submission.
enum class Admission : std::uint8_t {
  accepted,  // it will end exactly once
  ran_here,  // WhenFull::run_here: it has ended already
  full,      // refused: the queue of its priority is full
  stopped,   // refused: the pool is stopping or stopped
};

// The way in which stop() treats jobs that have not begun.
enum class StopMode : std::uint8_t {
  graceful,   // run accepted jobs; drop and count delayed jobs that are not due
  immediate,  // finish running jobs, cancel all others; stop_token() is asked to stop
};

class Pool {
 public:
  // Starts the threads. An Error names the wrong option, or tells that a thread could not start.
  static Result<std::unique_ptr<Pool>> create(PoolOptions options);
  // Calls stop(StopMode::graceful).
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Adds a job without a waiter. Its exceptions are counted and given to options.on_failure.
  template <class F>
  [[nodiscard]] Admission post(F&& f) {
    if constexpr (takes_token<F>) {
      return post(std::forward<F>(f), JobOptions{});
    } else {
      return post_plain(std::forward<F>(f), Priority::normal, WhenFull::fail);
    }
  }
  template <class F>
  [[nodiscard]] Admission post(F&& f, const JobOptions& options) {
    if (takes_token<F> || options.cancel.stop_possible()) {
      return admit(make_job(std::forward<F>(f), token_of<F>(options.cancel)), options.priority,
                   options.when_full);
    }
    return post_plain(std::forward<F>(f), options.priority, options.when_full);
  }

  // Adds a job, and returns a Future for its outcome. The Future of a refused job is ready and has
  // the reason.
  template <class F>
  auto submit(F&& f) {
    using Callable = std::decay_t<F>;
    if constexpr (takes_token<F>) {
      return submit(std::forward<F>(f), JobOptions{});
    } else {
      return submit_call<Callable, detail::NoToken>(std::forward<F>(f), {}, Priority::normal,
                                                    WhenFull::fail);
    }
  }
  template <class F>
  auto submit(F&& f, const JobOptions& options) {
    if (takes_token<F> || options.cancel.stop_possible()) {
      return submit_call<std::decay_t<F>, std::stop_token>(
          std::forward<F>(f), token_of<F>(options.cancel), options.priority, options.when_full);
    }
    return submit_call<std::decay_t<F>, detail::NoToken>(std::forward<F>(f), {}, options.priority,
                                                         options.when_full);
  }

  // Adds a job that a coroutine awaits; the coroutine goes on on its executor. REQUIRES a when_full
  // other than WhenFull::wait, which would block the executor.
  template <class F>
  Run<std::decay_t<F>> run(F&& f, RunOptions options = {}, std::stop_token cancel = {}) {
    using Callable = std::decay_t<F>;
    static_assert(std::is_trivially_destructible_v<Callable>,
                  "name this callable and give it: auto job = …; co_await pool.run(give(job)). "
                  "g++ 12 would destroy it twice, see run.hpp");
    return Run<Callable>(*this, Callable(std::forward<F>(f)), options,
                         token_of<F>(std::move(cancel)));
  }
  template <class F>
  Run<F> run(Given<F> given, RunOptions options = {}, std::stop_token cancel = {}) {
    return Run<F>(*this, std::move(*given.callable), options, token_of<F>(std::move(cancel)));
  }

  // after(): adds a job that runs once after `delay`. every(): adds a job that runs once in each
  // period, first after one period. A turn that comes while the last one is queued or runs is left
  // out. WhenFull is ignored: if the queue is full, the pool tries again after a millisecond.
  template <class F>
  Result<TimedJob> after(Duration delay, F&& f, JobOptions options = {}) {
    return add_timed(delay, Duration{}, std::forward<F>(f), std::move(options));
  }
  template <class F>
  Result<TimedJob> every(Duration period, F&& f, JobOptions options = {}) {
    // A period of 0 has no next turn. A delay below 0 makes add_timed() refuse it.
    return add_timed(period > Duration{} ? period : Duration{-1}, period, std::forward<F>(f),
                     std::move(options));
  }

  // Refuses further jobs, ends the accepted ones as `mode` says, and ends the threads. A repeated
  // call waits for the first one and returns the same report; `immediate` shortens a graceful stop.
  StopReport stop(StopMode mode);
  // A token for long jobs, which an immediate stop asks to stop. A callable that takes a
  // std::stop_token gets this one if its options have none.
  std::stop_token stop_token() const noexcept { return stop_source_.get_token(); }

  Snapshot snapshot() const;  // from any thread, also after stop()
  std::string_view name() const noexcept { return options_.name; }  // PoolOptions::name
  // The limit of queued jobs of each priority, after rounding up.
  std::size_t queue_max() const noexcept { return queues_[0].size(); }
  // From now on the observer is told of each job that a coroutine awaits within an activity with a
  // span. It outlives these coroutines. Null: none is told.
  void observe_runs(RunObserver* observer) noexcept {
    run_observer_.store(observer, std::memory_order_release);
  }
  RunObserver* run_observer() const noexcept {
    return run_observer_.load(std::memory_order_acquire);
  }
  // The pool whose worker this thread is; null when it is none.
  static Pool* current() noexcept { return current_; }

 private:
  template <class>
  friend class Run;
  friend class TimedJob;
  friend class detail::FailureSink;

  // The halves of idle_: searching workers in the upper half, parked ones in the lower.
  static constexpr std::uint64_t one_parked = 1;
  static constexpr std::uint64_t one_searching = std::uint64_t{1} << 32;
  static constexpr unsigned searching(std::uint64_t idle) { return unsigned(idle >> 32); }
  static constexpr unsigned parked(std::uint64_t idle) { return unsigned(idle & 0xffffffff); }

  template <class F>
  static constexpr bool takes_token = std::is_invocable_v<std::decay_t<F>&, std::stop_token>;

  explicit Pool(PoolOptions options);

  template <class F>
  std::stop_token token_of(std::stop_token given) const noexcept {
    return takes_token<F> && !given.stop_possible() ? stop_token() : given;
  }
  template <class F, class Token>
  Future<std::remove_cvref_t<Returned<F>>> submit_call(F f, Token token, Priority priority,
                                                       WhenFull when_full);
  template <class F>
  Result<TimedJob> add_timed(Duration delay, Duration period, F&& f, JobOptions options);

  // Adds a job without a token. The callable is made in its lane if it fits.
  template <class F>
  Admission post_plain(F&& f, Priority priority, WhenFull when_full) {
    using Callable = std::decay_t<F>;
    if constexpr (detail::lies_in_job<Callable>) {
      const auto write = [&f](void* payload) { new (payload) Callable(std::forward<F>(f)); };
      if (queue_of(priority).push(&detail::act_in_place<Callable>, write, clock_reader()) ==
          JobQueue::Push::done) [[likely]] {
        notify();
        return Admission::accepted;
      }
    }
    return admit(make_job(std::forward<F>(f)), priority, when_full);
  }
  // Takes the job in any case, and destroys it if it is refused.
  Admission admit(const Job& job, Priority priority, WhenFull when_full) {
    const Admission admission = offer(job, priority, when_full);
    if (admission > Admission::ran_here) [[unlikely]]
      drop(job);
    return admission;
  }
  // The caller keeps a job that is refused.
  Admission offer(const Job& job, Priority priority, WhenFull when_full) {
    if (queue_of(priority).push(job, clock_reader()) == JobQueue::Push::done) [[likely]] {
      notify();
      return Admission::accepted;
    }
    return offer_slowly(job, priority, when_full);
  }
  // The same for a job that is one pointer; it is made in the lane.
  template <class T>
  Admission offer(Job::Act act, T* object, Priority priority, WhenFull when_full) {
    const auto write = [object](void* payload) { new (payload) T*(object); };
    if (queue_of(priority).push(act, write, clock_reader()) == JobQueue::Push::done) [[likely]] {
      notify();
      return Admission::accepted;
    }
    return offer_slowly(detail::job_of(act, object), priority, when_full);
  }
  JobQueue& queue_of(Priority priority) noexcept {
    return queues_[static_cast<std::size_t>(priority)];
  }
  struct ClockReader {
    const Pool& pool;
    std::int64_t operator()() const noexcept { return pool.now().ns; }
  };
  ClockReader clock_reader() const noexcept { return {*this}; }
  KATANA_RARE Admission offer_slowly(const Job& job, Priority priority, WhenFull when_full);
  Admission wait_for_capacity(const Job& job, std::size_t queue);
  Admission run_here(Job job);
  KATANA_RARE static void drop(Job job) noexcept;
  Error error_of(Admission admission) const;
  KATANA_RARE void notify_capacity(std::size_t queue) noexcept;

  // Called after work was added: wakes a worker if none searches for work.
  void notify() noexcept {
    const std::uint64_t idle = idle_.load(std::memory_order_seq_cst);
    if (parked(idle) != 0 && searching(idle) == 0) [[unlikely]]
      wake_one();
  }
  KATANA_RARE void wake_one() noexcept;
  void wake_all() noexcept;

  // The work of a worker; see pool_work.cpp.
  void work(Worker& worker) noexcept;
  bool find(Worker& worker, Worker::Taken& taken) noexcept;
  bool search(Worker& worker, Worker::Taken& taken) noexcept;
  void leave_search() noexcept;
  bool park(Worker& worker) noexcept;
  bool take(Worker& worker, Worker::Taken& taken) noexcept;
  bool take_from(Worker& worker, std::size_t queue, Worker::Taken& taken) noexcept;
  bool take_own(Worker& worker, Worker::Taken& taken) noexcept;
  bool has_more_urgent(std::size_t queue) const noexcept;
  bool steal(Worker& worker, Worker::Taken& taken, std::uint64_t behind_min) noexcept;
  std::uint64_t queued(std::size_t queue) const noexcept;
  void pick_up(Worker::Taken& taken, std::size_t queue, std::uint64_t position) noexcept {
    taken.job = queues_[queue].take(position, taken.pushed_ns);
    taken.queue = queue;
    if (capacity_changed_[queue].asked.load(std::memory_order_relaxed)) [[unlikely]]
      notify_capacity(queue);
  }
  void run_job(Worker& worker, Worker::Taken& taken) noexcept;
  void report_failure(std::exception_ptr failure) noexcept;
  void print_failure(const std::exception_ptr& failure);
  bool any_work() const noexcept;
  void note_busy(Worker& worker) noexcept;

  // Threads and time; see pool.cpp and pool_time.cpp.
  Result<void> start();
  Result<void> add_worker();
  void end_worker(Worker& worker) noexcept;
  Instant now() const noexcept { return timer_thread_.now(); }
  Instant keep(Instant now);
  void queue_due(Instant now);
  void run_timed(const Schedule::Held& entry);
  void arm_next_turn(const Schedule::Held& entry);
  void scale(Instant now);
  void scale_up();
  void scale_down() noexcept;
  bool quiet() const noexcept;
  Duration busy_until(Instant now) const noexcept;
  void halt();

  inline static constinit thread_local Pool* current_ = nullptr;
  // The pool whose job runs on this thread, if the thread is none of its workers.
  inline static constinit thread_local Pool* running_here_ = nullptr;

  // Written at the start, and read by all threads.
  PoolOptions options_;
  bool single_ = false;  // never more than one worker: claims cannot be stolen
  bool scales_ = false;  // threads_min < threads_max
  std::array<JobQueue, priority_count> queues_;
  std::unique_ptr<Worker[]> workers_;  // threads_max of them

  alignas(64) std::atomic<std::uint64_t> idle_ = 0;
  std::atomic<bool> closing_ = false;     // the lanes are closed, or about to be
  std::atomic<bool> abandoning_ = false;  // jobs that have not begun are cancelled
  std::atomic<bool> scaling_rests_ = true;
  std::atomic<unsigned> threads_ = 0;

  // For senders that wait for room in a lane.
  struct alignas(64) CapacityWait {
    FutexWord epoch = 0;              // changes when there is room
    std::atomic<bool> asked = false;  // a sender waits for room
  };
  std::array<CapacityWait, priority_count> capacity_changed_;

  alignas(64) mutable std::mutex park_mutex_;
  std::vector<Worker*> parked_;  // the last to park is the first to be woken

  std::atomic<std::uint64_t> refused_ = 0;
  std::atomic<std::uint64_t> ran_here_ = 0;
  std::atomic<std::uint64_t> failed_here_ = 0;
  std::atomic<std::int64_t> print_after_ns_ = INT64_MIN;  // earliest next line of print_failure()
  std::atomic<std::uint64_t> not_printed_ = 0;
  std::atomic<std::uint64_t> wakes_ = 0;
  std::atomic<std::uint64_t> scaled_up_ = 0;
  std::atomic<std::uint64_t> scaled_down_ = 0;
  std::atomic<std::uint64_t> scale_failures_ = 0;
  std::array<std::atomic<std::uint64_t>, priority_count> not_run_{};

  mutable std::mutex time_mutex_;  // guards the members below, up to the next comment
  Schedule schedule_;
  std::uint64_t timed_missed_ = 0;
  bool timed_closed_ = false;
  // Used by keep() alone.
  Autoscaler autoscaler_;
  Instant scale_due_ = never;
  Instant scaled_at_ = {};
  Duration busy_before_ = {};

  std::mutex stop_mutex_;  // guards the members below
  bool stopped_ = false;
  detail::FailureSink* const sink_ = new detail::FailureSink(*this);  // for untaken outcomes
  StopReport report_;

  std::stop_source stop_source_;
  std::atomic<RunObserver*> run_observer_ = nullptr;
  TimerThread timer_thread_;
};

template <class F, class Token>
Future<std::remove_cvref_t<Returned<F>>> Pool::submit_call(F f, Token token, Priority priority,
                                                           WhenFull when_full) {
  using Call = detail::FutureCall<F, Token>;
  auto* const call = make_recycled<Call>(std::move(f), std::move(token));
  Future<std::remove_cvref_t<Returned<F>>> future(call);
  const Admission admission = offer(&Call::act, call, priority, when_full);
  if (admission > Admission::ran_here) [[unlikely]] {
    std::destroy_at(&call->f);
    (void)call->outcome.refuse(error_of(admission));
    call->complete();
  }
  return future;
}

template <class F>
Result<TimedJob> Pool::add_timed(Duration delay, Duration period, F&& f, JobOptions options) {
  auto entry = std::make_shared<Schedule::Entry>();
  if constexpr (takes_token<F>) {
    entry->f = [f = std::forward<F>(f), token = token_of<F>(options.cancel)]() mutable {
      (void)f(token);
    };
  } else {
    entry->f = [f = std::forward<F>(f)]() mutable { (void)f(); };
  }
  entry->options = std::move(options);
  entry->period = period;
  return TimedJob::begin(*this, std::move(entry), delay);
}

template <class F>
bool Run<F>::await_suspend(std::coroutine_handle<> waiting) {
  waiting_ = waiting;
  if (current_activity != nullptr && current_activity->span != nullptr) [[unlikely]]
    observe();
  if (cancel_.stop_possible()) return suspend_with(std::move(cancel_));
  return suspend_with(detail::NoToken{});
}

template <class F>
void Run<F>::observe() noexcept {
  observer_ = pool_.run_observer();
  if (observer_ != nullptr) began_ = observer_->now();
}

template <class F>
void Run<F>::tell(std::string_view error) noexcept {
  std::exchange(observer_, nullptr)->on_run({pool_.name(), began_, error});
}

template <class F>
typename Run<F>::Value Run<F>::take_observed() {
  try {
    Value value = state_->outcome.take();
    tell(value ? std::string_view() : code_name(value.error().code()));
    return value;
  } catch (...) {
    tell("exception");
    throw;
  }
}

template <class F>
template <class Token>
bool Run<F>::suspend_with(Token token) {
  Executor* const executor = Executor::current();
  if (executor == nullptr || options_.when_full == WhenFull::wait) [[unlikely]] {
    detail::throw_run_misuse(executor == nullptr);
  }
  using Call = detail::RunCall<F, Token>;
  auto* const call = make_recycled<Call>(std::move(f_), std::move(token), *executor);
  state_ = call;
  state_->waiting = &waiting_;
  executor->expect();
  const Admission admission = pool_.offer(&Call::act, call, options_.priority, options_.when_full);
  if (admission <= Admission::ran_here) [[likely]]
    return true;
  executor->unexpect();
  state_->waiting = nullptr;
  std::destroy_at(&call->f);
  (void)state_->outcome.refuse(pool_.error_of(admission));
  return false;
}

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
