#include "katana/database/database_suite_test.hpp"
#include "katana/database/sqlite/folder_test.hpp"
#include "katana/database/sqlite/sqlite.hpp"

namespace katana::database::suite {
namespace {

struct SqlitePlug {
  static constexpr bool text_may_have_zero = true;
  katana::Result<Database> open() {
    // A machine may stand still for seconds; a wait for what was not cancelled ends all the same.
    return sqlite::open({.path = folder / "suite.db",
                         .readers = 2,
                         .wait_max = seconds(20),
                         .transaction_hold = seconds(25)});
  }
  sqlite::Folder folder;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, DatabaseSuite, SqlitePlug);

}  // namespace
}  // namespace katana::database::suite
