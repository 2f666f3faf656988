// A whole program on PostgreSQL: the driver that database.url names.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "katana/database/postgres/cluster_test.hpp"
#include "katana/host/application.hpp"
#include "katana/host/postgres/postgres.hpp"
#include "katana/server/client_test.hpp"
#include "katana/service/json.hpp"
#include "katana/service/router.hpp"

namespace katana::host {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Program = Application<SettingsWithDatabase>;

struct User {
  std::int64_t id = 0;
  std::string name;
};
KATANA_DESCRIBE(User, id, name)

ApplicationOptions options() {
  return {.name = "users",
          .database = postgres(),
          .migrations = {{"0001_users.sql",
                          "CREATE TABLE users (id BIGINT PRIMARY KEY, name TEXT NOT NULL); "
                          "INSERT INTO users VALUES (7, 'ada')"}}};
}

CommandLine line_of(std::string url) {
  return {.sets = {"http.reactors=1", "http.port=0", "http.connections_max=64",
                   "http.drain_notice=0s", "log.console=false", "database.url=" + std::move(url)}};
}

TEST(PostgresApplication, serves_from_the_database_that_its_url_names) {
  const auto& cluster = database::postgres::Cluster::shared();
  const auto made = cluster.options(true);
  Program app(options());
  app.routes([](const registry::Services& services, Router& router) {
    auto& db = services.get<database::Database>();
    router.get("/users/{id}", [&db](Path<std::int64_t> id) -> Task<Result<Reply>> {
      auto user = co_await db.query_one<User>("SELECT id, name FROM users WHERE id = $1", *id);
      if (!user) co_return std::unexpected<Error>(user.error());
      if (!*user) co_return problem(404, "There is no such user.");
      co_return json_reply(**user);
    });
  });
  const auto started = app.start(line_of(
      fmt::format("postgresql://{}@127.0.0.1:{}/{}", made.user, cluster.port(), made.database)));
  ASSERT_TRUE(started) << started.error().describe();
  std::thread clients([&] {
    server::Client client(app.port());
    EXPECT_TRUE(client.ask("/users/7").ends_with(R"({"id":7,"name":"ada"})"));
    EXPECT_TRUE(client.ask("/users/8").starts_with("HTTP/1.1 404 "));
    EXPECT_TRUE(client.ask("/ready").starts_with("HTTP/1.1 200 "));
    app.shutdown();
  });
  const server::ServerReport report = app.serve();
  clients.join();
  EXPECT_EQ(report.requests, 3u);
  EXPECT_EQ(report.cut_off, 0u);
}

TEST(PostgresApplication, a_limit_of_the_settings_holds) {
  const auto& cluster = database::postgres::Cluster::shared();
  const auto made = cluster.options(true);
  Program app(options());
  app.routes([](const registry::Services& services, Router& router) {
    auto& db = services.get<database::Database>();
    router.get("/many", [&db]() -> Task<Result<Reply>> {
      auto rows = co_await db.query<std::int64_t>("SELECT n::bigint FROM generate_series(1, 9) n");
      if (!rows && rows.error().kind() == database::Kind::too_large) co_return problem(413, "Many");
      if (!rows) co_return std::unexpected<Error>(rows.error());
      co_return Reply::text("all");
    });
  });
  CommandLine line = line_of(
      fmt::format("postgresql://{}@127.0.0.1:{}/{}", made.user, cluster.port(), made.database));
  line.sets.push_back("database.postgres.rows_max=8");
  const auto started = app.start(line);
  ASSERT_TRUE(started) << started.error().describe();
  std::thread clients([&] {
    server::Client client(app.port());
    EXPECT_TRUE(client.ask("/many").starts_with("HTTP/1.1 413 "));
    app.shutdown();
  });
  (void)app.serve();
  clients.join();
}

TEST(PostgresApplication, a_wrong_url_fails_the_start_without_its_password) {
  for (const char* const url :
       {"postgresql://u:secret@host:notaport/d", "postgresql://u:secret@"}) {
    Program app(options());
    const auto started = app.start(line_of(url));
    if (started) continue;
    EXPECT_THAT(started.error().describe(), Not(HasSubstr("secret")));
    EXPECT_THAT(started.error().describe(), HasSubstr("database.url"));
  }
  Program app(options());
  const auto started = app.start(line_of("mysql://u:secret@host/d"));
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().describe(), HasSubstr("postgresql://USER@HOST/NAME"));
  EXPECT_THAT(started.error().describe(), Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace katana::host

// SPDX-License-Identifier: Apache-2.0
