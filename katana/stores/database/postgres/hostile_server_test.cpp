// A server whose answers are cut, late or flooded. Each call gets one answer, an acknowledged write
// was done once, and the next connection works.
#include "katana/stores/database/postgres/hostile_server_fixture_test.hpp"

namespace katana::database::postgres {
namespace {

using testing::AnyOf;

TEST_F(PostgresHostileServer, a_server_that_behaves_is_understood) {
  server_.plan({});
  const std::vector<Answer> answers = run_calls(patient());
  expect_sound(answers);
  for (const Answer& answer : answers) EXPECT_EQ(answer.kind, "done");
  EXPECT_GT(server_.bytes_sent(), 300u);
}

TEST_F(PostgresHostileServer, a_connection_cut_at_any_byte_loses_and_doubles_nothing) {
  server_.plan({});
  (void)run_calls(patient());
  const std::size_t whole = server_.bytes_sent();
  int unknown = 0;
  for (std::size_t offset = 0; offset < whole; ++offset) {
    SCOPED_TRACE(offset);
    server_.plan(
        [=](int connection) { return Plan{.cut_at = connection == 0 ? offset : Plan::npos}; });
    const std::vector<Answer> answers = run_calls(patient());
    expect_sound(answers);
    for (const Answer& answer : answers) unknown += answer.kind == "unknown outcome";
    if (HasFailure()) return;
  }
  EXPECT_GT(unknown, 20) << "an answer that was lost is none";
}

// The row is there whole, or an error.
TEST_F(PostgresHostileServer, a_row_of_many_types_that_is_cut_at_any_byte_is_whole_or_an_error) {
  int read_whole = 0;
  for (const bool streams : {false, true}) {
    server_.plan({});
    Answer answer;
    EXPECT_THAT(run_wide(patient(), streams, answer), testing::ElementsAre(wide_row_as_sent()));
    const std::size_t whole = server_.bytes_sent();
    EXPECT_GT(whole, 400u);
    // The bytes before the statement itself are the same for both.
    for (std::size_t offset = streams ? whole / 2 : 0; offset < whole; ++offset) {
      SCOPED_TRACE(offset);
      server_.plan(
          [=](int connection) { return Plan{.cut_at = connection == 0 ? offset : Plan::npos}; });
      Answer cut;
      const std::vector<Wide> rows = run_wide(patient(), streams, cut);
      EXPECT_EQ(cut.answers, 1);
      EXPECT_THAT(cut.kind, AnyOf("done", "unavailable"));
      // Rows that a stream gave before its error are right as well.
      if (cut.kind == "done" || !rows.empty()) {
        EXPECT_THAT(rows, testing::ElementsAre(wide_row_as_sent()));
        ++read_whole;
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(read_whole, 20) << "a start that was cut is made again";
}

TEST_F(PostgresHostileServer, an_answer_in_single_bytes_is_one_answer) {
  server_.plan([](int) { return Plan{.single_bytes = true}; });
  for (const Answer& answer : run_calls(patient())) EXPECT_EQ(answer.kind, "done");
}

TEST_F(PostgresHostileServer, a_flood_of_notices_changes_nothing) {
  server_.plan([](int) { return Plan{.notices = 500}; });
  for (const Answer& answer : run_calls(patient())) EXPECT_EQ(answer.kind, "done");
}

TEST_F(PostgresHostileServer, a_server_that_falls_silent_meets_the_deadlines) {
  server_.plan({});
  (void)run_calls(patient());
  const std::size_t whole = server_.bytes_sent();
  for (std::size_t offset = 0; offset < whole; offset += 37) {
    SCOPED_TRACE(offset);
    server_.plan([=](int) { return Plan{.silent_at = offset}; });
    for (const Answer& answer : run_calls(hasty())) {
      EXPECT_EQ(answer.answers, 1);
      EXPECT_THAT(answer.kind,
                  AnyOf("done", "timeout", "unavailable", "unknown outcome", "failed transaction"));
    }
  }
  expect_well();
}

TEST_F(PostgresHostileServer, a_length_that_lies_ends_no_more_than_its_connection) {
  server_.plan({});
  (void)run_calls(patient());
  exact_ = false;
  const int whole = server_.messages_sent();
  for (const std::int32_t lie : {-5, -1, 1, 70'000, INT32_MAX - 1000, INT32_MIN}) {
    for (int message = 0; message < whole; message += 3) {
      SCOPED_TRACE(testing::Message() << "message " << message << " by " << lie);
      server_.plan([=](int connection) {
        return connection == 0 ? Plan{.lie_at = message, .lie = lie} : Plan();
      });
      for (const Answer& answer : run_calls(hasty())) EXPECT_EQ(answer.answers, 1);
    }
  }
  expect_well();
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
