#include "katana/testing/postgres/fake/fake_postgres.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "katana/base/thread/loop.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/stores/database/postgres/notifications.hpp"
#include "katana/testing/postgres/fake/fake_fixture_test.hpp"
#include "katana/testing/test_faults.hpp"

namespace katana::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class FakePostgresTest : public FakeBank {
 protected:
  // Begins a payment whose COMMIT the server has received and holds for 30 s.
  PendingReply begin_until_commit() {
    postgres.forget_statements();
    postgres.delay(seconds(1));
    PendingReply pending = server.begin("POST", "/pay/" + std::to_string(++last_id), {});
    server.advance(milliseconds(1500));
    EXPECT_THAT(postgres.statements(), SizeIs(1));
    postgres.delay(seconds(30));
    server.advance(seconds(1));
    EXPECT_THAT(postgres.statements(), SizeIs(2)) << "COMMIT is next";
    return pending;
  }

  // Resets the connection behind bytes of a payment. False: none of them was behind COMMIT.
  bool has_unknown_outcomes_by_resets(Duration delay, std::size_t step) {
    EXPECT_EQ(pay().status(), 204U);
    bool was_unknown = false;
    for (std::size_t bytes = 1; bytes < 700; bytes += step) {
      balance = 100;
      server.advance(seconds(3));  // it has another connection
      const std::size_t before = postgres.commits();
      postgres.delay(delay);
      postgres.reset_after_received(bytes);
      const TestReply reply = pay();
      server.advance(seconds(1));  // what is delayed is executed
      const bool took_effect = balance != 100;
      EXPECT_EQ(took_effect, postgres.commits() != before);
      if (reply.status() == 204U) {
        EXPECT_EQ(balance, 90);
      } else if (took_effect) {
        was_unknown = true;
        EXPECT_EQ(last_kind, database::Kind::unknown_outcome) << last_error;
      }
      postgres.heal();
    }
    return was_unknown;
  }
};

TEST_F(FakePostgresTest, a_scripted_row_is_read_with_its_types) {
  ASSERT_EQ(postgres.problem(), "");
  const TestReply reply = server.get("/account/7");
  ASSERT_EQ(reply.status(), 200U) << reply;
  EXPECT_EQ(reply.content(), R"({"id":7,"owner":"Ada","balance":100,"open":true})");
  ASSERT_THAT(postgres.statements(), SizeIs(1));
  EXPECT_THAT(postgres.statements()[0].values, ElementsAre("7"));
  EXPECT_EQ(postgres.statements()[0].server, "db1.example:5432");
}

TEST_F(FakePostgresTest, a_statement_without_an_answer_fails_with_its_text) {
  const TestReply reply = server.get("/unknown");
  EXPECT_EQ(reply.status(), 500U);
  EXPECT_THAT(last_error, AllOf(HasSubstr("no answer"), HasSubstr("SELECT 2")));
}

TEST_F(FakePostgresTest, a_row_that_does_not_fit_its_columns_fails_its_statement) {
  postgres.answer_rows("SELECT 2 AS id", {{"id", PgType::int8}}, {{"two"}});
  EXPECT_EQ(server.get("/unknown").status(), 500U);
  EXPECT_THAT(last_error, HasSubstr("does not fit its columns"));
  postgres.answer_rows("SELECT 2 AS id", {{"id", PgType::int8}}, {{"2", "3"}});
  EXPECT_EQ(server.get("/unknown").status(), 500U);
}

TEST_F(FakePostgresTest, a_write_has_its_effect_when_it_commits) {
  EXPECT_EQ(pay().status(), 204U);
  EXPECT_EQ(balance, 90);
  EXPECT_EQ(postgres.commits(), 1U);
}

TEST_F(FakePostgresTest, a_transaction_that_conflicts_is_run_again) {
  postgres.conflict_next(2);
  EXPECT_EQ(pay().status(), 204U);
  EXPECT_EQ(balance, 90) << "the effects of the first two were undone";
  EXPECT_EQ(postgres.commits(), 1U);
  EXPECT_THAT(postgres.statements(), SizeIs(6)) << "two for each of three runs";
}

TEST_F(FakePostgresTest, a_statement_that_conflicts_has_its_transaction_run_again) {
  postgres.fail_next(1, "40001");
  EXPECT_EQ(pay().status(), 204U);
  EXPECT_EQ(balance, 90);
}

TEST_F(FakePostgresTest, conflicts_without_end_are_reported) {
  postgres.conflict_next(1000);
  EXPECT_EQ(pay().status(), 500U);
  EXPECT_EQ(balance, 100);
  EXPECT_EQ(last_kind, database::Kind::conflict);
}

TEST_F(FakePostgresTest, a_delay_takes_virtual_time) {
  ASSERT_EQ(server.get("/account/7").status(), 200U);
  postgres.delay(seconds(5));
  const Instant before = server.now();
  PendingReply pending = server.begin_get("/account/7");
  EXPECT_LT((server.now() - before).ns, seconds(1).ns) << "begin() does not pass the time";
  EXPECT_EQ(pending.reply().status(), 200U);
  EXPECT_GE((server.now() - before).ns, seconds(5).ns);
}

TEST_F(FakePostgresTest, a_delay_beyond_the_deadline_is_a_timeout) {
  ASSERT_EQ(server.get("/account/7").status(), 200U);
  postgres.delay(seconds(60));
  EXPECT_EQ(server.get("/account/7").status(), 500U);
  EXPECT_EQ(last_kind, database::Kind::timeout);
}

TEST_F(FakePostgresTest, a_commit_whose_answer_is_lost_has_an_unknown_outcome) {
  EXPECT_TRUE(has_unknown_outcomes_by_resets({}, 1));
}

TEST_F(FakePostgresTest, a_delayed_commit_whose_connection_is_reset_has_an_unknown_outcome) {
  EXPECT_TRUE(has_unknown_outcomes_by_resets(milliseconds(10), 3));
}

TEST_F(FakePostgresTest, a_commit_that_is_delayed_beyond_the_deadline_takes_effect_later) {
  ASSERT_EQ(pay().status(), 204U);
  const std::size_t open_before = postgres.connections();
  PendingReply pending = begin_until_commit();
  EXPECT_EQ(pending.reply().status(), 500U);
  EXPECT_EQ(last_kind, database::Kind::unknown_outcome) << last_error;
  EXPECT_EQ(balance, 90) << "not yet";
  server.advance(seconds(5));
  EXPECT_EQ(postgres.connections(), open_before) << "a session that was left is not counted";
  server.advance(seconds(60));
  EXPECT_EQ(balance, 80);
  EXPECT_EQ(postgres.commits(), 2U);
}

TEST_F(FakePostgresTest, a_commit_that_hangs_beyond_the_deadline_takes_effect_later) {
  ASSERT_EQ(pay().status(), 204U);
  PendingReply pending = begin_until_commit();
  postgres.hang();
  EXPECT_EQ(pending.reply().status(), 500U);
  EXPECT_EQ(last_kind, database::Kind::unknown_outcome) << last_error;
  server.advance(seconds(60));
  EXPECT_EQ(balance, 90) << "not yet";
  postgres.go_on();
  EXPECT_EQ(balance, 80);
  EXPECT_EQ(postgres.commits(), 2U);
}

TEST_F(FakePostgresTest, a_transaction_that_hangs_before_its_commit_is_undone) {
  ASSERT_EQ(pay().status(), 204U);
  postgres.hang();
  EXPECT_EQ(pay().status(), 500U);
  EXPECT_EQ(last_kind, database::Kind::timeout) << last_error;
  postgres.forget_statements();
  postgres.go_on();
  EXPECT_THAT(postgres.statements(), SizeIs(1)) << "the first one was received";
  server.advance(seconds(60));
  EXPECT_EQ(balance, 90);
  EXPECT_EQ(payments.size(), 1U);
}

TEST_F(FakePostgresTest, a_server_that_goes_down_loses_a_commit_that_it_did_not_execute) {
  ASSERT_EQ(pay().status(), 204U);
  PendingReply pending = begin_until_commit();
  EXPECT_EQ(pending.reply().status(), 500U);
  EXPECT_EQ(last_kind, database::Kind::unknown_outcome) << last_error;
  postgres.go_down();
  postgres.come_back();
  server.advance(seconds(60));
  EXPECT_EQ(balance, 90);
}

TEST_F(FakePostgresTest, listening_is_refused_instead_of_leaving_the_simulated_network) {
  ASSERT_EQ(server.get("/account/7").status(), 200U);
  auto options = *database::postgres::Options::from_url(fake_url);
  const auto of_name = database::postgres::Notifications::open(options);
  ASSERT_FALSE(of_name);
  EXPECT_THAT(of_name.error().describe(), AllOf(HasSubstr("db1.example:5432"), HasSubstr("LISTEN"),
                                                HasSubstr("testing::TemporaryPostgres")));
  options.hosts = {{"127.0.0.1", 5432}};
  EXPECT_TRUE(database::postgres::Notifications::open(options)) << "of the machine's network";
  options.is_on_reactors_only = true;
  const auto of_option = database::postgres::Notifications::open(options);
  ASSERT_FALSE(of_option);
  EXPECT_THAT(of_option.error().describe(), HasSubstr("'is_on_reactors_only'"));
}

TEST_F(FakePostgresTest, a_reset_at_any_byte_of_an_answer_loses_no_acknowledged_write) {
  ASSERT_EQ(pay().status(), 204U);
  for (std::size_t bytes = 0; bytes < 300; ++bytes) {
    balance = 100;
    server.advance(seconds(3));  // it has another connection
    postgres.reset_after_sent(bytes);
    const TestReply reply = pay();
    if (reply.status() == 204U) {
      EXPECT_EQ(balance, 90) << bytes;
    } else {
      EXPECT_TRUE(balance == 100 || last_kind == database::Kind::unknown_outcome) << last_error;
    }
    postgres.heal();
  }
}

TEST_F(FakePostgresTest, servers_that_are_down_are_found_again) {
  ASSERT_EQ(server.get("/account/7").status(), 200U);
  postgres.go_down();
  EXPECT_EQ(postgres.connections(), 0U);
  EXPECT_EQ(server.get("/account/7").status(), 500U);
  EXPECT_EQ(last_kind, database::Kind::unavailable);
  postgres.come_back();
  server.advance(seconds(10));
  EXPECT_EQ(server.get("/account/7").status(), 200U);
}

TEST_F(FakePostgresTest, a_fail_over_leads_to_the_new_primary) {
  ASSERT_EQ(pay().status(), 204U);
  postgres.fail_over(1);
  server.advance(seconds(10));
  postgres.forget_statements();
  EXPECT_EQ(pay().status(), 204U);
  ASSERT_THAT(postgres.statements(), SizeIs(2));
  EXPECT_EQ(postgres.statements()[1].server, "db2.example:5432");
  EXPECT_EQ(balance, 80);
}

TEST_F(FakePostgresTest, a_write_to_a_former_primary_is_refused) {
  ASSERT_EQ(pay().status(), 204U);
  postgres.fail_over(1);
  EXPECT_EQ(pay().status(), 500U) << "no time has passed in which it could be noticed";
  EXPECT_EQ(balance, 90);
}

TEST_F(FakePostgresTest, logins_that_are_refused_are_repeated) {
  postgres.refuse_logins(4);
  EXPECT_EQ(server.get("/account/7").status(), 500U);
  EXPECT_EQ(last_kind, database::Kind::unavailable);
  EXPECT_THAT(last_error, HasSubstr("starting up"));
  server.advance(seconds(20));
  EXPECT_EQ(server.get("/account/7").status(), 200U);
  EXPECT_EQ(postgres.logins(), 1U);
}

TEST_F(FakePostgresTest, servers_that_hang_are_left_after_the_deadline) {
  ASSERT_EQ(server.get("/account/7").status(), 200U);
  postgres.hang();
  EXPECT_EQ(server.get("/account/7").status(), 500U);
  EXPECT_EQ(last_kind, database::Kind::timeout);
  postgres.go_on();
  server.advance(seconds(10));
  EXPECT_EQ(server.get("/account/7").status(), 200U);
}

TEST_F(FakePostgresTest, a_caller_without_a_reactor_is_refused) {
  thread::Loop loop;
  const auto call = [&]() -> Task<database::Result<std::int64_t>> {
    co_return co_await database->execute("INSERT INTO payments (id) VALUES ($1)", 1);
  };
  const database::Result<std::int64_t> refused = loop.run(call());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), database::Kind::unavailable);
  EXPECT_THAT(refused.error().describe(), HasSubstr("on reactors alone"));
}

TEST_F(FakePostgresTest, a_host_without_a_fake_is_named_with_the_remedy) {
  auto options = database::postgres::Options::from_url("postgresql://app@elsewhere.example/bank");
  database.emplace(*postgres.open(*std::move(options)));
  EXPECT_EQ(server.get("/account/7").status(), 500U);
  EXPECT_THAT(last_error, AllOf(HasSubstr("postgresql://elsewhere.example:5432"),
                                HasSubstr("testing::FakePostgres")));
}

TEST_F(FakePostgresTest, a_url_that_is_none_is_a_problem) {
  const FakePostgres wrong(server, "mysql://db");
  EXPECT_NE(wrong.problem(), "");
  EXPECT_FALSE(wrong.open());
}

TEST_F(FakePostgresTest, the_same_run_is_made_again) {
  const auto run = [] {
    FakeBankRun bank(11);
    bank.run();
    return bank.summary();
  };
  const std::string first = run();
  EXPECT_EQ(run(), first);
  EXPECT_THAT(first, HasSubstr("paid"));
}

// Seeds draw faults of the network and of the servers. KATANA_SEEDS: another number of them.
TEST(FakePostgresSeeds, each_transfer_commits_once_or_reports_an_error) {
  const char* const wanted = std::getenv("KATANA_SEEDS");
  const std::uint64_t seeds = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 60;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    FakeBankRun bank(seed);
    bank.run();
    ASSERT_EQ(bank.mistake(), "") << "seed " << seed << ": " << bank.summary();
  }
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
