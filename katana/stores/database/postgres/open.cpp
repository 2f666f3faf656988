// open(): one server, or a primary and its standbys.
#include <atomic>
#include <memory>
#include <utility>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/stores/database/postgres/migrate.hpp"
#include "katana/stores/database/postgres/postgres.hpp"
#include "katana/stores/database/postgres/statement_text.hpp"
#include "katana/stores/database/postgres/topology.hpp"

namespace katana::database::postgres {
namespace {

// The backend of reads whose data may be a little old. Each work has the backend that it was
// submitted to.
class ReplicaReads final : public Backend {
 public:
  ReplicaReads(Backend& primary, Postgres& replica, const Topology& topology, Duration lag_max)
      : primary_(primary), replica_(replica), topology_(topology), lag_max_(lag_max) {}

  Attempt try_here(const Request&, Outcome&) noexcept override { return Attempt::elsewhere; }
  void submit(Work& work) noexcept override {
    const bool reads = work.request.sql != nullptr && traits_of(work.request.sql->text()).reads;
    const bool close = reads && replica_.health() && topology_.is_close(monotonic_now(), lag_max_);
    if (reads && !close) fallbacks_.fetch_add(1, std::memory_order_relaxed);
    Backend& taker = close ? static_cast<Backend&>(replica_) : primary_;
    work.taken_by = &taker;
    taker.submit(work);
  }
  void withdraw(Work& work) noexcept override { work.taken_by->withdraw(work); }
  void roll_back(std::uint64_t) noexcept override {}
  void close(Cursor&) noexcept override {}
  Bytes system() const noexcept override { return primary_.system(); }
  katana::Result<void> health() const override { return primary_.health(); }
  Statistics statistics() const override {
    Statistics statistics;
    statistics.reads_replica = replica_.statistics().reads_pooled;
    statistics.replica_fallbacks = fallbacks_.load(std::memory_order_relaxed);
    return statistics;
  }
  Duration timeout_default() const noexcept override { return primary_.timeout_default(); }

 private:
  Backend& primary_;
  Postgres& replica_;
  const Topology& topology_;
  const Duration lag_max_;
  std::atomic<std::uint64_t> fallbacks_ = 0;
};

class TopologyBackend final : public Backend {
 public:
  TopologyBackend(std::shared_ptr<Topology> topology, std::unique_ptr<Postgres> primary,
                  std::unique_ptr<Postgres> replica, Duration lag_max)
      : topology_(std::move(topology)),
        primary_(std::move(primary)),
        replica_(std::move(replica)),
        reads_(*primary_, *replica_, *topology_, lag_max) {}

  Attempt try_here(const Request&, Outcome&) noexcept override { return Attempt::elsewhere; }
  void submit(Work& work) noexcept override { primary_->submit(work); }
  void withdraw(Work& work) noexcept override { primary_->withdraw(work); }
  void roll_back(std::uint64_t transaction) noexcept override { primary_->roll_back(transaction); }
  void close(Cursor& cursor) noexcept override { primary_->close(cursor); }
  void observe_outages(OutageObserver observer) override {
    primary_->observe_outages(std::move(observer));
  }
  Backend& replica() noexcept override { return reads_; }
  Bytes system() const noexcept override { return primary_->system(); }
  katana::Result<void> health() const override { return primary_->health(); }
  Statistics statistics() const override {
    Statistics statistics = primary_->statistics();
    const Statistics reads = reads_.statistics();
    statistics.reads_replica = reads.reads_replica;
    statistics.replica_fallbacks = reads.replica_fallbacks;
    return statistics;
  }
  Duration timeout_default() const noexcept override { return primary_->timeout_default(); }

 private:
  const std::shared_ptr<Topology> topology_;
  const std::unique_ptr<Postgres> primary_;
  const std::unique_ptr<Postgres> replica_;
  ReplicaReads reads_;
};

Options with_servers(Options options, const char* attributes) {
  std::erase_if(options.parameters,
                [](const auto& each) { return each.first == "target_session_attrs"; });
  options.parameters.emplace_back("target_session_attrs", attributes);
  return options;
}

katana::Result<Database> open_topology(Options options) {
  // A pool of one connection that a reactor holds would leave nothing to measure with.
  if (options.connections_max < 2) {
    return katana::fail(Code::invalid_argument,
                        "database option 'connections_max' is at least 2 where 'replica_lag_max' "
                        "is above 0: one connection measures");
  }
  Options primary = with_servers(std::move(options), "primary");
  Options replica = with_servers(primary, "standby");
  replica.migrations.clear();
  replica.bundled.clear();
  if (const auto good = check(primary); !good) return std::unexpected(good.error());
  if (!primary.migrations.empty() || !primary.bundled.empty()) {
    const auto report = migrate(
        primary,
        {.folder = primary.migrations, .bundled = primary.bundled, .opening = primary.opening});
    if (!report) return std::unexpected(report.error());
  }
  const Duration lag_max = primary.replica_lag_max;
  auto topology = std::make_shared<Topology>();
  auto of_primary = Postgres::create_part(std::move(primary), topology, false);
  if (!of_primary) return std::unexpected(of_primary.error());
  auto of_replica = Postgres::create_part(std::move(replica), topology, true);
  if (!of_replica) return std::unexpected(of_replica.error());
  return Database(std::make_unique<TopologyBackend>(topology, *std::move(of_primary),
                                                    *std::move(of_replica), lag_max));
}

}  // namespace

katana::Result<Database> open(Options options) {
  if (options.replica_lag_max > Duration{}) return open_topology(std::move(options));
  auto backend = Postgres::create(std::move(options));
  if (!backend) return std::unexpected(backend.error());
  return Database(*std::move(backend));
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
