// Application: a whole program in this process, on real sockets and in its own folder.
#include "katana/app/application.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/identity/sessions/sessions.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "katana/http/forms/form.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/net/reactor/sleep.hpp"

namespace katana::app {
namespace {

using testing::HasSubstr;

struct Settings : ApplicationSettings {
  std::size_t page_max = 100;
};
KATANA_DESCRIBE(Settings, http, log, requests, monitor, pools, (page_max, reloadable))

class ApplicationTest : public testing::Test {
 protected:
  ApplicationTest() {
    std::string name = (std::filesystem::temp_directory_path() / "application_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    write("port: 0\n");
  }
  ~ApplicationTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  // `more` are further lines at the top level.
  void write(const std::string& http, const std::string& more = "") const {
    std::ofstream(folder_ / "app.yaml")
        << "http: {reactors: 1, connections_max: 64, drain_notice: 0s, "
        << http.substr(0, http.size() - 1)
        << "}\nlog: {console: false, json_file: " << file("log/app.jsonl") << "}\n"
        << more;
  }
  CommandLine line() const { return {.config = file("app.yaml")}; }
  std::string log_text() const {
    std::ifstream input(folder_ / "log" / "app.jsonl");
    return {std::istreambuf_iterator<char>(input), {}};
  }
  static ApplicationOptions options() { return {.name = "users"}; }
  // Serves while `clients` talk to it; returns what it reports.
  template <class App, class Clients>
  static server::ServerReport serve(App& app, Clients clients) {
    std::thread thread([&] {
      clients(app.port());
      ::kill(::getpid(), SIGTERM);
    });
    const server::ServerReport report = app.serve();
    thread.join();
    return report;
  }

  std::filesystem::path folder_;
};

// The service that it asks is itself; the other does not exist.
TEST_F(ApplicationTest, it_is_not_ready_while_a_service_that_it_needs_does_not_answer) {
  write("port: 0\n",
        "monitor: {upstreams: {billing: {url: 'http://127.0.0.1:1/health', fresh_for: 0s}}}\n");
  Application<> app({.name = "needy"});
  ASSERT_TRUE(app.start(line()));
  serve(app, [](std::uint16_t port) {
    const std::string ready = server::Client(port).ask("/ready");
    EXPECT_TRUE(ready.starts_with("HTTP/1.1 503 ")) << ready;
    EXPECT_THAT(ready, HasSubstr("\"name\":\"upstream billing\""));
    EXPECT_THAT(ready, HasSubstr("GET http://127.0.0.1:1/health: connect to"));
    EXPECT_TRUE(server::Client(port).ask("/health").starts_with("HTTP/1.1 200 "));
  });
  app.stop();

  write("port: 0\n", "monitor: {upstreams: {billing: {url: 'ftp://x/'}}}\n");
  Application<> wrong({.name = "needy"});
  const auto started = wrong.start(line());
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().describe(), HasSubstr("monitor.upstreams: health check 'upstream "
                                                    "billing': URL \"ftp://x/\""));
}

TEST_F(ApplicationTest, without_a_database_there_is_none) {
  Application<> app({.name = "plain"});
  app.routes([](const registry::Services& services, Router& router) {
    EXPECT_EQ(services.find<database::Database>(), nullptr);
    EXPECT_NE(services.find<config::Config<ApplicationSettings>>(), nullptr);
    router.get("/", [] { return Reply::text("hello"); });
  });
  ASSERT_TRUE(app.start(line()));
  serve(app,
        [](std::uint16_t port) { EXPECT_TRUE(server::Client(port).ask("/").ends_with("hello")); });
  app.stop();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "var"));
}

TEST_F(ApplicationTest, a_service_that_fails_ends_the_start_and_what_was_started) {
  bool stopped = false;
  Application<Settings> app(options());
  app.part({.name = "mailer",
            .needs = {"log"},
            .start = []() -> Result<void> { return {}; },
            .stop = [&] { stopped = true; }});
  app.services([](registry::Registry& registry) {
    registry.singleton<std::string>([]() -> Result<std::unique_ptr<std::string>> {
      return fail(Code::unavailable, "no users today");
    });
  });
  const auto started = app.start(line());
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().describe(), HasSubstr("'services' did not start"));
  EXPECT_THAT(started.error().describe(), HasSubstr("no users today"));
  EXPECT_EQ(stopped, !app.startup().reports().empty() && stopped);
}

TEST_F(ApplicationTest, a_service_that_is_switched_off_ends_the_start_by_name_call_and_setting) {
  const auto refusal_of = [&](auto use) {
    Application<> app({.name = "plain"});
    app.routes([use](const registry::Services& services, Router&) { use(services); });
    const auto started = app.start(line());
    return started ? std::string("it started") : started.error().describe();
  };
  const std::string database =
      refusal_of([](const auto& services) { (void)services.template get<database::Database>(); });
  EXPECT_THAT(database, HasSubstr("get<katana::database::Database>() at application_test.cpp:"));
  EXPECT_THAT(database, HasSubstr("set 'database.url'"));
  EXPECT_THAT(
      refusal_of([](const auto& services) { (void)services.template get<sessions::Sessions>(); }),
      HasSubstr("set 'sessions.store'"));
  EXPECT_THAT(
      refusal_of([](const auto& services) { (void)services.template get<client::HttpClient>(); }),
      HasSubstr("ApplicationOptions::http_client"));
}

TEST_F(ApplicationTest, a_service_that_is_off_is_named_with_the_function_and_the_route_before_it) {
  Application<> app({.name = "plain"});
  app.routes([](const registry::Services& services, Router& router) {
    router.get("/articles/{slug}", [] { return Reply::text("a"); });
    router.post("/articles", [db = &services.get<database::Database>()] {
      return Reply(db != nullptr ? 200 : 500);
    });
  });
  const auto started = app.start(line());
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().describe(),
              ::testing::MatchesRegex(
                  "'routes' did not start: routes\\(\\) at application_test.cpp:[0-9]+, after GET "
                  "/articles/\\{slug\\}: get<katana::database::Database>\\(\\) at "
                  "application_test.cpp:[0-9]+: .*set 'database.url'.*"));
  Application<> pages({.name = "plain"});
  pages.operations(
      [](const registry::Services& services, Group&) { (void)services.get<database::Database>(); });
  const auto refused = pages.start(line());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().describe(), HasSubstr("operations() at application_test.cpp:"));
  EXPECT_THAT(refused.error().describe(), HasSubstr(", before its first route: get<"));
}

TEST_F(ApplicationTest, a_part_of_the_program_is_there_before_the_routes) {
  bool started = false;
  Application<Settings> app(options());
  app.part({.name = "mailer", .needs = {"services"}, .start = [&]() -> Result<void> {
              started = true;
              return {};
            }});
  app.routes([&](const registry::Services&, Router&) { EXPECT_TRUE(started); });
  EXPECT_TRUE(app.start(line()));
}

TEST_F(ApplicationTest, a_port_that_is_taken_fails_the_start_and_names_it) {
  Application<> first({.name = "first"});
  ASSERT_TRUE(first.start(line()));
  CommandLine second_line = line();
  second_line.sets = {"http.port=" + std::to_string(first.port())};
  Application<> second({.name = "second"});
  const auto started = second.start(second_line);
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().describe(), HasSubstr(std::to_string(first.port())));
}

TEST_F(ApplicationTest, sighup_applies_what_may_change_and_says_what_may_not) {
  std::atomic<std::size_t> heard = 0;
  Application<Settings> app(options());
  app.on_reload([&](const Settings& settings) { heard = settings.page_max; });
  app.routes([](const registry::Services&, Router& router) {
    router.get("/", [] { return Reply::text("hello"); });
  });
  ASSERT_TRUE(app.start(line()));
  serve(app, [&](std::uint16_t port) {
    write("port: 1\n", "page_max: 20\n");
    ::kill(::getpid(), SIGHUP);
    while (heard == 0) std::this_thread::yield();
    EXPECT_TRUE(server::Client(port).ask("/").ends_with("hello"));
  });
  EXPECT_EQ(heard, 20u);
  EXPECT_EQ(app.config().get()->page_max, 20u);
  app.stop();
  EXPECT_THAT(log_text(), HasSubstr("page_max: 100 → 20"));
  EXPECT_THAT(log_text(), HasSubstr("needs a restart: http.port: 0 → 1"));
}

TEST_F(ApplicationTest, a_rate_limit_of_the_settings_spares_health_and_may_change_at_a_reload) {
  const std::string on = "rate_limit: {enabled: true, per_second: 0.001, burst: ";
  write("port: 0, " + on + "2}\n");
  Application<Settings> app(options());
  app.routes([](const registry::Services&, Router& router) {
    router.get("/", [] { return Reply::text("hello"); });
  });
  ASSERT_TRUE(app.start(line()));
  serve(app, [&](std::uint16_t port) {
    const auto ask = [port](const char* path) { return server::Client(port).ask(path); };
    for (int count = 0; count < 2; ++count) EXPECT_THAT(ask("/"), HasSubstr(" 200 "));
    EXPECT_THAT(ask("/"), HasSubstr(" 429 "));
    EXPECT_THAT(ask("/"), HasSubstr("RateLimit-Policy: \"default\";q=2;"));
    EXPECT_THAT(ask("/health"), HasSubstr(" 200 "));
    write("port: 0, " + on + "5}\n");
    EXPECT_TRUE(app.reload());
    for (int count = 0; count < 3; ++count) EXPECT_THAT(ask("/"), HasSubstr(" 200 ")) << count;
    EXPECT_THAT(ask("/"), HasSubstr("RateLimit-Policy: \"default\";q=5;"));
  });
}

TEST_F(ApplicationTest, limits_of_concurrency_and_load_may_change_at_a_reload) {
  const auto limits = [](const char* running, const char* busy) {
    return fmt::format(
        "port: 0, concurrency: {{enabled: true, running_max: {}, waiting_max: 0}}, "
        "load_shedding: {{enabled: true, utilisation_max: {}}}\n",
        running, busy);
  };
  write(limits("1", "0.9"));
  std::atomic<int> running = 0;
  std::atomic<bool> end = false;
  Application<Settings> app(options());
  app.routes([&](const registry::Services&, Router& router) {
    router.get("/", [&]() -> Task<Reply> {
      ++running;
      while (!end) co_await net::sleep_for(milliseconds(1));
      co_return Reply(204);
    });
  });
  ASSERT_TRUE(app.start(line()));
  serve(app, [&](std::uint16_t port) {
    server::Client first(port), second(port);
    first.send_get("/");
    while (running < 1) std::this_thread::yield();
    EXPECT_THAT(server::Client(port).ask("/"), HasSubstr(" 503 "));
    write(limits("2", "0.99"));
    EXPECT_TRUE(app.reload());
    second.send_get("/");
    while (running < 2) std::this_thread::yield();
    EXPECT_THAT(server::Client(port).ask("/"), HasSubstr(" 503 "));
    end = true;
    for (server::Client* each : {&first, &second}) {
      EXPECT_THAT(each->receive_until("\r\n\r\n"), HasSubstr(" 204 "));
    }
  });
  app.stop();
  EXPECT_THAT(log_text(), HasSubstr("http.load_shedding.utilisation_max: 0.9 → 0.99"));
  EXPECT_THAT(log_text(), testing::Not(HasSubstr("needs a restart")));
}

TEST_F(ApplicationTest, routes_and_forms_without_limits_of_their_own_have_those_of_the_settings) {
  const FormLimits before = FormLimits::defaults();
  write(
      "port: 0, routes: {content_bytes_max: 1KiB}, "
      "forms: {memory_bytes_max: 3KiB, folder: /var/tmp, part: {parts_max: 7}}\n");
  Application<Settings> app(options());
  app.routes([](const registry::Services&, Router& router) {
    const auto size = [](const RequestView& request) {
      return Reply::text(format_text("{}", request.content().size()));
    };
    router.post("/settings", size);
    router.post("/own", size, {.content_bytes_max = 4096});
  });
  ASSERT_TRUE(app.start(line()));
  EXPECT_EQ(FormLimits::defaults().memory_bytes_max, 3072u);
  EXPECT_EQ(FormLimits::defaults().part.parts_max, 7u);
  EXPECT_EQ(FormLimits::defaults().folder, "/var/tmp");
  serve(app, [&](std::uint16_t port) {
    const auto post = [port](const std::string& path) {
      server::Client client(port);
      client.send("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2048\r\n\r\n" +
                  std::string(2048, 'x'));
      return client.receive_reply();
    };
    EXPECT_THAT(post("/settings"), HasSubstr(" 413 "));
    EXPECT_THAT(post("/own"), HasSubstr("\r\n\r\n2048"));
  });
  FormLimits::set_defaults(before);
}

// The mode that the settings give to openapi::check_replies().
TEST_F(ApplicationTest, replies_are_checked_in_development_or_as_a_setting_says) {
  static ReplyChecks asked = ReplyChecks::off;
  const auto checks_of = [this](const std::string& settings) {
    write("port: 0\n", settings);
    Application<> app({.name = "checked", .check_replies = [](Router& router, ReplyChecks checks) {
                         asked = checks;
                         router.check_replies(checks);
                       }});
    asked = ReplyChecks::off;
    ReplyChecks of_routes = ReplyChecks::off;
    app.routes([&of_routes](const registry::Services&, Router& router) {
      of_routes = router.group("/x").reply_checks();
    });
    EXPECT_TRUE(app.start(line()));
    EXPECT_EQ(asked, of_routes);
    return asked;
  };
  EXPECT_EQ(checks_of(""), ReplyChecks::off);
  EXPECT_EQ(checks_of("development: true\n"), ReplyChecks::report);
  EXPECT_EQ(checks_of("development: true\nrequests: {check_replies: off}\n"), ReplyChecks::off);
  EXPECT_EQ(checks_of("development: true\nrequests: {check_replies: refuse}\n"),
            ReplyChecks::refuse);
  EXPECT_EQ(checks_of("requests: {check_replies: report}\n"), ReplyChecks::report);
}

TEST_F(ApplicationTest, replies_of_documents_that_nobody_can_check_are_told_in_the_log) {
  write("port: 0\n", "requests: {check_replies: report}\n");
  Application<> app({.name = "plain"});
  ASSERT_TRUE(app.start(line()));
  app.stop();
  EXPECT_THAT(log_text(), HasSubstr("set ApplicationOptions::check_replies"));
}

TEST_F(ApplicationTest, a_server_name_that_no_field_can_have_fails_the_start_and_is_named) {
  write("server_name: \"a\\r\\nSet-Cookie: b\"\n");
  Application<> app({.name = "named"});
  const auto started = app.start(line());
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().describe(), HasSubstr("http.server_name is no value"));
}

TEST_F(ApplicationTest, the_setting_of_forms_files_is_that_of_every_form_without_its_own) {
  const std::size_t before = SpillFile::files_max();
  CommandLine sets = line();
  sets.sets = {"http.form_files_max=17"};
  Application<> app({.name = "forms"});
  ASSERT_TRUE(app.start(sets));
  EXPECT_EQ(SpillFile::files_max(), 17u);
  app.stop();
  SpillFile::set_files_max(before);
}

TEST_F(ApplicationTest, a_configuration_that_is_broken_at_a_reload_changes_nothing) {
  Application<Settings> app(options());
  ASSERT_TRUE(app.start(line()));
  std::ofstream(folder_ / "app.yaml") << "page_max: many\n";
  const auto reloaded = app.reload();
  ASSERT_FALSE(reloaded);
  EXPECT_THAT(reloaded.error().describe(), HasSubstr("app.yaml:1: page_max"));
  EXPECT_EQ(app.config().get()->page_max, 100u);
  app.stop();
  EXPECT_THAT(log_text(), HasSubstr("the configuration was not reloaded"));
}

TEST_F(ApplicationTest, a_variable_of_its_own_sets_the_port_and_a_flag_wins_over_it) {
  ::setenv("KATANA_PORT", "70000", 1);
  Application<Settings> app(options());
  const auto started = app.start(line());
  ::unsetenv("KATANA_PORT");
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().describe(), HasSubstr("KATANA_PORT: http.port"));
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
