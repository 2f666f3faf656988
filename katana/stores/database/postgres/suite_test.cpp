#include "katana/stores/database/database_suite_test.hpp"
#include "katana/stores/database/observer_suite_test.hpp"
#include "katana/stores/database/postgres/cluster_test.hpp"
#include "katana/stores/database/postgres/pgbouncer_test.hpp"
#include "katana/stores/database/postgres/postgres.hpp"
#include "katana/stores/database/transaction_suite_test.hpp"

namespace katana::database::suite {
namespace {

struct PostgresPlug {
  static constexpr bool text_may_have_zero = false;
  katana::Result<Database> open() {
    const postgres::Cluster& cluster = postgres::Cluster::shared();
    postgres::Options options = cluster.options();
    (void)cluster.ask("CREATE DOMAIN blob AS bytea", options.database);
    // A machine may stand still for seconds.
    options.wait_max = seconds(20);
    options.connections_max = 8;
    return postgres::open(std::move(options));
  }
};

// The suite through a pooler of transactions, which gives each transaction to another session.
struct PgbouncerPlug {
  static constexpr bool text_may_have_zero = false;
  katana::Result<Database> open() {
    const postgres::Cluster& cluster = postgres::Cluster::shared();
    postgres::Options options = cluster.options();
    (void)cluster.ask("CREATE DOMAIN blob AS bytea", options.database);
    options.wait_max = seconds(20);
    options.connections_max = 8;
    return postgres::open(postgres::Pgbouncer::shared().through(std::move(options)));
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, DatabaseSuite, PostgresPlug);
INSTANTIATE_TYPED_TEST_SUITE_P(Pgbouncer, DatabaseSuite, PgbouncerPlug);
INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, TransactionSuite, PostgresPlug);
INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, ObserverSuite, PostgresPlug);

}  // namespace
}  // namespace katana::database::suite

// SPDX-License-Identifier: Apache-2.0
