// The writer's work on its thread: groups, transactions, and the file. See writer.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "katana/base/system/alarm.hpp"
#include "katana/stores/database/sqlite/waiting.hpp"
#include "katana/stores/database/sqlite/writer.hpp"

namespace katana::database::sqlite {
namespace {

// The result code of a statement that could not be prepared: the fault is its own, or the file's.
int code_of(const Error& error) noexcept {
  return error.kind() == Kind::unavailable ? SQLITE_IOERR : SQLITE_ERROR;
}

}  // namespace

void Writer::run_group(WorkList& group) noexcept {
  if (!ensure_connection()) {
    refuse(group, watch_.error());
    return end_transaction();  // it is lost with its connection
  }
  switch (group.first()->request.order) {
    case Order::begin: return begin(*group.pop());
    case Order::commit:
    case Order::rollback: return end(*group.pop());
    case Order::within: return run_within(*group.pop());
    case Order::savepoint:
    case Order::release:
    case Order::undo: return run_savepoint(*group.pop());
    default: break;
  }
  gather_until_ = gathering_.end(clock_());
  admits_ = true;
  guards_ = false;
  finished_works_ = 0;
  {
    Completions done;
    while (!group.empty()) {
      WorkList again;
      if (!run_once(group, &again, done)) run_again(group, again, done);
    }
  }
  // After the acknowledgements: no caller waits for it.
  if (connection_->log_pages() == 0) return;
  const bool is_long = connection_->log_pages() >= static_cast<int>(options_.checkpoint_pages);
  watch_.set_log_is_long(is_long);
  if (is_long) {
    bool is_whole = false;
    const int code = connection_->checkpoint(is_whole);
    if (is_whole) watch_.set_log_is_long(false);
    checkpoints_.add();
    // No later sync writes the pages of a failed one: the next probe writes the log anew. A full
    // disk harms nothing, because the log keeps the pages for which the file has no room.
    if ((code & 0xff) == SQLITE_IOERR || is_corrupt(code)) report(code, {});
  }
}

Work* Writer::next_of(Work& work, WorkList& group) noexcept {
  if (work.next_in_list() == nullptr && admits_) admit(group);
  return work.next_in_list();
}

// True: every work of the group has been added to `done`. False: only a work that broke the
// transaction was added, and no other work has taken effect. The works before it are in `again`, if
// there is one.
bool Writer::run_once(WorkList& group, WorkList* again, Completions& done) noexcept {
  if (!begin_transaction(group, done)) return true;
  for (Work* work = group.first(); work != nullptr; work = next_of(*work, group)) {
    if (work->abandoned_by_now()) {
      work->outcome.error.emplace(Kind::cancelled, "cancelled by the caller");
      continue;
    }
    const int code = run_write(*work);
    if (connection_->in_transaction()) {
      if (!is_outage(code) && (code & 0xff) != SQLITE_INTERRUPT) continue;
      // SQLite looks at the time once more when a statement has ended: one that it calls
      // interrupted may have done all it was to do.
      connection_->run(Command::rollback);
    }
    leave_out(*work, group, again, code, done);
    return false;
  }
  return finish_group(group, connection_->run(Command::commit), done);
}

// Runs the works before one that broke their transaction once more, and commits them. The works
// behind it run afterwards, for the first time. If another work breaks this transaction, too, the
// works run singly: no work runs more than three times, however many of them break a transaction.
void Writer::run_again(WorkList& group, WorkList& again, Completions& done) noexcept {
  if (!ensure_connection()) return refuse(group, watch_.error());
  admits_ = false;  // no write joins a group that breaks: it has to come to an end
  if (again.empty()) return;
  redone_.add();
  if (!run_once(again, nullptr, done)) {
    while (Work* const work = again.pop()) {
      WorkList alone;
      alone.push(*work);
      if (ensure_connection()) {
        (void)run_once(alone, nullptr, done);
      } else {
        refuse(alone, watch_.error());
      }
    }
  }
  if (!ensure_connection()) refuse(group, watch_.error());
}

// Notes the result of an attempt to take the lock for writing. Callers may wait for less time than
// busy_wait. Therefore this function notes since when another process has had the lock.
void Writer::note_lock(int code) noexcept {
  if (code == SQLITE_DONE) {
    locked_since_ = never;
    return watch_.note_unlocked();
  }
  if ((code & 0xff) != SQLITE_BUSY) return;
  const Instant now = clock_();
  if (locked_since_ == never) locked_since_ = waiting_since_;
  watch_.note_use();  // looked at until the lock is free, or reported
  if (now - locked_since_ >= options_.busy_wait) watch_.report_locked(options_.busy_wait);
}

// Takes the lock for writing. While another process holds it each work waits for as long as it may.
bool Writer::begin_transaction(WorkList& group, Completions& done) noexcept {
  Instant now = clock_();
  waiting_since_ = now;
  const Instant give_up = now + options_.busy_wait;
  const std::uint64_t before = connection_->lock_retries();
  int code = SQLITE_BUSY;
  while (!group.empty() && (code & 0xff) == SQLITE_BUSY && now < give_up && !watch_.is_locked()) {
    Instant until = give_up;
    for (const Work* work = group.first(); work != nullptr; work = work->next_in_list()) {
      until = std::min(until, work->deadline);
    }
    connection_->wait_for_locks(until - now);
    code = connection_->run(Command::begin_now);
    note_lock(code);
    if (code == SQLITE_DONE) break;
    now = clock_();
    for (Work *work = group.first(), *following; work != nullptr; work = following) {
      following = work->next_in_list();
      if (now < work->deadline) continue;
      group.remove(*work);
      timeouts_.add();
      refuse(*work,
             Error(Kind::timeout,
                   "deadline exceeded while another process held "
                   "the lock",
                   text_of(*work)),
             done);
    }
  }
  retries_.add(connection_->lock_retries() - before);
  if (group.empty()) return false;
  if (code == SQLITE_DONE) return true;
  const Error error = report(code, {});
  while (Work* const work = group.pop()) refuse(*work, error, done);
  return false;
}

// Runs one write, and undoes it if it failed.
int Writer::run_write(Work& work) noexcept {
  const auto statement = connection_->find(*work.request.sql);
  if (!statement) {
    work.outcome.error = statement.error();
    return code_of(statement.error());
  }
  const bool guarded = guards_ || (*statement)->returns_rows();
  if (guarded) connection_->run(Command::savepoint);
  runs_.add();
  int code = run_statement(work);
  if (code == SQLITE_DONE && connection_->has_deferred_violations()) {
    code = SQLITE_CONSTRAINT_FOREIGNKEY;
    work.outcome.clear();
    work.outcome.error = Error::violated(Constraint::foreign_key, {}, text_of(work));
    guards_ = true;  // where one violates, others may: theirs need not break a transaction
    if (!guarded) connection_->run(Command::rollback);
  }
  if (guarded && connection_->in_transaction()) {
    connection_->run(code == SQLITE_DONE ? Command::release : Command::undo);
  }
  return code;
}

int Writer::run_statement(Work& work) noexcept {
  const auto statement = connection_->find(*work.request.sql);
  if (!statement) {
    work.outcome.error = statement.error();
    return code_of(statement.error());
  }
  const int code =
      connection_->run(**statement, work.request.values, work.outcome, limits_of(work));
  if (code != SQLITE_DONE) {
    work.outcome.clear();
    if (!work.outcome.error) work.outcome.error = connection_->error(code, text_of(work));
    if (work.outcome.error->kind() == Kind::timeout) timeouts_.add();
  }
  return code;
}

// The transaction is gone, by the fault of `broken` or of the file.
void Writer::leave_out(Work& broken, WorkList& group, WorkList* again, int code,
                       Completions& done) noexcept {
  if (is_outage(code)) {
    const Error error = report(code, {});
    while (Work* const work = group.pop()) refuse(*work, error, done);
    return;
  }
  if (again != nullptr) {
    while (group.first() != &broken) again->push(*group.pop());
  }
  group.remove(broken);
  done.add(broken);
  // Visits the works that have run. None behind `broken` has.
  for (Work* work = (again != nullptr ? again : &group)->first(); work != nullptr;
       work = work->next_in_list()) {
    work->outcome.clear();
    work->outcome.error.reset();
  }
}

// Acknowledges the writes if the commit was good and went into the file that has the name.
bool Writer::finish_group(WorkList& group, int code, Completions& done) noexcept {
  if (code == SQLITE_DONE && file_is_there()) {
    watch_.note_commit();
    commits_.add();
    {
      const std::lock_guard lock(mutex_);
      finished_works_ += group.size();
      last_group_size_ = finished_works_ + queue_.size();
    }
    while (Work* const work = group.pop()) {
      if (!work->outcome.error) writes_.add();
      done.add(*work);
    }
    return true;
  }
  const Error error = code == SQLITE_DONE ? watch_.error() : report(code, {});
  if (connection_->in_transaction()) connection_->run(Command::rollback);
  while (Work* const work = group.pop()) {
    if (!work->outcome.error) {
      refuse(*work, error, done);
    } else {
      done.add(*work);
    }
  }
  return true;
}

void Writer::begin(Work& work) noexcept {
  Completions done;
  WorkList alone;
  alone.push(work);
  if (!begin_transaction(alone, done)) return;
  alone.pop();
  transaction_failed_ = false;
  transaction_error_.reset();
  transaction_reads_only_ = work.request.mode.read_only;
  {
    const std::lock_guard lock(mutex_);
    transaction_ = ++transactions_begun_;
    hold_until_ = clock_() + options_.transaction_hold;
    watch_.alarm().set(hold_until_);
    work.outcome.transaction = transaction_;
  }
  done.add(work);
}

void Writer::run_within(Work& work) noexcept {
  Completions done;
  if (transaction_failed_) {
    return refuse(
        work,
        Error(Kind::failed_transaction,
              "an earlier statement of the transaction failed: roll it back", text_of(work)),
        done);
  }
  const int code = run_within_mode(work);
  if (code != SQLITE_DONE) {
    transaction_failed_ = true;
    if (is_outage(code)) work.outcome.error = report(code, text_of(work));
    transaction_error_ = work.outcome.error;
  }
  done.add(work);
}

// A read-only transaction holds the lock for writing as any other: its snapshot is the latest.
int Writer::run_within_mode(Work& work) noexcept {
  if (transaction_reads_only_) {
    const auto statement = connection_->find(*work.request.sql);
    if (statement && !(*statement)->reads_only()) {
      work.outcome.error.emplace(
          Kind::syntax, "the transaction is read only, and the statement writes", text_of(work));
      return SQLITE_ERROR;
    }
  }
  return run_statement(work);
}

void Writer::run_savepoint(Work& work) noexcept {
  Completions done;
  const Order order = work.request.order;
  const bool lost = !connection_->in_transaction();
  if (lost || (transaction_failed_ && order != Order::undo)) {
    return refuse(work,
                  Error(Kind::failed_transaction,
                        lost ? "SQLite undid the whole transaction: roll it back"
                             : "an earlier statement of the transaction failed: undo to a "
                               "savepoint before it, or roll it back"),
                  done);
  }
  const std::uint32_t number = work.request.savepoint;
  const std::string text = order == Order::savepoint ? fmt::format("SAVEPOINT s{}", number)
                           : order == Order::release
                               ? fmt::format("RELEASE s{}", number)
                               : fmt::format("ROLLBACK TO s{0}; RELEASE s{0}", number);
  const int code = connection_->run_text(text.c_str());
  transaction_failed_ = code != SQLITE_OK;
  if (code != SQLITE_OK) work.outcome.error = report(code, {});
  transaction_error_ = work.outcome.error;
  done.add(work);
}

void Writer::end(Work& work) noexcept {
  Completions done;
  if (work.request.order == Order::rollback) {
    end_transaction();
    return done.add(work);
  }
  if (transaction_failed_ || !connection_->in_transaction()) {
    work.outcome.error = Error::not_committed(transaction_error_);
    end_transaction();
    return done.add(work);
  }
  const int code = connection_->run(Command::commit);
  if (code == SQLITE_DONE && file_is_there()) {
    watch_.note_commit();
    commits_.add();
    writes_.add();
  } else {
    work.outcome.error = code == SQLITE_DONE ? watch_.error() : report(code, {});
  }
  end_transaction();
  done.add(work);
}

void Writer::end_transaction() noexcept {
  if (connection_ && connection_->in_transaction()) connection_->run(Command::rollback);
  WorkList left;
  {
    const std::lock_guard lock(mutex_);
    transaction_ = 0;
    rollback_asked_ = 0;
    hold_until_ = never;
    while (Work* const work = within_.pop()) left.push(*work);
  }
  Completions done;
  while (Work* const work = left.pop()) refuse(*work, transaction_over(*work), done);
}

// Only this thread reports that the file is usable again, and it has opened the file before.
bool Writer::ensure_connection() noexcept {
  if (!watch_.usable()) return false;
  KATANA_CHECK(connection_ && connection_->generation == watch_.generation());
  return true;
}

bool Writer::file_is_there() noexcept {
  const FileIdentity now = FileIdentity::of(options_.path, options_.vfs);
  if (now == identity_) return true;
  watch_.report(now.exists() ? "the file was replaced by another" : "the file is gone");
  return false;
}

// A file that was locked when it was last tried is tried again, without waiting.
void Writer::probe_lock() noexcept {
  if (locked_since_ == never || !ensure_connection()) return;
  connection_->wait_for_locks({});
  const int code = connection_->run(Command::begin_now);
  if (code == SQLITE_DONE) connection_->run(Command::rollback);
  note_lock(code);
}

void Writer::probe() noexcept {
  if (watch_.usable() && file_is_there()) return probe_lock();
  if (const auto usable = probe_file(); !usable) {
    watch_.report(usable.error().describe());
    return;
  }
  watch_.recover();
  connection_->generation = watch_.generation();
}

// Opens the file anew, without making it, and writes its present content to it again.
Result<void> Writer::probe_file() {
  if (connection_ && FileIdentity::of(options_.path, options_.vfs) != identity_)
    connection_->leave_log();
  connection_.reset();
  if (const auto opened = open(Access::again); !opened) return opened;
  if (watch_.corrupt()) {
    const auto verdict = connection_->ask("PRAGMA quick_check(1)");
    if (!verdict) return std::unexpected(verdict.error());
    if (*verdict != "ok") return fail(Kind::unavailable, "the file is corrupt: " + *verdict);
  }
  const auto id = connection_->ask("PRAGMA application_id");
  if (!id) return std::unexpected(id.error());
  const std::string write = fmt::format("BEGIN IMMEDIATE; PRAGMA application_id = {}; COMMIT", *id);
  const int code = connection_->run_text(write.c_str());
  if (code == SQLITE_OK) return {};
  return fail(Kind::unavailable, words_of(code));
}

// Returns the Error for a code; reports an outage, after which all calls fail.
Error Writer::report(int code, Bytes text) {
  if (is_outage(code)) {
    watch_.report(words_of(code), is_corrupt(code));
    return watch_.error();
  }
  return connection_->error(code, text);
}

Limits Writer::limits_of(const Work& work) const noexcept {
  return {.rows_max = options_.rows_max, .deadline = work.deadline, .work = &work};
}

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
