#include "katana/stores/database/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace katana::database {
namespace {

TEST(DatabaseError, every_kind_has_a_name_and_a_code) {
  const auto code = [](Kind kind) { return Error(kind, "what").code(); };
  EXPECT_EQ(code(Kind::busy), Code::unavailable);
  EXPECT_EQ(code(Kind::unavailable), Code::unavailable);
  EXPECT_EQ(code(Kind::timeout), Code::deadline_exceeded);
  EXPECT_EQ(code(Kind::cancelled), Code::cancelled);
  EXPECT_EQ(code(Kind::syntax), Code::internal) << "the statement is the program's";
  EXPECT_EQ(code(Kind::mismatch), Code::internal);
  EXPECT_EQ(code(Kind::too_large), Code::out_of_range);
  EXPECT_EQ(code(Kind::conflict), Code::unavailable);
  EXPECT_EQ(code(Kind::invalid_value), Code::invalid_argument);
  EXPECT_EQ(code(Kind::unknown_outcome), Code::unavailable);
  EXPECT_TRUE(Error(Kind::conflict, "what").retryable());
  EXPECT_FALSE(Error(Kind::unknown_outcome, "what").retryable()) << "it may have taken effect";
  EXPECT_EQ(kind_name(Kind::failed_transaction), "failed transaction");
  EXPECT_EQ(kind_name(Kind::unknown_outcome), "unknown outcome");
  EXPECT_EQ(constraint_name(Constraint::other), "other");
}

TEST(DatabaseError, a_value_that_is_taken_is_another_error_than_one_that_is_wrong) {
  EXPECT_EQ(Error::violated(Constraint::unique, "t.a", "").code(), Code::already_exists);
  EXPECT_EQ(Error::violated(Constraint::primary_key, "t.a", "").code(), Code::already_exists);
  EXPECT_EQ(Error::violated(Constraint::check, "positive", "").code(), Code::invalid_argument);
  EXPECT_EQ(Error::violated(Constraint::foreign_key, "", "X").describe(),
            "a foreign key constraint is violated: statement: X");
  EXPECT_EQ(Error::violated(Constraint::exclusion, "overlap", "").code(), Code::already_exists);
  EXPECT_EQ(Error::violated(Constraint::exclusion, "", "").describe(),
            "an exclusion constraint is violated");
  EXPECT_EQ(Error::violated(Constraint::other, "", "").describe(),
            "another constraint is violated");
}

TEST(DatabaseError, what_a_client_is_shown_names_neither_table_nor_column) {
  const Error error = Error::violated(Constraint::unique, "users.email", "INSERT INTO users …");
  EXPECT_EQ(error.message(), "a unique constraint is violated");
  EXPECT_EQ(error.which(), "users.email");
  EXPECT_EQ(error.describe(),
            "a unique constraint is violated: the constraint is that of users.email: statement: "
            "INSERT INTO users …");
}

TEST(DatabaseError, a_detail_is_for_the_log_alone) {
  const Error error(Kind::syntax, "the statement is refused", "SELECT a", "no column 'a'");
  EXPECT_EQ(error.message(), "the statement is refused");
  EXPECT_EQ(error.describe(), "the statement is refused: no column 'a': statement: SELECT a");
}

TEST(DatabaseError, of_a_row_names_the_row_before_the_message_and_keeps_the_causes) {
  const Error plain = Error(Kind::timeout, "late").in_row(3);
  EXPECT_EQ(plain.describe(), "row 3 of the batch: late");
  EXPECT_EQ(plain.kind(), Kind::timeout);
  const Error caused = Error::violated(Constraint::unique, "users.email", "INSERT 1").in_row(0);
  EXPECT_EQ(caused.message(), "row 0 of the batch: a unique constraint is violated");
  EXPECT_EQ(caused.describe(),
            "row 0 of the batch: a unique constraint is violated: the constraint is that of "
            "users.email: statement: INSERT 1");
  EXPECT_EQ(caused.constraint(), Constraint::unique);
  EXPECT_EQ(caused.which(), "users.email");
}

TEST(DatabaseError, a_long_statement_is_cut) {
  const std::string message = Error(Kind::syntax, "what", std::string(1000, 'x')).describe();
  EXPECT_LT(message.size(), 400u);
  EXPECT_THAT(message, testing::EndsWith("x…"));
}

TEST(DatabaseError, a_result_turns_into_one_of_base) {
  const Result<int> failed = fail(Kind::timeout, "late", "SELECT 1");
  const katana::Result<int> wider = failed;
  EXPECT_EQ(wider.error().code(), Code::deadline_exceeded);
  EXPECT_EQ(wider.error().message(), "late") << "what a client may be shown";
  EXPECT_EQ(wider.error().describe(), "late: statement: SELECT 1");
}

}  // namespace
}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
