// Connection: one session of PostgreSQL, whose statements are pipelined; never blocks.
//
//   enqueue() → outgoing ──advance()──► on the way ──events──► finish()
//               (waits for what the        (one unit for each sync, in order)
//                statement needs first)
//
// Each statement has its own sync: one that fails undoes no other. A write that gives rows is
// synced, and thereby committed, only after its rows were read: a row that does not fit undoes it.
// Rows are decoded from the receive buffer into the outcome of their work.
//
// Owns       the link and its prepared statements.
// Borrows    its owner, its home, and works from enqueue() until it gives them to its owner.
// Thread     its home's.
// Allocates  as Link does; units; the values of rows.
// Fails      by ConnectionOwner::on_lost(), once; it does nothing afterwards.
// Invariant  every work that it took is finished or given back exactly once.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "katana/stores/database/postgres/errors.hpp"
#include "katana/stores/database/postgres/home.hpp"
#include "katana/stores/database/postgres/link.hpp"
#include "katana/stores/database/postgres/options.hpp"
#include "katana/stores/database/postgres/statements.hpp"
#include "katana/stores/database/postgres/type_table.hpp"
#include "katana/stores/database/work.hpp"

namespace katana::database::postgres {

class Connection;
class ReceivedRow;

// Empty for orders without a statement, such as commit.
inline Bytes text_of(const Work& work) noexcept {
  return work.request.sql != nullptr ? work.request.sql->text() : Bytes();
}

// The events that a connection reports to its pool. Called on the home's thread, never inside of
// enqueue().
class ConnectionOwner {
 public:
  // The outcome of the work is complete.
  virtual void on_finished(Work& work) noexcept = 0;
  virtual void on_opened(Connection& connection) noexcept = 0;
  // The connection is lost. Its unsent works are in outgoing(). It is destroyed later.
  virtual void on_lost(Connection& connection, const Error& why) noexcept = 0;
  // The server has answered something: the connection may have room, or be idle.
  virtual void on_progress(Connection& connection) noexcept = 0;
  // The stream's last row was read, or it could not begin: the cursor is gone.
  virtual void on_stream_ended(Connection& connection) noexcept = 0;
  virtual void on_prepared() noexcept = 0;
  // The server refused a write, because it or the session is read-only.
  virtual void on_read_only(Connection& connection) noexcept = 0;
  // The server's position, from the probe's statement, where the probe asks for it.
  virtual void on_position(std::uint64_t position, Instant asked_at) noexcept = 0;
  // The schema was changed under prepared statements, those of other connections included.
  virtual void on_schema_changed() noexcept = 0;
  // A number that changes with each on_schema_changed().
  virtual std::uint64_t schema_changes() const noexcept = 0;
  // A statement took this long, after the statements before it had ended.
  virtual void on_ran(Bytes text, Duration duration) noexcept = 0;

 protected:
  ~ConnectionOwner() = default;
};

// The command that a unit sends to the server.
enum class Step : std::uint8_t {
  statement,  // a statement of a work, prepared or not
  prepare,    // PREPARE of a statement that the next units need
  look_up,    // what a type is that the table of types.hpp does not have
  command,    // of the pool's own: SET, BEGIN, DEALLOCATE …
  commit,     // COMMIT of a transaction
  savepoint,  // SAVEPOINT, RELEASE or ROLLBACK TO, for a caller
};

// A cancel request may take effect late. Therefore a connection that had one gets its next work
// only after the request was answered, and then a statement of no consequence.
enum class Cancel : std::uint8_t { none, asked, answered, fenced };

// The error of a write whose result is incomplete.
inline constexpr std::string_view rows_are_missing =
    "the server gave another number of rows than arrived";

// The commands between two syncs, or one of several reads that share a sync.
struct Unit {
  Step step = Step::statement;     // decides which of the members below count
  Work* work = nullptr;            // null: no caller waits for it, or no longer
  std::string command = {};        // SQL of Step::command
  Prepared* prepared = nullptr;    // null: the statement is not prepared
  std::uint32_t type = 0;          // of look_up
  Instant sent_at = {};            // when it was written to the socket's buffer
  bool is_quick = false;           // as far as is known
  bool alone = false;              // has its own sync, though it could share one
  bool ends_group = true;          // a sync is behind it
  bool answered = false;           // it is complete, or it failed
  std::uint64_t last_request = 0;  // of its requests in the machine, the sync behind it included
  bool failed = false;             // the server says so, or the one before it failed
  bool is_probe = false;           // asks whether the server answers and takes writes
  bool guarded = false;            // is synced when its rows were read,
  bool synced_behind = false;      // which they were: what still comes is not of the statement
  bool was_retried = false;  // the statement was sent a second time, after a change of the schema
  bool committed = false;    // of commit: the server says so
  std::uint32_t savepoint = 0;                // number of Step::savepoint
  bool undoes = false;                        // of savepoint: ROLLBACK TO
  std::size_t rows = 0;                       // read so far
  std::optional<Error> error = std::nullopt;  // of the server; empty: none yet
  bool is_stale = false;         // the prepared statement does not fit the schema any more
  bool schema_changed = false;   // as far as one statement shows
  std::uint64_t generation = 0;  // of `prepared`, when it was sent
};

// They move between the lists of a connection without a copy.
using Units = std::list<Unit>;

// The statement_timeout of a call that has `left` until its deadline. It is at least 1, and rounded
// up by at most a quarter: calls with about the same deadline then need no SET between them.
std::int64_t server_timeout_ms(Duration left) noexcept;

class Connection final : private engine::Watcher {
 public:
  // Begins to connect. Null with a reason in `why`: it failed at once.
  static std::unique_ptr<Connection> begin(ConnectionOwner& owner, Home& home,
                                           const Options& options, LinkOptions link,
                                           std::string& why);
  ~Connection();

  bool is_open() const noexcept { return stage_ == Stage::open; }  // may be given statements
  bool is_lost() const noexcept { return stage_ == Stage::lost; }  // its owner destroys it
  // The number of statements that are not answered, sent or not.
  std::size_t load() const noexcept { return outgoing_.size() + in_flight_.size(); }
  // Open, and without statements.
  bool is_idle() const noexcept { return is_open() && load() == 0; }
  // The time when the first unit in order was sent; never: none is.
  Instant oldest_sent() const noexcept {
    return in_flight_.empty() ? never : in_flight_.front().sent_at;
  }
  // No transaction is open at the server. REQUIRES that everything was answered.
  bool is_clean() const noexcept {
    return link_.machine().transaction() == protocol::Transaction::idle;
  }
  // The name, the address and the port of the server that it leads to.
  const std::string& server() const noexcept { return link_.server(); }
  // True when the server reports, without being asked, that it is read-only.
  bool is_read_only() const noexcept { return link_.is_read_only(); }
  // True when it carries no statement that is slow or unknown.
  bool is_quick() const noexcept;
  bool is_encrypted() const noexcept { return link_.is_encrypted(); }
  // The key of a cancel request, which another thread makes. Null: the server gave none.
  std::unique_ptr<CancelKey> cancel_key() const { return link_.cancel_key(); }

  // REQUIRES is_open().
  void enqueue(Work& work, bool is_quick);
  void enqueue_command(std::string command);
  void enqueue_commit(Work& work);
  void enqueue_probe(std::string statement);
  bool carries_probe() const noexcept;
  bool carries_only_probe() const noexcept { return load() == 1 && carries_probe(); }
  void enqueue_savepoint(Work& work);
  Units& outgoing() noexcept { return outgoing_; }
  Units& in_flight() noexcept { return in_flight_; }
  // Sends the units that can be sent.
  void advance() noexcept;
  // True when a statement runs whose caller is gone.
  bool runs_for_nobody() const noexcept;
  // True when, in addition, no other caller waits: to cancel the statement harms no caller.
  bool may_cancel() const noexcept;
  // Gives calls whose deadline has passed at `now` their error. True: there were some.
  bool expire(Instant now) noexcept;

  // Sends a stream's statement, alone on the connection. Its rows go to `work` as its outcome wants
  // them.
  void open_stream(Work& work);
  void fetch(Work& work);
  bool is_streaming() const noexcept { return stage_ == Stage::streaming || stream_opening_; }
  bool stream_is_parked() const noexcept { return stage_ == Stage::streaming && !stream_work_; }
  Work* stream_work() const noexcept { return stream_work_; }

  // Loses the connection, in any state, and tells its owner.
  void lose(Kind kind, std::string_view why) noexcept;

  // The owner's notes about this connection.
  std::uint64_t transaction = 0;        // 0: none holds it
  bool transaction_failed = false;      // the server refuses statements until ROLLBACK
  bool transaction_conflicted = false;  // and that is why
  bool transaction_is_stale = false;    // it has to be run again, whatever is undone of it
  std::optional<Error> transaction_error = std::nullopt;  // of the first statement that failed
  bool transaction_reads_only = false;                    // begun as READ ONLY
  bool transaction_ended = false;                         // its end was asked for
  Cursor* cursor = nullptr;                               // of a stream that holds it
  bool reserved = false;                                  // for a call that needs it alone
  Cancel cancel = Cancel::none;  // state of the cancel request, if there was one
  Instant cancel_asked_at = {};  // when the present request was made
  Instant cancel_since = never;  // the first request for what runs now
  Instant probe_by = never;      // its probe is to be answered until then
  std::uint64_t generation = 0;  // Shared::generation() when it was begun
  Instant connect_by = never;    // fails when it is not open by then
  Instant used_at = {};          // end of its last statement; for Options::idle_timeout
  Instant turn = {};             // the last in which something was given to it
  std::uint64_t number = 0;      // unique in its pool; for cancel requests

 private:
  enum class Stage : std::uint8_t { connecting, open, streaming, lost };
  using Event = protocol::Step;  // of the machine; Step is a unit's

  Connection(ConnectionOwner& owner, Home& home, const Options& options, LinkOptions link);

  enum class Sent : std::uint8_t { yes, waits, dropped };

  void on_ready(engine::Readiness ready) noexcept override;
  void advance_opening() noexcept;
  void receive() noexcept;
  void read_events();
  void lose_by_link();
  void take_event(const Event& event);
  Unit& find_unit(std::uint64_t request) noexcept;
  void take_parameters(Unit& unit, Bytes body);
  void take_columns(Unit& unit, Bytes body);
  void take_row(Unit& unit, Bytes body);
  void take_statement_rows(Unit& unit, Bytes body);
  void take_statement_row(Unit& unit, const ReceivedRow& row);
  void take_complete(Unit& unit, const protocol::Tag& tag);
  void take_error(Unit& unit, const protocol::Report& report);
  bool is_as_described(const Prepared& prepared, Bytes body) const;
  void note_stale(Unit& unit) noexcept;
  void note_staleness(Unit& unit, const Complaint& complaint) noexcept;
  void renew(Prepared& prepared);
  void follow_schema();
  void deallocate_outdated();
  bool has_no_type(const Prepared& prepared) const noexcept;
  void fail_transaction(const std::optional<Error>& why);
  void finish_group();
  void finish_unit(Unit& unit, Duration ran);
  void finish_statement(Unit& unit);
  void finish_commit(Unit& unit);
  void finish_savepoint(Unit& unit);
  void finish_prepare(Unit& unit);
  void finish_look_up(Unit& unit);
  // Works that wait for a failed answer get the error.
  void fail_waiting(Bytes text, std::optional<Error> error);
  void sync_guarded(Unit& unit);
  void finish(Work& work, std::optional<Error> error);
  Error error_of_loss(const Unit& unit, std::string_view why) const;

  Sent send_front();
  Sent send_command(Unit& unit);
  Sent send_statement(Unit& unit);
  // Sends a statement with the arguments that were taken. False: it was not sent.
  bool send_query(const Prepared& prepared);
  // Sends a statement of the driver's own. False: it was not sent.
  bool send_own(Bytes text, std::span<const protocol::Value> values = {});
  void lose_unsent();
  // Sent::yes: the statement is ready at the server, and its types are known. Otherwise the caller
  // waits, or there is an `error`.
  Sent ensure_ready(const Sql& sql, Prepared*& prepared, std::optional<Error>& error);
  Sent ensure_types(Prepared& prepared, std::optional<Error>& error);
  // Takes the arguments, once the types of parameters that are arrays or composites of the schema
  // are known.
  Sent take_arguments(const Prepared& prepared, std::span<const Value> values,
                      std::optional<Error>& error);
  // Sent::yes: the type is known. Otherwise the server is asked for it.
  Sent ensure_type(std::uint32_t type);
  void ensure_timeout(std::int64_t timeout_ms);
  void push_prepare(Prepared& prepared);
  void push_command(std::string command);
  void push(Unit unit);
  // The last unit of in_flight_ was sent.
  void note_sent();
  // Ends the group of reads that share a sync. False: the connection is lost.
  bool close_group() noexcept;
  bool sync() noexcept;
  void flush() noexcept;
  // The number of the last request that was written.
  std::uint64_t last_request() const noexcept { return link_.machine().next_request() - 1; }
  void watch(engine::Readiness wanted) noexcept;
  void unwatch() noexcept;
  void advance_stream();
  void start_stream(Prepared& prepared);
  void read_stream();
  void take_stream_event(const Event& event);
  void take_stream_error(const protocol::Report& report);
  void take_stream_row(Bytes body);
  void end_stream(std::optional<Error> error);
  void leave_stream() noexcept;
  bool restart_stream();
  void finish_stream(Work& work);
  void park_stream();
  // COPY; connection_copy.cpp.
  enum class Copy : std::uint8_t { none, begun, in, out, ended };
  void advance_copy();
  void fetch_copy(Work& work);
  void refuse_copy(Work& work);
  bool may_go_on_copying();
  void take_copied(Bytes octets);
  void take_copy_event(const Event& event);
  void sync_copy();

  ConnectionOwner& owner_;
  Home& home_;
  const Options& options_;
  Link link_;
  Stage stage_ = Stage::connecting;
  int socket_ = -1;           // watched; -1: none
  engine::Readiness wanted_;  // of socket_
  bool advancing_ = false;
  Instant front_at_ = {};    // when what is first in order became so
  bool fatal_seen_ = false;  // the server ended the session: what follows was not begun
  Units outgoing_;
  Units in_flight_;
  Units::iterator current_;     // of in_flight_, if there are any: what is being answered
  std::size_t group_size_ = 0;  // of the reads sent last, which have no sync yet
  Units answered_;              // the group that is being finished
  Statements statements_;
  std::uint64_t schema_changes_ = 0;   // of the owner, as they were seen
  std::vector<std::string> outdated_;  // names at the server that nothing uses any more
  TypeTable types_;
  std::int64_t server_timeout_ms_ = -1;  // statement_timeout as it stands there; -1: not known
  bool stream_opening_ = false;
  Work* stream_work_ = nullptr;
  Prepared* stream_prepared_ = nullptr;  // null: a COPY
  std::size_t stream_rows_ = 0;
  bool stream_is_stale_ = false;
  bool stream_was_retried_ = false;
  Copy copy_ = Copy::none;
  bool copy_is_binary_ = false;
  bool copy_is_synced_ = false;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
