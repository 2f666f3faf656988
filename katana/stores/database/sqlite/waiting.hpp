// Waiting: functions that queues of works share: the time by which a work has to begin, and the
// works that have waited for too long.
//
// Owns       nothing.
// Thread     the one that holds the queue's mutex.
// Allocates  an Error for each that is refused.
// Fails      never.
#pragma once

#include <algorithm>
#include <string>

#include "katana/stores/database/sqlite/options.hpp"
#include "katana/stores/database/work.hpp"

namespace katana::database::sqlite {

// Empty for orders without a statement, such as commit.
inline Bytes text_of(const Work& work) noexcept {
  return work.request.sql != nullptr ? work.request.sql->text() : Bytes();
}

// Gives the work its times.
inline void begin_waiting(Work& work, const Options& options, Instant now) noexcept {
  const Duration timeout =
      work.request.timeout > Duration{} ? work.request.timeout : options.timeout;
  work.deadline = now + timeout;
  work.begin_by = std::min(work.deadline, now + options.wait_max);
}

// Moves those that waited for too long.
inline void take_expired(WorkList& from, Instant now, WorkList& to) noexcept {
  for (Work* work = from.first(); work != nullptr;) {
    Work* const next = work->next_in_list();
    if (now >= work->begin_by) {
      from.remove(*work);
      to.push(*work);
    }
    work = next;
  }
}

// When the first of them has waited for too long; never: none waits.
inline Instant first_expiry(const WorkList& list) noexcept {
  Instant first = never;
  for (const Work* work = list.first(); work != nullptr; work = work->next_in_list()) {
    first = std::min(first, work->begin_by);
  }
  return first;
}

// The Error of a work that waited for too long.
inline Error waited_too_long(const Work& work, const Options& options) {
  const Bytes text = text_of(work);
  if (work.begin_by == work.deadline) {
    return Error(Kind::timeout, "deadline exceeded before the call could begin", text);
  }
  return Error(Kind::unavailable,
               "the database is busy: the call waited " +
                   std::to_string(options.wait_max.count_ms()) + " ms for its turn",
               text);
}

// The Error of a work of a transaction that the database has ended.
inline Error transaction_over(const Work& work) {
  return Error(Kind::failed_transaction,
               "the transaction is over: it was held for too long, or the file was lost",
               text_of(work));
}

// The Error of a work that waits while the database closes.
inline Error closing() { return Error(Kind::unavailable, "the database is closing"); }

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
