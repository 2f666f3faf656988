// Jobs and spawned work of a whole program, on real sockets and clocks and in its own folder. Time
// is virtual in stores/jobs/job_runner_test.cpp; here jobs run every ten milliseconds.
#include "katana/app/application_jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "katana/app/application.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/net/reactor/spawn.hpp"

namespace katana::app {
namespace {

using testing::HasSubstr;
using testing::Not;

class ApplicationJobsTest : public testing::Test {
 protected:
  ApplicationJobsTest() {
    std::string name = (std::filesystem::temp_directory_path() / "jobs_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    write("");
  }
  ~ApplicationJobsTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  // `more` are further lines at the top level.
  void write(const std::string& more) const {
    std::ofstream(folder_ / "app.yaml")
        << "http: {reactors: 1, connections_max: 64, drain_notice: 0s, drain_timeout: 300ms, "
           "port: 0}\nlog: {console: false, json_file: "
        << file("app.jsonl") << "}\n"
        << more;
  }
  CommandLine line() const { return {.config = file("app.yaml")}; }
  std::string log_text() const {
    std::ifstream input(folder_ / "app.jsonl");
    return {std::istreambuf_iterator<char>(input), {}};
  }
  // Starts, serves while `clients` talk to it, and stops.
  template <class Clients>
  server::ServerReport serve(Application<>& app, Clients clients) const {
    const auto started = app.start(line());
    EXPECT_TRUE(started) << started.error().describe();
    if (!started) return {};
    std::thread thread([&] {
      clients(app.port());
      app.shutdown();
    });
    const server::ServerReport report = app.serve();
    thread.join();
    app.stop();
    return report;
  }
  template <class Condition>
  static void wait_until(Condition holds) {
    while (!holds()) std::this_thread::yield();
  }

  std::filesystem::path folder_;
};

class Sessions {
 public:
  std::atomic<int> purged = 0;
};

TEST_F(ApplicationJobsTest, a_job_runs_beside_the_requests_with_services_metrics_and_a_check) {
  Application<> app({.name = "users"});
  app.services([](registry::Registry& registry) {
    registry.singleton<Sessions>([] { return std::make_unique<Sessions>(); });
  });
  app.job("purge", jobs::every(milliseconds(10)),
          [](const registry::Services& services) -> Task<void> {
            co_await net::sleep_for(milliseconds(1));
            ++services.get<Sessions>().purged;
          },
          {.intervals_without_success_max = 10'000});  // a busy machine may skip many
  serve(app, [&](std::uint16_t port) {
    wait_until([&] { return app.services().get<Sessions>().purged >= 3; });
    server::Client client(port);
    EXPECT_THAT(
        client.ask("/metrics"),
        testing::AllOf(HasSubstr("katana_job_runs_total{job=\"purge\"} "),
                       HasSubstr("katana_job_failures_total{job=\"purge\"} 0"),
                       HasSubstr("katana_job_skipped_total{job=\"purge\",reason=\"late\"}"),
                       HasSubstr("katana_job_last_success_timestamp_seconds{job=\"purge\"}"),
                       HasSubstr("katana_tasks_spawned_total{reactor=\"0\"}")));
    const std::string ready = client.ask("/ready");
    EXPECT_THAT(ready, testing::StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(ready, HasSubstr("\"name\":\"job purge\""));
    EXPECT_THAT(ready, HasSubstr("{\"status\":\"pass\""));
  });
  EXPECT_GE(app.jobs().statistics("purge")->runs, 3u);
  EXPECT_THAT(log_text(), HasSubstr("job purge: every 10ms"));
}

TEST_F(ApplicationJobsTest, a_job_that_fails_is_logged_with_its_cause_and_shown_as_a_warning) {
  Application<> app({.name = "users"});
  app.job("purge", jobs::every(milliseconds(10)), []() -> Task<void> {
    throw std::runtime_error("no disk");
    co_return;
  });
  serve(app, [&](std::uint16_t port) {
    wait_until([&] { return app.jobs().statistics("purge")->failures >= 2; });
    const std::string ready = server::Client(port).ask("/ready");
    EXPECT_THAT(ready, testing::StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(ready, HasSubstr("{\"status\":\"warn\""));
    EXPECT_THAT(ready, HasSubstr("no disk"));
  });
  EXPECT_THAT(log_text(), HasSubstr("job purge: it threw: std::runtime_error: no disk"));
}

TEST_F(ApplicationJobsTest, a_job_that_is_needed_makes_the_program_not_ready) {
  Application<> app({.name = "users"});
  app.job("load", jobs::every(milliseconds(10)),
          []() -> Task<Result<void>> { co_return fail(Code::unavailable, "no source"); },
          {.needed_for_ready = true});
  serve(app, [&](std::uint16_t port) {
    wait_until([&] { return app.jobs().statistics("load")->failures >= 1; });
    EXPECT_THAT(server::Client(port).ask("/ready"), testing::StartsWith("HTTP/1.1 503 "));
    EXPECT_THAT(server::Client(port).ask("/health"), testing::StartsWith("HTTP/1.1 200 "));
  });
}

TEST_F(ApplicationJobsTest, the_configuration_disables_jobs_and_gives_them_schedules) {
  write("jobs: {purge: {enabled: false}, report: {schedule: 'every 20ms'}}\n");
  std::atomic<int> purges = 0, reports = 0;
  const auto count = [](std::atomic<int>& counter) {
    return [&counter]() -> Task<void> {
      ++counter;
      co_return;
    };
  };
  Application<> app({.name = "users"});
  app.job("purge", jobs::every(milliseconds(10)), count(purges));
  app.job("report", jobs::cron("0 3 29 2 *"), count(reports));
  serve(app, [&](std::uint16_t) { wait_until([&] { return reports >= 2; }); });
  EXPECT_EQ(purges, 0);
  EXPECT_FALSE(app.jobs().statistics("purge"));
  EXPECT_THAT(log_text(), HasSubstr("job purge: disabled"));
  EXPECT_THAT(log_text(), HasSubstr("job report: every 20ms"));
}

TEST_F(ApplicationJobsTest, what_is_wrong_with_jobs_or_their_settings_fails_the_start) {
  const auto error_with = [this](const std::string& settings, jobs::JobOptions options = {}) {
    write(settings);
    Application<> app({.name = "users"});
    app.job("purge", jobs::every(seconds(10)), []() -> Task<void> { co_return; }, options);
    const auto started = app.start(line());
    return started ? std::string() : started.error().describe();
  };
  EXPECT_EQ(error_with(""), "");
  EXPECT_THAT(error_with("jobs: {purg: {enabled: false}}\n"),
              HasSubstr("jobs.purg: unknown job, there are 'purge'"));
  EXPECT_THAT(error_with("jobs: {purge: {schedule: '0 25 * * *'}}\n"),
              HasSubstr("jobs.purge: cron expression '0 25 * * *': hour (position 3): 25 is not "
                        "within 0 to 23"));
  EXPECT_THAT(error_with("", {.one_instance = true}),
              HasSubstr("job 'purge' runs in one instance only and needs a lock"));
  EXPECT_THAT(error_with("jobs: {purge: {retry: {retries_max: 3, delay: 2h, delay_max: 1h}}}\n"),
              HasSubstr("jobs.purge.retry: delay must be above zero, and delay_max not below it"));
  EXPECT_THAT(error_with("jobs: {purge: {schedule: 'TZ=Europe/Atlantis 0 5 * * *'}}\n"),
              HasSubstr("time zone 'Europe/Atlantis'"));
  write("jobs: {purge: {schedule: often}}\n");
  Application<> app({.name = "users"});
  CommandLine check = line();
  const std::string path = *check.config;
  const char* arguments[] = {"users", "--config", path.c_str(), "--check-config"};
  app.job("purge", jobs::every(seconds(10)), []() -> Task<void> { co_return; });
  EXPECT_EQ(app.run(4, arguments), 2);
}

TEST_F(ApplicationJobsTest, a_handler_answers_and_its_spawned_work_goes_on) {
  std::atomic<int> sent = 0;
  std::atomic<bool> release = false;
  const auto notify = [](std::atomic<bool>& go, std::atomic<int>& count) -> Task<void> {
    while (!go) co_await net::sleep_for(milliseconds(1));
    ++count;
  };
  Application<> app({.name = "users"});
  app.routes([&](const registry::Services&, Router& router) {
    router.get("/order", [&]() -> Result<Reply> {
      if (auto spawned = net::spawn(notify(release, sent), "notify"); !spawned) {
        return std::unexpected(spawned.error());
      }
      return Reply::text("ordered");
    });
  });
  const server::ServerReport report = serve(app, [&](std::uint16_t port) {
    EXPECT_TRUE(server::Client(port).ask("/order").ends_with("ordered"));
    EXPECT_EQ(sent, 0);
    release = true;
  });
  EXPECT_EQ(sent, 1);  // the end of the program has waited for it
  EXPECT_EQ(report.tasks_cancelled, 0u);
}

TEST_F(ApplicationJobsTest,
       what_was_spawned_at_the_start_is_cancelled_after_the_grace_and_counted) {
  std::atomic<bool> began = false, freed = false;
  struct Freed {
    std::atomic<bool>& flag;
    ~Freed() { flag = true; }
  };
  Application<> app({.name = "users"});
  EXPECT_EQ(app.spawn([]() -> Task<void> { co_return; }).error().code(), Code::unavailable);
  app.on_start([&](const registry::Services&) {
    return app.spawn(
        [&began, &freed](const registry::Services&) -> Task<void> {
          const Freed held{freed};
          began = true;
          co_await net::sleep_for(seconds(3600));
        },
        "listener");
  });
  const server::ServerReport report =
      serve(app, [&](std::uint16_t) { wait_until([&] { return began.load(); }); });
  EXPECT_TRUE(freed);
  EXPECT_EQ(report.tasks_cancelled, 1u);
  EXPECT_THAT(report.describe(), HasSubstr(", 1 task cancelled"));
  EXPECT_THAT(log_text(), HasSubstr("1 background tasks had not ended when the time to drain was "
                                    "over, and were cancelled"));
}

TEST_F(ApplicationJobsTest, a_spawned_task_that_fails_is_logged_with_the_id_of_its_request) {
  Application<> app({.name = "users"});
  app.routes([&](const registry::Services&, Router& router) {
    router.get("/order", []() -> Result<Reply> {
      const auto failing = []() -> Task<Result<void>> {
        co_await net::sleep_for(milliseconds(5));
        co_return fail(Code::unavailable, "no mail server");
      };
      if (auto spawned = net::spawn(failing(), "notify"); !spawned) {
        return std::unexpected(spawned.error());
      }
      return Reply::text("ordered");
    });
  });
  serve(app, [&](std::uint16_t port) {
    server::Client(port).ask("/order", "X-Request-Id: r-4711\r\n");
  });
  std::ifstream input(folder_ / "app.jsonl");
  bool found = false;
  for (std::string record; std::getline(input, record);) {
    found = found || (record.find("notify: it failed: no mail server") != std::string::npos &&
                      record.find("r-4711") != std::string::npos);
  }
  EXPECT_TRUE(found) << log_text();
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
