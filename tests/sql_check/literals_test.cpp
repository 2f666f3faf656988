#include "katana_tool/sql/literals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace katana::tool::sql {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Literal only(std::string_view source) {
  const auto found = literals_in(source, "a.cpp");
  EXPECT_EQ(found.size(), 1u) << source;
  return found.empty() ? Literal() : found[0];
}

TEST(Literals, of_a_call_have_its_name_row_and_number_of_arguments) {
  const Literal found = only("x = co_await db->query<app::User>(\"SELECT 1\", f(a, b), {c, d});");
  EXPECT_EQ(found.text, "SELECT 1");
  EXPECT_EQ(found.call, "query");
  EXPECT_EQ(found.row, "User");
  EXPECT_EQ(found.arguments, (std::vector<std::string>{"f", ""}));
  EXPECT_FALSE(found.constant);
  const Literal tuple = only("db.query_one<std::tuple<int, std::optional<std::string>>>(\"S\")");
  EXPECT_EQ(tuple.row, "tuple");
  EXPECT_EQ(tuple.elements, (std::vector<std::string>{"int", "optional"}));
  EXPECT_EQ(
      only("db.execute(\"S\", \"x\", 1'000, 1.5, true, x, ns::Uuid(), f(1) + f(2), 1u)").arguments,
      (std::vector<std::string>{"text", "int", "double", "bool", "", "Uuid", "", ""}));
  EXPECT_EQ(only("db.query<User>(\"S\", args...)").expanded, true);
  EXPECT_EQ(only("must(db, \"DELETE FROM users\")").call, "");
  EXPECT_EQ(only("must(\"DELETE FROM users\")").call, "must");
}

TEST(Literals, that_stand_side_by_side_are_one) {
  const Literal found =
      only("db.execute(\n    \"UPDATE a \"  // why\n    R\"(SET b)\"\n    \"\\n= 1\")");
  EXPECT_EQ(found.text, "UPDATE a SET b\n= 1");
  EXPECT_EQ(found.place_of(0), (Place{2, 6}));
  EXPECT_EQ(found.place_of(found.text.find("SET")), (Place{3, 8}));
  EXPECT_EQ(found.place_of(found.text.find("= 1")), (Place{4, 8}));
}

TEST(Literals, of_a_macro_stand_where_its_name_does) {
  const Literal found = only(
      "#define SELECT_USER \"SELECT id, \" /* why */ \\\n  \"name FROM users \"\n"
      "#define ANN SELECT_USER \"WHERE id = 7 \"  // of one\n"
      "auto user = db.query<User>(ANN \"OR id = $1\", 8);");
  EXPECT_EQ(found.text, "SELECT id, name FROM users WHERE id = 7 OR id = $1");
  EXPECT_EQ(found.begin, (Place{4, 28}));
  EXPECT_EQ(found.place_of(found.text.find("name")), (Place{2, 4}));
  EXPECT_EQ(found.place_of(found.text.find("OR id")), (Place{4, 33}));
  EXPECT_EQ(found.arguments, (std::vector<std::string>{"int"}));
  EXPECT_EQ(only("#define ALL \"SELECT 1\"\nconstexpr Sql all = ALL;\n").text, "SELECT 1");
  EXPECT_EQ(only("#define ALL \\\n\n  x = db.execute(\"DELETE FROM a\");").text, "DELETE FROM a");
}

TEST(Literals, of_other_macros_are_not_known) {
  for (const char* const define :
       {"#define ALL(x) \"SELECT 1\"", "#define ALL f(\"SELECT 1\")", "#define ALL",
        "#undef ALL \"SELECT 1\"", "// #define ALL \"SELECT 1\""}) {
    for (const Literal& each : literals_in(std::string(define) + "\ndb.execute(ALL);", "a.cpp")) {
      EXPECT_EQ(each.text, "") << define;
    }
  }
}

TEST(Literals, have_their_escapes_resolved) {
  EXPECT_EQ(only(R"x(db.execute("a\"b\\\x41\101\u00e9\t?"))x").text, "a\"b\\AA\xc3\xa9\t?");
  EXPECT_EQ(only("db.execute(R\"sql(a\"b)\\n)sql\")").text, "a\"b)\\n");
  const Literal lines = only("db.execute(R\"(a\n  b)\")");
  EXPECT_EQ(lines.place_of(lines.text.find('b')), (Place{2, 3}));
}

TEST(Literals, that_are_no_statements_are_left_out) {
  for (const char* source :
       {"puts(\"hello world\")", "// db.execute(\"DELETE FROM a\")",
        "/* db.execute(\"DELETE FROM a\") */", "x = 'a'; y = \"db.execute(SELECT\"",
        "#define X db.execute(\"DELETE FROM a\")", "db.execute(u8\"DELETE FROM a\")",
        "log(\"selected items\")", "execute(sql)()"}) {
    const auto found = literals_in(source, "a.cpp");
    for (const Literal& each : found) EXPECT_EQ(each.text, "") << source;
  }
}

TEST(Literals, of_constants_have_their_name) {
  const auto found = literals_in(
      "constexpr Sql all = \"SELECT 1\"; static constexpr database::Sql one{\"SELECT 2\"};\n"
      "db.query<User>(ns::all); db.query<User>(katana::database::Sql(\"SELECT 3\"), 4);",
      "a.cpp");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].call + found[0].name, "Sqlall");
  EXPECT_EQ(found[1].call + found[1].name, "Sqlone");
  EXPECT_EQ(found[2].call + found[2].name, "queryall");
  EXPECT_TRUE(found[2].constant);
  EXPECT_EQ(found[3].call + found[3].text, "querySELECT 3");
  EXPECT_TRUE(found[3].constant);
  EXPECT_EQ(found[3].arguments, std::vector<std::string>{"int"});
}

TEST(Literals, have_the_comments_of_their_statement_and_no_others) {
  const auto found = literals_in(
      "f();  // of f\n"
      "\n"
      "// apart\n"
      "\n"
      "// above, two\n"
      "// lines\n"
      "auto x =\n"
      "    db.execute(\"SELECT 1\",  // within\n"
      "               1);  // behind\n"
      "g();  // of g\n",
      "a.cpp");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].comments, HasSubstr("within"));
  EXPECT_THAT(found[0].comments, HasSubstr("behind"));
  EXPECT_THAT(found[0].comments, HasSubstr("above, two"));
  EXPECT_THAT(found[0].comments, HasSubstr("lines"));
  for (const char* other : {"of f", "apart", "of g"}) {
    EXPECT_THAT(found[0].comments, testing::Not(HasSubstr(other)));
  }
}

TEST(Literals, that_do_not_end_are_read_to_the_end) {
  for (const char* source : {"db.execute(\"SELECT", "db.execute(R\"(SELECT", "db.execute(R\"abc",
                             "/*", "db.execute(\"\\", "'", "db.query<", ")>(\"SELECT 1\")"}) {
    (void)literals_in(source, "a.cpp");
  }
}

TEST(Literals, includes_with_quotation_marks_are_found) {
  EXPECT_THAT(includes_in("#include \"a/b.hpp\"\n  #  include \"c.hpp\"\n#include <d.hpp>\n"
                          "// #include \"e.hpp\"\nf(\"#include \\\"g.hpp\\\"\");"),
              testing::ElementsAre("a/b.hpp", "c.hpp"));
}

}  // namespace
}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
