// The job queue of a whole program: settings, metrics, pages of operations, and the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "katana/app/application.hpp"
#include "katana/app/sqlite/sqlite.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/net/reactor/sleep.hpp"

namespace katana::app {

struct Letter {
  std::int64_t to = 0;
};
KATANA_DESCRIBE(Letter, to)

namespace {

using testing::HasSubstr;
using Program = Application<SettingsWithDatabase>;

class ApplicationQueuesTest : public testing::Test {
 protected:
  ApplicationQueuesTest() {
    std::string name = (std::filesystem::temp_directory_path() / "queues_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    write("");
  }
  ~ApplicationQueuesTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  // `more` are further lines at the top level.
  void write(const std::string& more) const {
    std::ofstream(folder_ / "app.yaml")
        << "http: {reactors: 1, connections_max: 64, drain_notice: 0s, drain_timeout: 1500ms, "
           "port: 0}\nlog: {console: false, json_file: "
        << file("app.jsonl") << "}\ndatabase: {durability: normal, url: 'sqlite:" << file("app.db")
        << "'}\n"
        << more;
  }
  CommandLine line() const { return {.config = file("app.yaml"), .sets = sets}; }
  std::string log_text() const {
    std::ifstream input(folder_ / "app.jsonl");
    return {std::istreambuf_iterator<char>(input), {}};
  }
  // POST /letters/{to} queues one; `fails` are dead letters at once.
  void fill(Program& app) {
    app.routes([](const registry::Services& services, Router& router) {
      auto& queue = services.get<queue::JobQueue>();
      router.post("/letters/{to}", [&queue](Path<std::int64_t> to) -> Task<Result<Reply>> {
        const Letter letter{*to};
        const auto queued = co_await queue.enqueue("letters", letter);
        if (!queued) co_return std::unexpected(queued.error());
        co_return Reply::text(format_text("{}", queued->id));
      });
    });
    app.queue<Letter>("letters",
                      [this](const registry::Services&, Letter letter, queue::Delivery& delivery) {
                        return deliver(letter, delivery);
                      });
  }
  // Serves while `clients` talk to it; returns what it reports.
  template <class Clients>
  server::ServerReport serve(Program& app, Clients clients) {
    const auto started = app.start(line());
    EXPECT_TRUE(started) << started.error().describe();
    if (!started) return {};
    std::thread thread([&] {
      clients(app.port());
      app.shutdown();
    });
    const server::ServerReport report = app.serve();
    thread.join();
    return report;
  }

  std::vector<std::string> sets;
  std::atomic<int> delivered = 0;
  std::atomic<bool> fails = false;
  std::atomic<bool> takes_long = false;
  std::filesystem::path folder_;

 private:
  Task<Result<void>> deliver(Letter, queue::Delivery& delivery) {
    if (takes_long) {
      ++delivered;
      co_await net::sleep_for(seconds(600));
    }
    if (fails) {
      delivery.give_up();
      co_return fail(Code::unavailable, "no post today");
    }
    ++delivered;
    co_return {};
  }
};

std::string ask(server::Client& client, const std::string& line, const std::string& fields = "") {
  client.send(line + " HTTP/1.1\r\nHost: localhost\r\n" + fields + "Content-Length: 0\r\n\r\n");
  return client.receive_reply();
}

void wait_until(const auto& condition) {
  while (!condition()) std::this_thread::yield();
}

TEST_F(ApplicationQueuesTest, jobs_are_done_counted_and_shown_to_operations) {
  Program app({.name = "post", .database = sqlite()});
  fill(app);
  serve(app, [&](std::uint16_t port) {
    server::Client client(port);
    EXPECT_THAT(ask(client, "POST /letters/7"), HasSubstr("200 OK"));
    wait_until([&] { return delivered == 1; });
    fails = true;
    EXPECT_THAT(ask(client, "POST /letters/8"), HasSubstr("200 OK"));
    std::string dead;
    wait_until([&] {
      dead = client.ask("/queues/letters/dead");
      return dead.find("no post today") != std::string::npos;
    });
    EXPECT_THAT(dead, HasSubstr(R"("state":"dead")"));
    EXPECT_THAT(dead, HasSubstr(R"("payload":"{\"to\":8}")"));
    EXPECT_THAT(client.ask("/queues"), HasSubstr(R"("queue":"letters","ready":0)"));
    EXPECT_THAT(client.ask("/queues/other/dead"), HasSubstr(" 404 "));
    EXPECT_THAT(client.ask("/queues/letters/lost"), HasSubstr(" 404 "));
    // A page of another origin changes nothing.
    EXPECT_THAT(ask(client, "POST /queues/letters/dead/retry", "Sec-Fetch-Site: cross-site\r\n"),
                HasSubstr(" 403 "));
    fails = false;
    EXPECT_THAT(ask(client, "POST /queues/letters/dead/retry"), HasSubstr(R"({"retried":1})"));
    wait_until([&] { return delivered == 2; });
    EXPECT_THAT(ask(client, "DELETE /queues/letters/jobs/99"), HasSubstr(" 404 "));
    const std::string metrics = client.ask("/metrics");
    EXPECT_THAT(metrics, HasSubstr("katana_queue_jobs_queued_total 2"));
    EXPECT_THAT(metrics,
                HasSubstr("katana_queue_attempts_total{queue=\"letters\",outcome=\"dead\"} 1"));
    EXPECT_THAT(client.ask("/ready"), HasSubstr(" 200 "));
  });
  app.stop();
  EXPECT_THAT(log_text(), HasSubstr("queue letters"));
  EXPECT_THAT(log_text(), HasSubstr("no post today"));
}

TEST_F(ApplicationQueuesTest, behind_a_proxy_a_stranger_neither_reads_nor_removes_a_job) {
  sets = {"http.hosts=[shop.example]", "http.trusted_proxies=[127.0.0.1]",
          "http.forwarded=x_forwarded"};
  Program app({.name = "post", .database = sqlite()});
  fill(app);
  fails = true;
  serve(app, [&](std::uint16_t port) {
    server::Client client(port);
    const auto status_of = [&](const std::string& line, const std::string& fields) {
      client.send(line + " HTTP/1.1\r\n" + fields + "Content-Length: 0\r\n\r\n");
      return client.receive_reply().substr(9, 3);
    };
    const std::string by_proxy = "Host: shop.example\r\nX-Forwarded-For: 203.0.113.9\r\n";
    EXPECT_EQ(status_of("POST /letters/8", by_proxy), "200");
    for (const std::string& fields :
         {by_proxy, std::string("Host: localhost\r\n"), std::string("Host: shop.example\r\n")}) {
      for (const char* const line :
           {"GET /queues", "GET /queues/letters/dead", "POST /queues/letters/dead/retry",
            "POST /queues/letters/dead/1/retry", "DELETE /queues/letters/jobs/1", "GET /metrics"}) {
        EXPECT_EQ(status_of(line, fields), "404") << line << "\n" << fields;
      }
    }
  });
}

TEST_F(ApplicationQueuesTest, the_end_of_the_program_gives_back_what_does_not_end) {
  takes_long = true;
  Program app({.name = "post", .database = sqlite()});
  fill(app);
  const server::ServerReport report = serve(app, [&](std::uint16_t port) {
    server::Client client(port);
    EXPECT_THAT(ask(client, "POST /letters/7"), HasSubstr("200 OK"));
    wait_until([&] { return delivered == 1; });
  });
  EXPECT_EQ(report.tasks_cancelled, 0u);
  app.stop();
  takes_long = false;
  Program again({.name = "post", .database = sqlite()});
  fill(again);
  serve(again, [&](std::uint16_t) { wait_until([&] { return delivered == 2; }); });
}

TEST_F(ApplicationQueuesTest, the_configuration_disables_queues_and_changes_how_they_are_worked) {
  write("queue: {handlers: {letters: {enabled: false}}}\n");
  Program app({.name = "post", .database = sqlite()});
  fill(app);
  serve(app, [&](std::uint16_t port) {
    server::Client client(port);
    EXPECT_THAT(ask(client, "POST /letters/7"), HasSubstr("200 OK"));
    EXPECT_THAT(client.ask("/queues"), HasSubstr(R"("ready":1)"));
  });
  EXPECT_EQ(delivered, 0);
  app.stop();
  EXPECT_THAT(log_text(), HasSubstr("queue letters: not worked by this process"));
}

TEST_F(ApplicationQueuesTest, what_is_wrong_with_queues_or_their_settings_fails_the_start) {
  const auto why = [&](const std::string& more, bool has_handler = true) {
    write(more);
    Program app({.name = "post", .database = sqlite()});
    if (has_handler) fill(app);
    const auto started = app.start(line());
    return started ? "started" : started.error().describe();
  };
  EXPECT_THAT(why("queue: {handlers: {leters: {concurrency: 2}}}\n"),
              HasSubstr("queue.handlers.leters: unknown queue, there are 'letters'"));
  EXPECT_THAT(why("queue: {handlers: {letters: {}}}\n", false),
              HasSubstr("this program handles no queues"));
  EXPECT_THAT(why("queue: {handlers: {letters: {lease: 100ms}}}\n"),
              HasSubstr("queue.handlers.letters: queue 'letters': stop_grace"));
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
