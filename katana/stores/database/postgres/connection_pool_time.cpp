// The functions of a pool that depend on time.
#include <fmt/format.h>

#include <algorithm>

#include "katana/stores/database/postgres/connection_pool.hpp"

namespace katana::database::postgres {
namespace {

constexpr Duration busy_interval = milliseconds(10);
constexpr Duration idle_interval = milliseconds(200);
constexpr Duration cancel_interval = milliseconds(50);

}  // namespace

// Arms the timer: often while calls have deadlines, seldom while there are connections, and
// otherwise never.
void ConnectionPool::arm() noexcept {
  const bool works = std::ranges::any_of(connections_, [](const auto& connection) {
    return connection->load() > 0 || connection->stream_work() != nullptr ||
           connection->connect_by != never;
  });
  const bool waits = !queue_.empty() || shared_->has_handed_over() || failures_ > 0;
  if (works || waits) {
    const Instant next = home_.now() + busy_interval;
    if (!tick_.armed() || tick_.expiry() > next) home_.timers().arm(tick_, next);
  } else if (!connections_.empty() && !tick_.armed()) {
    home_.timers().arm(tick_, home_.now() + idle_interval);
  }
}

void ConnectionPool::tick() noexcept {
  const Instant now = home_.now();
  expire_waiting(now);
  for (const auto& connection : connections_) {
    if (!connection->is_lost()) expire_running(*connection, now);
  }
  if (keeps_one_) probe(now);
  close_idle(now);
  schedule();
}

void ConnectionPool::expire_waiting(Instant now) {
  WorkList expired;
  for (Work* work = queue_.first(); work != nullptr;) {
    Work* const next = work->next_in_list();
    if (now >= work->begin_by) {
      queue_.remove(*work);
      expired.push(*work);
    }
    work = next;
  }
  if (shared_->has_handed_over()) shared_->take_expired(expired, now);
  while (Work* const work = expired.pop()) {
    if (work->begin_by == work->deadline) {
      refuse(*work, Error(Kind::timeout, "deadline exceeded before a connection was free",
                          text_of(*work)));
      continue;
    }
    if (shared_->usable() && failures_ == 0) {
      add(shared_->tallies.refused_waited);
      refuse(*work, Error(Kind::unavailable,
                          fmt::format("the database is busy: no connection was free within {} ms",
                                      options_.wait_max.count_ms()),
                          text_of(*work)));
    } else {
      add(shared_->tallies.refused_unusable);
      refuse(*work, Error::unusable(failures_ > 0 ? failure_ : shared_->failure()));
    }
  }
}

// Called when the database is known to be down: calls would wait in vain, and for long.
void ConnectionPool::refuse_all_waiting() {
  WorkList works;
  while (Work* const work = queue_.pop()) works.push(*work);
  if (shared_->has_handed_over()) shared_->take_all_handed_over(works);
  if (works.empty()) return;
  const Error why = Error::unusable(shared_->failure());
  while (Work* const work = works.pop()) {
    add(shared_->tallies.refused_unusable);
    refuse(*work, why);
  }
}

// Statements that were not sent do not wait behind a slow one: another connection may be had.
void ConnectionPool::take_back(Connection& connection, Instant now) {
  const Instant oldest = connection.oldest_sent();
  if (!connection.is_open() || connection.transaction != 0 || oldest == never ||
      now - oldest < options_.slow_after) {
    return;
  }
  WorkList first;
  std::erase_if(connection.outgoing(), [&](const Unit& unit) {
    if (unit.step != Step::statement || unit.work == nullptr) return false;
    first.push(*unit.work);
    return true;
  });
  put_first(first);
}

void ConnectionPool::expire_running(Connection& connection, Instant now) {
  if (now >= connection.connect_by) {
    return connection.lose(Kind::unavailable, fmt::format("no connection within {} ms",
                                                          options_.connect_timeout.count_ms()));
  }
  take_back(connection, now);
  // An abandoned statement would hold the connection for as long as the server does not answer.
  if (connection.cancel_since != never && connection.runs_for_nobody() &&
      now - connection.cancel_since >= options_.connect_timeout) {
    return connection.lose(Kind::unavailable, "a cancelled statement did not end in time");
  }
  // The request came before the statement began, and was in vain.
  if (connection.cancel == Cancel::answered && connection.runs_for_nobody() &&
      now - connection.cancel_asked_at >= cancel_interval) {
    connection.cancel = Cancel::none;
    request_cancel(connection);
    if (connection.is_lost()) return;
  }
  if (connection.expire(now) && connection.may_cancel()) request_cancel(connection);
  if (Work* const work = connection.stream_work(); work != nullptr && now >= work->deadline) {
    give_up_stream(connection, Kind::timeout, "deadline exceeded while rows were read");
  }
  if (connection.cursor != nullptr && connection.stream_is_parked()) {
    auto& cursor = *static_cast<StreamCursor*>(connection.cursor);
    if (cursor.parked_at == never) cursor.parked_at = now;
    if (now - cursor.parked_at >= options_.stream_idle) {
      give_up_stream(connection, Kind::timeout, "the stream was not read for too long");
    }
  }
  const bool holds = connection.transaction != 0 && !connection.transaction_ended;
  if (holds && connection.load() == 0 && now - connection.used_at >= options_.transaction_hold) {
    add(shared_->tallies.transactions_expired);
    roll_back(connection.transaction);
  }
}

// Closes idle connections, the last ones first, which choose() uses least. `never`: all of them.
// A lost connection does not count, though bury() removes it only after this turn.
void ConnectionPool::close_idle(Instant now) {
  auto left =
      std::ranges::count_if(connections_, [](const auto& each) { return !each->is_lost(); });
  for (std::size_t index = connections_.size(); index-- > 0;) {
    Connection& connection = *connections_[index];
    if (!connection.is_idle() || connection.transaction != 0 || connection.cursor != nullptr ||
        connection.is_streaming()) {
      continue;
    }
    const bool renewed = connection.generation != shared_->generation();
    const bool kept = keeps_one_ && left == 1 && now != never;
    const bool rests = now - connection.used_at < options_.idle_timeout;
    if (!renewed && (kept || (now != never && rests))) continue;
    connection.lose(Kind::unavailable, "it was idle");
    --left;
  }
}

// Probes the server by one idle connection. A server that vanished or hangs does not close its
// connections, and neither does a primary that became a standby.
void ConnectionPool::probe(Instant now) {
  for (const auto& connection : connections_) {
    if (connection->is_lost() || connection->probe_by == never) continue;
    if (now < connection->probe_by) return;
    const std::string why =
        fmt::format("the server has not answered for {} ms", options_.probe_timeout.count_ms());
    connection->probe_by = never;
    shared_->report_failure(why, now);
    shared_->renew_connections();
    // Calls that were sent behind it have their own deadlines.
    if (connection->carries_only_probe()) connection->lose(Kind::unavailable, why);
    return;
  }
  if (now < probe_at_) return;
  const auto found = std::ranges::find_if(connections_, [&](const auto& connection) {
    return is_available(*connection) && connection->is_idle();
  });
  if (found == connections_.end()) return;
  probe_at_ = now + options_.probe_interval;
  (*found)->probe_by = now + options_.probe_timeout;
  (*found)->enqueue_probe(shared_->topology != nullptr ? Topology::position_question : "SELECT 1");
}

void ConnectionPool::on_position(std::uint64_t position, Instant asked_at) noexcept {
  if (shared_->topology == nullptr) return;
  if (shared_->of_replica) {
    shared_->topology->note_replica(position);
  } else {
    shared_->topology->note_primary(position, asked_at);
  }
}

void ConnectionPool::judge_probe(Connection& connection) {
  connection.probe_by = never;
  if (!options_.wants_writable() || !connection.is_read_only()) {
    return shared_->report_usable(home_.now());
  }
  shared_->renew_connections();
  if (connection.is_idle()) connection.lose(Kind::unavailable, "the server became read-only");
}

void ConnectionPool::update_busy() noexcept {
  const auto busy = static_cast<std::uint32_t>(
      std::ranges::count_if(connections_, [](const auto& each) { return each->load() > 0; }));
  const auto waiting = static_cast<std::uint32_t>(queue_.size());
  shared_->tallies.busy += busy - busy_counted_;
  shared_->tallies.waiting += waiting - waiting_counted_;
  busy_counted_ = busy;
  waiting_counted_ = waiting;
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
