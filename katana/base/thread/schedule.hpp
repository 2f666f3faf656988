// Schedule: delayed and periodic jobs, in the order of their times.
//
// Owns       its entries until they are taken; a handle shares its entry, to cancel it.
// Thread     one at a time; its pool locks. Entry::cancelled any.
// Allocates  one entry for each job.
// Fails      never.
// Invariant  an entry is taken at the first take_due() at or after its time, once for each add().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "katana/base/system/move_only_function.hpp"
#include "katana/base/thread/pool_options.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::thread {

class Schedule {
 public:
  // One delayed or periodic job.
  struct Entry {
    std::move_only_function<void()> f;    // called at each turn
    JobOptions options;                   // options of each turn
    Instant due = {};                     // time of the next turn
    Duration period = {};                 // 0: the job runs once
    std::atomic<bool> cancelled = false;  // set by the handle; read when the entry is due
  };
  using Held = std::shared_ptr<Entry>;  // shared by the schedule and the handle

  // Adds an entry. A periodic entry must be added again after each turn.
  void add(Held entry);
  // Takes the first entry that is due; null: none is.
  Held take_due(Instant now);
  // The time of the next entry; `never` when there is none.
  Instant next() const noexcept { return entries_.empty() ? never : entries_.front()->due; }
  std::size_t size() const noexcept { return entries_.size(); }
  // Takes all entries, in no order.
  std::vector<Held> take_all() noexcept { return std::exchange(entries_, {}); }

  // The time of the next turn of a periodic entry: `last` plus the smallest multiple of `period`
  // that is later than `now`. Adds the skipped turns to `missed`.
  static Instant next_turn(Instant last, Duration period, Instant now,
                           std::uint64_t& missed) noexcept;

 private:
  static constexpr std::size_t sweep_at_min = 64;

  // Removes cancelled entries at the latest when they are half of all. Deadlines that lie an hour
  // ahead and are always cancelled in time must not fill the memory.
  void sweep();

  std::vector<Held> entries_;
  std::size_t sweep_at_ = sweep_at_min;
};

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
