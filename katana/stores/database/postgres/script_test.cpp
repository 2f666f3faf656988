#include "katana/stores/database/postgres/script.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana::database::postgres {
namespace {

std::string found_in(Bytes script) {
  const auto found = refused_statement_in(script);
  return found ? std::string(found->words) + " " + std::to_string(found->line) : "none";
}

TEST(Script, a_statement_that_begins_or_ends_a_transaction_is_found_with_its_line) {
  EXPECT_EQ(found_in("CREATE TABLE c (id bigint);\nCOMMIT;\nSELECT 1"), "COMMIT 2");
  EXPECT_EQ(found_in("begin;\nSELECT 1;"), "begin 1");
  EXPECT_EQ(found_in("SELECT 1;\n\nSTART /* it */ TRANSACTION READ ONLY;"),
            "START /* it */ TRANSACTION 3");
  EXPECT_EQ(found_in("SELECT 1; END"), "END 1");
  EXPECT_EQ(found_in("ROLLBACK WORK"), "ROLLBACK 1");
  EXPECT_EQ(found_in("ABORT"), "ABORT 1");
  EXPECT_EQ(found_in("PREPARE TRANSACTION 'a'"), "PREPARE TRANSACTION 1");
}

TEST(Script, what_only_looks_like_one_is_none) {
  EXPECT_EQ(found_in(""), "none");
  EXPECT_EQ(found_in("SELECT 'a; COMMIT;'; -- COMMIT;\n/* ; COMMIT; /* */ ; COMMIT */ SELECT 1"),
            "none");
  EXPECT_EQ(found_in("SAVEPOINT a; ROLLBACK TO a; ROLLBACK WORK TO SAVEPOINT a; RELEASE a"),
            "none");
  EXPECT_EQ(found_in("CREATE TABLE \"COMMIT\" (\"end\" int); SELECT \";COMMIT\""), "none");
  EXPECT_EQ(found_in("PREPARE p AS SELECT 1; ALTER TABLE t RENAME TO commit_log"), "none");
  EXPECT_EQ(found_in("SELECT CASE WHEN a THEN b END; SELECT 1"), "none");
}

TEST(Script, rows_that_only_psql_reads_are_found) {
  EXPECT_EQ(found_in("CREATE TABLE a (id int);\nCOPY public.a (id) FROM stdin;\n1\n\\.\n"),
            "COPY 2");
  EXPECT_EQ(refused_statement_in("copy a from stdin")->kind, ScriptStatement::Kind::client_rows);
  EXPECT_EQ(found_in("COPY a FROM '/srv/a.csv'; SELECT 'FROM stdin'"), "none");
}

TEST(Script, commands_of_psql_are_found_where_no_text_has_them) {
  EXPECT_EQ(found_in("SELECT 1;\n\\connect -reuse-previous=on \"dbname='a'\"\n"), "\\connect 2");
  EXPECT_EQ(found_in("\\i\tother.sql"), "\\i 1");
  EXPECT_EQ(found_in("\\set ON_ERROR_STOP on\r\nSELECT 1;"), "\\set 1");
  EXPECT_EQ(refused_statement_in("\\echo")->kind, ScriptStatement::Kind::of_psql);
  EXPECT_EQ(found_in("\\restrict aB1\nSELECT '\n\\connect x\n';\n\\unrestrict aB1\n"), "none");
  EXPECT_EQ(found_in("-- a\n/*\n\\connect x\n*/ SELECT $$\n\\connect x\n$$;"), "none");
}

TEST(Script, the_bodies_of_functions_are_theirs) {
  EXPECT_EQ(found_in("CREATE FUNCTION f() RETURNS int AS $x$\nBEGIN;\n COMMIT; END;\n$x$ LANGUAGE "
                     "plpgsql; SELECT 1"),
            "none");
  EXPECT_EQ(found_in("DO $$ BEGIN PERFORM 1; END $$;"), "none");
  EXPECT_EQ(found_in("CREATE FUNCTION f(a int) RETURNS int LANGUAGE SQL BEGIN ATOMIC\n"
                     "  INSERT INTO t VALUES (a);\n"
                     "  SELECT CASE WHEN a > 1 THEN 1 END;\n"
                     "END;\nSELECT 1;"),
            "none");
  EXPECT_EQ(found_in("CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END;\nCOMMIT;"),
            "COMMIT 2");
}

TEST(Script, lines_of_pg_dump_for_psql_are_left_out_and_nothing_moves) {
  EXPECT_EQ(
      without_restrictions("--\n-- dump\n--\n\n\\restrict aB1\n\nSELECT 1;\n\\unrestrict aB1\n"),
      "--\n-- dump\n--\n\n\n\nSELECT 1;\n\n");
  EXPECT_EQ(without_restrictions("\\restrict x"), "");
  const std::string kept = "SELECT '\n\\restrict x\n';\nSELECT 1 \\restrict x\n\\restricted\n";
  EXPECT_EQ(without_restrictions(kept), kept);
}

TEST(Script, characters_are_counted_as_postgresql_does) {
  EXPECT_EQ(line_of("a\nb\nc", 1), 1u);
  EXPECT_EQ(line_of("a\nb\nc", 5), 3u);
  EXPECT_EQ(line_of("\xc3\xa4\xc3\xa4\nb", 4), 2u) << "a character may have several bytes";
  EXPECT_EQ(line_of("a", 100), 1u);
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
