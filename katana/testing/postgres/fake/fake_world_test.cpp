// FakePostgres as a server of a world, which two nodes share.
#include <gtest/gtest.h>

#include "katana/app/application.hpp"
#include "katana/app/postgres/postgres.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/testing/postgres/fake/fake_postgres.hpp"
#include "katana/testing/world/world.hpp"

namespace katana::testing {
namespace {

struct Amount {
  std::int64_t amount = 0;
};
KATANA_DESCRIBE(Amount, amount)

constexpr const char* add_one = "UPDATE accounts SET amount = amount + 1 RETURNING amount";

Task<Result<Reply>> add(Inject<database::Database> db) {
  auto found =
      co_await db->query_one<Amount>("UPDATE accounts SET amount = amount + 1 RETURNING amount");
  if (!found) co_return problem(503, found.error().describe());
  co_return Reply::text(std::to_string((*found)->amount));
}
app::ApplicationOptions options() { return {.name = "bank", .database = app::postgres()}; }
void configure(app::Application<app::SettingsWithDatabase>& app) {
  app.routes([](const registry::Services&, Router& router) { router.post("/add", add); });
}

TEST(FakePostgresWorld, nodes_share_it_through_outages_and_fail_overs) {
  World world;
  auto& postgres = world.add_server<FakePostgres>("postgres");
  std::int64_t amount = 0;
  postgres.answer(add_one, {.columns = {{"amount", PgType::int8}}, .reply = [&](const auto&) {
                              return FakeReply{.rows = {{std::to_string(++amount)}}};
                            }});
  const NodeOptions node{.settings = {"database.url=postgresql://app@postgres/app"},
                         .database = [&](const app::DatabaseSettings& settings) {
                           return postgres.open(*app::postgres_options(settings));
                         }};
  world.add("one", options(), configure, node);
  world.add("two", options(), configure, node);
  ASSERT_TRUE(world.failures().empty()) << world.report();
  EXPECT_EQ(world.ask("one", "POST", "/add").reply, "1") << world.report();
  EXPECT_EQ(world.ask("two", "POST", "/add").reply, "2");
  EXPECT_GE(postgres.connections(), 2u);
  postgres.go_down();
  EXPECT_EQ(postgres.connections(), 0u);
  EXPECT_NE(world.ask("one", "POST", "/add").status, 200u);
  postgres.come_back();
  world.run(seconds(5));
  const std::int64_t before = amount;
  EXPECT_EQ(world.ask("one", "POST", "/add").reply, std::to_string(before + 1)) << world.report();
  EXPECT_EQ(postgres.fail_over(), "no commit");
  world.run(seconds(5));
  EXPECT_EQ(world.ask("two", "POST", "/add").reply, std::to_string(before + 2)) << world.report();
  // A partition of the network holds for it as for a node.
  world.partition("one", "postgres");
  const WorldCall held = world.client("ada").send("one", "POST", "/add");
  world.run(seconds(2));
  EXPECT_FALSE(held.operation().is_over()) << world.report();
  world.heal();
  EXPECT_TRUE(world.finish()) << world.report();
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
