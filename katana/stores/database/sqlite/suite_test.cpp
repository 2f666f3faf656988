#include "katana/stores/database/database_suite_test.hpp"
#include "katana/stores/database/observer_suite_test.hpp"
#include "katana/stores/database/sqlite/folder_test.hpp"
#include "katana/stores/database/sqlite/sqlite.hpp"
#include "katana/stores/database/transaction_suite_test.hpp"

namespace katana::database::suite {
namespace {

struct SqlitePlug {
  static constexpr bool text_may_have_zero = true;
  katana::Result<Database> open() {
    // A machine may stand still for seconds. A wait that was not cancelled still ends.
    return sqlite::open({.path = folder / "suite.db",
                         .readers = 2,
                         .wait_max = seconds(20),
                         .transaction_hold = seconds(25)});
  }
  sqlite::Folder folder;
};

// The rules of a file hold for ':memory:', too: readers and the writer see the same data.
struct MemoryPlug {
  static constexpr bool text_may_have_zero = true;
  katana::Result<Database> open() {
    return sqlite::open({.path = ":memory:",
                         .readers = 2,
                         .wait_max = seconds(20),
                         .transaction_hold = seconds(25)});
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, DatabaseSuite, SqlitePlug);
INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, TransactionSuite, SqlitePlug);
INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, ObserverSuite, SqlitePlug);
INSTANTIATE_TYPED_TEST_SUITE_P(SqliteMemory, DatabaseSuite, MemoryPlug);
INSTANTIATE_TYPED_TEST_SUITE_P(SqliteMemory, TransactionSuite, MemoryPlug);

}  // namespace
}  // namespace katana::database::suite

// SPDX-License-Identifier: Apache-2.0
