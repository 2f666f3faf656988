// Pool: named worker threads that run jobs from a bounded queue.
//
//   auto pool = thread::Pool::create({.name = "files", .threads_min = 2});
//   (*pool)->post([] { … });                              // nobody waits
//   Future<int> answer = (*pool)->submit([] { … });       // a thread waits
//   Result<int> answer = co_await (*pool)->run([] { … }); // a coroutine waits
//
// Owns       its threads, and every accepted job until it has ended.
// Borrows    the clock of its options.
// Thread     everything but create() and the destructor may be called by any; stop() and the
//            destructor not by a worker of this pool.
// Allocates  at create(); for a job see make_job(), Future and Run.
// Fails      create() returns an Error that names the option. A submission that is not accepted
//            says why: full, or stopped.
// Invariant  an accepted job ends exactly once: it ran, or it was cancelled and counted. Jobs of
//            one priority begin in the order in which they were accepted when there is one worker;
//            with more of them nearly so.
//
// Awake workers: `idle_` counts workers that search for work and workers that are parked. A
// thread that adds work wakes a parked worker only if none searches; a searcher that finds
// something, and was the last one, wakes the next if more is left. Therefore a burst costs its
// sender one wake, whatever its size, and a busy pool costs it none. A worker that parks counts
// itself first and then looks once more, and a thread that adds work adds it first and then looks
// at the count: one of the two sees the other (both in the total order of seq_cst).
//
// Idle workers steal jobs that another worker has claimed and not begun, so no job waits
// behind a long one while somebody is idle.
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

// What became of a submission.
enum class Admission : std::uint8_t {
  accepted,  // it will end exactly once
  ran_here,  // WhenFull::run_here: it has ended already
  full,      // refused: the queue of its priority is full
  stopped,   // refused: the pool is stopping or stopped
};

// What stop() does with jobs that have not begun.
enum class StopMode : std::uint8_t {
  graceful,   // run what was accepted; delayed jobs whose time has not come are dropped and counted
  immediate,  // finish what runs, cancel what has not begun; stop_token() is asked to stop
};

class Pool {
 public:
  // Starts the threads. An Error names the option that is wrong, or says that a thread is missing.
  static Result<std::unique_ptr<Pool>> create(PoolOptions options);
  // stop(StopMode::graceful)
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // A job without a waiting caller. Its exceptions are counted and given to options.on_failure.
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

  // A job whose outcome somebody waits for. Refused: the future is ready and says so.
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

  // To be awaited by a coroutine of an executor, which goes on there. REQUIRES when_full other
  // than wait, which would block the executor.
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

  // A job for later, and one for every period from now on, the first after one period. A periodic
  // job whose turn comes while the last is queued or runs leaves that turn out. WhenFull is not
  // looked at: when the queue is full, the job is tried again after a millisecond.
  template <class F>
  Result<TimedJob> after(Duration delay, F&& f, JobOptions options = {}) {
    return add_timed(delay, Duration{}, std::forward<F>(f), std::move(options));
  }
  template <class F>
  Result<TimedJob> every(Duration period, F&& f, JobOptions options = {}) {
    // Without a period there is no next turn; a delay below 0 is what refuses it.
    return add_timed(period > Duration{} ? period : Duration{-1}, period, std::forward<F>(f),
                     std::move(options));
  }

  // Accepts nothing more, ends what was accepted as `mode` says, and ends the threads. Repeated:
  // the same report, after the first is done; immediate hastens a graceful stop that is under way.
  StopReport stop(StopMode mode);
  // Asked to stop by an immediate stop, for jobs that take long. A callable that takes a
  // std::stop_token, and has no other in its options, is given this one.
  std::stop_token stop_token() const noexcept { return stop_source_.get_token(); }

  Snapshot snapshot() const;  // from any thread, also after stop()
  std::string_view name() const noexcept { return options_.name; }  // PoolOptions::name
  // Limit of each priority, after rounding up.
  std::size_t queue_max() const noexcept { return queues_[0].size(); }
  // The pool whose worker this thread is; null when it is none.
  static Pool* current() noexcept { return current_; }

 private:
  template <class>
  friend class Run;
  friend class TimedJob;
  friend class detail::FailureSink;

  // Of idle_: searching workers in the upper half, parked ones in the lower.
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

  // A job without a token; made in the lane if it can be.
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
  // The job is the pool's in any case: one that is refused is destroyed.
  Admission admit(const Job& job, Priority priority, WhenFull when_full) {
    const Admission admission = offer(job, priority, when_full);
    if (admission > Admission::ran_here) [[unlikely]]
      drop(job);
    return admission;
  }
  // A job that is refused stays the caller's.
  Admission offer(const Job& job, Priority priority, WhenFull when_full) {
    if (queue_of(priority).push(job, clock_reader()) == JobQueue::Push::done) [[likely]] {
      notify();
      return Admission::accepted;
    }
    return offer_slowly(job, priority, when_full);
  }
  // The same for a job that is one pointer, which is made in the lane.
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

  // After work was added: wakes a worker if none is looking for work.
  void notify() noexcept {
    const std::uint64_t idle = idle_.load(std::memory_order_seq_cst);
    if (parked(idle) != 0 && searching(idle) == 0) [[unlikely]]
      wake_one();
  }
  KATANA_RARE void wake_one() noexcept;
  void wake_all() noexcept;

  // What a worker does; see pool_work.cpp.
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
  // Whose job runs on a thread that is none of its workers.
  inline static constinit thread_local Pool* running_here_ = nullptr;

  // Read by everybody, written at the start.
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
    FutexWord epoch = 0;              // moves when there is room
    std::atomic<bool> asked = false;  // somebody waits for that
  };
  std::array<CapacityWait, priority_count> capacity_changed_;

  alignas(64) mutable std::mutex park_mutex_;
  std::vector<Worker*> parked_;  // the last to park is the first to be woken

  std::atomic<std::uint64_t> refused_ = 0;
  std::atomic<std::uint64_t> ran_here_ = 0;
  std::atomic<std::uint64_t> failed_here_ = 0;
  std::atomic<std::int64_t> print_after_ns_ = INT64_MIN;  // of print_failure()
  std::atomic<std::uint64_t> not_printed_ = 0;
  std::atomic<std::uint64_t> wakes_ = 0;
  std::atomic<std::uint64_t> scaled_up_ = 0;
  std::atomic<std::uint64_t> scaled_down_ = 0;
  std::atomic<std::uint64_t> scale_failures_ = 0;
  std::array<std::atomic<std::uint64_t>, priority_count> not_run_{};

  mutable std::mutex time_mutex_;  // what follows
  Schedule schedule_;
  std::uint64_t timed_missed_ = 0;
  bool timed_closed_ = false;
  // Used by keep() alone.
  Autoscaler autoscaler_;
  Instant scale_due_ = never;
  Instant scaled_at_ = {};
  Duration busy_before_ = {};

  std::mutex stop_mutex_;  // what follows
  bool stopped_ = false;
  detail::FailureSink* const sink_ = new detail::FailureSink(*this);  // for outcomes left behind
  StopReport report_;

  std::stop_source stop_source_;
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
  if (cancel_.stop_possible()) return suspend_with(std::move(cancel_));
  return suspend_with(detail::NoToken{});
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
