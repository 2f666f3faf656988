#include "katana/stores/database/postgres/target/server_role.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace katana::database::postgres::target {
namespace {

using Kind = RoleVerdict::Kind;

// The known facts: nothing, or on or off of in_hot_standby and default_transaction_read_only.
SessionFacts facts(Bytes standby, Bytes read_only) {
  SessionFacts made;
  made.note("in_hot_standby", standby);
  made.note("default_transaction_read_only", read_only);
  made.note("server_version", "on");
  return made;
}

std::string judged(SessionKind wanted, const SessionFacts& known) {
  const RoleVerdict verdict = judge_role(wanted, known);
  return verdict.kind == Kind::use ? "use" : std::string(verdict.text);
}

TEST(PostgresServerRole, each_kind_is_told_by_what_the_server_reports) {
  struct Case {
    SessionKind wanted;
    Bytes standby;
    Bytes read_only;
    std::string verdict;
  };
  const std::string show = "SHOW transaction_read_only";
  const std::string select = "SELECT pg_catalog.pg_is_in_recovery()";
  const std::vector<Case> cases = {
      {SessionKind::any, "", "", "use"},
      {SessionKind::read_write, "off", "off", "use"},
      {SessionKind::read_write, "off", "on", "the server takes no writes"},
      {SessionKind::read_write, "on", "off", "the server takes no writes"},
      {SessionKind::read_write, "on", "", "the server takes no writes"},
      {SessionKind::read_write, "off", "", show},
      {SessionKind::read_write, "", "off", show},
      {SessionKind::read_only, "off", "off", "the server takes writes"},
      {SessionKind::read_only, "off", "on", "use"},
      {SessionKind::read_only, "on", "", "use"},
      {SessionKind::read_only, "", "", show},
      {SessionKind::primary, "off", "", "use"},
      {SessionKind::primary, "on", "", "the server is a standby"},
      {SessionKind::primary, "", "off", select},
      {SessionKind::standby, "on", "", "use"},
      {SessionKind::standby, "off", "", "the server is no standby"},
      {SessionKind::standby, "", "", select},
      {SessionKind::prefer_standby, "on", "", "use"},
      {SessionKind::prefer_standby, "off", "", "the server is no standby"},
      {SessionKind::prefer_standby, "", "", select},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(judged(each.wanted, facts(each.standby, each.read_only)), each.verdict)
        << static_cast<int>(each.wanted) << " " << each.standby << " " << each.read_only;
  }
}

TEST(PostgresServerRole, an_answer_ends_the_questions) {
  for (const SessionKind wanted :
       {SessionKind::read_write, SessionKind::read_only, SessionKind::primary, SessionKind::standby,
        SessionKind::prefer_standby}) {
    for (const Bytes value : {"on", "off", "t", "f"}) {
      SessionFacts known;
      ASSERT_EQ(judge_role(wanted, known).kind, Kind::ask);
      EXPECT_FALSE(known.answer(wanted, "perhaps"));
      ASSERT_EQ(judge_role(wanted, known).kind, Kind::ask);
      EXPECT_TRUE(known.answer(wanted, value));
      EXPECT_NE(judge_role(wanted, known).kind, Kind::ask);
    }
  }
}

TEST(PostgresServerRole, a_server_takes_no_writes_for_one_of_two_reasons) {
  EXPECT_FALSE(facts("", "").is_read_only());
  EXPECT_FALSE(facts("off", "off").is_read_only());
  EXPECT_TRUE(facts("on", "").is_read_only());
  EXPECT_TRUE(facts("", "on").is_read_only());
}

}  // namespace
}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
