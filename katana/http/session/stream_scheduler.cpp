#include "katana/http/session/stream_scheduler.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace katana::session {

void StreamScheduler::touch_at_once() noexcept {
  if (in_call_) return;
  connection_.set_deadline(now());
  connection_.wake();
}

// ---- who sends -------------------------------------------------------------------------------

std::size_t StreamScheduler::output_max() noexcept {
  if (has_turn_) return turn_bytes_left_;
  const std::size_t high = connection_.output_mark();
  const std::size_t pending = outbox().pending();
  return blocked_ != 0 || pending >= high ? 0 : high - pending;
}

bool StreamScheduler::set_blocked(ScheduledStream& stream, bool blocked) noexcept {
  if (blocked == stream.blocked) return false;
  stream.blocked = blocked;
  blocked_ = blocked ? blocked_ + 1 : blocked_ - 1;
  return true;
}

ScheduledStream* StreamScheduler::next_to_send() noexcept {
  ScheduledStream* best = nullptr;
  const auto rank = [](const ScheduledStream& of) {
    return std::tuple(of.priority.urgency, of.priority.incremental,
                      of.priority.incremental ? of.served : 0);
  };
  for (ScheduledStream* each = first(); each != nullptr; each = next(*each)) {
    const bool can =
        each->blocked && !each->over && each->tried != pumps_ && machine_.window(*each) != 0;
    if (can && (best == nullptr || rank(*each) < rank(*best))) best = each;
  }
  return best;
}

// ---- handlers that wait to be called -----------------------------------------------------------

void StreamScheduler::note_queued(ScheduledStream& stream) noexcept {
  ++protocol_.counters().requests_held;
  stream.queued = true;
  ++queued_;
}

void StreamScheduler::note_dispatched(ScheduledStream& stream) noexcept {
  stream.queued = false;
  --queued_;
  delivery_due_ = true;
}

// ---- content that is held ----------------------------------------------------------------------

// One stream must progress, or no request would ever be complete: the first that is still
// receiving. Null if the handler of a complete request still holds bytes: it will make room.
ScheduledStream* StreamScheduler::first_in_line() noexcept {
  ScheduledStream* found = nullptr;
  for (ScheduledStream* each = first(); each != nullptr; each = next(*each)) {
    if (each->content_held == 0 || each->over) continue;
    if (each->request_complete) return nullptr;
    if (found == nullptr && each->is_receiving()) found = each;
  }
  return found;
}

bool StreamScheduler::return_window(ScheduledStream& stream, std::size_t bytes) noexcept {
  if (bytes == 0 || stream.request_complete) return true;
  if (stream.withheld == 0) {
    if (below_content_limit() || first_in_line() == &stream) {
      machine_.open_window(stream, bytes, outbox());
      return true;
    }
    ++withheld_;
    ++protocol_.counters().windows_held;
  }
  stream.withheld += bytes;
  return false;
}

void StreamScheduler::open_withheld(ScheduledStream& stream) noexcept {
  --withheld_;
  machine_.open_window(stream, std::exchange(stream.withheld, 0), outbox());
}

// ---- the end -----------------------------------------------------------------------------------

void StreamScheduler::begin_drain() noexcept {
  if (machine_.draining()) return;
  machine_.drain(outbox());
  drain_deadline_ = now() + connection_.reactor().idle_at_drain(options().drain_idle);
  note_deadline(drain_deadline_);
  connection_.set_deadline(std::min(connection_.deadline(), drain_deadline_));
}

bool StreamScheduler::take_drain_due() noexcept {
  if (now() < drain_deadline_) return false;
  drain_deadline_ = never;
  return true;
}

void StreamScheduler::note_over(ScheduledStream& stream) noexcept {
  if (std::exchange(stream.over, true)) return;
  set_blocked(stream, false);
  stream.next_over = nullptr;
  (first_over_ == nullptr ? first_over_ : last_over_->next_over) = &stream;
  last_over_ = &stream;
  touch_at_once();
}

void StreamScheduler::forget(ScheduledStream& stream) noexcept {
  stream.over = true;
  set_blocked(stream, false);
  if (std::exchange(stream.queued, false)) --queued_;
  if (std::exchange(stream.withheld, 0) != 0) --withheld_;
  set_content_held(stream, 0);
}

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
