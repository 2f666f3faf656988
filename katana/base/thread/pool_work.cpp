// The workers of a pool: they find a job, run it, search, and park.
#include <algorithm>
#include <thread>

#include "katana/base/system/adaptive_spin.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/thread/pool.hpp"

namespace katana::thread {
namespace {

// The jobs of one claim: a claim takes a batch by one exchange on the shared head.
constexpr std::size_t claim_max = 32;
static_assert(claim_max <= Claim::count_limit);
// Each of several workers leaves the others their part, and half of it for the next one.
constexpr std::size_t claim_share = 2;
// A claim whose owner is in a long job must not wait until the lane is empty. Once in this number
// of claims, a worker first looks for a claim that is this far behind the lane's head.
constexpr std::uint32_t left_behind_one_in = 4;
constexpr std::uint64_t left_behind_min = 8 * claim_max;
// Once in this number of picks the lowest priority comes first: no priority can starve.
constexpr std::uint32_t lowest_first_one_in = 32;
// Before a worker reports that it is idle it waits for a moment. It reads no memory that a sender
// writes. A stream of jobs then arrives in batches and at the sender's pace.
constexpr int brief_rounds = 4;
constexpr int brief_pauses = 16;
// A worker searches for work for this number of rounds, each with this number of pauses, before it
// sleeps.
constexpr int search_rounds = 64;
constexpr int search_pauses = 16;
constexpr int search_yield_one_in = 8;

}  // namespace

void Pool::work(Worker& worker) noexcept {
  current_ = this;
  Worker::Taken taken;
  if (!search(worker, taken)) return;
  do {
    run_job(worker, taken);
  } while (find(worker, taken));
}

bool Pool::find(Worker& worker, Worker::Taken& taken) noexcept {
  if (take(worker, taken)) [[likely]]
    return true;
  for (int round = 0; round < brief_rounds; ++round) {
    for (int pause = 0; pause < brief_pauses; ++pause) relax();
    if (take(worker, taken)) return true;
  }
  const Instant since{worker.busy_since.load(std::memory_order_relaxed)};
  worker.busy_ns.add(static_cast<std::uint64_t>((now() - since).ns));
  worker.busy_since.store(Worker::not_busy, std::memory_order_relaxed);
  idle_.fetch_add(one_searching, std::memory_order_seq_cst);
  return search(worker, taken);
}

bool Pool::search(Worker& worker, Worker::Taken& taken) noexcept {
  do {
    for (int round = 1; round <= search_rounds; ++round) {
      if (take(worker, taken)) {
        note_busy(worker);
        leave_search();
        return true;
      }
      // acquire: the lanes were closed before the mark was set.
      if (closing_.load(std::memory_order_acquire) &&
          std::ranges::all_of(queues_,
                              [](const JobQueue& queue) { return queue.waiting() == 0; })) {
        idle_.fetch_sub(one_searching, std::memory_order_seq_cst);
        return false;
      }
      if (round % search_yield_one_in == 0) {
        std::this_thread::yield();  // a sending thread may need this CPU
      } else {
        for (int pause = 0; pause < search_pauses; ++pause) relax();
      }
    }
  } while (park(worker));
  return false;
}

void Pool::leave_search() noexcept {
  const std::uint64_t before = idle_.fetch_sub(one_searching, std::memory_order_seq_cst);
  // Threads that added work while this worker searched have woken no worker.
  if (searching(before) == 1 && parked(before) != 0 && any_work()) wake_one();
}

bool Pool::any_work() const noexcept {
  if (std::ranges::any_of(queues_, [](const JobQueue& queue) { return queue.waiting() != 0; }))
    return true;
  if (single_) return false;
  for (unsigned index = 0; index < options_.threads_max; ++index) {
    if (Claim(workers_[index].claim.load(std::memory_order_seq_cst)).count() != 0) return true;
  }
  return false;
}

bool Pool::park(Worker& worker) noexcept {
  {
    const std::lock_guard lock(park_mutex_);
    worker.signal.store(0, std::memory_order_relaxed);
    parked_.push_back(&worker);
    // It counts as parked before it looks once more (see "Awake workers" in pool.hpp).
    idle_.fetch_add(one_parked - one_searching, std::memory_order_seq_cst);
  }
  if (any_work() || closing_.load(std::memory_order_seq_cst)) {
    const std::lock_guard lock(park_mutex_);
    if (std::erase(parked_, &worker) != 0) {
      idle_.fetch_add(one_searching - one_parked, std::memory_order_seq_cst);
      return true;
    }
    // Another thread is about to wake this worker, and has counted it as searching.
  }
  // acquire: `retire` was written before the signal.
  while (worker.signal.load(std::memory_order_acquire) == 0) futex_wait(worker.signal, 0);
  return !worker.retire;
}

void Pool::wake_one() noexcept {
  Worker* worker;
  {
    const std::lock_guard lock(park_mutex_);
    if (parked_.empty() || searching(idle_.load(std::memory_order_seq_cst)) != 0) return;
    worker = parked_.back();
    parked_.pop_back();
    idle_.fetch_add(one_searching - one_parked, std::memory_order_seq_cst);
  }
  wakes_.fetch_add(1, std::memory_order_relaxed);
  worker->signal.store(1, std::memory_order_release);
  futex_wake(&worker->signal, 1);
}

void Pool::wake_all() noexcept {
  const std::lock_guard lock(park_mutex_);
  for (Worker* const worker : parked_) {
    idle_.fetch_add(one_searching - one_parked, std::memory_order_seq_cst);
    worker->signal.store(1, std::memory_order_release);
    futex_wake(&worker->signal, 1);
  }
  parked_.clear();
}

bool Pool::take(Worker& worker, Worker::Taken& taken) noexcept {
  static_assert(priority_count == 3);
  const bool lowest_first = (worker.picks + 1) % lowest_first_one_in == 0;
  const Claim own(worker.claim.load(std::memory_order_relaxed));
  // The ordinary case: go on with claimed jobs, unless a more urgent job has arrived.
  if (own.count() != 0 && !lowest_first && !has_more_urgent(own.queue()) &&
      take_own(worker, taken)) {
    ++worker.picks;
    return true;
  }
  for (std::size_t turn = 0; turn < priority_count; ++turn) {
    if (take_from(worker, lowest_first ? priority_count - 1 - turn : turn, taken)) {
      ++worker.picks;
      return true;
    }
  }
  return !single_ && steal(worker, taken, 0);
}

bool Pool::has_more_urgent(std::size_t queue) const noexcept {
  return std::any_of(queues_.begin(), queues_.begin() + static_cast<std::ptrdiff_t>(queue),
                     [](const JobQueue& each) { return !each.looks_empty(); });
}

// Takes the first job of this worker's claim, unless thieves were faster.
bool Pool::take_own(Worker& worker, Worker::Taken& taken) noexcept {
  std::uint64_t word = worker.claim.load(std::memory_order_relaxed);
  while (Claim(word).count() != 0) {
    const Claim own(word);
    if (single_) {
      worker.claim.store(own.without_front().word(), std::memory_order_relaxed);
    } else if (!worker.claim.compare_exchange_weak(word, own.without_front().word(),
                                                   std::memory_order_acq_rel,
                                                   std::memory_order_relaxed)) {
      continue;
    }
    pick_up(taken, own.queue(), own.begin());
    return true;
  }
  return false;
}

bool Pool::take_from(Worker& worker, std::size_t queue, Worker::Taken& taken) noexcept {
  const Claim own(worker.claim.load(std::memory_order_relaxed));
  // Claimed jobs of this lane are older than the jobs that are still in it.
  if (own.count() != 0 && own.queue() == queue && take_own(worker, taken)) return true;
  if (queues_[queue].looks_empty()) return false;
  if (!single_ && own.count() == 0 && ++worker.claims % left_behind_one_in == 0 &&
      steal(worker, taken, left_behind_min)) {
    return true;
  }
  // A worker has room for one claim. Until it is used up, jobs of other lanes are taken one by one.
  // Only its owner adds to a claim: an empty one stays empty.
  const bool free = Claim(worker.claim.load(std::memory_order_relaxed)).count() == 0;
  const std::size_t share = single_ ? 1 : claim_share * options_.threads_max;
  std::uint64_t begin;
  const std::size_t count = queues_[queue].claim(free ? claim_max : 1, share, begin);
  if (count == 0) return false;
  if (count > 1) {
    // seq_cst: ordered before the read of the parked workers, as a push is.
    worker.claim.store(Claim(begin + 1, queue, count - 1).word(),
                       single_ ? std::memory_order_relaxed : std::memory_order_seq_cst);
    if (!single_) notify();
  }
  pick_up(taken, queue, begin);
  return true;
}

// Steals half of the jobs that another worker has claimed and not begun, from the back. The claim
// must be at least `behind_min` positions behind the head.
bool Pool::steal(Worker& worker, Worker::Taken& taken, std::uint64_t behind_min) noexcept {
  for (unsigned next = 1; next < options_.threads_max; ++next) {
    Worker& victim = workers_[(worker.index + next) % options_.threads_max];
    std::uint64_t word = victim.claim.load(std::memory_order_acquire);
    while (Claim(word).count() != 0) {
      const Claim claim(word);
      if (claim.behind(queues_[claim.queue()].claimed()) < behind_min) break;
      const std::size_t count = (claim.count() + 1) / 2;
      if (!victim.claim.compare_exchange_weak(word, claim.without_back(count).word(),
                                              std::memory_order_acq_rel,
                                              std::memory_order_acquire)) {
        continue;
      }
      const std::uint64_t begin = claim.begin() + claim.count() - count;
      if (count > 1) {
        worker.claim.store(Claim(begin + 1, claim.queue(), count - 1).word(),
                           std::memory_order_seq_cst);
      }
      worker.stolen.add(count);
      pick_up(taken, claim.queue(), begin);
      return true;
    }
  }
  return false;
}

void Pool::run_job(Worker& worker, Worker::Taken& taken) noexcept {
  Order order = Order::run;
  if (abandoning_.load(std::memory_order_relaxed)) [[unlikely]] {
    order = Order::cancel;
    not_run_[taken.queue].fetch_add(1, std::memory_order_relaxed);
  }
  const bool timed = taken.pushed_ns != JobQueue::not_timed && order == Order::run;
  Instant begun;
  if (timed) {
    begun = now();
    worker.wait.record(begun - Instant{taken.pushed_ns});
  }
  Ended ended;
  try {
    ended = taken.job.act(taken.job.payload, order);
  } catch (...) {
    ended = Ended::failed;
    report_failure(std::current_exception());
  }
  if (timed) worker.run.record(now() - begun);
  worker.ended[static_cast<std::size_t>(ended)].add(1);
}

void Pool::note_busy(Worker& worker) noexcept {
  // seq_cst: ordered before the check whether scaling rests; see Pool::scale().
  worker.busy_since.store(now().ns, std::memory_order_seq_cst);
  if (scales_ && scaling_rests_.load(std::memory_order_seq_cst) &&
      scaling_rests_.exchange(false, std::memory_order_seq_cst)) {
    timer_thread_.look_again();
  }
}

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
