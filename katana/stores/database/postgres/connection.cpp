#include "katana/stores/database/postgres/connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <ranges>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/stores/database/postgres/received_row.hpp"

namespace katana::database::postgres {
namespace {

std::int64_t number_in(Bytes digits) noexcept {
  std::int64_t number = 0;
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), number);  // "": 0
  return number;
}

// The number of rows that a SELECT gave, as the server reports it at the end. No value: it reports
// none.
std::optional<std::size_t> rows_given(const protocol::Tag& tag) noexcept {
  if (!tag.text.starts_with("SELECT ") || !tag.rows) return std::nullopt;
  return static_cast<std::size_t>(*tag.rows);
}

}  // namespace

std::int64_t server_timeout_ms(Duration left) noexcept {
  const std::int64_t ms = std::clamp<std::int64_t>(left.count_ms() + 1, 1, 1'000'000'000);
  std::int64_t step = 1;
  while (step * 8 <= ms) step *= 2;
  return (ms + step - 1) / step * step;
}

std::unique_ptr<Connection> Connection::begin(ConnectionOwner& owner, Home& home,
                                              const Options& options, LinkOptions link,
                                              std::string& why) {
  std::unique_ptr<Connection> made(new Connection(owner, home, options, std::move(link)));
  made->link_.begin();
  if (made->link_.has_failed()) {
    why = made->link_.problem().text;
    return nullptr;
  }
  made->connect_by = home.now() + options.connect_timeout;
  made->watch({made->link_.wants_read(), made->link_.wants_write()});
  return made;
}

Connection::Connection(ConnectionOwner& owner, Home& home, const Options& options, LinkOptions link)
    : owner_(owner),
      home_(home),
      options_(options),
      link_(home.link_memory(), std::move(link), destinations_of(home, options)),
      statements_(options.statements_max, home.draw_seed()) {}

Connection::~Connection() { unwatch(); }

void Connection::unwatch() noexcept {
  if (socket_ >= 0) home_.unwatch(std::exchange(socket_, -1));
  wanted_ = {};
}

// A socket of which nothing is wanted is not watched: not even its failure would be of use.
void Connection::watch(engine::Readiness wanted) noexcept {
  if (wanted == wanted_ || stage_ == Stage::lost) return;
  if (wanted == engine::Readiness{}) return unwatch();
  socket_ = link_.socket();
  wanted_ = wanted;
  if (const auto watched = home_.watch(socket_, wanted, *this); !watched) {
    lose(Kind::unavailable, watched.error().message());
  }
}

void Connection::on_ready(engine::Readiness ready) noexcept {
  if (stage_ == Stage::connecting) return advance_opening();
  if (ready.read) receive();
  if (stage_ == Stage::streaming) read_stream();
  if (stage_ == Stage::lost) return;
  advance();
  if (stage_ != Stage::lost) owner_.on_progress(*this);
}

void Connection::advance_opening() noexcept {
  unwatch();  // an attempt that fails closes its socket, and the next one may get its number
  link_.advance();
  if (link_.has_failed()) return lose(Kind::unavailable, link_.problem().text);
  watch({link_.wants_read(), link_.wants_write()});
  if (link_.is_opening() || stage_ == Stage::lost) return;
  stage_ = Stage::open;
  connect_by = never;
  owner_.on_opened(*this);
}

// ---- input

// Reads what the socket has, but not for ever: other connections wait.
void Connection::receive() noexcept {
  constexpr unsigned rounds_max = 8;
  for (unsigned round = 0; round < rounds_max && stage_ != Stage::lost; ++round) {
    const bool goes_on = link_.receive();
    read_events();
    link_.keep_unread();
    if (!goes_on) return lose(Kind::unavailable, link_.problem().text);
    const bool is_parked = stage_ == Stage::streaming && stream_work_ == nullptr;
    if (!link_.may_have_more() || is_parked) return;
  }
}

// The events of a stream are read while its reader waits for rows.
void Connection::read_events() {
  while (stage_ == Stage::open ||
         (stage_ == Stage::streaming && stream_work_ != nullptr && may_go_on_copying())) {
    const Event event = link_.next();
    switch (event.event) {
      case protocol::Event::need_bytes: return;
      case protocol::Event::notification: break;  // another session listens
      case protocol::Event::refused: return lose_by_link();
      default: stage_ == Stage::streaming ? take_stream_event(event) : take_event(event);
    }
    if (event.is_fatal) {
      const protocol::Report report = protocol::report_of(event.body);
      return lose(Kind::unavailable, fmt::format("{}: {}", report.severity, report.message));
    }
  }
}

void Connection::lose_by_link() {
  lose(Kind::unavailable, fmt::format("the server broke the protocol: {}",
                                      protocol::text_of(link_.machine().refusal())));
}

// The unit that a request is of. Units before it, of the same group, were not executed unless they
// are answered.
Unit& Connection::find_unit(std::uint64_t request) noexcept {
  while (request > current_->last_request && std::next(current_) != in_flight_.end()) {
    if (!current_->answered) current_->failed = true;
    ++current_;
  }
  return *current_;
}

void Connection::take_event(const Event& event) {
  if (in_flight_.empty()) return;  // a fatal error: the server ends the session
  Unit& unit = find_unit(event.request);
  switch (event.event) {
    case protocol::Event::parameters: return take_parameters(unit, event.body);
    case protocol::Event::columns: return take_columns(unit, event.body);
    case protocol::Event::no_columns: return take_columns(unit, {});
    case protocol::Event::row: return take_row(unit, event.body);
    case protocol::Event::complete: return take_complete(unit, protocol::tag_of(event.body));
    case protocol::Event::error:
      unit.answered = true;
      return take_error(unit, protocol::report_of(event.body));
    case protocol::Event::empty:
      unit.error.emplace(Kind::syntax, "there is no statement");
      return take_complete(unit, protocol::Tag());
    case protocol::Event::ready:
      if (!unit.answered) unit.failed = true;
      return finish_group();
    case protocol::Event::copy_in:
    case protocol::Event::copy_out:
      // COPY has its own protocol, which is left by closing the connection.
      return lose(Kind::unavailable,
                  "the statement began a COPY, which this interface does not have");
    default: return;  // parsed, bound: what follows tells the rest
  }
}

void Connection::take_parameters(Unit& unit, Bytes body) {
  if (unit.step != Step::prepare || unit.generation != unit.prepared->generation) return;
  unit.prepared->parameter_types.clear();
  protocol::ParameterTypes types(body);
  for (std::uint32_t type = 0; types.next(type);) unit.prepared->parameter_types.push_back(type);
}

// The columns of a statement that is prepared, or those of a result. `body` is empty: there are
// none.
void Connection::take_columns(Unit& unit, Bytes body) {
  if (unit.step == Step::statement) {
    if (!unit.error && !is_as_described(*unit.prepared, body)) {
      unit.error.emplace(Kind::mismatch, "the columns of the result are others than before",
                         unit.prepared->text);
      note_stale(unit);
    }
    return;
  }
  if (unit.step != Step::prepare) return;
  unit.answered = true;
  Prepared& prepared = *unit.prepared;
  if (unit.generation != prepared.generation) return;  // it is asked for anew
  prepared.column_types.clear();
  prepared.column_names.clear();
  prepared.forms.clear();
  if (body.empty()) return;
  protocol::Fields fields(body);
  prepared.column_types.reserve(fields.count());
  prepared.forms.reserve(fields.count());
  for (protocol::Field field; fields.next(field);) {
    prepared.column_types.push_back(field.type);
    prepared.forms.push_back(form_of(field.type));
    prepared.column_names.append(field.name).push_back('\0');
  }
}

void Connection::take_row(Unit& unit, Bytes body) {
  if (unit.step == Step::statement) return take_statement_rows(unit, body);
  protocol::Row row(body);
  if (unit.step == Step::look_up) {
    std::array<protocol::Value, TypeTable::question_columns> values;
    if (row.count() != values.size()) return;
    for (protocol::Value& value : values) row.next(value);
    return types_.add(unit.type, values[0].bytes, values[1].bytes, values[2].bytes,
                      values[3].bytes);
  }
  protocol::Value value;
  if (!unit.is_probe || !row.next(value) || value.is_null) return;
  owner_.on_position(static_cast<std::uint64_t>(number_in(value.bytes)), unit.sent_at);
}

// Takes the row, and those behind it that are here.
void Connection::take_statement_rows(Unit& unit, Bytes body) {
  if (unit.synced_behind) return;
  ReceivedRow row(body, *unit.prepared, types_, home_.link_memory());
  // The result has about as many rows as the last one of the statement.
  const bool is_first = unit.rows == 0 && unit.work != nullptr;
  if (is_first) unit.work->outcome.expect(unit.prepared->rows_before);
  do {
    take_statement_row(unit, row);
  } while (link_.next_row(row.values()));
  unit.prepared->rows_before = static_cast<std::uint32_t>(unit.rows);
}

void Connection::take_statement_row(Unit& unit, const ReceivedRow& row) {
  if (unit.work == nullptr || unit.error || unit.work->abandoned_by_now()) return;
  if (++unit.rows > options_.rows_max) {
    unit.error.emplace(
        Kind::too_large,
        fmt::format("the result has more than {} rows: read it as a stream", options_.rows_max),
        text_of(*unit.work));
    return;
  }
  if (const TypeMismatch misfit = unit.work->outcome.take(row)) {
    if (types_.forget_outdated()) note_stale(unit);  // a type was altered
    unit.error.emplace(Kind::mismatch,
                       misfit.column.empty() ? std::string(misfit.why)
                                             : fmt::format("'{}' {}", misfit.column, misfit.why),
                       text_of(*unit.work));
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
bool Connection::is_as_described(const Prepared& prepared, Bytes body) const {
  if (body.empty()) return prepared.column_types.empty();
  protocol::Fields fields(body);
  if (fields.count() != prepared.column_types.size()) return false;
  std::size_t column = 0;
  for (protocol::Field field; fields.next(field);) {
    if (field.type != prepared.column_types[column++]) return false;
  }
  return true;
}

// A request to execute did not fail.
void Connection::take_complete(Unit& unit, const protocol::Tag& tag) {
  unit.answered = true;
  if (unit.step == Step::commit) unit.committed = tag.text == "COMMIT";
  if (unit.step != Step::statement || unit.synced_behind) return;
  const bool read_all = unit.work != nullptr && !unit.error && !unit.work->abandoned_by_now();
  const auto given = unit.prepared->forms.empty() ? std::nullopt : rows_given(tag);
  if (given && read_all && *given != unit.rows) return lose(Kind::unavailable, rows_are_missing);
  if (unit.work != nullptr && !unit.prepared->traits.reads) {
    unit.work->outcome.rows_changed = static_cast<std::int64_t>(tag.rows.value_or(0));
  }
  if (unit.guarded) sync_guarded(unit);
}

void Connection::take_error(Unit& unit, const protocol::Report& report) {
  const Complaint complaint = complaint_of(report);
  fatal_seen_ = fatal_seen_ || report.is_fatal();
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
  if (report.is_fatal()) return;  // the connection is lost next
  if (unit.guarded && !unit.synced_behind) sync_guarded(unit);
  if (complaint.state == "25006" && transaction == 0) owner_.on_read_only(*this);
}

// Commits the write if its rows were read without an error, and rolls it back otherwise.
void Connection::sync_guarded(Unit& unit) {
  const bool keeps = !unit.error && unit.work != nullptr;
  unit.synced_behind = true;
  if (!keeps && !send_own("ROLLBACK")) return lose_unsent();
  if (!sync()) return;
  unit.last_request = last_request();
  flush();
}

// Ends the group of units up to current_, which share a sync. If one of several failed, the server
// undid all of them. The others are then sent again, each with its own sync.
void Connection::finish_group() {
  answered_.splice(answered_.begin(), in_flight_, in_flight_.begin(), std::next(current_));
  current_ = in_flight_.begin();
  const std::size_t count = answered_.size();
  const Duration ran{(home_.now() - front_at_).ns / static_cast<std::int64_t>(count)};
  front_at_ = home_.now();
  const bool undone =
      count > 1 && std::ranges::any_of(answered_, [](const Unit& unit) { return unit.failed; });
  for (Unit& unit : std::views::reverse(answered_)) {
    if (!undone) break;
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
    prepared.mapping.reset();
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
  Units units = std::move(in_flight_);
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
