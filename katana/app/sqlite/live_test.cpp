// A slow statement, as the pages of live state show it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "katana/app/application.hpp"
#include "katana/app/sqlite/sqlite.hpp"
#include "katana/http/server/client_test.hpp"

namespace katana::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(LiveStatements, a_slow_one_is_listed_with_its_request_until_it_is_over) {
  std::string name = (std::filesystem::temp_directory_path() / "live_XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  std::ofstream(name + "/app.yaml")
      << "http: {reactors: 1, connections_max: 64, drain_notice: 0s, port: 0}\n"
         "log: {console: false}\ndatabase: {durability: normal, url: 'sqlite:"
      << name << "/app.db'}\n";
  Application<SettingsWithDatabase> app({.name = "slow", .database = sqlite()});
  app.routes([](const registry::Services& services, Router& router) {
    auto& database = services.get<database::Database>();
    router.get("/slow", [&database]() -> Task<Result<Reply>> {
      const auto rows = co_await database.query<std::int64_t>(
          "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 2000000000) "
          "SELECT max(n) FROM c");
      if (!rows) co_return std::unexpected(rows.error());
      co_return Reply(204);
    });
  });
  const auto started = app.start({.config = name + "/app.yaml"});
  ASSERT_TRUE(started) << started.error().describe();
  std::thread thread([&] {
    const auto statements = [&] {
      return server::Client(app.port()).ask("/operations/statements");
    };
    // Waits for a reply with the text.
    const auto wait_for = [&](const char* text) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      std::string reply = statements();
      while (reply.find(text) == std::string::npos && std::chrono::steady_clock::now() < end) {
        reply = statements();
      }
      return reply;
    };
    {
      server::Client slow(app.port());
      slow.send_get("/slow", "X-Request-Id: slow-1\r\n");
      EXPECT_THAT(
          wait_for("slow-1"),
          AllOf(HasSubstr("\"matched\":1"), HasSubstr(R"("silent_reactors":[])"),
                HasSubstr(R"("unlisted_reactors":[])"), HasSubstr("WITH RECURSIVE"),
                HasSubstr("\"state\":\"running\""), HasSubstr("\"request_id\":\"slow-1\"")));
    }
    // Its client has left, and the statement is cancelled.
    EXPECT_THAT(wait_for("\"matched\":0"), HasSubstr("\"statements\":[]"));
    app.shutdown();
  });
  app.serve();
  thread.join();
  app.stop();
  std::filesystem::remove_all(name);
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
