#include "katana/stores/database/sqlite/reactor_reader.hpp"

#include "katana/base/system/check.hpp"

namespace katana::database::sqlite {

ReactorReader::ReactorReader(const Options& options, Watch& watch,
                             const std::function<Instant()>& clock, Writer& writer,
                             Readers& readers, Executor& executor) noexcept
    : Message(&end_turn),
      options_(options),
      watch_(watch),
      clock_(clock),
      writer_(writer),
      readers_(readers),
      executor_(executor) {}

ReactorReader::~ReactorReader() {
  KATANA_REQUIRE(to_writer_.empty() && to_readers_.empty());
  // Only a database that is destroyed within a turn still has a turn to end here.
  if (ends_turn_) executor_.forget_at_turn_end(*this);
  if (snapshot_kept_) executor_.forget_before_wait(snapshot_end_);
  end_snapshot();
}

Attempt ReactorReader::read(const Request& request, Outcome& outcome) noexcept {
  watch_.note_use();
  if (!watch_.usable()) [[unlikely]] {
    refused_unusable_.add();
    outcome.error = watch_.error();
    return Attempt::done;
  }
  if (!ensure_connection(outcome)) return Attempt::done;
  if (in_snapshot_ && seen_commits_ != watch_.commits()) end_snapshot();
  const std::uint64_t prepared = connection_->prepared();
  const auto found = connection_->find(*request.sql);
  if (connection_->prepared() != prepared) prepared_.add();
  if (!found) [[unlikely]] {
    // The statement is not at fault: the schema could not be read.
    if (found.error().kind() == Kind::unavailable) watch_.report(found.error().describe());
    outcome.error = found.error();
    return Attempt::done;
  }
  Statement& statement = **found;
  if (!statement.reads_only()) return Attempt::writes;
  if (reads_this_turn_ >= options_.reads_per_turn_max) return Attempt::elsewhere;
  if (statement.slow > 0) {
    --statement.slow;
    return Attempt::elsewhere;
  }
  if (!ensure_snapshot()) return Attempt::elsewhere;
  if (reads_this_turn_++ == 0) at_turn_end();  // so that they are counted for a turn
  const int code =
      connection_->run(statement, request.values, outcome,
                       {.rows_max = options_.rows_max, .budget = options_.read_budget});
  if (code == SQLITE_DONE) [[likely]] {
    read_here_.add();
    return Attempt::done;
  }
  return conclude(code, statement, outcome);
}

Attempt ReactorReader::conclude(int code, Statement& statement, Outcome& outcome) noexcept {
  if (connection_->deadline_exceeded() || (code & 0xff) == SQLITE_BUSY) {
    outcome.clear();
    outcome.error.reset();
    if (connection_->deadline_exceeded()) {
      statement.slow = options_.slow_reads_remembered;
      moved_.add();
    }
    return Attempt::elsewhere;
  }
  outcome.clear();
  if (is_outage(code)) {
    watch_.report(words_of(code), is_corrupt(code));
    outcome.error = watch_.error();
  } else if (!outcome.error) {
    outcome.error = connection_->error(code, statement.text());
  }
  return Attempt::done;
}

bool ReactorReader::ensure_connection(Outcome& outcome) noexcept {
  const std::uint64_t generation = watch_.generation();
  if (connection_ && connection_->generation == generation) [[likely]]
    return true;
  if (connection_) {
    end_snapshot();
    connection_->leave_log();
    connection_.reset();
  }
  auto opened = Connection::open(options_, Access::read, clock_);
  if (!opened) {
    watch_.report(opened.error().describe());
    outcome.error = watch_.error();
    return false;
  }
  connection_ = *std::move(opened);
  connection_->generation = generation;
  connection_->wait_for_locks({});  // that is for threads which may wait
  return true;
}

bool ReactorReader::ensure_snapshot() noexcept {
  if (in_snapshot_) [[likely]]
    return true;
  // Read before the snapshot is taken: a count that is too low is noticed, one too high is not.
  seen_commits_ = watch_.commits();
  if (connection_->run(Command::begin) != SQLITE_DONE) return false;
  in_snapshot_ = true;
  snapshots_.add();
  at_turn_end();
  return true;
}

void ReactorReader::end_snapshot() noexcept {
  if (!std::exchange(in_snapshot_, false)) return;
  if (connection_->in_transaction()) connection_->run(Command::commit);
}

void ReactorReader::submit(Work& work) noexcept {
  const Order order = work.request.order;
  const bool reads = order == Order::read || order == Order::open || order == Order::fetch;
  work.on_own_thread = true;
  (reads ? to_readers_ : to_writer_).push(work);
  at_turn_end();
  if (to_writer_.size() >= handed_over_at) hand_over_writes();
}

void ReactorReader::hand_over_writes() noexcept {
  for (Work* work = to_writer_.first(); work != nullptr; work = work->next_in_list())
    work->on_own_thread = false;
  writer_.submit(to_writer_);
}

void ReactorReader::hand_over_reads() noexcept {
  for (Work* work = to_readers_.first(); work != nullptr; work = work->next_in_list()) {
    work->on_own_thread = false;
  }
  readers_.submit(to_readers_);
}

bool ReactorReader::withdraw(Work& work) noexcept {
  if (!work.on_own_thread) return false;
  WorkList& from = to_writer_.has(work) ? to_writer_ : to_readers_;
  from.remove(work);
  work.unexpect();
  work.destroy(&work);
  return true;
}

void ReactorReader::at_turn_end() noexcept {
  if (std::exchange(ends_turn_, true)) return;
  executor_.at_turn_end(*this);
}

void ReactorReader::end_turn(Message& message) noexcept {
  auto& self = static_cast<ReactorReader&>(message);
  self.ends_turn_ = false;
  // A turn with one read is probably not followed by another one: the reactor then waits at once.
  const bool busy = std::exchange(self.reads_this_turn_, 0) > 1;
  if (self.watch_.log_is_long() || !(busy || self.snapshot_kept_)) {
    self.end_snapshot();
  } else if (self.in_snapshot_ && !std::exchange(self.snapshot_kept_, true)) {
    self.executor_.before_wait(self.snapshot_end_);
  }
  if (!self.to_writer_.empty()) self.hand_over_writes();
  if (!self.to_readers_.empty()) self.hand_over_reads();
}

void ReactorReader::add_figures(Statistics& statistics) const {
  statistics.reads_here += read_here_.read();
  statistics.reads_moved += moved_.read();
  statistics.snapshots += snapshots_.read();
  statistics.statements_prepared += prepared_.read();
  statistics.refused_unusable += refused_unusable_.read();
}

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
