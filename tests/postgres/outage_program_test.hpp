// OutageProgram: a whole program on PostgreSQL, as its clients, its operator and its log see it.
//
// Owns       the program and the threads that run it and ask it.
// Thread     the test's.
// Fails      by failing the test.
// Invariant  no line of its log and no reply has the password of its URL.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "katana/app/application.hpp"
#include "katana/app/postgres/postgres.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/observe/log/sink.hpp"

namespace katana::app {

inline constexpr const char* outage_password = "hunter2-of-the-outages";

struct OutageJob {
  std::int64_t number = 0;
};
KATANA_DESCRIBE(OutageJob, number)

// The logged lines.
class Lines final : public log::Output {
 public:
  const std::string& name() const noexcept override { return name_; }
  bool may_block() const noexcept override { return false; }
  Result<void> open(const log::Layout&) override { return {}; }
  Result<void> write(Bytes records) override {
    const std::lock_guard lock(mutex_);
    text_ += records;
    return {};
  }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  const std::string name_ = "lines";
  mutable std::mutex mutex_;
  std::string text_;
};

class OutageProgram {
 public:
  using Program = Application<SettingsWithDatabase>;

  // `url` is without the scheme. `queues`: the program handles the queue "rows".
  explicit OutageProgram(const std::string& url, const std::vector<std::string>& sets = {},
                         bool queues = false)
      : app_({.name = "outages",
              .database = postgres(),
              .sinks = {{.output = lines_, .level = log::Level::info}}}) {
    app_.routes([this](const registry::Services& services, Router& router) {
      add_routes(services.get<database::Database>(), router);
      add_queue(services.get<queue::JobQueue>(), router);
    });
    if (queues) {
      app_.queue<OutageJob>("rows",
                            [this](OutageJob, queue::Delivery&) -> Task<Result<void>> {
                              ++jobs_done_;
                              co_return Result<void>();
                            },
                            {.poll = milliseconds(100)});
    }
    CommandLine line{.sets = {"http.reactors=1", "http.port=0", "http.connections_max=64",
                              "http.drain_notice=0s", "log.console=false", "database.timeout=800ms",
                              "database.wait_max=300ms", "requests.failure_records_max=1000",
                              "database.url=postgresql://" + url}};
    line.sets.insert(line.sets.end(), sets.begin(), sets.end());
    const auto started = app_.start(line);
    EXPECT_TRUE(started) << started.error().describe();
    server_ = std::thread([this] { (void)app_.serve(); });
  }
  ~OutageProgram() {
    app_.shutdown();
    server_.join();
    EXPECT_THAT(log(), ::testing::Not(::testing::HasSubstr(outage_password)));
  }

  // The reply of one request.
  std::string ask(const std::string& path) {
    server::Client client(app_.port());
    const std::string reply = client.ask(path);
    EXPECT_THAT(reply, ::testing::Not(::testing::HasSubstr(outage_password)));
    return reply;
  }
  std::string status(const std::string& path) {
    const std::string reply = ask(path);
    return reply.size() > 12 ? reply.substr(9, 3) : "none";
  }
  // For the last call that failed.
  std::string kind() const {
    const std::lock_guard lock(mutex_);
    return kind_;
  }
  // The value of a metric; -1: there is none.
  double metric(const std::string& name) {
    const std::string text = ask("/metrics");
    const std::size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
  }
  std::string log() const { return lines_->text(); }
  int jobs_done() const { return jobs_done_; }

 private:
  void add_routes(database::Database& db, Router& router) {
    router.get("/count", [this, &db]() -> Task<Result<Reply>> {
      auto found = co_await db.query_one<std::int64_t>("SELECT count(*) FROM rows");
      if (!found) co_return failed(found.error());
      co_return Reply::text(std::to_string(**found));
    });
    router.get("/slow", [this, &db]() -> Task<Result<Reply>> {
      auto slept = co_await db.execute("SELECT pg_sleep(600)");
      if (!slept) co_return failed(slept.error());
      co_return Reply::text("slept");
    });
    router.get("/write", [this, &db]() -> Task<Result<Reply>> {
      auto written = co_await db.execute("INSERT INTO rows VALUES (repeat('x', 100000))");
      if (!written) co_return failed(written.error());
      co_return Reply::text("written");
    });
  }
  static void add_queue(queue::JobQueue& queue, Router& router) {
    router.get("/queue", [&queue]() -> Task<Result<Reply>> {
      const OutageJob job;
      const auto queued = co_await queue.enqueue("rows", job);
      if (!queued) co_return std::unexpected(queued.error());
      co_return Reply::text("queued");
    });
  }
  std::unexpected<Error> failed(const database::Error& error) {
    const std::lock_guard lock(mutex_);
    kind_ = database::kind_name(error.kind());
    return std::unexpected(Error(error));
  }

  const std::shared_ptr<Lines> lines_ = std::make_shared<Lines>();
  mutable std::mutex mutex_;
  std::string kind_;
  std::atomic<int> jobs_done_ = 0;
  Program app_;
  std::thread server_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
