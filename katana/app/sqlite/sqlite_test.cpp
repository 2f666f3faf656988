// The driver of SQLite in a whole program: on real sockets and in its own folder.
#include "katana/app/sqlite/sqlite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "katana/app/application.hpp"
#include "katana/app/option_descriptions.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/server/client_test.hpp"

namespace katana::app {
namespace {

using testing::HasSubstr;
using Program = Application<SettingsWithDatabase>;

struct User {
  std::int64_t id = 0;
  std::string name;
};
KATANA_DESCRIBE(User, id, name)

// A service of a program, behind its own interface.
class Users {
 public:
  explicit Users(database::Database& database) : database_(database) {}
  Task<Result<std::optional<User>>> find(std::int64_t id) {
    Result<std::optional<User>> found =
        co_await database_.query_one<User>("SELECT id, name FROM users WHERE id = $1", id);
    co_return found;
  }

 private:
  database::Database& database_;
};

class SqliteDriverTest : public testing::Test {
 protected:
  SqliteDriverTest() {
    std::string name = (std::filesystem::temp_directory_path() / "driver_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::ofstream(folder_ / "app.yaml")
        << "http: {reactors: 1, connections_max: 64, drain_notice: 0s, drain_timeout: 300ms, "
           "port: 0}\nlog: {console: false, json_file: "
        << file("log/app.jsonl") << "}\ndatabase: {url: 'sqlite:" << file("var/app.db") << "'}\n";
  }
  ~SqliteDriverTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  CommandLine line() const { return {.config = file("app.yaml")}; }
  std::string log_text() const {
    std::ifstream input(folder_ / "log" / "app.jsonl");
    return {std::istreambuf_iterator<char>(input), {}};
  }
  static ApplicationOptions options() {
    return {.name = "users",
            .database = sqlite(),
            .migrations = {{"0001_users.sql",
                            "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL) "
                            "STRICT; INSERT INTO users VALUES (7, 'ada');"}}};
  }
  // Serves while `clients` talk to it; returns what it reports.
  template <class Clients>
  static server::ServerReport serve(Program& app, Clients clients) {
    std::thread thread([&] {
      clients(app.port());
      app.shutdown();
    });
    const server::ServerReport report = app.serve();
    thread.join();
    return report;
  }

  std::filesystem::path folder_;
};

// Each limit is a number that differs from its default, and comes out where it went in.
TEST(SqliteDriverOptions, every_limit_of_the_settings_is_an_option) {
  DatabaseSettings settings;
  std::int64_t next = 7'000'000;
  for_each_field(settings.sqlite, [&](const auto&, auto& member) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, Duration>) {
      member = nanoseconds(++next);
    } else {
      member = static_cast<std::remove_cvref_t<decltype(member)>>(++next);
    }
  });
  const auto made = sqlite_options("x.db", settings, {});
  EXPECT_EQ(made.reads_waiting_max, settings.sqlite.reads_waiting_max);
  EXPECT_EQ(made.writes_waiting_max, settings.sqlite.writes_waiting_max);
  EXPECT_EQ(made.writer_linger, settings.sqlite.writer_linger);
  EXPECT_EQ(made.writer_gathers, settings.sqlite.writer_gathers);
  EXPECT_EQ(made.busy_wait, settings.sqlite.busy_wait);
  EXPECT_EQ(made.rows_max, settings.sqlite.rows_max);
  EXPECT_EQ(made.statements_max, settings.sqlite.statements_max);
  EXPECT_EQ(made.read_budget, settings.sqlite.read_budget);
  EXPECT_EQ(made.slow_reads_remembered, settings.sqlite.slow_reads_remembered);
  EXPECT_EQ(made.reads_per_turn_max, settings.sqlite.reads_per_turn_max);
  EXPECT_EQ(made.transaction_hold, settings.sqlite.transaction_hold);
  EXPECT_EQ(made.streams_max, settings.sqlite.streams_max);
  EXPECT_EQ(made.stream_idle, settings.sqlite.stream_idle);
  EXPECT_EQ(made.checkpoint_pages, settings.sqlite.checkpoint_pages);
  EXPECT_EQ(made.probe_interval, settings.sqlite.probe_interval);
  EXPECT_EQ(field_count<database::SqliteLimits>, 15u);  // all that are compared here
}

TEST_F(SqliteDriverTest, a_database_in_memory_serves_and_leaves_nothing) {
  Program app(options());
  app.routes([](const registry::Services& services, Router& router) {
    auto& database = services.get<database::Database>();
    router.get("/more", [&database]() -> Task<Result<Reply>> {
      auto made = co_await database.execute("INSERT INTO users (name) VALUES ('bob')");
      if (!made) co_return std::unexpected(made.error());
      auto count = co_await database.query_one<std::int64_t>("SELECT count(*) FROM users");
      if (!count) co_return std::unexpected(count.error());
      co_return Reply::text(std::to_string(**count));
    });
  });
  CommandLine in_memory = line();
  in_memory.sets = {"database.url=sqlite::memory:"};
  const auto started = app.start(in_memory);
  ASSERT_TRUE(started) << started.error().describe();
  serve(app, [](std::uint16_t port) {
    server::Client client(port);
    EXPECT_TRUE(client.ask("/more").ends_with("\r\n\r\n2"));
    EXPECT_TRUE(client.ask("/more").ends_with("\r\n\r\n3"));
  });
  app.stop();
  EXPECT_FALSE(std::filesystem::exists(file("var")));
}

TEST_F(SqliteDriverTest, a_program_of_twenty_lines_serves_from_its_database) {
  Program app(options());
  app.services([](registry::Registry& registry) {
    registry.singleton<Users>(
        [](database::Database& database) { return std::make_unique<Users>(database); });
  });
  app.routes([](const registry::Services& services, Router& router) {
    Users& users = services.get<Users>();
    router.get("/users/{id}", [&users](Path<std::int64_t> id) -> Task<Result<Reply>> {
      const auto found = co_await users.find(*id);
      if (!found) co_return std::unexpected(found.error());
      if (!*found) co_return problem(404, "There is no such user.");
      co_return Reply::text(Text((*found)->name));
    });
  });
  const auto started = app.start(line());
  ASSERT_TRUE(started) << started.error().describe();
  const server::ServerReport report = serve(app, [](std::uint16_t port) {
    server::Client client(port);
    EXPECT_TRUE(client.ask("/users/7").ends_with("\r\n\r\nada"));
    EXPECT_TRUE(client.ask("/users/8").starts_with("HTTP/1.1 404 "));
    EXPECT_TRUE(client.ask("/ready").starts_with("HTTP/1.1 200 "));
    EXPECT_TRUE(client.ask("/health").starts_with("HTTP/1.1 200 "));
    const std::string metrics = client.ask("/metrics");
    for (const char* part :
         {"configuration", "log", "metrics", "pools", "database", "services", "routes", "http"}) {
      EXPECT_THAT(metrics, HasSubstr("katana_startup_seconds{part=\"" + std::string(part) + "\"}"));
    }
  });
  EXPECT_EQ(report.requests, 5u);
  EXPECT_EQ(report.cut_off, 0u);
  app.stop();
  EXPECT_THAT(log_text(), HasSubstr("\"part\":\"database\""));
  EXPECT_THAT(log_text(), HasSubstr("GET /users/7"));
}

TEST_F(SqliteDriverTest, statements_are_measured_by_name_and_told_to_the_programs_hook) {
  std::mutex mutex;
  std::map<std::string, std::string> ids;  // of requests, by statement
  ApplicationOptions with_hook = options();
  with_hook.on_statement = [&](const database::StatementReport& report) {
    const std::lock_guard lock(mutex);
    ids[std::string(report.name)] = report.request_id;
  };
  Program app(with_hook);
  app.routes([](const registry::Services& services, Router& router) {
    auto& database = services.get<database::Database>();
    router.get("/users", [&database]() -> Task<Result<Reply>> {
      auto count = co_await database.query_one<std::int64_t>("SELECT count(*) FROM users");
      if (!count) co_return std::unexpected(count.error());
      auto made = co_await database.execute(
          "-- name: add_bob\nINSERT INTO users (name) VALUES ($1)", "a secret");
      if (!made) co_return std::unexpected(made.error());
      co_return Reply::text("done");
    });
  });
  CommandLine slow = line();
  slow.sets = {"database.slow_statement=1ns"};  // all are
  const auto started = app.start(slow);
  ASSERT_TRUE(started) << started.error().describe();
  serve(app, [](std::uint16_t port) {
    server::Client client(port);
    EXPECT_TRUE(client.ask("/users", "X-Request-Id: order-7\r\n").ends_with("done"));
    const std::string metrics = client.ask("/metrics");
    EXPECT_THAT(metrics, HasSubstr("katana_database_statements_total{statement=\"SELECT users\","
                                   "outcome=\"ok\"} 1"));
    EXPECT_THAT(metrics, HasSubstr("katana_database_statement_rows_total{statement=\"add_bob\"} "
                                   "1"));
  });
  app.stop();
  EXPECT_THAT(ids, testing::Contains(testing::Pair("SELECT users", "order-7")));
  EXPECT_THAT(ids, testing::Contains(testing::Pair("add_bob", "order-7")));
  EXPECT_THAT(log_text(), HasSubstr("slow statement: add_bob"));
  EXPECT_THAT(log_text(), testing::Not(HasSubstr("a secret")));
}

TEST_F(SqliteDriverTest, an_outage_of_the_file_is_told_by_the_log_and_a_metric) {
  Program app(options());
  const auto started = app.start(line());
  ASSERT_TRUE(started) << started.error().describe();
  const auto move = [this](const char* from, const char* to) {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      const std::string name = file(from) + suffix;
      if (std::filesystem::exists(name)) std::filesystem::rename(name, file(to) + suffix);
    }
  };
  serve(app, [&](std::uint16_t port) {
    server::Client client(port);
    const auto wait_for = [&](const char* usable) {
      while (client.ask("/metrics").find(usable) == std::string::npos) std::this_thread::yield();
    };
    wait_for("\nkatana_database_usable 1");
    move("var/app.db", "var/away.db");
    wait_for("\nkatana_database_usable 0");
    move("var/away.db", "var/app.db");
    wait_for("\nkatana_database_usable 1");
  });
  app.stop();
  EXPECT_THAT(log_text(), HasSubstr("app.db is not usable: the file is gone"));
  EXPECT_THAT(log_text(), HasSubstr("app.db is usable again after "));
}

TEST_F(SqliteDriverTest, a_database_that_cannot_be_opened_is_named_with_its_remedy) {
  std::filesystem::create_directories(folder_ / "var" / "app.db");  // a folder in its place
  Program app(options());
  const auto started = app.start(line());
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().describe(), HasSubstr("'database' did not start: "));
  EXPECT_THAT(started.error().describe(), HasSubstr("app.db"));
  EXPECT_THAT(started.error().describe(), HasSubstr("Check database.url"));
}

TEST_F(SqliteDriverTest, a_url_that_the_program_cannot_use_ends_the_start_as_wrong_usage) {
  for (const auto& [url, message] : std::map<std::string, std::string>{
           {"postgresql://db/users",
            "the scheme 'postgresql', which this program was built "
            "without: give sqlite:FILE"},
           {"var/users.db", "'var/users.db' has no scheme: give sqlite:FILE"},
           {"sqlite:", "names no file"},
           {"sqlite://var/users.db", "begins with slashes"}}) {
    CommandLine with_url = line();
    with_url.sets = {"database.url=" + url};
    Program app(options());
    const auto started = app.start(with_url);
    ASSERT_FALSE(started) << url;
    EXPECT_EQ(started.error().code(), Code::invalid_argument) << url;
    EXPECT_THAT(started.error().describe(), HasSubstr(message));
  }
}

TEST_F(SqliteDriverTest, check_config_judges_the_url_without_making_the_file) {
  const auto status = [&](const std::string& url) {
    const std::string config = "--config=" + file("app.yaml");
    const std::string database = "--database=" + url;
    const char* const arguments[] = {"users", config.c_str(), database.c_str(), "--check-config"};
    return Program(options()).run(4, arguments);
  };
  EXPECT_EQ(status("sqlite:" + file("var/app.db")), 0);
  EXPECT_EQ(status("mysql:users"), 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "var"));
}

TEST_F(SqliteDriverTest, two_programs_on_one_database_run_each_tick_once) {
  std::mutex mutex;
  std::map<std::int64_t, int> runs;  // by tick, which the lock's row holds while a run lasts
  const auto note = [&](const registry::Services& services) -> Task<Result<void>> {
    database::Database& database = services.get<database::Database>();
    const Result<std::optional<std::int64_t>> tick = co_await database.query_one<std::int64_t>(
        "SELECT tick FROM katana_job_locks WHERE job = 'purge'");
    if (!tick) co_return std::unexpected(tick.error());
    const std::lock_guard lock(mutex);
    ++runs[tick->value_or(0)];
    co_return {};
  };
  Program first({.name = "first", .database = sqlite()});
  Program second({.name = "second", .database = sqlite()});
  for (Program* app : {&first, &second}) {
    app->job("purge", jobs::every(milliseconds(50)), note, {.one_instance = true});
    const auto started = app->start(line());
    ASSERT_TRUE(started) << started.error().describe();
  }
  std::thread other([&] { (void)second.serve(); });
  std::thread watch([&] {
    const auto ran = [&](Program& app) { return app.jobs().statistics("purge")->runs; };
    const auto left = [&](Program& app) {
      return app.jobs()
          .statistics("purge")
          ->skipped[static_cast<std::size_t>(jobs::Skipped::other_instance)];
    };
    while (ran(first) + ran(second) < 20 || left(first) + left(second) < 5) {
      std::this_thread::yield();
    }
    first.shutdown();
    second.shutdown();
  });
  (void)first.serve();
  watch.join();
  other.join();
  const auto of = [&](Program& app) { return *app.jobs().statistics("purge"); };
  EXPECT_EQ(of(first).runs + of(second).runs, runs.size());
  for (const auto& [tick, count] : runs) EXPECT_EQ(count, 1) << tick;
  EXPECT_EQ(of(first).failures + of(second).failures, 0u);
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
