#include "katana/stores/database/postgres/connection_pool.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/system/check.hpp"

namespace katana::database::postgres {

void wake(ConnectionPool& pool) noexcept { pool.on_poke(); }
void cancel_answered(ConnectionPool& pool, std::uint64_t connection, bool is_over) noexcept {
  pool.on_cancel_answered(connection, is_over);
}

ConnectionPool::ConnectionPool(std::shared_ptr<Shared> shared, std::unique_ptr<Home> owned,
                               Home& home, bool keeps_one)
    : shared_(std::move(shared)),
      options_(shared_->options),
      owned_home_(std::move(owned)),
      home_(home),
      handle_(std::make_shared<PoolHandle>()),
      number_(shared_->enrol(*this, handle_, home_.executor())),
      keeps_one_(keeps_one),
      random_(home.draw_seed()) {
  handle_->pool = this;
}

// Calls are over by now, or their callers are gone.
ConnectionPool::~ConnectionPool() {
  shared_->leave(number_);
  handle_->pool = nullptr;
  for (const auto& cancel : cancels_) cancel->abandon();
  if (pump_due_) home_.executor().forget_at_turn_end(pump_);
  std::vector<Command> commands;
  shared_->receive(number_, queue_, commands);
  for (const Command& command : commands) {
    if (command.cursor != nullptr) close(*command.cursor);
  }
  for (const auto& connection : connections_) {
    connection->lose(Kind::unavailable, "the database is closing");
  }
  while (Work* const work = queue_.pop()) {
    refuse(*work, Error(Kind::unavailable, "the database is closing"));
  }
  if (pump_due_) home_.executor().forget_at_turn_end(pump_);
  shared_->tallies.busy -= busy_counted_;
  shared_->tallies.waiting -= waiting_counted_;
  send_completions();
}

void ConnectionPool::schedule() noexcept {
  if (std::exchange(pump_due_, true)) return;
  home_.executor().at_turn_end(pump_);
}

void ConnectionPool::on_poke() noexcept {
  WorkList works;
  std::vector<Command> commands;
  shared_->receive(number_, works, commands);
  while (Work* const work = works.pop()) accept(*work);
  for (const Command& command : commands) {
    if (command.verb == Command::Verb::roll_back) {
      roll_back(command.transaction);
    } else {
      close(*command.cursor);
    }
  }
  sweep();
  schedule();
}

void ConnectionPool::accept(Work& work) noexcept {
  switch (work.request.order) {
    case Order::within:
    case Order::commit:
    case Order::rollback:
    case Order::savepoint:
    case Order::release:
    case Order::undo: run_within(work); break;
    case Order::fetch:
    case Order::copy:
    case Order::copy_end: fetch(work); break;
    default:
      if (shared_->closed()) {
        refuse(work, Error(Kind::unavailable, "the database is closing"));
      } else if (shared_->known_down()) {
        add(shared_->tallies.refused_unusable);
        refuse(work, Error::unusable(shared_->failure()));
      } else if (queue_.size() >= options_.waiting_max) {
        add(shared_->tallies.refused_full);
        refuse(work, Error(Kind::unavailable,
                           fmt::format("the database is busy: {} calls wait", queue_.size())));
      } else {
        queue_.push(work);
      }
  }
  schedule();
}

void ConnectionPool::withdraw(Work& work) noexcept {
  add(shared_->tallies.cancelled);
  if (queue_.has(work)) {
    queue_.remove(work);
    work.executor.unexpect();
    work.waiting = {};
    return work.destroy(&work);
  }
  work.abandon();
  cancel_where_nobody_waits();
}

// Completes the works that other threads have abandoned.
void ConnectionPool::sweep() noexcept {
  for (Work* work = queue_.first(); work != nullptr;) {
    Work* const next = work->next_in_list();
    if (work->abandoned_by_now()) {
      queue_.remove(*work);
      on_finished(*work);
    }
    work = next;
  }
  cancel_where_nobody_waits();
}

void ConnectionPool::refuse(Work& work, Error error) {
  work.outcome.error = std::move(error);
  complete(work);
}

// The end of a turn: everything that it asked for is sent together.
void ConnectionPool::pump() noexcept {
  pump_due_ = false;
  if (std::exchange(generation_, shared_->generation()) != shared_->generation()) {
    close_idle(home_.now());
  }
  bury();
  if (shared_->known_down()) {
    refuse_all_waiting();
  } else if (std::exchange(recoveries_, shared_->recoveries()) != shared_->recoveries()) {
    failures_ = 0;
    connect_again_at_ = {};
  }
  take_from_others();
  assign();
  for (const auto& connection : connections_) {
    if (connection->is_open()) connection->advance();
  }
  open_connections();
  give_to_others();
  if (shared_->closed()) close_idle(never);
  update_busy();
  send_completions();
  arm();
}

// Destroys the connections that were lost in this turn, whose events are over.
void ConnectionPool::bury() noexcept {
  std::erase_if(connections_, [](const auto& connection) { return connection->is_lost(); });
}

// Puts works that had left the queue, and were not sent, in front of it.
void ConnectionPool::put_first(WorkList& works) noexcept {
  if (works.empty()) return;
  while (Work* const work = queue_.pop()) works.push(*work);
  while (Work* const work = works.pop()) queue_.push(*work);
}

// Assigns works to connections in their order. A work that needs a connection alone does not hold
// up works that share one.
void ConnectionPool::assign() noexcept {
  exclusive_waiting_ = 0;
  bool full = false;  // for what shares a connection
  if (!queue_.empty()) find_candidates();
  for (Work* work = queue_.first(); work != nullptr;) {
    Work* const next = work->next_in_list();
    if (work->request.order == Order::begin || work->request.order == Order::open) {
      give_exclusive(*work);
      find_candidates();
    } else {
      full = full || !give_shared(*work);
    }
    work = next;
  }
  if (exclusive_waiting_ > 0) return;
  for (const auto& connection : connections_) connection->reserved = false;
}

bool ConnectionPool::is_available(const Connection& connection) const noexcept {
  return connection.is_open() && connection.transaction == 0 && connection.cursor == nullptr &&
         !connection.is_streaming() && !connection.reserved && connection.cancel == Cancel::none &&
         !connection.runs_for_nobody() && connection.generation == shared_->generation();
}

bool ConnectionPool::has_capacity() const noexcept {
  return std::ranges::any_of(connections_, [&](const auto& connection) {
    return is_available(*connection) && connection->load() < options_.pipeline_depth;
  });
}

void ConnectionPool::find_candidates() {
  candidates_.clear();
  choices_.clear();
  const Instant now = home_.now();
  for (const auto& connection : connections_) {
    if (!is_available(*connection)) continue;
    const Instant oldest = connection->oldest_sent();
    candidates_.push_back({.load = connection->load(),
                           .given_this_turn = connection->turn == now,
                           .age = !connection->is_quick() ? Duration{never.ns}
                                  : oldest == never       ? Duration{}
                                                          : now - oldest});
    choices_.push_back(connection.get());
  }
}

bool ConnectionPool::give_shared(Work& work) {
  const std::size_t chosen = choose(candidates_, options_.pipeline_depth, options_.slow_after);
  if (chosen == no_candidate) return false;
  Connection& connection = *choices_[chosen];
  connection.turn = connection.used_at = home_.now();
  queue_.remove(work);
  const auto known = quick_.find(work.request.sql->text().data());
  const bool is_quick = known != quick_.end() && known->second;
  connection.enqueue(work, is_quick);
  Candidate& candidate = candidates_[chosen];
  candidate.load = connection.load();
  candidate.given_this_turn = true;
  if (!is_quick) candidate.age = Duration{never.ns};
  return true;
}

// Returns an idle connection. If there is none, keeps one free of further work until it is idle.
Connection* ConnectionPool::take_idle() {
  Connection* least = nullptr;
  for (const auto& connection : connections_) {
    if (connection->reserved && connection->is_idle()) {
      connection->reserved = false;
      if (is_available(*connection)) return connection.get();
    }
    if (connection->reserved || !is_available(*connection)) continue;
    if (connection->is_idle()) return connection.get();
    if (least == nullptr || connection->load() < least->load()) least = connection.get();
  }
  const bool reserves =
      std::ranges::any_of(connections_, [](const auto& each) { return each->reserved; });
  if (least != nullptr && !reserves && !may_open() && opening_ == 0) least->reserved = true;
  return nullptr;
}

void ConnectionPool::give_exclusive(Work& work) {
  const bool streams = work.request.order == Order::open;
  if (streams && shared_->tallies.streams_open.load() >= options_.streams_max) return;
  Connection* const connection = take_idle();
  if (connection == nullptr) {
    ++exclusive_waiting_;
    return;
  }
  connection->used_at = home_.now();
  queue_.remove(work);
  if (streams) {
    open_stream(work, *connection);
  } else {
    begin(work, *connection);
  }
}

// Takes works in the order in which calls of all reactors came. Otherwise a pool whose callers
// always wait would serve other reactors last.
void ConnectionPool::take_from_others() noexcept {
  if (!shared_->has_handed_over() || shared_->closed()) return;
  if (!has_capacity() && !(queue_.empty() && may_open() && opening_ == 0)) return;
  WorkList taken;
  shared_->take_handed_over(taken, options_.pipeline_depth,
                            queue_.empty() ? never : queue_.first()->begin_by);
  put_first(taken);
}

// Works that no connection of this pool can ever serve are any pool's.
void ConnectionPool::give_to_others() noexcept {
  if (queue_.empty() || opening_ > 0 || may_open()) return;
  const bool serves = std::ranges::any_of(connections_, [&](const auto& connection) {
    return connection->is_open() && connection->transaction == 0 && connection->cursor == nullptr;
  });
  if (serves || (shared_->permits_out() == 0)) return;
  WorkList works;
  while (Work* const work = queue_.pop()) {
    work->on_own_thread = false;
    works.push(*work);
  }
  shared_->hand_over(works);
}

void ConnectionPool::on_finished(Work& work) noexcept {
  if (work.outcome.error && work.outcome.error->kind() == Kind::unavailable) {
    add(shared_->tallies.refused_unusable);
  }
  complete(work);
}

void ConnectionPool::complete(Work& work) noexcept {
  Tallies& tallies = shared_->tallies;
  if (!work.outcome.error) {
    const Order order = work.request.order;
    if (order == Order::read || order == Order::open) add(tallies.reads);
    if (order == Order::write) add(tallies.writes);
    if (order == Order::commit) add(tallies.commits);
  } else if (work.outcome.error->kind() == Kind::timeout) {
    add(tallies.timeouts);
  }
  if (&work.executor != &home_.executor()) return completions_.add(work);
  if (!work.complete()) return;
  (last_done_ != nullptr ? last_done_->next_in_batch : first_done_) = &work;
  last_done_ = &work;
  schedule();
}

// A text is a literal of the program: its address identifies it, and their number is bounded.
void ConnectionPool::on_ran(Bytes text, Duration duration) noexcept {
  quick_[text.data()] = duration < options_.slow_after;
}

void ConnectionPool::send_completions() noexcept {
  completions_.send();
  Work* const first = std::exchange(first_done_, nullptr);
  last_done_ = nullptr;
  if (first != nullptr) home_.defer(*first);
}

void ConnectionPool::on_progress(Connection& connection) noexcept {
  if (connection.probe_by != never && !connection.carries_probe()) judge_probe(connection);
  if (connection.is_lost()) return schedule();
  if (connection.load() == 0) {
    if (connection.cancel == Cancel::answered) {
      connection.cancel = Cancel::fenced;
      connection.enqueue_command("SELECT 1");
    } else if (connection.cancel == Cancel::fenced) {
      connection.cancel = Cancel::none;
      connection.cancel_since = never;
    }
    if (connection.transaction_ended && connection.cancel == Cancel::none) {
      end_transaction(connection);
    }
  }
  schedule();
}

void ConnectionPool::on_lost(Connection& connection, const Error& why) noexcept {
  const bool was_opening = connection.connect_by != never;
  WorkList unsent;
  for (Unit& unit : connection.outgoing()) {
    if (unit.work == nullptr) continue;
    if (connection.transaction == 0) {
      unsent.push(*unit.work);
    } else {
      refuse(*unit.work, why);
    }
  }
  connection.outgoing().clear();
  put_first(unsent);
  if (connection.cursor != nullptr) {
    static_cast<StreamCursor*>(connection.cursor)->connection = nullptr;
  }
  shared_->return_permit();
  if (!was_opening) shared_->count_open(-1);
  if (!was_opening && keeps_one_ && !shared_->of_replica && shared_->topology != nullptr) {
    shared_->topology->forget_primary();
  }
  if (was_opening) {
    --opening_;
    note_failure(why.describe());
  } else if (keeps_one_ || failures_ > 0) {
    connect_again_at_ = home_.now();  // whether the database can be used is found out at once
  }
  schedule();
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
