#include "katana/stores/database/sqlite/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "katana/base/system/adaptive_spin.hpp"
#include "katana/base/system/alarm.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/cpus.hpp"
#include "katana/stores/database/sqlite/waiting.hpp"

namespace katana::database::sqlite {

Writer::Writer(const Options& options, Watch& watch, const std::function<Instant()>& clock)
    : Message(&drain_message),
      options_(options),
      watch_(watch),
      clock_(clock),
      // In virtual time no call comes while the writer waits.
      lingering_(options.test_hooks.clock ? Duration{} : spin_for(options.writer_linger)),
      gathering_(options.test_hooks.clock ? Duration{} : spin_for(options.writer_gathers)) {}

Writer::~Writer() { KATANA_REQUIRE(queue_.empty() && within_.empty()); }

Result<void> Writer::open(Access access) {
  auto opened = Connection::open(options_, access, clock_);
  if (!opened) return std::unexpected(opened.error());
  connection_ = *std::move(opened);
  connection_->generation = watch_.generation();
  identity_ = FileIdentity::of(options_.path, options_.vfs);
  if (const int code = connection_->renew_log(); code != SQLITE_OK) {
    return std::unexpected(connection_->error(code, {}));
  }
  return {};
}

void Writer::submit(WorkList& works) noexcept {
  const Instant now = clock_();
  watch_.note_use();
  Completions done;
  const std::lock_guard lock(mutex_);
  while (Work* const work = works.pop()) {
    begin_waiting(*work, options_, now);
    const bool within = work->request.transaction != 0;
    if (closed_) {
      refuse(*work, closing(), done);
    } else if (!watch_.usable()) {
      refused_unusable_.add();
      refuse(*work, watch_.error(), done);
    } else if (!within && watch_.is_locked()) {
      refused_unusable_.add();
      refuse(*work, watch_.locked(), done);
    } else if (within && work->request.transaction != transaction_) {
      refuse(*work, transaction_over(*work), done);
    } else if (!within && queue_.size() >= options_.writes_waiting_max) {
      refused_full_.add();
      refuse(
          *work,
          Error(Kind::unavailable,
                fmt::format("the database is busy: {} writes wait", queue_.size()), text_of(*work)),
          done);
    } else {
      (within ? within_ : queue_).push(*work);
      watch_.alarm().set(work->begin_by);
    }
  }
  arrived_.store(true, std::memory_order_relaxed);
  schedule();
}

void Writer::withdraw(Work& work) noexcept {
  bool taken = false;
  {
    const std::lock_guard lock(mutex_);
    WorkList* const from = queue_.has(work) ? &queue_ : within_.has(work) ? &within_ : nullptr;
    if (from != nullptr) {
      from->remove(work);
      cancelled_.add();
      taken = true;
    }
  }
  if (!taken) return work.abandon();
  const bool ends = work.request.order == Order::commit || work.request.order == Order::rollback;
  const std::uint64_t transaction = work.request.transaction;
  work.unexpect();
  work.destroy(&work);
  if (ends) roll_back(transaction);
}

void Writer::roll_back(std::uint64_t transaction) noexcept {
  const std::lock_guard lock(mutex_);
  if (transaction != transaction_ || closed_) return;
  rollback_asked_ = transaction;
  schedule();
}

void Writer::tick(Instant now) noexcept {
  WorkList expired, locked_out;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    if (watch_.is_locked()) {
      while (Work* const work = queue_.pop()) locked_out.push(*work);
    }
    take_expired(queue_, now, expired);
    take_expired(within_, now, expired);
    for (const Work* work = expired.first(); work != nullptr; work = work->next_in_list()) {
      // A transaction without one of its statements can only be rolled back.
      if (work->request.transaction != 0) rollback_asked_ = transaction_;
    }
    if (transaction_ != 0 && now >= hold_until_) {
      rollback_asked_ = transaction_;
      hold_until_ = never;
      expired_.add();
    }
    if (now - probed_at_ >= options_.probe_interval) {
      probed_at_ = now;
      probe_due_ = true;
    }
    schedule();
  }
  Completions done;
  while (Work* const work = locked_out.pop()) {
    refused_unusable_.add();
    refuse(*work, watch_.locked(), done);
  }
  while (Work* const work = expired.pop()) {
    (work->begin_by == work->deadline ? timeouts_ : refused_waited_).add();
    refuse(*work, waited_too_long(*work, options_), done);
  }
}

Instant Writer::next_due() const noexcept {
  const std::lock_guard lock(mutex_);
  return std::min({hold_until_, first_expiry(queue_), first_expiry(within_)});
}

Instant Writer::next_probe() const noexcept {
  const std::lock_guard lock(mutex_);
  return probed_at_ + options_.probe_interval;
}

void Writer::close() noexcept {
  WorkList left;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    while (Work* const work = queue_.pop()) left.push(*work);
    while (Work* const work = within_.pop()) left.push(*work);
    if (transaction_ != 0) rollback_asked_ = transaction_;
    schedule();
  }
  refuse(left, closing());
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (!scheduled_) break;
    }
    std::this_thread::yield();
  }
  connection_.reset();
}

void Writer::schedule() noexcept {
  if (scheduled_ || executor_ == nullptr) return;
  const bool due = transaction_ != 0 ? !within_.empty() || rollback_asked_ == transaction_
                                     : !queue_.empty() || probe_due_;
  if (!due) return;
  scheduled_ = true;
  executor_->post(*this);
}

void Writer::drain_message(Message& message) noexcept { static_cast<Writer&>(message).drain(); }

bool Writer::await_arrival(Instant until) const noexcept {
  while (!arrived_.load(std::memory_order_relaxed)) {
    if (clock_() >= until) return false;
    for (int pause = 0; pause < 16; ++pause) relax();
  }
  return true;
}

// Waits awake for a caller that writes again as soon as it is answered. To wake the writer would
// take a tenth of the time of a commit.
void Writer::linger() noexcept {
  const Instant end = lingering_.end(clock_());
  if (!await_arrival(end)) lingering_.failed(end);
}

// Adds writes to a group that is being written: those that came meanwhile, or are expected at once.
void Writer::admit(WorkList& group) noexcept {
  if (!arrived_.load(std::memory_order_relaxed)) {
    if (group.size() >= last_group_size_ || clock_() >= gather_until_) return;
    if (!await_arrival(gather_until_)) return gathering_.failed(gather_until_);
  }
  const std::lock_guard lock(mutex_);
  arrived_.store(false, std::memory_order_relaxed);
  take(group);
}

void Writer::drain() noexcept {
  for (bool lingers = false;;) {
    WorkList group;
    bool roll_back_now = false, probe_now = false;
    {
      const std::lock_guard lock(mutex_);
      roll_back_now = transaction_ != 0 && rollback_asked_ == transaction_;
      probe_now = transaction_ == 0 && std::exchange(probe_due_, false);
      arrived_.store(false, std::memory_order_relaxed);
      if (!roll_back_now && !probe_now && !take(group) && !lingers) {
        scheduled_ = false;  // the last touch: close() may return now
        return;
      }
    }
    if (roll_back_now) {
      end_transaction();
    } else if (probe_now) {
      probe();
    } else if (!group.empty()) {
      run_group(group);
      lingers = true;
    } else if (std::exchange(lingers, false)) {
      linger();
    }
  }
}

// Takes the next works: those of the open transaction; or a begin; or the writes in front of one.
bool Writer::take(WorkList& group) {
  WorkList& from = transaction_ != 0 ? within_ : queue_;
  while (Work* const work = group.size() < options_.group_max ? from.first() : nullptr) {
    const bool alone = work->request.order != Order::write;
    if (alone && !group.empty()) break;
    from.remove(*work);
    group.push(*work);
    if (alone) break;
  }
  return !group.empty();
}

void Writer::refuse(WorkList& works, const Error& error) noexcept {
  Completions done;
  while (Work* const work = works.pop()) refuse(*work, error, done);
}

void Writer::refuse(Work& work, const Error& error, Completions& done) noexcept {
  work.outcome.clear();
  work.outcome.error = error;
  done.add(work);
}

void Writer::add_figures(Statistics& statistics) const {
  statistics.writes += writes_.read();
  statistics.writes_run += runs_.read();
  statistics.commits += commits_.read();
  statistics.groups_redone += redone_.read();
  statistics.transactions_expired += expired_.read();
  statistics.refused_full += refused_full_.read();
  statistics.refused_waited += refused_waited_.read();
  statistics.refused_unusable += refused_unusable_.read();
  statistics.timeouts += timeouts_.read();
  statistics.cancelled += cancelled_.read();
  statistics.busy_retries += retries_.read();
  statistics.checkpoints += checkpoints_.read();
  const std::lock_guard lock(mutex_);
  statistics.transactions += transactions_begun_;
  statistics.writes_waiting += static_cast<std::uint32_t>(queue_.size() + within_.size());
}

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
