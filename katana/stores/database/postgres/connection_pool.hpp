// ConnectionPool: the connections of one thread to the database, and the calls that wait for one.
//
//   accept() → queue ──pump(), at the end of the turn──► a connection, or all pools (hand_over)
//
// Owns       its connections; works from accept() until they complete.
// Thread     its home's; other threads reach it through Shared.
// Allocates  connections.
// Fails      by the outcome of a work.
// Invariant  a connection that a transaction or a stream holds carries nothing else. A cancel
//            request is made only for a connection that carries no other caller's statement.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "katana/base/values/random.hpp"
#include "katana/stores/database/postgres/cancel_request.hpp"
#include "katana/stores/database/postgres/choice.hpp"
#include "katana/stores/database/postgres/connection.hpp"
#include "katana/stores/database/postgres/home.hpp"
#include "katana/stores/database/postgres/pool_wake.hpp"
#include "katana/stores/database/postgres/shared.hpp"

namespace katana::database::postgres {

// A stream between two batches. Without a connection: it was lost.
class StreamCursor final : public Cursor {
 public:
  explicit StreamCursor(std::uint32_t of) noexcept : pool(of) {}
  const std::uint32_t pool;          // number of the pool whose connection it holds
  Connection* connection = nullptr;  // null: the connection was lost
  Instant parked_at = never;         // when it was first seen idle; never: it is in use
};

class ConnectionPool final : public net::Attachment, private ConnectionOwner {
 public:
  // `keeps_one`: one connection is kept; it shows whether the database can be used.
  ConnectionPool(std::shared_ptr<Shared> shared, std::unique_ptr<Home> owned, Home& home,
                 bool keeps_one);
  ~ConnectionPool() override;

  std::uint32_t number() const noexcept { return number_; }  // at least 1; unique in its database
  // The pool that has begun this transaction.
  static std::uint32_t number_of(std::uint64_t transaction) noexcept {
    return static_cast<std::uint32_t>(transaction >> 40);
  }
  Instant now() const noexcept { return home_.now(); }  // of the home's turn
  void start() noexcept { schedule(); }                 // once, before the first accept()
  // REQUIRES that the work has its times.
  void accept(Work& work) noexcept;
  // Withdraws a work that was accepted on this thread.
  void withdraw(Work& work) noexcept;
  void on_poke() noexcept;
  // is_over: the request cancels nothing later.
  void on_cancel_answered(std::uint64_t connection, bool is_over) noexcept;

 private:
  struct Job;
  void on_finished(Work& work) noexcept override;
  void on_opened(Connection& connection) noexcept override;
  void on_lost(Connection& connection, const Error& why) noexcept override;
  void on_progress(Connection& connection) noexcept override;
  void on_stream_ended(Connection& connection) noexcept override;
  void on_prepared() noexcept override { add(shared_->tallies.statements_prepared); }

  void on_schema_changed() noexcept override { shared_->note_schema_change(home_.now()); }
  std::uint64_t schema_changes() const noexcept override { return shared_->schema_changes(); }
  void on_ran(Bytes text, Duration duration) noexcept override;
  void on_read_only(Connection& connection) noexcept override;
  void on_position(std::uint64_t position, Instant asked_at) noexcept override;

  void schedule() noexcept;
  void pump() noexcept;
  void bury() noexcept;
  void assign() noexcept;
  void put_first(WorkList& works) noexcept;
  // The connections that calls may share now.
  void find_candidates();
  bool give_shared(Work& work);
  void give_exclusive(Work& work);
  Connection* take_idle();
  bool is_available(const Connection& connection) const noexcept;
  bool has_capacity() const noexcept;
  void take_from_others() noexcept;
  void give_to_others() noexcept;

  void begin(Work& work, Connection& connection);
  void open_stream(Work& work, Connection& connection);
  void run_within(Work& work);
  void fetch(Work& work);
  void roll_back(std::uint64_t transaction);
  void close(Cursor& cursor);
  void give_up_stream(Connection& connection, Kind kind, std::string_view why);
  void end_transaction(Connection& connection);
  Connection* find(std::uint64_t transaction) noexcept;
  void refuse(Work& work, Error error);
  void complete(Work& work) noexcept;

  bool may_open() const noexcept;
  void open_connections();
  void connect(const katana::Result<std::vector<Target>>& targets,
               const katana::Result<std::string>& password);
  void note_failure(std::string_view why);
  bool leads_to_measured(Connection& connection);
  void request_cancel(Connection& connection);
  void cancel_where_nobody_waits();
  void sweep() noexcept;

  void send_completions() noexcept;
  void arm() noexcept;
  void tick() noexcept;
  void expire_waiting(Instant now);
  void refuse_all_waiting();
  void take_back(Connection& connection, Instant now);
  void expire_running(Connection& connection, Instant now);
  void close_idle(Instant now);
  void probe(Instant now);
  void judge_probe(Connection& connection);
  void update_busy() noexcept;

  const std::shared_ptr<Shared> shared_;
  const Options& options_;
  const std::unique_ptr<Home> owned_home_;
  Home& home_;
  const std::shared_ptr<PoolHandle> handle_;
  const std::uint32_t number_;
  const bool keeps_one_;

  std::vector<std::unique_ptr<Connection>> connections_;
  WorkList queue_;
  std::size_t exclusive_waiting_ = 0;
  std::size_t opening_ = 0;  // asked for and not open yet
  unsigned failures_ = 0;    // to connect, in a row
  std::string failure_;      // the last of them
  Instant connect_again_at_ = {};
  Instant probe_at_ = {};
  std::uint64_t generation_ = 0;  // as it was seen
  std::uint64_t recoveries_ = 0;  // likewise
  std::vector<std::shared_ptr<CancelRequest>> cancels_;
  std::uint64_t transactions_ = 0;
  std::uint64_t connection_numbers_ = 0;
  std::uint32_t busy_counted_ = 0;
  std::uint32_t waiting_counted_ = 0;
  Random random_;
  std::unordered_map<const char*, bool> quick_;  // by statement: how it was the last time
  std::vector<Candidate> candidates_;
  std::vector<Connection*> choices_;

  struct Pump : Message {
    explicit Pump(ConnectionPool& of) noexcept : Message(&arrive), pool(of) {}
    static void arrive(Message& message) noexcept { static_cast<Pump&>(message).pool.pump(); }
    ConnectionPool& pool;
  };
  struct Tick : net::TimerEntry {
    explicit Tick(ConnectionPool& of) noexcept : net::TimerEntry(&fire), pool(of) {}
    static void fire(net::TimerEntry& entry) noexcept { static_cast<Tick&>(entry).pool.tick(); }
    ConnectionPool& pool;
  };
  Pump pump_{*this};
  bool pump_due_ = false;
  Tick tick_{*this};
  Completions completions_;     // for other executors
  Work* first_done_ = nullptr;  // for the pool's own
  Work* last_done_ = nullptr;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
