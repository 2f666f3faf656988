// Watch: knows whether the file is usable, or the reason why not, and the generation of
// connections. It also knows whether another process holds the lock. It tells the observer of
// outages both.
//
// It also wakes the supervisor. A file that is used, or that is not usable, is looked at every
// probe_interval. An unused file is not: its next use has it looked at at once.
//
//   rests ──use──▶ used ──look──▶ unused ──look──▶ rests
//                   ▲──────use──────┘
//
// Owns       the reason.
// Borrows    the clock.
// Thread     any.
// Allocates  the reason.
// Fails      never.
// Invariant  connections of an older generation are closed before they are used again. A file that
//            is locked is read as before, and writes fail at once until a probe has got the lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "katana/base/system/hints.hpp"
#include "katana/base/system/result.hpp"
#include "katana/stores/database/backend.hpp"
#include "katana/stores/database/error.hpp"

namespace katana {
class Alarm;
}

namespace katana::database::sqlite {

class Watch {
 public:
  Watch(std::string path, const std::function<Instant()>& clock);
  ~Watch();

  // False: the file was lost, replaced or is corrupt.
  bool usable() const noexcept { return usable_.load(std::memory_order_acquire); }
  // Counts up whenever connections have to be opened anew.
  std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }
  // The number of durable commits: a snapshot that was taken at another count is stale.
  std::uint64_t commits() const noexcept { return commits_.load(std::memory_order_acquire); }
  void note_commit() noexcept { commits_.fetch_add(1, std::memory_order_acq_rel); }
  // True: the log has to be written back and begun anew, for which no snapshot may be open. No
  // snapshot is kept for longer than a turn meanwhile. Relaxed: a turn more or less does not
  // matter.
  bool log_is_long() const noexcept { return log_is_long_.load(std::memory_order_relaxed); }
  void set_log_is_long(bool is_long) noexcept {
    if (is_long != log_is_long()) log_is_long_.store(is_long, std::memory_order_relaxed);
  }

  // The supervisor sleeps by this.
  Alarm& alarm() noexcept { return *alarm_; }
  // Any thread: the file is used. Costs a load, but for the first use after a look.
  void note_use() const noexcept {
    if (use_.load(std::memory_order_relaxed) != Use::used) [[unlikely]]
      begin_use();
  }
  // The supervisor's thread, after a step with or without a look. False: the file is usable and was
  // not used since the look before this one. It need not be looked at until it is used.
  bool go_on_looking(bool has_looked) noexcept;

  // Reports that the file is not usable. Only the first reason of an outage is kept.
  void report(std::string_view why, bool corrupt = false) {
    const std::lock_guard lock(mutex_);
    corrupt_ = corrupt_ || corrupt;
    if (!usable()) return;
    reason_ = why;
    usable_.store(false, std::memory_order_release);
    note_use();
    begin_outage(reason_);
  }
  // Reports that the file is usable again, by connections that are opened from now on.
  void recover() {
    const std::lock_guard lock(mutex_);
    generation_.fetch_add(1, std::memory_order_acq_rel);
    corrupt_ = false;
    usable_.store(true, std::memory_order_release);
    end_outage();
  }
  // Reports that another process has held the lock for writing for longer than a write waits.
  void report_locked(Duration waited);
  // Reports that a write got the lock.
  void note_unlocked() {
    if (!is_locked()) [[likely]]
      return;
    const std::lock_guard lock(mutex_);
    locked_.store(false, std::memory_order_relaxed);
    end_outage();
  }
  bool is_locked() const noexcept { return locked_.load(std::memory_order_relaxed); }

  // Sets the observer, which is told at once of an outage that has begun before.
  void observe(OutageObserver observer) {
    const std::lock_guard lock(mutex_);
    observer_ = std::move(observer);
    if (began_at_ != never) tell(usable() ? locked_for_ : reason_);
  }
  // True: the file is damaged, and has to be checked before it is used again.
  bool corrupt() const {
    const std::lock_guard lock(mutex_);
    return corrupt_;
  }

  // The number of times that the file became unusable.
  std::uint64_t outages() const {
    const std::lock_guard lock(mutex_);
    return outages_;
  }
  // An Error names the reason why the file is not usable, or locked.
  katana::Result<void> health() const {
    note_use();
    if (!usable()) return std::unexpected(katana::Error(error()));
    if (!is_locked()) [[likely]]
      return {};
    return std::unexpected(katana::Error(locked()));
  }
  // REQUIRES is_locked().
  Error locked() const {
    const std::lock_guard lock(mutex_);
    return Error::unusable("'" + path_ + "': " + locked_for_);
  }
  Error error() const { return Error::unusable(reason()); }

 private:
  enum class Use : std::uint8_t { rests, used, unused };

  KATANA_RARE void begin_use() const noexcept;
  std::string reason() const {
    const std::lock_guard lock(mutex_);
    return "'" + path_ + "': " + reason_;
  }

  // REQUIRES that the mutex is held. An outage goes on until neither reason is left.
  void begin_outage(const std::string& why) {
    ++outages_;
    if (began_at_ == never) began_at_ = clock_();
    tell(why);
  }
  void end_outage() {
    if (began_at_ == never || !usable() || is_locked()) return;
    const Duration lasted = clock_() - std::exchange(began_at_, never);
    if (observer_) observer_({.where = path_, .lasted = lasted});
  }
  void tell(std::string why) const {
    if (!observer_) return;
    std::ranges::replace(why, '\n', ' ');
    observer_({.where = path_, .why = why});
  }

  const std::string path_;
  const std::function<Instant()>& clock_;
  const std::unique_ptr<Alarm> alarm_;
  mutable std::atomic<Use> use_ = Use::used;
  std::atomic<bool> usable_ = true;
  std::atomic<std::uint64_t> generation_ = 1;
  std::atomic<std::uint64_t> commits_ = 1;
  std::atomic<bool> log_is_long_ = false;
  std::atomic<bool> locked_ = false;
  mutable std::mutex mutex_;  // what follows
  std::string reason_;
  bool corrupt_ = false;
  std::uint64_t outages_ = 0;
  std::string locked_for_;
  Instant began_at_ = never;  // the outage
  OutageObserver observer_;
};

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
