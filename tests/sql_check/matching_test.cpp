#include "katana_tool/sql/matching.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace katana::tool::sql {
namespace {

// The text that each call of a constant is matched with, in the order of the files.
std::vector<std::string> texts(const std::vector<std::pair<std::string, std::string>>& files) {
  std::vector<Literal> literals;
  for (const auto& [file, source] : files) {
    std::vector<Literal> found = literals_in(source, file);
    std::ranges::move(found, std::back_inserter(literals));
  }
  Record none, one;
  none.call = one.call = "execute";
  one.arguments = 1;
  one.parameters = {{"i64", false}};
  std::vector<std::string> all;
  for (const Match& each : match(literals, {none, one}).matches) {
    all.push_back(each.statement.text());
  }
  return all;
}

using Texts = std::vector<std::string>;

TEST(Matching, a_constant_of_a_function_is_not_that_of_another) {
  EXPECT_EQ(texts({{"a.cpp",
                    "void f() { constexpr Sql sql = \"DELETE 1\"; db.execute(sql); }\n"
                    "void g() { constexpr Sql sql{\"DELETE 2\"}; if (x) { db.execute(sql); } }\n"
                    "void h() { db.execute(sql); }\n"}}),
            (Texts{"DELETE 1", "DELETE 2"}));
}

TEST(Matching, the_innermost_constant_hides_the_others) {
  EXPECT_EQ(texts({{"a.cpp",
                    "constexpr Sql sql = \"DELETE 1\";\n"
                    "void f() { db.execute(sql); }\n"
                    "void g() {\n"
                    "  db.execute(sql);\n"
                    "  constexpr Sql sql = \"DELETE 2\";\n"
                    "  auto h = [] { constexpr Sql sql = \"DELETE 3\"; db.execute(sql); };\n"
                    "  db.execute(sql);\n"
                    "}\n"}}),
            (Texts{"DELETE 1", "DELETE 1", "DELETE 3", "DELETE 2"}));
}

TEST(Matching, a_name_is_looked_up_where_its_qualification_says) {
  EXPECT_EQ(
      texts({{"a.cpp",
              "namespace app::users { constexpr Sql all = \"DELETE 1\"; }\n"
              "struct Orders : Base { static constexpr Sql all = \"DELETE 2\"; };\n"
              "namespace { constexpr Sql all = \"DELETE 3\"; }\n"
              "template <class T> class Sold final { static constexpr Sql all{\"DELETE 4\"};\n"
              "  void f() { db.execute(all); } };\n"
              "void f() { db.execute(users::all); db.execute(app::users::all);\n"
              "  db.execute(Orders::all); db.execute(Sold::all); db.execute(all); }\n"}}),
      (Texts{"DELETE 4", "DELETE 1", "DELETE 1", "DELETE 2", "DELETE 4", "DELETE 3"}));
}

TEST(Matching, a_constant_of_the_file_goes_before_that_of_another) {
  const std::string sources =
      "constexpr Sql sql = \"DELETE 1\"; void f() { db.execute(sql); db.execute(other); }";
  EXPECT_EQ(texts({{"src/a.cpp", sources},
                   {"src/b.cpp", "constexpr Sql sql = \"DELETE 2\"; void g() { db.execute(sql); }"},
                   {"src/c.hpp", "constexpr Sql other = \"DELETE 3\";"},
                   {"src/a.hpp", "constexpr Sql other = \"DELETE 4\";"},
                   {"src/d.cpp", "void h() { constexpr Sql other = \"DELETE 5\"; }"}}),
            (Texts{"DELETE 1", "DELETE 4", "DELETE 2"}));
}

TEST(Matching, of_two_headers_the_constant_that_fits_the_call_is_taken) {
  EXPECT_EQ(texts({{"b.hpp", "constexpr Sql sql = \"DELETE $1\";"},
                   {"c.hpp", "constexpr Sql sql = \"DELETE $1 + $2\";"},
                   {"a.cpp", "void f() { db.execute(sql, 1); }"}}),
            (Texts{"DELETE $1"}));
}

}  // namespace
}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
