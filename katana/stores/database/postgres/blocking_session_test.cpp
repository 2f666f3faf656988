// Sessions for threads that wait: what a server tells of a statement, and of one that it refuses.
#include "katana/stores/database/postgres/blocking_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "katana/stores/database/postgres/cluster_test.hpp"

namespace katana::database::postgres {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class BlockingSessionTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = BlockingSession::connect(Cluster::shared().options(), {});
    ASSERT_TRUE(opened) << opened.error().describe();
    session_.emplace(*std::move(opened));
  }

  std::optional<BlockingSession> session_;
};

TEST_F(BlockingSessionTest, a_prepared_statement_has_types_of_parameters_and_origins_of_columns) {
  ASSERT_TRUE(session_->ask("CREATE TABLE users (id bigint, gone text, age int)"));
  ASSERT_TRUE(session_->ask("ALTER TABLE users DROP COLUMN gone"));
  const auto shape =
      session_->prepare("a", "SELECT age AS years, id + 1 FROM users WHERE id = $1 AND age < $2");
  ASSERT_TRUE(shape) << shape.error().describe();
  EXPECT_THAT(shape->parameters, ElementsAre(20u, 23u));
  ASSERT_EQ(shape->columns.size(), 2u);
  EXPECT_EQ(shape->columns[0].name, "years");
  EXPECT_EQ(shape->columns[0].type, 23u);
  const auto table = session_->ask("SELECT 'users'::regclass::oid");
  ASSERT_TRUE(table);
  EXPECT_EQ(std::to_string(shape->columns[0].table), table->at(0).at(0));
  EXPECT_EQ(shape->columns[0].column, 3);
  EXPECT_EQ(shape->columns[1].type, 20u);
  EXPECT_EQ(shape->columns[1].table, 0u);
  // The name is known to the session.
  EXPECT_TRUE(session_->ask("EXECUTE a (1, 2)"));
}

TEST_F(BlockingSessionTest, a_statement_without_rows_has_no_columns) {
  const auto shape = session_->prepare("", "SET work_mem = '1MB'");
  ASSERT_TRUE(shape) << shape.error().describe();
  EXPECT_THAT(shape->parameters, IsEmpty());
  EXPECT_THAT(shape->columns, IsEmpty());
}

TEST_F(BlockingSessionTest, a_refused_statement_has_its_message_hint_and_character_and_no_more) {
  ASSERT_TRUE(session_->ask("CREATE TABLE users (name text)"));
  const auto shape = session_->prepare("a", "SELECT 'ä', nam FROM users");
  ASSERT_FALSE(shape);
  EXPECT_THAT(std::string(shape.error().message()), HasSubstr("column \"nam\" does not exist"));
  const Refusal refusal = session_->refusal();
  EXPECT_EQ(refusal.state, "42703");
  EXPECT_EQ(refusal.message, "column \"nam\" does not exist");
  EXPECT_THAT(refusal.hint, HasSubstr("users.name"));
  EXPECT_EQ(refusal.character, 13u);
  // The session goes on, and forgets the refusal.
  ASSERT_TRUE(session_->prepare("a", "SELECT name FROM users"));
  EXPECT_EQ(session_->refusal().message, "");
  EXPECT_EQ(session_->refusal().character, 0u);
}

TEST_F(BlockingSessionTest, a_text_with_a_zero_byte_is_not_sent) {
  EXPECT_FALSE(session_->prepare("a", Bytes("SELECT 1\0 + 1", 13)));
  EXPECT_THAT(session_->refusal().text, HasSubstr("zero byte"));
  EXPECT_TRUE(session_->ask("SELECT 1"));
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
