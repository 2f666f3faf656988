#include "katana/stores/database/postgres/postgres.hpp"

#include <algorithm>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/stores/database/postgres/connection_pool.hpp"
#include "katana/stores/database/postgres/io_thread.hpp"
#include "katana/stores/database/postgres/link_options.hpp"
#include "katana/stores/database/postgres/migrate.hpp"
#include "katana/stores/database/postgres/shared.hpp"
#include "katana/stores/database/postgres/topology.hpp"

namespace katana::database::postgres {

katana::Result<std::unique_ptr<Postgres>> Postgres::create(Options options) {
  if (const auto good = check(options); !good) return std::unexpected(good.error());
  if (const auto good = check_parameters(options); !good) return std::unexpected(good.error());
  if (!options.migrations.empty() || !options.bundled.empty()) {
    const auto report = migrate(
        options,
        {.folder = options.migrations, .bundled = options.bundled, .opening = options.opening});
    if (!report) return std::unexpected(report.error());
  }
  return create_part(std::move(options), nullptr, false);
}

katana::Result<std::unique_ptr<Postgres>> Postgres::create_part(Options options,
                                                                std::shared_ptr<Topology> topology,
                                                                bool as_replica) {
  auto backend =
      std::unique_ptr<Postgres>(new Postgres(std::move(options), std::move(topology), as_replica));
  if (backend->shared_->options.is_on_reactors_only) return backend;
  auto thread = IoThread::create();
  if (!thread) return std::unexpected(thread.error());
  backend->thread_ = *std::move(thread);
  IoThread& home = *backend->thread_;
  backend->thread_pool_ = std::make_unique<ConnectionPool>(backend->shared_, nullptr, home, true);
  backend->thread_pool_number_ = backend->thread_pool_->number();
  home.start();
  backend->shared_->poke_all();
  return backend;
}

Postgres::Postgres(Options options, std::shared_ptr<Topology> topology, bool as_replica)
    : shared_(std::make_shared<Shared>(std::move(options), std::move(topology), as_replica)) {}

Postgres::~Postgres() {
  shared_->close();
  if (thread_) thread_->stop([this] { thread_pool_.reset(); });
}

ConnectionPool* Postgres::pool_here() const {
  net::Reactor* const reactor = net::Reactor::current();
  if (reactor == nullptr || Executor::current() != reactor) return nullptr;
  if (auto* const found = reactor->attached(shared_.get()))
    return static_cast<ConnectionPool*>(found);
  auto home = std::make_unique<ReactorHome>(*reactor);
  Home& lent = *home;
  const bool keeps_one = thread_ == nullptr;
  auto made = std::make_unique<ConnectionPool>(shared_, std::move(home), lent, keeps_one);
  ConnectionPool* const pool = made.get();
  reactor->attach(shared_.get(), std::move(made));
  if (keeps_one) pool->start();
  return pool;
}

void Postgres::submit(Work& work) noexcept {
  ConnectionPool* const here = pool_here();
  const Options& options = shared_->options;
  const Instant now = here != nullptr ? here->now() : monotonic_now();
  const Request& request = work.request;
  work.deadline = now + (request.timeout > Duration{} ? request.timeout : options.timeout);
  work.begin_by = std::min(work.deadline, now + options.wait_max);
  std::uint32_t number = here != nullptr ? here->number() : thread_pool_number_;
  if (request.transaction != 0) number = ConnectionPool::number_of(request.transaction);
  if (request.cursor != nullptr) number = static_cast<StreamCursor*>(request.cursor)->pool;
  if (number == 0) {
    work.outcome.error.emplace(Kind::unavailable, "the database serves callers on reactors alone");
    return Completions().add(work);
  }
  if (here != nullptr && here->number() == number) {
    work.on_own_thread = true;
    return here->accept(work);
  }
  if (shared_->send(number, work)) return;
  work.outcome.error.emplace(Kind::failed_transaction,
                             "the transaction or stream is over: the reactor that had its "
                             "connection has ended");
  Completions().add(work);
}

void Postgres::withdraw(Work& work) noexcept {
  if (work.on_own_thread) {
    if (ConnectionPool* const here = pool_here()) return here->withdraw(work);
  }
  add(shared_->tallies.cancelled);
  work.abandon();
  shared_->poke_all();
}

void Postgres::roll_back(std::uint64_t transaction) noexcept {
  shared_->send(ConnectionPool::number_of(transaction),
                {.verb = Command::Verb::roll_back, .transaction = transaction});
}

void Postgres::close(Cursor& cursor) noexcept {
  --shared_->tallies.streams_open;
  shared_->send(static_cast<StreamCursor&>(cursor).pool,
                {.verb = Command::Verb::close, .cursor = &cursor});
}

void Postgres::observe_outages(OutageObserver observer) {
  shared_->observe_outages(std::move(observer));
}

katana::Result<void> Postgres::health() const {
  if (thread_ == nullptr) (void)pool_here();  // nothing else would begin to connect
  return shared_->health();
}

bool Postgres::runs_in_turns() const noexcept { return shared_->options.is_on_reactors_only; }

Duration Postgres::timeout_default() const noexcept { return shared_->options.timeout; }

Statistics Postgres::statistics() const {
  const Tallies& tallies = shared_->tallies;
  Statistics statistics;
  statistics.reads_pooled = tallies.reads;
  statistics.writes = tallies.writes;
  statistics.commits = tallies.commits;
  statistics.transactions = tallies.transactions;
  statistics.transactions_expired = tallies.transactions_expired;
  statistics.refused_full = tallies.refused_full;
  statistics.refused_waited = tallies.refused_waited;
  statistics.refused_unusable = tallies.refused_unusable;
  statistics.timeouts = tallies.timeouts;
  statistics.cancelled = tallies.cancelled;
  statistics.statements_prepared = tallies.statements_prepared;
  statistics.outages = tallies.outages;
  statistics.usable = shared_->usable();
  statistics.reads_waiting = tallies.waiting;
  statistics.readers = shared_->permits_out();
  statistics.readers_busy = tallies.busy;
  statistics.streams_open = tallies.streams_open;
  return statistics;
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
