#include "katana_tool/sql/lock_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace katana::tool::sql {
namespace {

LockFile sample() {
  LockFile lock;
  lock.migrations = {{"postgres", "0123"}, {"sqlite", "4567"}};
  Description& one =
      lock.statements[{"SELECT id,\n  a \\ b AS \"x y\" FROM t WHERE id = $1", "sqlite"}];
  one.columns = {
      {"id", {"integer", Storage::integer}, Null::never, ""},
      {"x y", {"timestamp with time zone", Storage::text}, Null::possible, "t.a is not NOT NULL"},
      {"", {}, Null::unproved, "-"}};
  one.parameters = {{true, {"integer", Storage::integer}, "id", true}, {false, {}, "", false}};
  one.scans = {"t", "other table"};
  one.star = true;
  lock.statements[{"DELETE FROM t", "postgres"}] = {};
  return lock;
}

TEST(LockFile, reads_what_it_wrote) {
  const LockFile lock = sample();
  const auto read = LockFile::parse(lock.write(), "sql.lock");
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_TRUE(*read == lock);
  EXPECT_EQ(read->write(), lock.write());
}

TEST(LockFile, has_a_line_for_each_thing_in_the_order_of_the_texts) {
  EXPECT_EQ(
      sample().write(),
      "katana sql.lock 1\n"
      "# Written by `katana sql check --update`; committed, so that builds need no database.\n"
      "migrations postgres 0123\n"
      "migrations sqlite 4567\n"
      "\n"
      "statement postgres DELETE FROM t\n"
      "\n"
      "statement sqlite SELECT id,\\n  a \\\\ b AS \"x y\" FROM t WHERE id = $1\n"
      "column never integer integer - id\n"
      "column possible text timestamp\\swith\\stime\\szone t.a\\sis\\snot\\sNOT\\sNULL x y\n"
      "column unproved any - \\- -\n"
      "parameter not-null integer integer id\n"
      "parameter unused any - -\n"
      "scan t\n"
      "scan other table\n"
      "star\n");
}

TEST(LockFile, of_another_form_is_refused_with_its_line) {
  for (const char* line : {"something", "column never integer id", "column x integer - - id",
                           "parameter used huge - id", "statement sqlite", "scan t"}) {
    const auto read =
        LockFile::parse(std::string("katana sql.lock 1\n") + line + "\n", "a/sql.lock");
    ASSERT_FALSE(read) << line;
    EXPECT_THAT(read.error().message(), testing::HasSubstr("a/sql.lock:2:"));
  }
  EXPECT_FALSE(LockFile::parse("katana sql.lock 2\n", "sql.lock"));
}

}  // namespace
}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
