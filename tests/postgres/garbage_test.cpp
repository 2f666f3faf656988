// A server whose answers are not of PostgreSQL's protocol: each call gets one answer, and the next
// connection works.
#include <array>

#include "katana/stores/database/postgres/hostile_server_fixture_test.hpp"

namespace katana::database::postgres {
namespace {

TEST_F(PostgresHostileServer, garbage_at_any_place_ends_no_more_than_its_connection) {
  server_.plan({});
  (void)run_calls(patient());
  exact_ = false;
  const std::size_t whole = server_.bytes_sent();
  for (std::size_t offset = 0; offset < whole; offset += 5) {
    SCOPED_TRACE(offset);
    server_.plan(
        [=](int connection) { return Plan{.flip_at = connection == 0 ? offset : Plan::npos}; });
    for (const Answer& answer : run_calls(hasty())) EXPECT_EQ(answer.answers, 1);
  }
  expect_well();
}

// A flipped bit in a value may make another value, undetected. Anywhere else the row is
// the one that was sent, or there is an error: never another row, or one that lost a value.
TEST_F(PostgresHostileServer, a_bit_that_is_flipped_outside_of_values_gives_no_other_row) {
  constexpr std::array<unsigned char, 4> bits = {0x01, 0x80, 0x20, 0xff};
  int refused = 0;
  for (const bool streams : {false, true}) {
    server_.plan({});
    Answer answer;
    EXPECT_THAT(run_wide(patient(), streams, answer), testing::ElementsAre(wide_row_as_sent()));
    const std::size_t whole = server_.bytes_sent();
    // The bytes before the statement itself are the same for both.
    for (std::size_t offset = streams ? whole / 2 : 0; offset < whole; ++offset) {
      SCOPED_TRACE(testing::Message() << offset << (streams ? ", a stream" : ""));
      const unsigned char flip = bits[(offset + (streams ? 1 : 0)) % bits.size()];
      server_.plan([=](int connection) {
        return connection == 0 ? Plan{.flip_at = offset, .flip = flip} : Plan();
      });
      Answer flipped;
      const std::vector<Wide> rows = run_wide(hasty(), streams, flipped);
      EXPECT_EQ(flipped.answers, 1);
      refused += flipped.kind == "done" ? 0 : 1;
      if (server_.value_flipped()) {
        EXPECT_LE(rows.size(), 1u);
      } else if (flipped.kind == "done" || !rows.empty()) {
        EXPECT_THAT(rows, testing::ElementsAre(wide_row_as_sent()));
      }
    }
  }
  EXPECT_GT(refused, 200);
  expect_well();
}

TEST_F(PostgresHostileServer, messages_that_nobody_asked_for_are_survived) {
  server_.plan({});
  (void)run_calls(patient());
  exact_ = false;
  const int whole = server_.messages_sent();
  const std::string zero(1, '\0');
  const std::string nothing(2, '\0');
  for (const std::string& wrong :
       {wire_message('Z', "I"), wire_message('Z', "T"), wire_message('G', zero + nothing),
        wire_message('H', zero + nothing), wire_message('W', zero + nothing),
        wire_message('C', "INSERT 0 99999999999999999999" + zero), wire_message('D', nothing),
        wire_message('A', std::string(4, '\0') + "topic" + zero + "text" + zero),
        wire_message('E', "SFATAL" + zero + "C57P01" + zero + "Mthe end" + nothing),
        wire_message('E', "SERROR" + zero + "C40001" + zero + "Magain" + nothing),
        wire_message('I', ""), wire_message('s', ""), wire_message('v', std::string(8, '\0')),
        wire_message('R', std::string("\0\0\0\x05"
                                      "salt",
                                      8)),
        wire_message('T', nothing), std::string(4000, '\xff')}) {
    for (int message = 0; message < whole; message += 7) {
      SCOPED_TRACE(testing::Message() << "before message " << message << ": " << wrong[0]);
      server_.plan([=](int connection) {
        return connection == 0 ? Plan{.wrong_at = message, .wrong = wrong} : Plan();
      });
      for (const Answer& answer : run_calls(hasty())) EXPECT_EQ(answer.answers, 1);
    }
  }
  expect_well();
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
