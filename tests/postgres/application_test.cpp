// A whole program on PostgreSQL: the driver that database.url names.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "katana/app/application.hpp"
#include "katana/app/postgres/notification_topic.hpp"
#include "katana/app/postgres/postgres.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/stores/database/postgres/cluster_test.hpp"

namespace katana::app {
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
      if (!user) co_return std::unexpected(user.error());
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

// Waiting would not mend it.
TEST(PostgresApplication, an_unknown_database_and_a_refused_migration_are_errors_at_once) {
  const auto& cluster = database::postgres::Cluster::shared();
  const auto made = cluster.options(true);
  const auto started = [&](const std::string& database, ApplicationOptions how) {
    Program app(std::move(how));
    CommandLine line = line_of(
        fmt::format("postgresql://{}@127.0.0.1:{}/{}", made.user, cluster.port(), database));
    line.sets.push_back("database.start_wait=1h");
    const auto result = app.start(line);
    return result ? "it started" : result.error().describe();
  };
  EXPECT_THAT(started("nowhere", options()), HasSubstr("database \"nowhere\" does not exist"));
  ApplicationOptions wrong = options();
  wrong.migrations[0].text = "CREATE TABLE users (wrong);";
  EXPECT_THAT(started(made.database, wrong), HasSubstr("0001_users.sql, line 1"));
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
      if (!rows) co_return std::unexpected(rows.error());
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

TEST(PostgresApplication, what_is_notified_is_an_event_and_so_is_a_loss_of_the_connection) {
  const auto& cluster = database::postgres::Cluster::shared();
  const auto made = cluster.options(true);
  DatabaseSettings settings;
  settings.url =
      fmt::format("postgresql://{}@127.0.0.1:{}/{}", made.user, cluster.port(), made.database);
  const auto of_settings = postgres_options(settings);
  ASSERT_TRUE(of_settings) << of_settings.error().describe();
  EventTopic topic;
  auto notifications = database::postgres::Notifications::open(*of_settings);
  ASSERT_TRUE(notifications) << notifications.error().describe();
  auto feed = publish_notifications(**notifications, "orders", topic, {.notification = "order"});
  ASSERT_TRUE(feed) << feed.error().describe();
  Program app(options());
  app.routes([&](const registry::Services& services, Router& router) {
    auto& db = services.get<database::Database>();
    router.get("/events", [&](const RequestView& request) { return topic.subscribe(request); });
    router.post("/orders/{id}", [&db](Path<std::string> id) -> Task<Result<Reply>> {
      std::string key = *id;
      auto sent = co_await database::postgres::notify(db, "orders", std::move(key));
      if (!sent) co_return std::unexpected(sent.error());
      co_return Reply::text("sent");
    });
  });
  const auto started = app.start(line_of(settings.url));
  ASSERT_TRUE(started) << started.error().describe();
  std::thread clients([&] {
    while (topic.statistics().published < 1) std::this_thread::yield();  // the server listens
    server::Client reader(app.port());
    reader.send_get("/events");
    reader.receive_until("\n\n\r\n");  // the beginning of the stream
    server::Client writer(app.port());
    writer.send("POST /orders/17 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
    EXPECT_TRUE(writer.receive_reply().ends_with("sent"));
    EXPECT_THAT(reader.receive_until("\n\n\r\n"), HasSubstr("event: order\ndata: 17\n\n"));
    (void)cluster.ask(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND "
        "datname = current_database()",
        made.database);
    EXPECT_THAT(reader.receive_until("\n\n\r\n"), HasSubstr("event: may_have_missed\ndata: \n\n"));
    app.shutdown();
  });
  (void)app.serve();
  clients.join();
  EXPECT_FALSE(publish_notifications(**notifications, "", topic));
  EXPECT_FALSE(publish_notifications(**notifications, "a", topic, {.notification = "a\nb"}));
  EXPECT_FALSE(postgres_options({}));
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
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
