#include "katana/testing/application/test_application.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "katana/app/sqlite/sqlite.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/net/reactor/spawn.hpp"
#include "katana/testing/disk/simulated_disk.hpp"

namespace katana::testing {

struct Clock {
  virtual ~Clock() = default;
  virtual std::string now() const = 0;
};

struct ShopSettings : app::SettingsWithDatabase {
  int page_max = 100;
};
KATANA_DESCRIBE_DERIVED(ShopSettings, app::SettingsWithDatabase, page_max)

struct Item {
  std::int64_t id = 0;
  std::string name;
};
KATANA_DESCRIBE(Item, id, name)

struct Unused {};  // not registered

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct SystemClock final : Clock {
  std::string now() const override { return "real"; }
};
struct FixedClock final : Clock {
  std::string now() const override { return "fixed"; }
};

// Data of a user's program besides its handlers; set by one test.
struct Notes {
  std::vector<std::string> lines;
};
Notes* notes = nullptr;

app::ApplicationOptions shop_options() {
  return {.name = "shop",
          .version = "1.0",
          .config_file = "/nonexistent/shop.yaml",
          .database = app::sqlite(),
          .http_client = true,
          .migrations = {{"0001_items.sql",
                          "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) "
                          "STRICT"}}};
}

Task<Result<Reply>> add_item(Json<Item> given, Inject<database::Database> db) {
  auto made = co_await db->query_one<Item>(
      "INSERT INTO items (name) VALUES ($1) RETURNING id, name", given->name);
  if (!made) co_return std::unexpected(made.error());
  co_return json_reply(**made, 201);
}

Task<Result<Json<std::vector<Item>>>> list_items(Inject<database::Database> db) {
  auto rows = co_await db->query<Item>("SELECT id, name FROM items ORDER BY id");
  if (!rows) co_return std::unexpected(rows.error());
  co_return Json(*std::move(rows));
}

void configure(app::Application<ShopSettings>& app) {
  app.services([](registry::Registry& registry) {
    registry.singleton<Clock>([] { return std::make_unique<SystemClock>(); });
    registry.singleton<EventTopic>([] { return std::make_unique<EventTopic>(); });
  });
  app.routes([](const registry::Services& services, Router& router) {
    const int page_max = services.get<config::Config<ShopSettings>>().get()->page_max;
    router.get("/page", [page_max] { return Reply::text(Text(std::to_string(page_max))); });
    router.get("/clock", [](Inject<Clock> clock) { return Reply::text(Text(clock->now())); });
    router.get("/items", list_items).post("/items", add_item);
    router.get("/slow", []() -> Task<Reply> {
      co_await net::sleep_for(seconds(20));
      co_return Reply::text("late");
    });
    router.get("/time",
               [] { return Reply::text(Text(TextForm<Timestamp>::write(current_time()))); });
    router.get("/throw", []() -> Reply { throw std::runtime_error("no stock"); });
    router.post("/event", [](Inject<EventTopic> topic) {
      (void)topic->publish({.data = "one\ntwo", .name = "changed"});
      return Reply::no_content();
    });
    router.get("/pool", [](Inject<thread::Pool> pool) -> Task<Reply> {
      auto work = [] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // work takes real time
        return 7;
      };
      const auto done = co_await pool->run(thread::give(work));
      co_return Reply::text(Text(std::to_string(done.value())));
    });
    router.get("/background", []() -> Reply {
      auto work = []() -> Task<void> {
        co_await net::sleep_for(seconds(5));
        notes->lines.emplace_back("background done");
      };
      return net::spawn(work(), "background") ? Reply::no_content() : problem(503, "full");
    });
    router.get("/fetch", [](Inject<client::HttpClient> http) -> Task<Result<Reply>> {
      auto reply = co_await http->fetch(client::Request("https://api.example/rate?of=eur"));
      if (!reply) co_return std::unexpected(reply.error());
      co_return Reply::text(
          Text(std::to_string(reply->status()) + " " + std::string(reply->content())));
    });
  });
  app.on_start([](const registry::Services&) { notes->lines.emplace_back("on_start"); });
  app.on_stop([](const registry::Services&) { notes->lines.emplace_back("on_stop"); });
  app.part({.name = "own",
            .needs = {"services"},
            .start = []() -> Result<void> {
              notes->lines.emplace_back("part starts");
              return {};
            },
            .stop = [] { notes->lines.emplace_back("part stops"); }});
  app.job("count", jobs::every(seconds(60)), []() -> Task<void> {
    notes->lines.emplace_back("job");
    co_return;
  });
  app.job("flaky", jobs::cron("0 5 * * *"),
          [](jobs::JobRun run) -> Task<Result<void>> {
            notes->lines.push_back("flaky " + std::to_string(run.attempt));
            if (run.attempt < 3) co_return fail(Code::unavailable, "no mail server");
            co_return {};
          },
          {.retry = {.retries_max = 5, .delay = seconds(60)}, .one_instance = true});
  app.job("nightly", *jobs::Schedule::parse("30 3 * * *"), []() -> Task<void> {
    notes->lines.emplace_back("nightly " + std::string(TextForm<Timestamp>::write(current_time())));
    co_return;
  });
}

class TestApplicationTest : public ::testing::Test {
 protected:
  TestApplicationTest() { notes = &notes_; }
  ~TestApplicationTest() override { notes = nullptr; }
  std::size_t count(std::string_view line) const {
    return static_cast<std::size_t>(std::ranges::count(notes_.lines, line));
  }
  Notes notes_;
};

TEST_F(TestApplicationTest, a_program_answers_as_its_main_wires_it) {
  TestApplication app(shop_options(), configure, {.settings = {"page_max=3"}});
  EXPECT_EQ(app.get("/page").content(), "3");
  const TestReply made = app.post_json("/items", Item{0, "tea"});
  EXPECT_EQ(made.status(), 201u) << made;
  EXPECT_EQ(app.post_json("/items", Item{0, "tea"}).status(), 409u);
  const auto items = app.get("/items").json<std::vector<Item>>();
  ASSERT_TRUE(items) << items.error().describe();
  ASSERT_EQ(items->size(), 1u);
  EXPECT_EQ(items->front().name, "tea");
  EXPECT_TRUE(app.get("/page").header("x-request-id"));
}

TEST_F(TestApplicationTest, a_program_may_be_borrowed_or_given) {
  app::Application<ShopSettings> program(shop_options());
  configure(program);
  TestApplication borrowed(program);
  EXPECT_EQ(borrowed.get("/page").content(), "100");
  auto given = std::make_unique<app::Application<ShopSettings>>(shop_options());
  configure(*given);
  TestApplication owner(std::move(given));
  EXPECT_EQ(owner.get("/page").content(), "100");
}

TEST_F(TestApplicationTest, the_process_is_left_alone) {
  setenv("KATANA_PAGE_MAX", "7", 1);
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  {
    TestApplication app(shop_options(), configure);
    EXPECT_EQ(app.get("/page").content(), "100");
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
  }
  unsetenv("KATANA_PAGE_MAX");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal));
  }
}

TEST_F(TestApplicationTest, a_start_that_fails_is_told_by_every_request) {
  TestApplication app(shop_options(), configure, {.settings = {"page_maximum=3"}});
  const Result<void> started = app.start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().describe(), HasSubstr("'shop' did not start"));
  const TestReply reply = app.get("/page");
  EXPECT_EQ(reply.status(), 0u);
  EXPECT_THAT(reply.problem(), HasSubstr("GET /page: 'shop' did not start"));
  EXPECT_THAT(reply.problem(), HasSubstr("page_maximum"));
}

TEST_F(TestApplicationTest, a_registration_is_replaced_before_the_start) {
  FixedClock fixed;
  TestApplication by_object(shop_options(), configure);
  by_object.override_service<Clock>(fixed);
  EXPECT_EQ(by_object.get("/clock").content(), "fixed");
  EXPECT_EQ(&by_object.service<Clock>(), &fixed);
  TestApplication by_factory(shop_options(), configure);
  by_factory.override_service<Clock>([] { return std::make_unique<FixedClock>(); });
  EXPECT_EQ(by_factory.get("/clock").content(), "fixed");
}

TEST_F(TestApplicationTest, an_override_that_replaces_nothing_or_comes_late_is_told) {
  Unused unused;
  TestApplication app(shop_options(), configure);
  app.override_service<Unused>(unused);
  EXPECT_THAT(app.get("/clock").problem(), HasSubstr("Unused', which nothing registers"));
  FixedClock fixed;
  TestApplication late(shop_options(), configure);
  EXPECT_EQ(late.get("/clock").status(), 200u);
  late.override_service<Clock>(fixed);
  EXPECT_THAT(late.get("/clock").problem(), HasSubstr("after the program had started"));
}

TEST_F(TestApplicationTest, jobs_run_when_virtual_time_passes) {
  TestApplication app(shop_options(), configure);
  ASSERT_TRUE(app.start());
  app.advance(seconds(59));
  EXPECT_EQ(count("job"), 0u);
  app.advance(seconds(541));
  EXPECT_EQ(count("job"), 10u);
  EXPECT_EQ(*app.metrics().value("katana_job_runs_total", {{"job", "count"}}), 10);
  EXPECT_EQ(app.get("/time").content().substr(0, 16), "2026-01-01T00:10");
  app.advance(seconds(4 * 3600));  // by the schedule at 03:30, and by the clock that the job reads
  EXPECT_THAT(notes_.lines, ::testing::Contains(HasSubstr("nightly 2026-01-01T03:30:0")));
  EXPECT_EQ(app.get("/ready").status(), 200u);
}

TEST_F(TestApplicationTest, a_failed_job_of_one_instance_is_tried_again_by_its_lock) {
  TestApplication app(shop_options(), configure);
  ASSERT_TRUE(app.start());
  app.advance(seconds(6 * 3600));
  EXPECT_EQ(count("flaky 1") + count("flaky 2") + count("flaky 3"), 3u) << app.log().describe();
  EXPECT_EQ(*app.metrics().value("katana_job_retries_total", {{"job", "flaky"}}), 2);
  EXPECT_TRUE(app.log().contains("retry 1 of 5 follows in"));
  // The configuration removes them.
  notes->lines.clear();
  TestApplication other(shop_options(), configure,
                        {.settings = {"jobs.flaky.retry.retries_max=0"}});
  ASSERT_TRUE(other.start());
  other.advance(seconds(6 * 3600));
  EXPECT_EQ(count("flaky 1"), 1u);
  EXPECT_EQ(count("flaky 2"), 0u);
}

TEST_F(TestApplicationTest, a_thread_of_a_pool_is_waited_for_and_a_sleep_is_not) {
  TestApplication app(shop_options(), configure);
  const Instant before = app.now();
  EXPECT_EQ(app.get("/pool").content(), "7");
  EXPECT_LT(app.now(), before + seconds(1));
  const auto began = std::chrono::steady_clock::now();
  for (int count = 0; count < 30; ++count) EXPECT_EQ(app.get("/slow").content(), "late");
  EXPECT_GE(app.now(), before + seconds(600));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(300));
}

TEST_F(TestApplicationTest, the_end_drains_in_virtual_time) {
  TestApplication app(shop_options(), configure, {.settings = {"http.drain_timeout=30s"}});
  EXPECT_EQ(app.get("/background").status(), 204u);
  PendingReply slow = app.begin_get("/slow");
  const server::ServerReport report = app.stop();
  EXPECT_EQ(slow.reply().content(), "late");
  EXPECT_EQ(report.requests, 2u);
  EXPECT_EQ(report.tasks_cancelled, 0u);
  EXPECT_THAT(notes_.lines,
              ElementsAre("part starts", "on_start", "background done", "on_stop", "part stops"));
  EXPECT_THAT(app.get("/page").problem(), HasSubstr("the program has ended"));
  EXPECT_TRUE(app.log().contains("shutdown requested: draining for up to "));
}

TEST_F(TestApplicationTest, what_outlasts_the_drain_is_cut_off) {
  TestApplication app(shop_options(), configure, {.settings = {"http.drain_timeout=1s"}});
  EXPECT_EQ(app.get("/background").status(), 204u);
  PendingReply slow = app.begin_get("/slow");
  const server::ServerReport report = app.stop();
  EXPECT_EQ(report.cut_off, 1u);
  EXPECT_EQ(report.tasks_cancelled, 1u);
  EXPECT_EQ(slow.reply().status(), 0u);
  EXPECT_EQ(count("background done"), 0u);
}

TEST_F(TestApplicationTest, operations_pages_have_their_listener) {
  TestApplication app(shop_options(), configure, {.settings = {"operations.port=9100"}});
  EXPECT_EQ(app.get("/metrics").status(), 404u);
  ASSERT_TRUE(app.use_operations());
  EXPECT_THAT(app.get("/metrics").content(), HasSubstr("katana_http_requests_total"));
  EXPECT_EQ(app.get("/page").status(), 404u);
  ASSERT_TRUE(app.use_first_listener());
  EXPECT_EQ(app.get("/page").status(), 200u);
  EXPECT_THAT(app.use_listener(0).error().describe(), HasSubstr("0 listeners"));
}

TEST_F(TestApplicationTest, middleware_by_configuration_is_there) {
  TestApplication app(shop_options(), configure,
                      {.settings = {"http.rate_limit.enabled=true", "http.rate_limit.per_second=1",
                                    "http.rate_limit.burst=2"}});
  EXPECT_EQ(app.get("/page").status(), 200u);
  EXPECT_EQ(app.get("/page").status(), 200u);
  EXPECT_EQ(app.get("/page").status(), 429u);
  app.advance(seconds(2));
  EXPECT_EQ(app.get("/page").status(), 200u);
}

TEST_F(TestApplicationTest, log_records_failures_metrics_and_events_are_values) {
  TestApplication app(shop_options(), configure);
  EventCapture events(app.service<EventTopic>());
  EXPECT_EQ(app.get("/throw").status(), 500u);
  EXPECT_EQ(app.post("/event", "").status(), 204u);
  EXPECT_EQ(app.get("/page").status(), 200u);

  ASSERT_EQ(app.failures().size(), 1u);
  EXPECT_EQ(app.failures()[0].place, "GET /throw");
  EXPECT_THAT(app.failures()[0].cause, HasSubstr("no stock"));
  EXPECT_TRUE(app.log().contains("no stock")) << app.log().describe();
  const auto access = app.log().records_of("access");
  ASSERT_EQ(access.size(), 3u) << app.log().describe();
  EXPECT_EQ(access[2].field("status"), "200");

  ASSERT_EQ(events.events().size(), 1u);
  EXPECT_EQ(events.events()[0].name, "changed");
  EXPECT_EQ(events.events()[0].data, "one\ntwo");
  EXPECT_EQ(events.missed(), 0u);

  const MetricsView metrics = app.metrics();
  EXPECT_EQ(metrics.value("katana_http_requests_total").value_or(-1), 3) << metrics.text();
  const auto durations =
      metrics.histogram("katana_http_route_duration_seconds", {{"route", "/page"}});
  ASSERT_TRUE(durations) << durations.error().describe();
  EXPECT_EQ(durations->count, 1u);
  const auto unknown = metrics.value("katana_http_request_total");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().describe(), HasSubstr("katana_http_requests_total"));
  const auto labels = metrics.value("katana_http_requests_total", {{"status", "201"}});
  ASSERT_FALSE(labels);
  EXPECT_THAT(labels.error().describe(), HasSubstr("no series with these labels"));
}

TEST_F(TestApplicationTest, an_upstream_answers_the_programs_own_client) {
  TestApplication app(shop_options(), configure);
  FakeUpstream& rates = app.upstream("https://api.example", [](Router& router) {
    router.get("/rate", [] { return Reply::text("1.25"); });
  });
  EXPECT_EQ(app.get("/fetch").content(), "200 1.25");
  ASSERT_EQ(rates.requests().size(), 1u);
  EXPECT_EQ(rates.requests()[0].target, "/rate?of=eur");
  EXPECT_EQ(rates.requests()[0].field("host"), "api.example");
  rates.fail_next(1);
  EXPECT_EQ(app.get("/fetch").content(), "503 ");
  rates.go_down();
  const TestReply down = app.get("/fetch");
  EXPECT_EQ(down.status(), 503u) << down;
  EXPECT_TRUE(app.log().contains("Connection refused")) << app.log().describe();
  rates.come_back();
  EXPECT_EQ(app.get("/fetch").content(), "200 1.25");
}

TEST_F(TestApplicationTest, no_request_leaves_the_process) {
  TestApplication app(shop_options(), configure);
  EXPECT_EQ(app.get("/fetch").status(), 503u);
  EXPECT_TRUE(app.log().contains("there is no upstream for https://api.example:443"))
      << app.log().describe();
}

TEST_F(TestApplicationTest, the_database_fails_when_the_test_says_so) {
  TestApplication app(shop_options(), configure);
  ASSERT_EQ(app.post_json("/items", Item{0, "tea"}).status(), 201u);
  app.database_faults().unavailable();
  EXPECT_EQ(app.get("/items").status(), 503u);
  EXPECT_EQ(app.get("/ready").status(), 503u);
  app.database_faults().heal();
  EXPECT_EQ(app.get("/items").status(), 200u);
  app.database_faults().delay(seconds(2));
  const Instant before = app.now();
  EXPECT_EQ(app.get("/items").status(), 200u);
  EXPECT_GE(app.now(), before + seconds(2));
}

TEST_F(TestApplicationTest, a_program_finds_what_it_acknowledged_on_a_disk_that_lost_its_power) {
  std::size_t all = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SimulatedDisk disk({.seed = seed});
    std::size_t acknowledged = 0;
    {
      TestApplication app(shop_options(), configure);
      app.use_disk(disk);
      ASSERT_EQ(app.get("/items").status(), 200u);
      disk.crash_at(disk.operations() + 5 + 7 * seed);
      for (int item = 0; item < 100 && !disk.is_down(); ++item) {
        const auto added =
            app.post("/items", R"({"id":0,"name":"item)" + std::to_string(item) + R"("})");
        if (added.status() == 201u) ++acknowledged;
      }
      EXPECT_TRUE(disk.is_down());
      EXPECT_NE(app.get("/items").status(), 200u);
    }
    disk.restart();
    TestApplication again(shop_options(), configure);
    again.use_disk(disk);
    const std::string items = again.get("/items").content();
    for (std::size_t item = 0; item < acknowledged; ++item) {
      EXPECT_THAT(items, HasSubstr("\"item" + std::to_string(item) + "\"")) << "seed " << seed;
    }
    EXPECT_THAT(disk.files(), ::testing::Contains(HasSubstr(".db")));
    all += acknowledged;
  }
  EXPECT_GT(all, 0u);
}

TEST_F(TestApplicationTest, a_test_asks_the_database_itself) {
  TestApplication app(shop_options(), configure);
  ASSERT_EQ(app.post_json("/items", Item{0, "tea"}).status(), 201u);
  const auto names = app.run([](const registry::Services& services) {
    auto ask = [](database::Database& db) -> Task<Result<std::vector<Item>>> {
      auto rows = co_await db.query<Item>("SELECT id, name FROM items");
      if (!rows) co_return std::unexpected(rows.error());
      co_return *std::move(rows);
    };
    return ask(services.get<database::Database>());
  });
  ASSERT_TRUE(names) << names.error().describe();
  EXPECT_EQ(names->front().name, "tea");
  const Result<void> never_ends =
      app.run([]() -> Task<void> { co_await net::sleep_for(seconds(100'000)); });
  ASSERT_FALSE(never_ends);
  EXPECT_THAT(never_ends.error().describe(), HasSubstr("did not end within reply_timeout"));
}

TEST_F(TestApplicationTest, a_hundred_tests_of_a_program_run) {
  const auto begin = std::chrono::steady_clock::now();
  int passed = 0;
  for (int number = 0; number < 100; ++number) {
    TestApplication app(shop_options(), configure);
    passed +=
        app.post_json("/items", Item{0, "tea"}).status() == 201 && app.get("/items").status() == 200
            ? 1
            : 0;
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::printf("a test of a program with a database: %.2f ms\n", took.count() / 100);
  EXPECT_EQ(passed, 100);
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
