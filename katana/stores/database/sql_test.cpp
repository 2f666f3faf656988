#include "katana/stores/database/sql.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "katana/base/system/compiler_test.hpp"

namespace katana::database {
namespace {

using testing::HasSubstr;

TEST(Sql, parameters_are_counted_by_their_highest_number) {
  static_assert(Sql("SELECT 1").parameters() == 0);
  static_assert(Sql("SELECT $2, $1, $2").parameters() == 2);
  static_assert(Sql("SELECT ?3").parameters() == 3);
  static_assert(Sql("SELECT '$1', \"$2\", `$3` -- $4\n /* $5 */").parameters() == 0);
  static_assert(Sql("SELECT 'it''s $1' || $1").parameters() == 1);
  static_assert(Sql("SELECT $1::text, a[1:2] FROM t").parameters() == 1);
  static_assert(Sql("SELECT '").parameters() == 0);
  static_assert(Sql("a").hash() != Sql("b").hash());
}

// Uses the example of PostgreSQL's manual.
TEST(Sql, operators_and_quotes_of_postgresql_are_no_parameters) {
  static_assert(Sql("SELECT * FROM d WHERE doc ? $1").parameters() == 1);
  static_assert(Sql("SELECT * FROM d WHERE doc ?| $1 AND doc ?& $2").parameters() == 2);
  static_assert(Sql("SELECT doc @? $1::jsonpath, doc @@ $2, doc @> $3 FROM d").parameters() == 3);
  static_assert(Sql("SELECT (doc -> 'a') ? $1, doc['a'] ? $1, \"d\" ? $1, $1 ? 'x'").parameters() ==
                1);
  static_assert(Sql("SELECT $q$it's $5$q$ || $1, $$ $6 $$").parameters() == 1);
  static_assert(Sql("SELECT a$1, b$tag$ FROM t WHERE c = $1").parameters() == 1);
  static_assert(Sql("SELECT E'it\\'s $5' || $1, e'\\\\' || $2, E'a''\\' $9'").parameters() == 2);
  static_assert(Sql("SELECT name'\\' || $1").parameters() == 1);
  static_assert(Sql("SELECT /* a /* b */ $5 */ $1").parameters() == 1);
  static_assert(Sql("SELECT /* a /* b */ $1").parameters() == 1);
  static_assert(Sql("SELECT a[1:n], a[$1:$2], a[b[x:y]:z] FROM t").parameters() == 2);
}

TEST(Sql, a_described_struct_is_as_many_parameters_as_it_has_members) {
  static_assert(parameters_of<int, std::string, std::optional<double>> == 3);
  static_assert(parameters_of<> == 0);
}

// Lines of one source that is compiled once. A line compiles, or must not compile with the given
// message of the compiler.
struct Line {
  const char* code;
  const char* says;  // null: it compiles
};

constexpr const char* any = "error";
constexpr const char* wrong_count = "the_statement_has_more_or_fewer_parameters";
constexpr const char* no_await = "write co_await before the call";
constexpr const char* no_number = "parameters_are_numbered_as_in_dollar_1";

constexpr std::array<Line, 21> lines = {{
    {"(void)co_await db.query_one<std::int64_t>(by_id, id);", nullptr},
    {"(void)co_await db.execute(\"UPDATE t SET v = $2 WHERE id = $1\", id, input);", nullptr},
    {"(void)co_await db.execute(input);", any},
    {"(void)co_await db.execute(\"SELECT \" + input);", any},
    {"(void)co_await db.execute(input.c_str());", any},
    {"char text[] = \"SELECT 1\"; (void)co_await db.execute(text);", any},
    {"database::Sql sql(std::string_view(input).data()); co_return;", any},
    {"(void)co_await db.execute(\"DELETE FROM t WHERE id = $1\");", wrong_count},
    {"(void)co_await db.execute(\"DELETE FROM t\", id);", wrong_count},
    {"(void)co_await db.execute(\"DELETE FROM t WHERE a = ?\", id);", no_number},
    {"(void)co_await db.execute(\"DELETE FROM t WHERE a = :a\", id);", no_number},
    {"(void)co_await db.execute(\"DELETE FROM t WHERE a = @a\", id);", no_number},
    {"(void)co_await db.execute(\"INSERT INTO t VALUES (?)\", id);", no_number},
    {"(void)co_await db.execute(\"DELETE FROM t WHERE a LIKE ? AND b\", id);", no_number},
    {"(void)co_await db.execute(\"DELETE FROM t WHERE ? = a\", id);", no_number},
    {"(void)co_await db.execute(\"SELECT a[1] FROM t WHERE b = :a\", id);", no_number},
    {"(void)co_await db.execute(\"\");", "a_statement_has_text"},
    {"(void)co_await db.execute(\"SELECT $1\", std::uint64_t{1});",
     "this type is no SQL parameter"},
    {"auto call = db.execute(\"SELECT $1\", input + \"!\"); (void)co_await call;", any},
    {"auto call = db.execute(\"DELETE FROM t\"); if (!call) co_return;", no_await},
    {"auto call = db.query_one<int>(\"SELECT 1\"); (void)*call; co_return;", no_await},
}};

TEST(SqlCompiler, statements_are_literals_and_their_parameters_are_counted) {
  if (compiler().empty()) GTEST_SKIP() << "no compiler";
  std::string source =
      "#include \"katana/stores/database/database.hpp\"\n"
      "using namespace katana;\n"
      "static constexpr database::Sql by_id = \"SELECT id FROM t WHERE id = $1\";\n";
  const std::size_t first = 4;  // the line of lines[0]
  for (std::size_t index = 0; index < lines.size(); ++index) {
    source += "Task<void> f" + std::to_string(index) +
              "(database::Database& db, std::string input, std::int64_t id) { " +
              lines[index].code + " }\n";
  }
  const std::string output = compile(source).output;
  for (std::size_t index = 0; index < lines.size(); ++index) {
    const bool mentioned =
        output.find(".cpp:" + std::to_string(first + index) + ":") != Bytes::npos;
    EXPECT_EQ(mentioned, lines[index].says != nullptr) << lines[index].code;
    if (lines[index].says != nullptr) {
      EXPECT_THAT(output, HasSubstr(lines[index].says)) << lines[index].code;
    }
  }
}

}  // namespace
}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
