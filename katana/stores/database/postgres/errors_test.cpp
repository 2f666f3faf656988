#include "katana/stores/database/postgres/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace katana::database::postgres {
namespace {

TEST(PostgresErrors, a_state_has_its_kind) {
  const auto kind = [](Bytes state) { return error_of({.state = state}, {}).kind(); };
  EXPECT_EQ(kind("40001"), Kind::conflict);
  EXPECT_EQ(kind("40P01"), Kind::conflict);
  EXPECT_EQ(kind("57014"), Kind::timeout);
  EXPECT_EQ(kind("57P01"), Kind::unavailable);
  EXPECT_EQ(kind("53300"), Kind::unavailable);
  EXPECT_EQ(kind("25P02"), Kind::failed_transaction);
  EXPECT_EQ(kind("25006"), Kind::unavailable);
  EXPECT_EQ(kind("22003"), Kind::invalid_value);
  EXPECT_EQ(kind("54000"), Kind::too_large);
  EXPECT_EQ(kind("42P01"), Kind::syntax);
  EXPECT_EQ(kind("55P03"), Kind::busy);
  EXPECT_EQ(kind("XX000"), Kind::syntax);
  const Error overlap = error_of({.state = "23P01", .constraint = "no_overlap"}, {});
  EXPECT_EQ(overlap.kind(), Kind::constraint_violation);
  EXPECT_EQ(overlap.constraint(), Constraint::exclusion);
  EXPECT_EQ(overlap.code(), Code::already_exists);
  EXPECT_EQ(overlap.which(), "no_overlap");
}

TEST(PostgresErrors, a_violation_names_columns_and_never_a_value) {
  const Error one = error_of({.state = "23505",
                              .message = "duplicate key",
                              .detail = "Key (email)=(secret) already exists.",
                              .table = "users",
                              .constraint = "users_email_key"},
                             "INSERT");
  EXPECT_EQ(one.which(), "users.email");
  EXPECT_EQ(one.constraint(), Constraint::unique);
  EXPECT_THAT(one.describe(), testing::Not(testing::HasSubstr("secret")));
  const Error two = error_of({.state = "23505",
                              .detail = "Key (team, lower(name))=(1, (secret)=(2)) already exists.",
                              .table = "users",
                              .constraint = "users_pkey"},
                             {});
  EXPECT_EQ(two.which(), "users.team, users.lower(name)");
  EXPECT_EQ(two.constraint(), Constraint::primary_key);
  const Error untold = error_of({.state = "23505", .constraint = "a_key"}, {});
  EXPECT_EQ(untold.which(), "a_key");
}

TEST(PostgresErrors, a_refused_value_is_not_repeated) {
  const Error error = error_of(
      {.state = "22P02", .message = "invalid input syntax for type integer: \"secret\""}, "SELECT");
  EXPECT_THAT(error.describe(), testing::Not(testing::HasSubstr("secret")));
  EXPECT_THAT(error.describe(), testing::HasSubstr("22P02"));
}

TEST(PostgresErrors, a_plan_or_a_name_that_is_gone_is_stale) {
  EXPECT_EQ(staleness_of({.state = "26000"}), Staleness::name_is_gone);
  EXPECT_EQ(staleness_of({.state = "0A000", .message = "cached plan must not change result type"}),
            Staleness::plan_is_old);
  EXPECT_EQ(staleness_of({.state = "0A000",
                          .message = "gecachter Plan darf den Ergebnistyp nicht ändern",
                          .routine = "RevalidateCachedQuery"}),
            Staleness::plan_is_old);
  EXPECT_EQ(staleness_of({.state = "0A000", .message = "cached plan", .routine = "transformStmt"}),
            Staleness::none);
  EXPECT_EQ(staleness_of({.state = "0A000", .message = "not supported"}), Staleness::none);
}

TEST(PostgresErrors, what_is_not_there_may_have_been_made_anew_and_what_is_there_was_not) {
  // An enum, a table, a column, an operator, a function, a parameter's type; a look-up by number.
  for (const char* state :
       {"42704", "42P01", "42703", "42883", "42804", "42P18", "42846", "XX000"}) {
    EXPECT_EQ(staleness_of({.state = state}), Staleness::perhaps) << state;
  }
  for (const char* state : {"42501", "42P07", "42710", "23505", "40001", "22P02", "57014", ""}) {
    EXPECT_EQ(staleness_of({.state = state}), Staleness::none) << state;
  }
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
