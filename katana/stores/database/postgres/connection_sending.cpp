// The functions of a connection that send statements, and those for streams.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/stores/database/postgres/connection.hpp"
#include "katana/stores/database/postgres/result_row.hpp"

namespace katana::database::postgres {
void Connection::enqueue(Work& work, bool is_quick) {
  outgoing_.push_back({.work = &work, .is_quick = is_quick});
}

void Connection::enqueue_command(std::string command) {
  outgoing_.push_back({.step = Step::command, .command = std::move(command)});
}

void Connection::enqueue_commit(Work& work) {
  outgoing_.push_back({.step = Step::commit, .work = &work, .command = "COMMIT"});
}

void Connection::enqueue_probe(std::string statement) {
  outgoing_.push_back({.step = Step::command, .command = std::move(statement), .is_probe = true});
}

void Connection::enqueue_savepoint(Work& work) {
  const std::uint32_t savepoint = work.request.savepoint;
  const Order order = work.request.order;
  outgoing_.push_back(
      {.step = Step::savepoint,
       .work = &work,
       .command = order == Order::savepoint ? fmt::format("SAVEPOINT s{}", savepoint)
                  : order == Order::release ? fmt::format("RELEASE SAVEPOINT s{}", savepoint)
                                            : fmt::format("ROLLBACK TO SAVEPOINT s{}", savepoint),
       .savepoint = savepoint,
       .undoes = order == Order::undo});
}

void Connection::advance() noexcept {
  if (advancing_ || stage_ != Stage::open) return;
  advancing_ = true;
  if (!outdated_.empty()) deallocate_outdated();
  while (stage_ == Stage::open && !outgoing_.empty()) {
    if (!in_flight_.empty() && in_flight_.back().guarded && !in_flight_.back().synced_behind) break;
    if (send_front() == Sent::waits) break;
  }
  (void)close_group();
  if (stage_ == Stage::open && stream_opening_ && outgoing_.empty()) advance_stream();
  advancing_ = false;
  if (stage_ == Stage::open) flush();
}

Connection::Sent Connection::send_front() {
  Unit& unit = outgoing_.front();
  Sent sent = Sent::dropped;
  if (unit.step == Step::statement) {
    if (unit.work != nullptr) sent = send_statement(unit);
    if (sent == Sent::waits || stage_ != Stage::open) return Sent::waits;
  } else {
    sent = send_command(unit);
    if (sent == Sent::waits) return sent;
  }
  Unit moved = std::move(outgoing_.front());
  outgoing_.pop_front();
  if (sent == Sent::yes) push(std::move(moved));
  return sent;
}

Connection::Sent Connection::send_command(Unit& unit) {
  if (unit.undoes) {
    // Statements in flight may still fail, and belong to the undone part.
    if (!in_flight_.empty()) return Sent::waits;
    transaction_failed = false;
    transaction_conflicted = transaction_is_stale;
    if (!transaction_is_stale) transaction_error.reset();
    server_timeout_ms_ = -1;  // a SET since the savepoint is undone, too
  } else if (unit.step == Step::savepoint && transaction_failed) {
    if (unit.work != nullptr) {
      finish(*unit.work, Error(Kind::failed_transaction,
                               "a statement of the transaction failed: undo to a savepoint before "
                               "it, or roll it back"));
    }
    return Sent::dropped;
  }
  const auto send = [&](const std::string& text) {
    return PQsendQueryParams(pg_.get(), text.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0) !=
           0;
  };
  if (!close_group()) return Sent::waits;
  // ROLLBACK TO leaves the savepoint itself, which is not needed any more.
  const bool sent = send(unit.command) &&
                    (!unit.undoes || send(fmt::format("RELEASE SAVEPOINT s{}", unit.savepoint))) &&
                    sync();
  if (!sent) {
    lose(Kind::unavailable, PQerrorMessage(pg_.get()));
    return Sent::waits;
  }
  return Sent::yes;
}

Connection::Sent Connection::send_statement(Unit& unit) {
  Work& work = *unit.work;
  std::optional<Error> error;
  if (work.abandoned_by_now()) {
    if (transaction != 0) transaction_failed = true;
    finish(work, std::nullopt);
    return Sent::dropped;
  }
  if (transaction_failed) {
    error.emplace(Kind::failed_transaction,
                  "a statement of the transaction failed: it can only be rolled back",
                  work.request.sql->text());
    finish(work, std::move(error));
    return Sent::dropped;
  }
  const Sent ready = ensure_ready(*work.request.sql, unit.prepared, error);
  if (ready == Sent::waits) return ready;
  if (!error && take_arguments(*unit.prepared, work.request.values, error) == Sent::waits) {
    return Sent::waits;
  }
  if (error && unit.prepared->answered && has_no_type(*unit.prepared)) {
    renew(*unit.prepared);  // the type of a parameter was made anew, and has another number
    return send_statement(unit);
  }
  if (error) {
    unit.prepared = nullptr;
    if (transaction != 0) fail_transaction(error);
    finish(work, std::move(error));
    return Sent::dropped;
  }
  ensure_timeout(server_timeout_ms(work.deadline - home_.now()));
  if (stage_ != Stage::open) return Sent::waits;
  Prepared& prepared = *unit.prepared;
  // Unknown until here; for counts.
  if (transaction == 0 && !prepared.traits.reads) work.request.order = Order::write;
  unit.guarded = prepared.traits.returning && transaction == 0;
  unit.generation = prepared.generation;
  const bool shares =
      prepared.traits.reads_plainly && transaction == 0 && unit.is_quick && !unit.alone;
  if (!shares && !close_group()) return Sent::waits;
  bool sent = send_query(prepared) != 0;
  if (shares) {
    unit.ends_group = false;
    ++group_size_;
  } else {
    sent = sent && (unit.guarded ? PQsendFlushRequest(pg_.get()) != 0 : sync());
  }
  if (!sent) {
    unit.prepared = nullptr;  // not sent: it is in outgoing() when the connection is lost
    lose(Kind::unavailable, PQerrorMessage(pg_.get()));
    return Sent::waits;
  }
  ++prepared.users;
  return Sent::yes;
}

int Connection::send_query(const Prepared& prepared) {
  if (options_.prepared_statements) {
    return PQsendQueryPrepared(pg_.get(), prepared.name.c_str(), arguments_.count(),
                               arguments_.data(), arguments_.lengths(), arguments_.formats(), 1);
  }
  return PQsendQueryParams(pg_.get(), prepared.ended.c_str(), arguments_.count(),
                           prepared.parameter_types.data(), arguments_.data(), arguments_.lengths(),
                           arguments_.formats(), 1);
}

Connection::Sent Connection::ensure_ready(const Sql& sql, Prepared*& prepared,
                                          std::optional<Error>& error) {
  follow_schema();
  prepared = &statements_.find(sql);
  if (prepared->traits.refused || (prepared->traits.needs_transaction && transaction == 0)) {
    error.emplace(Kind::syntax,
                  "the statement would change the connection's session: transactions are begun by "
                  "begin(), and settings belong to the role or the database",
                  sql.text());
    return Sent::yes;
  }
  if (stage_ != Stage::open) return Sent::waits;
  if (prepared->state == Prepared::State::unknown) push_prepare(*prepared);
  if (prepared->state != Prepared::State::ready) return Sent::waits;
  return ensure_types(*prepared, error);
}

Connection::Sent Connection::ensure_types(Prepared& prepared, std::optional<Error>& error) {
  for (std::size_t column = 0; column < prepared.forms.size(); ++column) {
    if (prepared.forms[column] != Form::unknown) continue;
    const std::uint32_t type = prepared.column_types[column];
    if (ensure_type(type) == Sent::waits) return Sent::waits;
    prepared.forms[column] = types_.form_of(type);
    if (prepared.forms[column] != Form::unknown) continue;
    error.emplace(Kind::mismatch,
                  fmt::format("column {} of the result has the type {}, which has no value here: "
                              "cast it, as in column::text",
                              column + 1, types_.problem_of(type)),
                  prepared.text);
    return Sent::yes;
  }
  return Sent::yes;
}

Connection::Sent Connection::take_arguments(const Prepared& prepared, std::span<const Value> values,
                                            std::optional<Error>& error) {
  const std::size_t count = std::min(values.size(), prepared.parameter_types.size());
  for (std::size_t index = 0; index < count; ++index) {
    const Bytes text = values[index].octets;
    const std::uint32_t type = prepared.parameter_types[index];
    const bool nested =
        values[index].type == Value::Type::text && (text.starts_with('[') || text.starts_with('{'));
    if (nested && form_of(type) == Form::unknown && ensure_type(type) == Sent::waits) {
      return Sent::waits;
    }
  }
  if (const char* why = arguments_.take(values, prepared.parameter_types, types_)) {
    error.emplace(Kind::invalid_value, fmt::format("parameter ${} {}", arguments_.failed_at(), why),
                  prepared.text);
  }
  return Sent::yes;
}

Connection::Sent Connection::ensure_type(std::uint32_t type) {
  const std::uint32_t missing = types_.missing_of(type);
  if (missing == 0) return Sent::yes;
  const bool asked = std::ranges::any_of(in_flight_, [&](const Unit& unit) {
    return unit.step == Step::look_up && unit.type == missing;
  });
  if (asked) return Sent::waits;
  const std::string asked_type = std::to_string(missing);
  const char* const value = asked_type.c_str();
  if (!close_group()) return Sent::waits;
  if (PQsendQueryParams(pg_.get(), TypeTable::question, 1, nullptr, &value, nullptr, nullptr, 0) ==
      0) {
    lose(Kind::unavailable, PQerrorMessage(pg_.get()));
  }
  if (stage_ != Stage::open || !sync()) return Sent::waits;
  push({.step = Step::look_up, .type = missing});
  return Sent::waits;
}

void Connection::push_prepare(Prepared& prepared) {
  if (Prepared* const surplus = statements_.surplus()) {
    if (options_.prepared_statements) push_command("DEALLOCATE " + surplus->name);
    statements_.forget(*surplus);
  }
  // A statement without a name is gone after the sync. Only its description is kept, and the text
  // goes with each call.
  const char* const name = options_.prepared_statements ? prepared.name.c_str() : "";
  if (stage_ != Stage::open || !close_group()) return;
  if (PQsendPrepare(pg_.get(), name, prepared.ended.c_str(), 0, nullptr) == 0 ||
      PQsendDescribePrepared(pg_.get(), name) == 0) {
    return lose(Kind::unavailable, PQerrorMessage(pg_.get()));
  }
  if (!sync()) return;
  owner_.on_prepared();
  prepared.state = Prepared::State::asked;
  ++prepared.users;
  push({.step = Step::prepare, .prepared = &prepared, .generation = prepared.generation});
}

// The server's own clock ends statements that cannot be cancelled; the caller's is exact. A session
// that others get next is left as it was.
void Connection::ensure_timeout(std::int64_t timeout_ms) {
  const bool keeps_session = options_.prepared_statements;
  if (server_timeout_ms_ == timeout_ms || (!keeps_session && transaction == 0)) return;
  server_timeout_ms_ = timeout_ms;
  push_command(
      fmt::format("SET {}statement_timeout = {}", keeps_session ? "" : "LOCAL ", timeout_ms));
}

void Connection::push_command(std::string command) {
  if (stage_ != Stage::open || !close_group()) return;
  if (PQsendQueryParams(pg_.get(), command.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0) ==
      0) {
    return lose(Kind::unavailable, PQerrorMessage(pg_.get()));
  }
  if (!sync()) return;
  push({.step = Step::command, .command = std::move(command)});
}

void Connection::push(Unit unit) {
  unit.sent_at = home_.now();
  in_flight_.push_back(std::move(unit));
  if (in_flight_.size() == 1) begin_current();
  if (group_size_ >= options_.reads_per_sync) (void)close_group();
}

bool Connection::close_group() noexcept {
  if (stage_ != Stage::open) return false;
  if (group_size_ == 0) return true;
  group_size_ = 0;
  in_flight_.back().ends_group = true;
  return sync();
}

bool Connection::sync() noexcept {
#ifdef LIBPQ_HAS_SEND_PIPELINE_SYNC
  const bool good = PQsendPipelineSync(pg_.get()) != 0;  // from libpq 17: the turn sends
#else
  const bool good = PQpipelineSync(pg_.get()) != 0;  // sends at once
#endif
  if (!good) lose(Kind::unavailable, PQerrorMessage(pg_.get()));
  return good;
}

void Connection::flush() noexcept {
  const int left = PQflush(pg_.get());
  if (left < 0) return lose(Kind::unavailable, PQerrorMessage(pg_.get()));
  if ((left > 0) != wants_write_) watch(true, left > 0);
}

// ---- streams

void Connection::open_stream(Work& work) {
  stream_opening_ = true;
  stream_was_retried_ = false;
  stream_work_ = &work;
}

// Everything before it was answered: leaves the pipeline, in which a result cannot be held back.
void Connection::advance_stream() {
  std::optional<Error> error;
  Prepared* prepared = nullptr;
  const Sql& sql = *stream_work_->request.sql;
  if (traits_of(sql.text()).copies) return advance_copy();
  if (ensure_ready(sql, prepared, error) == Sent::waits) return;
  if (!error && !prepared->traits.reads) {
    error.emplace(Kind::syntax, "a stream is of a statement that reads", sql.text());
  }
  if (!error && take_arguments(*prepared, stream_work_->request.values, error) == Sent::waits) {
    return;
  }
  if (error) return end_stream(std::move(error));
  ensure_timeout(0);  // a reader may take its time; the deadline of each batch is the caller's
  if (stage_ != Stage::open || !in_flight_.empty()) return;
  start_stream(*prepared);
}

void Connection::start_stream(Prepared& prepared) {
  stream_opening_ = false;
  stream_prepared_ = &prepared;
  stream_rows_ = 0;
  ++prepared.users;
  stage_ = Stage::streaming;
  if (PQexitPipelineMode(pg_.get()) == 0 || send_query(prepared) == 0 ||
      PQsetSingleRowMode(pg_.get()) == 0) {
    return lose(Kind::unavailable, PQerrorMessage(pg_.get()));
  }
  flush();
}

void Connection::fetch(Work& work) {
  stream_work_ = &work;
  watch(true, wants_write_);
  if (copy_ != Copy::none) return fetch_copy(work);
  read_stream();
}

void Connection::read_stream() {
  flush();
  if (copy_ != Copy::none) return read_copy();
  while (stage_ == Stage::streaming && stream_work_ != nullptr && PQisBusy(pg_.get()) == 0) {
    const Result result(PQgetResult(pg_.get()));
    if (result == nullptr) {
      if (restart_stream()) return advance();
      return end_stream(std::nullopt);
    }
    take_stream_result(*result);
  }
  // A stream without a waiting reader is not read: its rows stay at the server.
  if (stage_ == Stage::streaming && stream_work_ == nullptr) watch(false, false);
}

void Connection::take_stream_result(const PGresult& result) {
  Work& work = *stream_work_;
  const Bytes text = stream_prepared_->text;
  if (PQresultStatus(&result) == PGRES_FATAL_ERROR) {
    const Complaint complaint = complaint_of(result);
    if (complaint.state.empty()) return lose(Kind::unavailable, PQerrorMessage(pg_.get()));
    const Staleness found = staleness_of(complaint);
    stream_is_stale_ = !stream_was_retried_ && stream_rows_ == 0 && found != Staleness::none &&
                       (found != Staleness::perhaps || stream_prepared_->answered);
    if (found == Staleness::name_is_gone) schema_changes_ = ~std::uint64_t{0};
    if (found == Staleness::plan_is_old) owner_.on_schema_changed();
    work.outcome.error = error_of(complaint, text);
    return;
  }
  if (work.outcome.error) return;
  if (PQresultStatus(&result) != PGRES_SINGLE_TUPLE) {
    const auto given = rows_given(result);
    if (given && *given != stream_rows_) lose(Kind::unavailable, rows_are_missing);
    return;
  }
  ++stream_rows_;
  texts_.resize(std::max(texts_.size(), static_cast<std::size_t>(PQnfields(&result))));
  const ResultRow row(result, 0, *stream_prepared_, types_, texts_);
  if (const TypeMismatch misfit = work.outcome.take(row)) {
    work.outcome.error.emplace(Kind::mismatch,
                               misfit.column.empty()
                                   ? std::string(misfit.why)
                                   : fmt::format("'{}' {}", misfit.column, misfit.why),
                               text);
    // The rest of its rows is of no use, and may be long.
    stream_work_ = nullptr;
    finish_stream(work);
    return lose(Kind::cancelled, "the stream was given up because a row did not fit");
  }
  if (!work.outcome.wants_more()) park_stream();
}

// Gives the caller its rows, and the cursor by which it asks for more.
void Connection::park_stream() {
  Work& work = *std::exchange(stream_work_, nullptr);
  work.outcome.cursor = cursor;
  owner_.on_finished(work);
}

// Back into the pipeline.
void Connection::leave_stream() noexcept {
  if (stage_ != Stage::streaming) return;
  if (stream_prepared_ != nullptr) --std::exchange(stream_prepared_, nullptr)->users;
  copy_ = Copy::none;
  stage_ = Stage::open;
  if (PQenterPipelineMode(pg_.get()) == 0) lose(Kind::unavailable, PQerrorMessage(pg_.get()));
}

// Prepares a stream's statement anew, once, when it was prepared for an older schema and gave no
// row.
bool Connection::restart_stream() {
  if (stream_prepared_ == nullptr) return false;
  if (!std::exchange(stream_is_stale_, false)) {
    stream_prepared_->answered = true;
    return false;
  }
  renew(*stream_prepared_);
  leave_stream();
  if (stage_ != Stage::open || stream_work_ == nullptr) return false;
  stream_work_->outcome.error.reset();
  stream_was_retried_ = true;
  stream_opening_ = true;
  return true;
}

void Connection::end_stream(std::optional<Error> error) {
  Work* const work = std::exchange(stream_work_, nullptr);
  stream_opening_ = false;
  leave_stream();
  if (work == nullptr) return;
  if (error) work->outcome.error = std::move(error);
  finish_stream(*work);
}

// Destroys the cursor, because there is no next batch.
void Connection::finish_stream(Work& work) {
  if (work.outcome.error) work.outcome.clear();
  work.outcome.cursor = nullptr;
  owner_.on_stream_ended(*this);
  owner_.on_finished(work);
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
