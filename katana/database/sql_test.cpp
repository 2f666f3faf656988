#include "katana/database/sql.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "katana/base/compiler_test.hpp"

namespace katana::database {
namespace {

using testing::HasSubstr;

// A function that uses the calls as a program does.
Compiled compile_call(const std::string& statements) {
  return compile(
      "#include \"katana/database/database.hpp\"\n"
      "using namespace katana;\n"
      "Task<void> f(database::Database& db, std::string input, std::int64_t id) {\n" +
      statements + "\n}\n");
}

// The same arguments as Database::execute(), without all that is behind it.
Compiled compile_text(const std::string& statements) {
  return compile(
      "#include <string>\n#include \"katana/database/sql.hpp\"\n"
      "using namespace katana;\n"
      "template <class... A> void execute(database::SqlFor<std::type_identity_t<A>...>, const "
      "A&...);\n"
      "void f(std::string input, std::int64_t id) {\n" +
      statements + "\n}\n");
}

class SqlCompiler : public testing::Test {
 protected:
  void SetUp() override {
    if (compiler().empty()) GTEST_SKIP() << "no compiler";
  }
};

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

TEST(Sql, a_described_struct_is_as_many_parameters_as_it_has_members) {
  static_assert(parameters_of<int, std::string, std::optional<double>> == 3);
  static_assert(parameters_of<> == 0);
}

TEST_F(SqlCompiler, a_literal_with_its_arguments_compiles) {
  const Compiled good = compile_call(
      "static constexpr database::Sql by_id = \"SELECT id FROM t WHERE id = $1\";\n"
      "(void)co_await db.query_one<std::int64_t>(by_id, id);\n"
      "(void)co_await db.execute(\"UPDATE t SET v = $2 WHERE id = $1\", id, input);");
  EXPECT_TRUE(good.good) << good.output;
}

TEST_F(SqlCompiler, text_that_is_made_at_run_time_does_not_compile) {
  EXPECT_FALSE(compile_text("execute(input);").good);
  EXPECT_FALSE(compile_text("execute(\"SELECT \" + input);").good);
  EXPECT_FALSE(compile_text("execute(input.c_str());").good);
  EXPECT_FALSE(compile_text("char text[] = \"SELECT 1\"; execute(text);").good);
  EXPECT_FALSE(compile_text("database::Sql sql(std::string_view(input).data());").good);
}

TEST_F(SqlCompiler, another_number_of_arguments_does_not_compile_and_the_message_says_why) {
  const Compiled fewer = compile_text("execute(\"DELETE FROM t WHERE id = $1\");");
  EXPECT_FALSE(fewer.good);
  EXPECT_THAT(fewer.output, HasSubstr("the_statement_has_more_or_fewer_parameters"));
  EXPECT_FALSE(compile_text("execute(\"DELETE FROM t\", id);").good);
}

TEST_F(SqlCompiler, a_parameter_without_a_number_does_not_compile_and_the_message_says_why) {
  const Compiled question = compile_text("execute(\"DELETE FROM t WHERE a = ?\", id);");
  EXPECT_FALSE(question.good);
  EXPECT_THAT(question.output, HasSubstr("parameters_are_numbered_as_in_dollar_1"));
  EXPECT_FALSE(compile_text("execute(\"DELETE FROM t WHERE a = :a\", id);").good);
}

TEST_F(SqlCompiler, an_unsigned_number_of_64_bits_is_no_parameter) {
  const Compiled wide = compile_call("(void)co_await db.execute(\"SELECT $1\", std::uint64_t{1});");
  EXPECT_FALSE(wide.good);
  EXPECT_THAT(wide.output, HasSubstr("this type is no SQL parameter"));
}

TEST_F(SqlCompiler, a_call_is_awaited_where_it_is_made) {
  EXPECT_FALSE(compile_call("auto call = db.execute(\"SELECT $1\", input + \"!\");\n"
                            "(void)co_await call;")
                   .good);
}

}  // namespace
}  // namespace katana::database
