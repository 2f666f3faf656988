#include "katana/stores/database/postgres/connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/stores/database/postgres/result_row.hpp"

namespace katana::database::postgres {
namespace {

void drop_notice(void*, const PGresult*) noexcept {}

std::int64_t number_in(const char* text) noexcept {
  std::int64_t number = 0;
  const Bytes digits(text);
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), number);  // "": 0
  return number;
}

// Takes rows as they come: one in a result, and from libpq 17 on up to 16. This costs half as much
// for twelve rows, and a third for a hundred (decision 0094). The size of a result stays bounded.
#ifdef LIBPQ_HAS_CHUNK_MODE
int take_rows_as_they_come(PGconn* pg) noexcept {
  constexpr int rows_of_result_max = 16;
  return PQsetChunkedRowsMode(pg, rows_of_result_max);
}
constexpr bool has_rows_behind(ExecStatusType status) noexcept {
  return status == PGRES_TUPLES_CHUNK;
}
#else
int take_rows_as_they_come(PGconn* pg) noexcept { return PQsetSingleRowMode(pg); }
constexpr bool has_rows_behind(ExecStatusType status) noexcept {
  return status == PGRES_SINGLE_TUPLE;
}
#endif

}  // namespace

std::int64_t server_timeout_ms(Duration left) noexcept {
  const std::int64_t ms = std::clamp<std::int64_t>(left.count_ms() + 1, 1, 1'000'000'000);
  std::int64_t step = 1;
  while (step * 8 <= ms) step *= 2;
  return (ms + step - 1) / step * step;
}

std::unique_ptr<Connection> Connection::begin(ConnectionOwner& owner, Home& home,
                                              const Options& options,
                                              const ConnectParameters& parameters,
                                              std::string& why) {
  PGconn* const pg = PQconnectStartParams(parameters.keywords(), parameters.values(), 0);
  if (pg == nullptr) {
    why = "no memory for a connection";
    return nullptr;
  }
  std::unique_ptr<Connection> made(new Connection(owner, home, options, pg));
  if (PQstatus(pg) == CONNECTION_BAD) {
    why = PQerrorMessage(pg);
    return nullptr;
  }
  PQsetNoticeReceiver(pg, &drop_notice, nullptr);
  made->connect_by = home.now() + options.connect_timeout;
  made->watch(false, true);
  return made;
}

Connection::Connection(ConnectionOwner& owner, Home& home, const Options& options, PGconn* pg)
    : owner_(owner), home_(home), options_(options), pg_(pg), statements_(options.statements_max) {}

Connection::~Connection() { unwatch(); }

void Connection::unwatch() noexcept {
  const int socket = std::exchange(socket_, -1);
  // -1 for a socket that libpq has closed: its number may belong to another file.
  home_.poller().unwatch(socket == PQsocket(pg_.get()) ? socket : -1, *this);
}

void Connection::watch(bool read, bool write) noexcept {
  const int socket = PQsocket(pg_.get());
  socket_ = socket;
  wants_write_ = write;
  if (socket < 0) return home_.poller().unwatch(-1, *this);
  if (const auto watched = home_.poller().watch(socket, read, write, *this); !watched) {
    lose(Kind::unavailable, watched.error().message());
  }
}

void Connection::on_socket(bool readable) noexcept {
  if (stage_ == Stage::lost) return;
  if (stage_ == Stage::connecting) return poll_connect();
  const bool received = !readable || PQconsumeInput(pg_.get()) != 0;
  if (stage_ == Stage::streaming) {
    read_stream();
  } else {
    read_results();
  }
  if (stage_ == Stage::lost) return;
  if (!received || PQstatus(pg_.get()) == CONNECTION_BAD) {
    return lose(Kind::unavailable, PQerrorMessage(pg_.get()));
  }
  advance();
  if (stage_ != Stage::lost) owner_.on_progress(*this);
}

void Connection::poll_connect() noexcept {
  switch (PQconnectPoll(pg_.get())) {
    case PGRES_POLLING_READING: return watch(true, false);
    case PGRES_POLLING_WRITING: return watch(false, true);
    case PGRES_POLLING_OK:
      if (PQsetnonblocking(pg_.get(), 1) != 0 || PQenterPipelineMode(pg_.get()) == 0) break;
      stage_ = Stage::open;
      connect_by = never;
      watch(true, false);
      if (stage_ == Stage::open) owner_.on_opened(*this);
      return;
    default: break;
  }
  lose(Kind::unavailable, PQerrorMessage(pg_.get()));
}

// ---- input

void Connection::read_results() {
  unsigned ends = 0;  // of results; two in a row: there is nothing more
  while (stage_ == Stage::open && !in_flight_.empty() && PQisBusy(pg_.get()) == 0) {
    const Result result(PQgetResult(pg_.get()));
    if (result == nullptr) {
      if (++ends == 2) return;
      if (in_flight_[current_].answered) {
        ++current_;
        begin_current();
      }
      continue;
    }
    ends = 0;
    take_result(in_flight_[current_], *result);
  }
}

void Connection::take_result(Unit& unit, const PGresult& result) {
  const ExecStatusType status = PQresultStatus(&result);
  if (has_rows_behind(status)) return take_rows(unit, result);
  if (!unit.ends_group) unit.answered = true;
  switch (status) {
    case PGRES_TUPLES_OK: take_rows(unit, result); return take_final(unit, result);
    case PGRES_COMMAND_OK: return take_final(unit, result);
    case PGRES_FATAL_ERROR: return take_error(unit, result);
    case PGRES_EMPTY_QUERY:
      unit.error.emplace(Kind::syntax, "there is no statement");
      return take_final(unit, result);
    case PGRES_PIPELINE_SYNC: return finish_group();
    case PGRES_PIPELINE_ABORTED:  // behind an error of this unit, or of its group
      unit.failed = true;
      return;
    default:
      // COPY has its own protocol, which is left by closing the connection.
      lose(Kind::unavailable, "the statement began a COPY, which this interface does not have");
  }
}

void Connection::take_rows(Unit& unit, const PGresult& result) {
  const int rows = PQntuples(&result);
  if (unit.step == Step::look_up && rows == 1) {
    if (PQnfields(&result) != TypeTable::question_columns) return;
    const auto text = [&](int column) { return Bytes(PQgetvalue(&result, 0, column)); };
    return types_.add(unit.type, text(0), text(1), text(2), text(3));
  }
  if (unit.is_probe && rows == 1 && PQgetisnull(&result, 0, 0) == 0) {
    const std::int64_t position = number_in(PQgetvalue(&result, 0, 0));
    return owner_.on_position(static_cast<std::uint64_t>(position), unit.sent_at);
  }
  if (unit.step != Step::statement || unit.synced_behind) return;
  if (!unit.error && !is_as_described(*unit.prepared, result)) {
    unit.error.emplace(Kind::mismatch, "the columns of the result are others than before",
                       unit.prepared->text);
    note_stale(unit);
  }
  if (texts_.size() < static_cast<std::size_t>(PQnfields(&result))) {
    texts_.resize(static_cast<std::size_t>(PQnfields(&result)));
  }
  for (int row = 0; row < rows; ++row) {
    if (unit.work == nullptr || unit.error || unit.work->abandoned_by_now()) return;
    if (++unit.rows > options_.rows_max) {
      unit.error.emplace(
          Kind::too_large,
          fmt::format("the result has more than {} rows: read it as a stream", options_.rows_max),
          text_of(*unit.work));
      return;
    }
    const ResultRow each(result, row, *unit.prepared, types_, texts_);
    if (const TypeMismatch misfit = unit.work->outcome.take(each)) {
      if (types_.forget_outdated()) note_stale(unit);  // a type was altered
      unit.error.emplace(Kind::mismatch,
                         misfit.column.empty() ? std::string(misfit.why)
                                               : fmt::format("'{}' {}", misfit.column, misfit.why),
                         text_of(*unit.work));
    }
  }
}

// Its result was read by a description that does not hold any more. The statement ran: it runs
// again only if that does no harm.
void Connection::note_stale(Unit& unit) noexcept {
  unit.is_stale = true;
  if (!unit.prepared->traits.reads_plainly && !unit.guarded) unit.was_retried = true;
}

// Called for an error of the server, which undid the statement. Therefore the statement may run
// again, unless it may have committed something. A statement that did not begin runs again in any
// case.
void Connection::note_staleness(Unit& unit, const Complaint& complaint) noexcept {
  if (unit.step != Step::statement || unit.prepared == nullptr) return;
  const Staleness found = staleness_of(complaint);
  if (found == Staleness::none) return;
  if (found == Staleness::perhaps && !unit.prepared->answered) return;  // it was right never yet
  unit.is_stale = true;
  unit.schema_changed = found != Staleness::name_is_gone;
  if (found == Staleness::perhaps && unit.prepared->traits.may_commit) unit.was_retried = true;
  if (found == Staleness::name_is_gone) schema_changes_ = ~std::uint64_t{0};  // of all of them
}

// Has the statement prepared again, under another name, when it is next needed.
void Connection::renew(Prepared& prepared) {
  if (options_.prepared_statements && prepared.state == Prepared::State::ready) {
    outdated_.push_back(prepared.name);
  }
  statements_.renew(prepared);
}

// Other statements meet the same change, one after another, and each would undo its transaction.
void Connection::follow_schema() {
  if (std::exchange(schema_changes_, owner_.schema_changes()) == owner_.schema_changes()) return;
  types_.forget();
  if (!statements_.renew_all() || !options_.prepared_statements) return;
  outdated_.clear();
  push_command("DEALLOCATE ALL");
}

void Connection::deallocate_outdated() {
  if (transaction != 0 && transaction_failed) return;  // nothing can be done but to end it
  for (const std::string& name : std::exchange(outdated_, {})) push_command("DEALLOCATE " + name);
}

// A number that was a type's when the statement was prepared.
bool Connection::has_no_type(const Prepared& prepared) const noexcept {
  return std::ranges::any_of(prepared.parameter_types, [this](std::uint32_t type) {
    const SchemaType* const known = types_.find(type);
    return known != nullptr && known->name.empty();
  });
}

void Connection::fail_transaction(const std::optional<Error>& why) {
  transaction_failed = true;
  if (why && !transaction_error) transaction_error = why;
}

// A statement without a name is parsed by the server each time, and may have other columns then.
bool Connection::is_as_described(const Prepared& prepared, const PGresult& result) const {
  if (options_.prepared_statements) return true;
  const auto fields = static_cast<std::size_t>(PQnfields(&result));
  if (fields != prepared.column_types.size()) return false;
  for (std::size_t column = 0; column < fields; ++column) {
    if (PQftype(&result, static_cast<int>(column)) != prepared.column_types[column]) return false;
  }
  return true;
}

// The last result of a query that did not fail.
void Connection::take_final(Unit& unit, const PGresult& result) {
  switch (unit.step) {
    case Step::prepare: {
      Prepared& prepared = *unit.prepared;
      if (unit.generation != prepared.generation) return;              // it is asked for anew
      if (PQnparams(&result) == 0 && PQnfields(&result) == 0) return;  // of the parse itself, too
      prepared.parameter_types.clear();
      for (int index = 0; index < PQnparams(&result); ++index) {
        prepared.parameter_types.push_back(PQparamtype(&result, index));
      }
      prepared.column_types.clear();
      prepared.forms.clear();
      for (int index = 0; index < PQnfields(&result); ++index) {
        prepared.column_types.push_back(PQftype(&result, index));
        prepared.forms.push_back(form_of(prepared.column_types.back()));
      }
      return;
    }
    case Step::commit:
      unit.committed = Bytes(PQcmdStatus(const_cast<PGresult*>(&result))) == "COMMIT";
      return;
    case Step::statement: break;
    default: return;
  }
  if (unit.synced_behind) return;
  const bool read_all = unit.work != nullptr && !unit.error && !unit.work->abandoned_by_now();
  if (const auto given = rows_given(result); given && read_all && *given != unit.rows) {
    return lose(Kind::unavailable, rows_are_missing);
  }
  if (unit.work != nullptr && !unit.prepared->traits.reads) {
    // libpq asks for a result that can be changed, and does not change it.
    unit.work->outcome.rows_changed = number_in(PQcmdTuples(const_cast<PGresult*>(&result)));
  }
  if (unit.guarded) sync_guarded(unit);
}

void Connection::take_error(Unit& unit, const PGresult& result) {
  const Complaint complaint = complaint_of(result);
  const char* const severity = PQresultErrorField(&result, PG_DIAG_SEVERITY_NONLOCALIZED);
  fatal_seen_ = fatal_seen_ || (severity != nullptr && Bytes(severity) != "ERROR");
  // An error of libpq itself has no SQLSTATE. When the length of a message is wrong, libpq drops
  // the row and goes on. The following messages must not be believed then.
  if (complaint.state.empty()) return lose(Kind::unavailable, PQresultErrorMessage(&result));
  unit.failed = true;
  if (!unit.error) {
    unit.error = error_of(complaint, unit.prepared != nullptr ? unit.prepared->text
                                     : unit.work != nullptr   ? text_of(*unit.work)
                                                              : Bytes());
    note_staleness(unit, complaint);
    if (transaction_reads_only && complaint.state == "25006") {
      unit.error.emplace(Kind::syntax, "the transaction is read only, and the statement writes",
                         unit.prepared != nullptr ? unit.prepared->text : Bytes());
    }
  }
  if (unit.guarded && !unit.synced_behind) sync_guarded(unit);
  if (complaint.state == "25006" && transaction == 0) owner_.on_read_only(*this);
}

// Commits the write if its rows were read without an error, and rolls it back otherwise.
void Connection::sync_guarded(Unit& unit) {
  const bool keeps = !unit.error && unit.work != nullptr;
  unit.synced_behind = true;
  if (!keeps) {
    (void)PQsendQueryParams(pg_.get(), "ROLLBACK", 0, nullptr, nullptr, nullptr, nullptr, 0);
  }
  if (sync()) flush();
}

// Ends the group of units up to current_, which share a sync. If one of several failed, the server
// undid all of them. The others are then sent again, each with its own sync.
void Connection::finish_group() {
  const std::size_t count = std::exchange(current_, 0) + 1;
  for (std::size_t each = 0; each < count; ++each) {
    answered_.push_back(std::move(in_flight_.front()));
    in_flight_.pop_front();
  }
  const Duration ran{(home_.now() - front_at_).ns / static_cast<std::int64_t>(count)};
  begin_current();
  const bool undone =
      count > 1 && std::ranges::any_of(answered_, [](const Unit& unit) { return unit.failed; });
  for (std::size_t each = count; undone && each-- > 0;) {
    Unit& unit = answered_[each];
    if (unit.work == nullptr || (unit.failed && unit.error)) continue;
    --unit.prepared->users;
    unit.work->outcome.clear();
    outgoing_.push_front(
        {.work = std::exchange(unit.work, nullptr), .is_quick = unit.is_quick, .alone = true});
    unit.prepared = nullptr;
  }
  for (Unit& unit : answered_) {
    if (unit.work != nullptr || unit.prepared != nullptr || unit.step != Step::statement) {
      finish_unit(unit, ran);
    }
  }
  answered_.clear();
}

void Connection::finish_unit(Unit& unit, Duration ran) {
  // A statement that was cut short shows only that it was not quick.
  const bool whole = unit.work != nullptr && !unit.error && !unit.work->abandoned_by_now();
  if (unit.step == Step::statement && (whole || ran >= options_.slow_after)) {
    owner_.on_ran(unit.prepared->text, ran);
  }
  if (unit.prepared != nullptr) --unit.prepared->users;
  switch (unit.step) {
    case Step::statement: return finish_statement(unit);
    case Step::commit: return finish_commit(unit);
    case Step::savepoint: return finish_savepoint(unit);
    case Step::prepare: return finish_prepare(unit);
    case Step::look_up: return finish_look_up(unit);
    case Step::command:
      // A rollback restores the settings that the transaction has changed.
      if (unit.command == "ROLLBACK" || unit.error) server_timeout_ms_ = -1;
      return;
  }
}

// Asks libpq for rows as they come, when the next statement in order gives rows.
void Connection::begin_current() noexcept {
  if (in_flight_.empty()) return;
  if (current_ == 0) front_at_ = home_.now();
  const Unit& unit = in_flight_[current_];
  if (unit.step != Step::statement || unit.prepared->forms.empty()) return;
  // Refused only when its rows are here already, and then they are few.
  (void)take_rows_as_they_come(pg_.get());
}

void Connection::finish(Work& work, std::optional<Error> error) {
  if (error) {
    work.outcome.clear();
    work.outcome.rows_changed = 0;
    work.outcome.error = std::move(error);
  }
  owner_.on_finished(work);
}

void Connection::finish_statement(Unit& unit) {
  if (unit.generation == unit.prepared->generation) {
    unit.is_stale ? renew(*unit.prepared) : void(unit.prepared->answered = true);
  }
  if (unit.schema_changed) owner_.on_schema_changed();
  if (unit.is_stale && transaction == 0 && !unit.was_retried && unit.work != nullptr) {
    unit.work->outcome.clear();
    outgoing_.push_front({.work = unit.work, .alone = true, .was_retried = true});
    return;
  }
  if (unit.error && transaction != 0) {
    if (unit.is_stale) {
      transaction_is_stale = true;
      unit.error.emplace(Kind::conflict,
                         "the schema was changed under a prepared statement, and the transaction "
                         "was undone: run it again",
                         unit.prepared->text, unit.error->describe());
    }
    fail_transaction(unit.error);
    transaction_conflicted = transaction_conflicted || unit.error->kind() == Kind::conflict;
  }
  if (unit.work != nullptr) finish(*unit.work, std::move(unit.error));
}

void Connection::finish_savepoint(Unit& unit) {
  if (unit.error) fail_transaction(unit.error);
  if (unit.work != nullptr) finish(*unit.work, std::move(unit.error));
}

void Connection::finish_commit(Unit& unit) {
  if (!unit.committed || !options_.prepared_statements) server_timeout_ms_ = -1;
  if (unit.work == nullptr) return;
  if (!unit.error && !unit.committed) {
    unit.error = Error::not_committed(transaction_error);
  }
  finish(*unit.work, std::move(unit.error));
}

// A statement that waits for it is sent next, or gets the error.
void Connection::finish_prepare(Unit& unit) {
  Prepared& prepared = *unit.prepared;
  if (unit.generation != prepared.generation) return;
  if (!unit.error) {
    prepared.state = Prepared::State::ready;
    prepared.mapping = {};
    return;
  }
  const Bytes text = prepared.text;
  statements_.forget(prepared);
  fail_waiting(text, std::move(unit.error));
}

void Connection::finish_look_up(Unit& unit) {
  if (!unit.error) return types_.add_nothing(unit.type);
  // The first unit in order waits for the answer, whichever it is.
  const bool waits = !outgoing_.empty() && outgoing_.front().work != nullptr;
  const Bytes text = waits ? text_of(*outgoing_.front().work) : Bytes();
  fail_waiting(text, std::move(unit.error));
}

void Connection::fail_waiting(Bytes text, std::optional<Error> error) {
  if (transaction != 0) fail_transaction(error);
  if (stream_opening_) return end_stream(std::move(error));
  if (outgoing_.empty() || outgoing_.front().work == nullptr) return;
  Work& work = *outgoing_.front().work;
  if (text_of(work) != text) return;
  outgoing_.pop_front();
  finish(work, std::move(error));
}

// ---- the end

Error Connection::error_of_loss(const Unit& unit, std::string_view why) const {
  if (unit.error) return *unit.error;
  const Bytes text = text_of(*unit.work);
  if (unit.step == Step::commit && !fatal_seen_) {
    return Error(Kind::unknown_outcome,
                 "the connection was lost before the commit was answered: it may have taken effect",
                 {}, why);
  }
  const bool may_be_done = unit.step == Step::statement && transaction == 0 && !fatal_seen_ &&
                           !unit.prepared->traits.reads && (!unit.guarded || unit.synced_behind);
  if (may_be_done) {
    return Error(Kind::unknown_outcome,
                 "the connection was lost before the write was answered: it may have taken effect",
                 text, why);
  }
  return Error(Kind::unavailable, "the connection to the database was lost", text, why);
}

void Connection::lose(Kind kind, std::string_view why) noexcept {
  if (stage_ == Stage::lost) return;
  stage_ = Stage::lost;
  std::string reason(why);
  while (!reason.empty() && (reason.back() == '\n' || reason.back() == ' ')) reason.pop_back();
  std::ranges::replace(reason, '\n', ' ');
  unwatch();
  std::deque<Unit> units = std::move(in_flight_);
  in_flight_.clear();
  for (Unit& unit : units) {
    if (unit.work != nullptr) finish(*unit.work, error_of_loss(unit, reason));
  }
  if (Work* const work = std::exchange(stream_work_, nullptr)) {
    work->outcome.error.emplace(kind, "the connection of the stream was lost", text_of(*work),
                                reason);
    finish_stream(*work);
  }
  owner_.on_lost(*this, Error(kind, "the connection to the database was lost", {}, reason));
}

std::string Connection::server() const {
  return fmt::format("{} {} {}", PQhost(pg_.get()), PQhostaddr(pg_.get()), PQport(pg_.get()));
}

bool Connection::is_read_only() const noexcept {
  const auto says_on = [&](const char* parameter) {
    const char* const value = PQparameterStatus(pg_.get(), parameter);
    return value != nullptr && Bytes(value) == "on";
  };
  return says_on("in_hot_standby") || says_on("default_transaction_read_only");
}

bool Connection::carries_probe() const noexcept {
  const auto is_probe = [](const Unit& unit) { return unit.is_probe; };
  return std::ranges::any_of(in_flight_, is_probe) || std::ranges::any_of(outgoing_, is_probe);
}

bool Connection::is_quick() const noexcept {
  const auto slow = [](const Unit& unit) { return unit.step == Step::statement && !unit.is_quick; };
  return std::ranges::none_of(in_flight_, slow) && std::ranges::none_of(outgoing_, slow);
}

bool Connection::runs_for_nobody() const noexcept {
  return std::ranges::any_of(in_flight_, [](const Unit& unit) {
    return unit.step == Step::statement && (unit.work == nullptr || unit.work->abandoned_by_now());
  });
}

bool Connection::may_cancel() const noexcept {
  const auto waits = [](const Unit& unit) {
    return unit.work != nullptr && !unit.work->abandoned_by_now();
  };
  return runs_for_nobody() && cancel == Cancel::none && std::ranges::none_of(in_flight_, waits) &&
         std::ranges::none_of(outgoing_, waits);
}

bool Connection::expire(Instant now) noexcept {
  bool any = false;
  const auto expired = [&](const Unit& unit) {
    return unit.work != nullptr && now >= unit.work->deadline;
  };
  for (Unit& unit : in_flight_) {
    if (!expired(unit)) continue;
    any = true;
    if (transaction != 0) transaction_failed = true;
    const bool commits = unit.step == Step::commit;
    finish(*std::exchange(unit.work, nullptr),
           commits ? Error(Kind::unknown_outcome,
                           "deadline exceeded before the commit was answered: it may take effect")
                   : Error(Kind::timeout, "deadline exceeded while the statement ran",
                           unit.prepared != nullptr ? unit.prepared->text : Bytes()));
  }
  for (Unit& unit : outgoing_) {
    if (!expired(unit)) continue;
    any = true;
    if (transaction != 0) transaction_failed = true;
    Work& work = *std::exchange(unit.work, nullptr);
    if (unit.step == Step::commit) {
      unit.step = Step::command;
      unit.command = "ROLLBACK";
    }
    finish(work,
           Error(Kind::timeout, "deadline exceeded before the statement was sent", text_of(work)));
  }
  return any;
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
