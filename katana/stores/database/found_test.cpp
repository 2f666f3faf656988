#include "katana/stores/database/found.hpp"

#include <gtest/gtest.h>

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace katana::database {
namespace {

using Row = std::optional<std::string>;

TEST(Found, gives_the_row_that_is_there) {
  const auto row = found(Result<Row>(Row("first")), "article");
  ASSERT_TRUE(row);
  EXPECT_EQ(*row, "first");
}

TEST(Found, without_a_row_is_an_error_that_handlers_answer_with_404) {
  const auto row = found(Result<Row>(Row()), "article");
  ASSERT_FALSE(row);
  EXPECT_EQ(row.error().code(), Code::not_found);
  EXPECT_EQ(row.error().message(), "There is no such article.");
}

TEST(Found, passes_the_error_of_the_statement_on) {
  const auto row = found(Result<Row>(std::unexpected(Error(Kind::busy, "locked"))), "article");
  ASSERT_FALSE(row);
  EXPECT_EQ(row.error().code(), Code::unavailable);
  EXPECT_NE(row.error().describe().find("locked"), std::string::npos);
}

katana::Error taken(Constraint constraint, std::string_view which) {
  Result<int> broken = std::unexpected(Error::violated(constraint, which, "INSERT INTO users"));
  return not_taken(std::move(broken)).error();
}

TEST(NotTaken, gives_the_result_of_a_statement_that_was_done) {
  EXPECT_EQ(not_taken(Result<int>(3)), 3);
}

TEST(NotTaken, a_taken_value_is_an_error_with_its_columns_that_handlers_answer_with_409) {
  for (const auto& [which, words] :
       {std::pair("users.email", "email has already been taken."),
        std::pair("shop.users.email, shop.users.name", "email, name has already been taken."),
        std::pair("users.\"userName\", users.größe", "userName, größe has already been taken."),
        std::pair("my-users.e_mail2", "e_mail2 has already been taken.")}) {
    const katana::Error error = taken(Constraint::unique, which);
    EXPECT_EQ(error.code(), Code::already_exists);
    EXPECT_EQ(error.message(), words);
  }
  EXPECT_EQ(taken(Constraint::primary_key, "users.id").message(), "id has already been taken.");
}

TEST(NotTaken, names_of_indexes_constraints_and_expressions_are_not_shown) {
  for (const char* const which : {
           "",
           "index 'users_lower'",                   // SQLite, an index on an expression
           "index 'users.lower'",                   // of this name
           "users_email_key",                       // PostgreSQL, without a readable detail
           "users.lower(email::text)",              // PostgreSQL, an index on an expression
           "users.team, users.lower(email::text)",  // a column and an expression
           "users.coalesce(a, users.b)",            // PostgreSQL, cut at each comma
           "users.(address).zip",                   // a part of a composite
           "users.\"e mail\"",
           "users.\"x.y\"",
           "users.\"",
           "users.\"\"",
           "users.",
           "users.a,",
           "users.a, ",
       }) {
    EXPECT_EQ(taken(Constraint::unique, which).message(), "The value has already been taken.")
        << which;
  }
}

TEST(NotTaken, takes_a_result_without_a_value) {
  EXPECT_TRUE(not_taken(Result<void>()));
  const auto broken = not_taken(
      Result<void>(std::unexpected(Error::violated(Constraint::unique, "users.email", ""))));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message(), "email has already been taken.");
}

TEST(NotTaken, passes_another_error_of_the_statement_on) {
  const katana::Error error = taken(Constraint::foreign_key, "users.team");
  EXPECT_EQ(error.code(), Code::invalid_argument);
  EXPECT_EQ(error.message(), "a foreign key constraint is violated");
}

}  // namespace
}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
