#include "katana/stores/database/found.hpp"

#include <gtest/gtest.h>

#include <expected>
#include <optional>
#include <string>

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

}  // namespace
}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
