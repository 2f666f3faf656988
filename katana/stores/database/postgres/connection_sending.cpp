// The functions of a connection that send statements, and those for streams.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/stores/database/postgres/connection.hpp"
#include "katana/stores/database/postgres/received_row.hpp"

namespace katana::database::postgres {
namespace {

// The most requests of the machine that one unit has: ROLLBACK TO with RELEASE, and a sync.
constexpr std::size_t requests_of_unit = 8;
constexpr std::array<protocol::Format, 1> all_binary = {protocol::Format::binary};

}  // namespace

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
  // Nothing may be sent between a guarded write and its sync.
  const auto is_guarded = [this] {
    return !in_flight_.empty() && in_flight_.back().guarded && !in_flight_.back().synced_behind;
  };
  if (!outdated_.empty() && !is_guarded()) deallocate_outdated();
  while (stage_ == Stage::open && !outgoing_.empty() && !is_guarded()) {
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
  if (sent == Sent::yes) {
    in_flight_.splice(in_flight_.end(), outgoing_, outgoing_.begin());
    note_sent();
  } else {
    outgoing_.pop_front();
  }
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
  if (!close_group()) return Sent::waits;
  // ROLLBACK TO leaves the savepoint itself, which is not needed any more.
  const bool sent =
      send_own(unit.command) &&
      (!unit.undoes || send_own(fmt::format("RELEASE SAVEPOINT s{}", unit.savepoint))) && sync();
  if (!sent) {
    lose_unsent();
    return Sent::waits;
  }
  return Sent::yes;
}

bool Connection::send_own(Bytes text, std::span<const protocol::Value> values) {
  link_.reserve(requests_of_unit);
  protocol::Machine& machine = link_.machine();
  return machine.parse({.sql = text}, link_) == protocol::Submitted::ok &&
         machine.bind({.values = values}, link_) == protocol::Submitted::ok &&
         machine.execute({}, link_) == protocol::Submitted::ok;
}

// A message is too large, or a text has a zero byte.
void Connection::lose_unsent() {
  lose(Kind::unavailable, "a statement cannot be sent: it is too large, or has a zero byte");
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
  bool sent = send_query(prepared);
  if (shares) {
    unit.ends_group = false;
    ++group_size_;
  } else if (sent) {
    sent = unit.guarded ? link_.machine().flush(link_) == protocol::Submitted::ok : sync();
  }
  if (!sent) {
    // The next connection could not send it either.
    const Bytes text = prepared.text;
    unit.prepared = nullptr;
    finish(*std::exchange(unit.work, nullptr),
           Error(Kind::too_large,
                 "the statement and its parameters cannot be sent: they are too "
                 "large, or the text has a zero byte",
                 text));
    lose_unsent();
    return Sent::waits;
  }
  ++prepared.users;
  return Sent::yes;
}

bool Connection::send_query(const Prepared& prepared) {
  link_.reserve(requests_of_unit);
  protocol::Machine& machine = link_.machine();
  const bool is_named = options_.prepared_statements;
  const protocol::Bind bind{.statement = is_named ? Bytes(prepared.name) : Bytes(),
                            .values = home_.arguments().values(),
                            .formats = home_.arguments().formats(),
                            .result_formats = all_binary};
  protocol::Execute execute;
  // The server refuses to execute a statement that would have other columns than it described.
  if (is_named && !prepared.forms.empty()) {
    execute.columns = static_cast<std::uint16_t>(prepared.forms.size());
  }
  bool sent = is_named || machine.parse({.sql = prepared.text, .types = prepared.parameter_types},
                                        link_) == protocol::Submitted::ok;
  sent = sent && machine.bind(bind, link_) == protocol::Submitted::ok;
  if (!is_named) {
    sent = sent && machine.describe(protocol::Kind::portal, {}, link_) == protocol::Submitted::ok;
  }
  return sent && machine.execute(execute, link_) == protocol::Submitted::ok;
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
  Arguments& arguments = home_.arguments();
  if (const char* why = arguments.take(values, prepared.parameter_types, types_)) {
    error.emplace(Kind::invalid_value, fmt::format("parameter ${} {}", arguments.failed_at(), why),
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
  const protocol::Value value{.bytes = asked_type};
  if (!close_group()) return Sent::waits;
  if (!send_own(TypeTable::question, {&value, 1})) lose_unsent();
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
  const Bytes name = options_.prepared_statements ? Bytes(prepared.name) : Bytes();
  if (stage_ != Stage::open || !close_group()) return;
  link_.reserve(requests_of_unit);
  protocol::Machine& machine = link_.machine();
  const bool sent =
      machine.parse({.name = name, .sql = prepared.text}, link_) == protocol::Submitted::ok &&
      machine.describe(protocol::Kind::statement, name, link_) == protocol::Submitted::ok;
  if (!sent) return lose_unsent();
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
  if (!send_own(command)) return lose_unsent();
  if (!sync()) return;
  push({.step = Step::command, .command = std::move(command)});
}

void Connection::push(Unit unit) {
  in_flight_.push_back(std::move(unit));
  note_sent();
}

void Connection::note_sent() {
  Unit& unit = in_flight_.back();
  unit.sent_at = home_.now();
  unit.last_request = last_request();
  if (in_flight_.size() == 1) {
    front_at_ = unit.sent_at;
    current_ = in_flight_.begin();
  }
  if (group_size_ >= options_.reads_per_sync) (void)close_group();
}

bool Connection::close_group() noexcept {
  if (stage_ != Stage::open) return false;
  if (group_size_ == 0) return true;
  group_size_ = 0;
  Unit& last = in_flight_.back();
  last.ends_group = true;
  if (!sync()) return false;
  last.last_request = last_request();
  return true;
}

bool Connection::sync() noexcept {
  link_.reserve(1);
  const bool good = link_.machine().sync(link_) == protocol::Submitted::ok;
  if (!good) lose_unsent();
  return good;
}

// Sends all that the turn has written.
void Connection::flush() noexcept {
  link_.flush();
  // This may have sent the rest of a piece that the socket did not take at first.
  const bool has_written = stage_ == Stage::streaming && copy_ == Copy::in && !link_.wants_write();
  if (has_written && stream_work_ != nullptr) park_stream();
  // A stream without a waiting reader is not read: its rows stay at the server. Errors of a COPY
  // that takes data are read at its end.
  // A server that cannot send its notices stops reading: they are taken while the socket is full.
  const bool reads = stage_ != Stage::streaming ||
                     (stream_work_ != nullptr && (copy_ != Copy::in || link_.wants_write()));
  watch({reads, link_.wants_write()});
}

// ---- streams

void Connection::open_stream(Work& work) {
  stream_opening_ = true;
  stream_was_retried_ = false;
  stream_work_ = &work;
}

// Everything before it was answered.
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
  if (!send_query(prepared)) return lose_unsent();
  if (!sync()) return;
  stage_ = Stage::streaming;
  flush();
}

void Connection::fetch(Work& work) {
  stream_work_ = &work;
  if (copy_ != Copy::none) return fetch_copy(work);
  read_stream();
}

// Reads what was received and not read; then the socket is watched for more.
void Connection::read_stream() {
  link_.flush();
  read_events();
  link_.keep_unread();
  if (stage_ == Stage::streaming) flush();
}

void Connection::take_stream_event(const Event& event) {
  if (copy_ != Copy::none) return take_copy_event(event);
  Work& work = *stream_work_;
  switch (event.event) {
    case protocol::Event::row: return take_stream_row(event.body);
    case protocol::Event::error: return take_stream_error(protocol::report_of(event.body));
    case protocol::Event::columns:
      if (is_as_described(*stream_prepared_, event.body)) return;
      work.outcome.error.emplace(Kind::mismatch, "the columns of the result are others than before",
                                 stream_prepared_->text);
      return;
    case protocol::Event::complete: {
      const protocol::Tag tag = protocol::tag_of(event.body);
      const bool counts = !work.outcome.error && tag.text.starts_with("SELECT ") && tag.rows;
      if (counts && *tag.rows != stream_rows_) lose(Kind::unavailable, rows_are_missing);
      return;
    }
    case protocol::Event::ready:
      if (restart_stream()) return advance();
      return end_stream(std::nullopt);
    case protocol::Event::copy_in:
    case protocol::Event::copy_out:
      return lose(Kind::unavailable,
                  "the statement began a COPY, which this interface does not have");
    default: return;
  }
}

void Connection::take_stream_error(const protocol::Report& report) {
  const Complaint complaint = complaint_of(report);
  const Staleness found = staleness_of(complaint);
  stream_is_stale_ = !stream_was_retried_ && stream_rows_ == 0 && found != Staleness::none &&
                     (found != Staleness::perhaps || stream_prepared_->answered);
  if (found == Staleness::name_is_gone) schema_changes_ = ~std::uint64_t{0};
  if (found == Staleness::plan_is_old) owner_.on_schema_changed();
  stream_work_->outcome.error = error_of(complaint, stream_prepared_->text);
}

void Connection::take_stream_row(Bytes body) {
  Work& work = *stream_work_;
  if (work.outcome.error) return;
  ++stream_rows_;
  const ReceivedRow row(body, *stream_prepared_, types_, home_.link_memory());
  if (const TypeMismatch misfit = work.outcome.take(row)) {
    work.outcome.error.emplace(Kind::mismatch,
                               misfit.column.empty()
                                   ? std::string(misfit.why)
                                   : fmt::format("'{}' {}", misfit.column, misfit.why),
                               stream_prepared_->text);
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

// Back to statements that are pipelined.
void Connection::leave_stream() noexcept {
  if (stage_ != Stage::streaming) return;
  if (stream_prepared_ != nullptr) --std::exchange(stream_prepared_, nullptr)->users;
  copy_ = Copy::none;
  stage_ = Stage::open;
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
