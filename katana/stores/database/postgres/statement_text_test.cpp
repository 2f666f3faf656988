#include "katana/stores/database/postgres/statement_text.hpp"

#include <gtest/gtest.h>

namespace katana::database::postgres {
namespace {

TEST(StatementText, reads_are_told_from_writes_by_their_words) {
  EXPECT_TRUE(traits_of("SELECT 1").reads);
  EXPECT_TRUE(traits_of("-- UPDATE\n  select 'DELETE' FROM \"insert\"").reads);
  EXPECT_TRUE(traits_of("WITH n AS (SELECT 1) SELECT * FROM n").reads);
  EXPECT_TRUE(traits_of("VALUES (1)").reads);
  EXPECT_FALSE(traits_of("INSERT INTO a VALUES (1)").reads);
  EXPECT_FALSE(traits_of("WITH n AS (DELETE FROM a RETURNING id) SELECT id FROM n").reads);
  EXPECT_FALSE(traits_of("EXPLAIN ANALYZE delete from a").reads);
  EXPECT_FALSE(traits_of("CREATE TABLE a (id INT)").reads);
  EXPECT_FALSE(traits_of("").reads);
}

TEST(StatementText, a_plain_read_calls_no_function_that_is_not_well_known) {
  for (const char* const text :
       {"SELECT id, lower(name) FROM users WHERE id IN ($1, $2) AND (age > 3 OR age IS NULL)",
        "SELECT count(*), coalesce ( max(age), 0) FROM users", "VALUES (1), (2)",
        "WITH a AS (SELECT 1) SELECT * FROM a", "SELECT 'nextval(1)' -- nextval(2)",
        "SELECT \"order\" FROM a WHERE \"order\" > 1"}) {
    EXPECT_TRUE(traits_of(text).reads_plainly) << text;
  }
  for (const char* const text :
       {"SELECT nextval('ids')", "SELECT pg_advisory_lock\n(1)", "SELECT shop.sell($1)",
        "SELECT \"Sell\"(1)", "SELECT sell/**/(1)", "SELECT id FROM a FOR UPDATE",
        "SELECT 1 INTO b", "INSERT INTO a VALUES (1)", "EXPLAIN ANALYZE SELECT 1", "SHOW x",
        "WITH n AS (DELETE FROM a RETURNING id) SELECT id FROM n", ""}) {
    EXPECT_FALSE(traits_of(text).reads_plainly) << text;
  }
}

TEST(StatementText, writes_that_give_rows_are_known) {
  EXPECT_TRUE(traits_of("DELETE FROM a returning id").returning);
  EXPECT_TRUE(traits_of("WITH n AS (DELETE FROM a RETURNING id) SELECT id FROM n").returning);
  EXPECT_FALSE(traits_of("DELETE FROM a WHERE note = 'RETURNING'").returning);
  EXPECT_FALSE(traits_of("SELECT returning FROM a").returning);
}

TEST(StatementText, what_would_change_a_shared_session_is_refused) {
  for (const char* const text : {"BEGIN", " commit", "/* a */ ROLLBACK", "end", "SET x = 1",
                                 "COPY a FROM STDIN", "LISTEN a", "PREPARE TRANSACTION 'a'"}) {
    EXPECT_TRUE(traits_of(text).refused) << text;
  }
  EXPECT_TRUE(traits_of("SET LOCAL x = 1").needs_transaction);
  EXPECT_TRUE(traits_of("set transaction isolation level serializable").needs_transaction);
  for (const char* const text :
       {"SELECT 1", "SET LOCAL x = 1", "INSERT INTO a VALUES (1)", "DO $$ BEGIN END $$"}) {
    EXPECT_FALSE(traits_of(text).refused) << text;
  }
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
