// The PostgreSQL backend: open() makes a Database of a server.
//
//   auto options = postgres::Options::from_url("postgresql://app@db.example.org/shop");
//   if (!options) return fail(options.error());
//   auto database = postgres::open(*std::move(options));
//   if (!database) return fail(database.error());
//
// Each reactor that asks has its own connections, within one bound for the process, and sends
// the statements of a turn together. Callers without a reactor share a thread. See
// connection_pool.hpp and decisions 0035, 0094 and 0095.
//
// Owns       its thread; the shared state, together with the pools of reactors. A pool outlives it
//            when its reactor does, and then closes its connections.
// Thread     as Backend; the destructor when no call is awaited any more.
// Allocates  connections and statements, when they are first needed.
// Fails      open() names the option or the migration. A server that cannot be reached makes calls
//            fail after Options::wait_max (Kind::unavailable), and is tried again with back-off:
//            health() has the reason.
// Invariant  a statement is sent once. A statement that may have taken effect when its answer
//            was lost is Kind::unknown_outcome.
#pragma once

#include <memory>

#include "katana/stores/database/database.hpp"
#include "katana/stores/database/postgres/options.hpp"

namespace katana::database::postgres {

class IoThread;
class ConnectionPool;
class Shared;
class Topology;

// Opens the database: applies migrations, and starts its thread. Blocks while it migrates.
katana::Result<Database> open(Options options);

// The Backend of PostgreSQL. open() makes it; tests make it themselves.
class Postgres final : public Backend {
 public:
  // open() without the Database around it.
  static katana::Result<std::unique_ptr<Postgres>> create(Options options);
  // The same for a part of several servers; without migrations.
  static katana::Result<std::unique_ptr<Postgres>> create_part(Options options,
                                                               std::shared_ptr<Topology> topology,
                                                               bool as_replica);
  ~Postgres() override;

  Attempt try_here(const Request&, Outcome&) noexcept override { return Attempt::elsewhere; }
  void submit(Work& work) noexcept override;
  void withdraw(Work& work) noexcept override;
  void roll_back(std::uint64_t transaction) noexcept override;
  void close(Cursor& cursor) noexcept override;
  void observe_outages(OutageObserver observer) override;
  Bytes system() const noexcept override { return "postgresql"; }
  katana::Result<void> health() const override;
  Statistics statistics() const override;
  bool runs_in_turns() const noexcept override;
  Duration timeout_default() const noexcept override;

 private:
  Postgres(Options options, std::shared_ptr<Topology> topology, bool as_replica);
  // The pool of this thread's reactor; null: there is none.
  ConnectionPool* pool_here() const;

  const std::shared_ptr<Shared> shared_;
  std::unique_ptr<IoThread> thread_;  // null: Options::is_on_reactors_only
  std::unique_ptr<ConnectionPool> thread_pool_;
  std::uint32_t thread_pool_number_ = 0;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
