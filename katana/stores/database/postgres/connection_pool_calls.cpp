// The functions of a pool for transactions and streams, and for connecting and cancelling.
#include <fmt/format.h>

#include <algorithm>

#include "katana/base/values/secrets.hpp"
#include "katana/stores/database/postgres/connection_pool.hpp"
#include "katana/stores/database/postgres/targets.hpp"

namespace katana::database::postgres {
namespace {

// Among several hosts the first that answers is wanted, and soon.
Duration attempt_timeout(Duration connect_timeout) noexcept {
  return std::min(connect_timeout,
                  std::max(milliseconds(500), nanoseconds(connect_timeout.ns / 4)));
}

}  // namespace

// A job of a helper's thread for the pool, whose executor expects the job's message.
struct ConnectionPool::Job : Message {
  explicit Job(ConnectionPool& pool) noexcept
      : Message(&arrive),
        handle(pool.handle_),
        executor(pool.home_.executor()),
        options(pool.options_),
        targets(std::vector<Target>()) {}
  ~Job() {
    if (password) erase_secret(*password);
  }

  // The helper's thread.
  void run_there() {
    targets = targets_of(options);
    password = password_of(options);
    executor.post(*this);
  }
  static void arrive(Message& message) noexcept {
    const std::unique_ptr<Job> job(&static_cast<Job&>(message));
    job->executor.unexpect();
    if (ConnectionPool* const pool = job->handle->pool) pool->connect(job->targets, job->password);
  }
  static bool start(ConnectionPool& pool, std::unique_ptr<Job> job) {
    const auto helper = pool.shared_->helper();
    if (!helper) return false;
    pool.home_.executor().expect();
    if ((*helper)->post([job = job.get()] { job->run_there(); }) == thread::Admission::accepted) {
      (void)job.release();
      return true;
    }
    pool.home_.executor().unexpect();
    return false;
  }

  const std::shared_ptr<PoolHandle> handle;
  Executor& executor;
  const Options options;
  katana::Result<std::vector<Target>> targets;
  katana::Result<std::string> password = std::string();
};

bool ConnectionPool::may_open() const noexcept {
  return !shared_->closed() && home_.now() >= connect_again_at_ &&
         shared_->permits_out() < options_.connections_max;
}

void ConnectionPool::open_connections() {
  if (shared_->closed()) return;
  const std::size_t depth = options_.pipeline_depth;
  const std::size_t shared = queue_.size() - std::min(queue_.size(), exclusive_waiting_);
  std::size_t wanted = exclusive_waiting_ + (shared + depth - 1) / depth;
  // The pool that keeps one connection finds out for all pools whether the database is back, also
  // while another connection still hangs.
  if (keeps_one_ && (connections_.empty() || shared_->known_down())) {
    wanted = std::max<std::size_t>(wanted, 1);
  }
  if (!keeps_one_ && shared_->known_down()) return;
  // After a failure one connection finds out for all.
  if (failures_ > 0) wanted = std::min<std::size_t>(wanted, 1);
  while (opening_ < wanted && may_open() && shared_->take_permit()) {
    ++opening_;
    if (destinations_of(home_, options_) != nullptr) {
      connect(unresolved_targets(options_), options_.password);
      continue;
    }
    const bool blocks = !options_.password_file.empty() ||
                        std::ranges::any_of(options_.hosts, [](const Host& host) {
                          return host.address.empty() && !needs_no_look_up(host.name);
                        });
    if (!blocks) {
      connect(targets_of(options_), options_.password);
    } else if (!Job::start(*this, std::make_unique<Job>(*this))) {
      --opening_;
      shared_->return_permit();
      note_failure("no thread is free to resolve the name of the host");
    }
  }
}

void ConnectionPool::connect(const katana::Result<std::vector<Target>>& targets,
                             const katana::Result<std::string>& password) {
  std::string why;
  std::unique_ptr<Connection> connection;
  const std::uint64_t generation = shared_->generation();
  if (shared_->closed()) {
    why = "the database is closing";
  } else if (!targets || !password) {
    why = (!targets ? targets.error() : password.error()).describe();
  } else {
    // A host that does not answer takes all of the time: the next attempt begins with another one.
    std::vector<Target> order = *targets;
    std::ranges::rotate(order,
                        order.begin() + static_cast<std::ptrdiff_t>(failures_ % order.size()));
    const bool is_one_of_several = order.size() > 1;
    auto link = link_options(options_, std::move(order), *password, random_.next());
    if (link) {
      connection = Connection::begin(*this, home_, options_, *std::move(link), why);
    } else {
      why = link.error().describe();
    }
    if (connection != nullptr && is_one_of_several) {
      connection->connect_by = home_.now() + attempt_timeout(options_.connect_timeout);
    }
  }
  if (connection == nullptr) {
    --opening_;
    shared_->return_permit();
    note_failure(why);
    return schedule();
  }
  connection->number = ++connection_numbers_;
  connection->generation = generation;
  connections_.push_back(std::move(connection));
  schedule();
}

void ConnectionPool::note_failure(std::string_view why) {
  ++failures_;
  failure_ = why;
  // Among several servers another one may be the primary at any moment.
  const Duration most =
      options_.hosts.size() > 1
          ? std::max(options_.backoff_min, std::min(options_.backoff_max, options_.probe_interval))
          : options_.backoff_max;
  connect_again_at_ = home_.now() + backoff(failures_, options_.backoff_min, most, random_.next());
  if (shared_->count_open(0) == 0) shared_->report_failure(why, home_.now());
}

void ConnectionPool::on_opened(Connection& connection) noexcept {
  --opening_;
  shared_->count_open(1);
  if (shared_->of_replica && !leads_to_measured(connection)) {
    connection.lose(Kind::unavailable, "it leads to another replica than the others");
    note_failure("another replica answered than the one whose position is known");
    return schedule();
  }
  failures_ = 0;
  connect_again_at_ = {};
  connection.used_at = home_.now();
  shared_->report_usable(home_.now());
  schedule();
}

// Only the replica of the kept connection has a known lag. When the kept connection leads to
// another replica, connections to the old one are not used any more.
bool ConnectionPool::leads_to_measured(Connection& connection) {
  Topology& topology = *shared_->topology;
  const std::string server = connection.server();
  const bool decides = keeps_one_ && std::ranges::none_of(connections_, [&](const auto& each) {
                         return each.get() != &connection && each->is_open();
                       });
  if (decides && topology.measure(server)) {
    shared_->renew_connections();
    connection.generation = shared_->generation();
  }
  return topology.is_measured(server);
}

// A fail-over takes the primary's role away from the server that most connections lead to.
void ConnectionPool::on_read_only(Connection&) noexcept {
  if (options_.wants_writable()) shared_->renew_connections();
}

// ---- transactions

Connection* ConnectionPool::find(std::uint64_t transaction) noexcept {
  for (const auto& connection : connections_) {
    if (connection->transaction == transaction && !connection->is_lost() &&
        !connection->transaction_ended) {
      return connection.get();
    }
  }
  return nullptr;
}

namespace {

std::string begin_command(const TransactionMode& mode) {
  std::string command = "BEGIN";
  switch (mode.isolation) {
    case Isolation::usual: break;
    case Isolation::read_committed: command += " ISOLATION LEVEL READ COMMITTED"; break;
    case Isolation::repeatable_read: command += " ISOLATION LEVEL REPEATABLE READ"; break;
    case Isolation::serializable: command += " ISOLATION LEVEL SERIALIZABLE"; break;
  }
  if (mode.read_only) command += " READ ONLY";
  if (mode.deferrable) command += " DEFERRABLE";
  return command;
}

}  // namespace

// BEGIN is sent together with the first statement.
void ConnectionPool::begin(Work& work, Connection& connection) {
  connection.transaction = (std::uint64_t{number_} << 40) | (++transactions_ & 0xff'ffff'ffff);
  connection.transaction_failed = false;
  connection.transaction_ended = false;
  connection.transaction_conflicted = false;
  connection.transaction_is_stale = false;
  connection.transaction_error.reset();
  connection.transaction_reads_only = work.request.mode.read_only;
  connection.enqueue_command(begin_command(work.request.mode));
  add(shared_->tallies.transactions);
  work.outcome.transaction = connection.transaction;
  on_finished(work);
}

void ConnectionPool::run_within(Work& work) {
  Connection* const connection = find(work.request.transaction);
  const Order order = work.request.order;
  if (connection == nullptr) {
    if (order == Order::rollback) return on_finished(work);
    return refuse(work, Error(Kind::failed_transaction,
                              "the transaction is over: it was held for too long, or its "
                              "connection was lost"));
  }
  connection->used_at = home_.now();
  if (order == Order::within) return connection->enqueue(work, false);
  if (order == Order::savepoint || order == Order::release || order == Order::undo) {
    return connection->enqueue_savepoint(work);
  }
  if (order == Order::commit && !connection->transaction_failed) {
    connection->transaction_ended = true;
    return connection->enqueue_commit(work);
  }
  const bool conflicted = connection->transaction_conflicted;
  const std::optional<Error> why = connection->transaction_error;
  roll_back(work.request.transaction);
  if (order == Order::rollback) {
    work.outcome.rows_changed = conflicted ? 1 : 0;
    return on_finished(work);
  }
  refuse(work, conflicted ? Error(Kind::conflict,
                                  "the transaction conflicts with another one and was undone: run "
                                  "it again")
                          : Error::not_committed(why));
}

void ConnectionPool::roll_back(std::uint64_t transaction) {
  Connection* const connection = find(transaction);
  if (connection == nullptr) return;
  connection->transaction_failed = true;  // what was not sent is not sent any more
  connection->transaction_ended = true;
  connection->enqueue_command("ROLLBACK");
  if (connection->may_cancel()) request_cancel(*connection);
  schedule();
}

void ConnectionPool::end_transaction(Connection& connection) {
  connection.transaction = 0;
  connection.transaction_failed = false;
  connection.transaction_ended = false;
  connection.transaction_reads_only = false;
  connection.used_at = home_.now();
  if (!connection.is_clean()) {
    connection.lose(Kind::unavailable, "a transaction could not be ended");
  }
}

// ---- streams

void ConnectionPool::open_stream(Work& work, Connection& connection) {
  auto* const cursor = new StreamCursor(number_);
  cursor->connection = &connection;
  connection.cursor = cursor;
  ++shared_->tallies.streams_open;
  connection.open_stream(work);
}

void ConnectionPool::fetch(Work& work) {
  auto& cursor = static_cast<StreamCursor&>(*work.request.cursor);
  cursor.parked_at = never;
  if (cursor.connection != nullptr) return cursor.connection->fetch(work);
  refuse(work,
         Error(Kind::timeout,
               "the stream is over: it was not read for too long, or its connection was lost"));
}

void ConnectionPool::on_stream_ended(Connection& connection) noexcept {
  auto* const cursor = static_cast<StreamCursor*>(std::exchange(connection.cursor, nullptr));
  delete cursor;
  connection.used_at = home_.now();
  --shared_->tallies.streams_open;
  schedule();
}

// The stream's owner has given it up, and has counted it out.
void ConnectionPool::close(Cursor& cursor) {
  auto& closed = static_cast<StreamCursor&>(cursor);
  if (Connection* const connection = closed.connection) {
    connection->cursor = nullptr;
    give_up_stream(*connection, Kind::cancelled, "the stream was given up");
  }
  delete &closed;
}

// Closes the connection, because the rows may be long and the statement slow.
void ConnectionPool::give_up_stream(Connection& connection, Kind kind, std::string_view why) {
  if (connection.is_lost()) return;
  request_cancel(connection);
  connection.lose(kind, why);
}

// ---- cancelling

void ConnectionPool::request_cancel(Connection& connection) {
  if (connection.cancel != Cancel::none) return;
  // A cancel request is sent in the clear, and its key would let others send them.
  if (!connection.is_encrypted()) {
    auto request = CancelRequest::start(connection.cancel_key(), home_.executor(), handle_,
                                        connection.number, shared_->cancels_running);
    if (request != nullptr) {
      cancels_.push_back(std::move(request));
      connection.cancel = Cancel::asked;
      connection.cancel_asked_at = home_.now();
      if (connection.cancel_since == never) connection.cancel_since = home_.now();
      return;
    }
  }
  connection.lose(Kind::cancelled, "what it ran was cancelled by its caller");
}

void ConnectionPool::on_cancel_answered(std::uint64_t number, bool is_over) noexcept {
  std::erase_if(cancels_, [](const auto& cancel) { return cancel->is_answered(); });
  const auto found = std::ranges::find_if(connections_, [&](const auto& connection) {
    return connection->number == number && connection->cancel == Cancel::asked;
  });
  if (found == connections_.end()) return;
  Connection& connection = **found;
  if (!is_over) return connection.lose(Kind::cancelled, "a cancel request was not answered");
  connection.cancel = Cancel::answered;
  on_progress(connection);
}

void ConnectionPool::cancel_where_nobody_waits() {
  for (const auto& connection : connections_) {
    Work* const streams = connection->stream_work();
    if (streams != nullptr && streams->abandoned_by_now()) {
      give_up_stream(*connection, Kind::cancelled, "the stream was given up");
    } else if (connection->may_cancel()) {
      request_cancel(*connection);
    }
  }
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
