// A property of all spans of a program: the parent exists in the process or came from outside. The
// span lies within it in time. It holds under interleaving, retries and cancellation.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "katana/app/bus_part.hpp"
#include "katana/app/sqlite/sqlite.hpp"
#include "katana/app/telemetry/telemetry.hpp"
#include "katana/base/coroutine/when.hpp"
#include "katana/base/thread/pool.hpp"
#include "katana/base/values/random.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/net/reactor/spawn.hpp"
#include "katana/net/reactor/timeout.hpp"
#include "katana/observe/trace/span.hpp"
#include "katana/stores/bus/bus.hpp"
#include "katana/testing/application/span_capture.hpp"
#include "katana/testing/application/test_application.hpp"

namespace katana::testing {

struct One {
  std::int64_t one = 0;
};
KATANA_DESCRIBE(One, one)

namespace {

constexpr const char* outside_trace = "0af7651916cd43dd8448eb211c80319c";
constexpr const char* outside_span = "b7ad6b7169203331";

// The work that makes the spans of one run: each choice is drawn.
class Workload {
 public:
  Workload(const registry::Services& services, std::uint64_t seed)
      : database_(services.get<database::Database>()),
        http_(services.get<client::HttpClient>()),
        bus_(services.get<bus::Bus>()),
        pool_(services.get<thread::Pool>()),
        random_(seed) {}

  // A tree of work, `depth` deep.
  Task<void> work(int depth) {
    trace::Span span("work");
    co_await net::sleep_for(microseconds(static_cast<std::int64_t>(random_.below(2000))));
    if (depth == 0) co_return;
    switch (random_.below(8)) {
      case 0: co_await when_all(work(depth - 1), work(depth - 1)); break;
      case 1: (void)co_await net::with_timeout(answer(depth - 1), microseconds(1500)); break;
      case 2: (void)co_await database_.query<One>("-- name: count_one\nSELECT 1 AS one"); break;
      case 3: (void)co_await http_.fetch(client::Request("http://stock.example:8080/")); break;
      case 4: (void)bus_.publish(fmt::format("orders.{}", random_.below(100)), "tea"); break;
      case 5: (void)co_await pool_.run([] { return 1; }); break;
      case 6: (void)net::spawn(work(depth - 1)); break;
      default: co_await work(depth - 1);
    }
    if (random_.below(4) == 0) span.end();
    co_await net::sleep_for(microseconds(static_cast<std::int64_t>(random_.below(500))));
    if (random_.below(6) == 0) throw std::runtime_error("drawn");
  }
  void subscribe() {
    if (subscription_) return;
    auto subscribed = bus_.subscribe("orders.*", [this](const bus::Delivery&) {
      const trace::Span span("pack");
      if (random_.below(3) == 0) (void)bus_.publish("packed", "");
      if (random_.below(5) == 0) throw std::runtime_error("drawn");
    });
    ASSERT_TRUE(subscribed);
    subscription_ = *std::move(subscribed);
  }
  Random& random() noexcept { return random_; }
  bool is_busy() { return random_.below(2) == 0; }

 private:
  Task<Result<int>> answer(int depth) {
    co_await work(depth);
    co_return 1;
  }

  database::Database& database_;
  client::HttpClient& http_;
  bus::Bus& bus_;
  thread::Pool& pool_;
  Random random_;
  bus::Subscription subscription_;
};

class SpanTreeTest : public ::testing::Test {
 protected:
  using Program = app::Application<app::SettingsWithDatabase>;

  void run(std::uint64_t seed) {
    auto program = std::make_unique<Program>(
        app::ApplicationOptions{.name = "shop", .database = app::sqlite(), .http_client = true});
    program->use(app::telemetry());
    program->use(app::memory_bus());
    std::unique_ptr<Workload> workload;
    program->routes([&](const registry::Services& services, Router& router) {
      workload = std::make_unique<Workload>(services, seed);
      router.get("/work", [&]() -> Task<Reply> {
        workload->subscribe();
        co_await workload->work(4);
        co_return Reply::text("done");
      });
    });
    program->job("tidy", jobs::every(milliseconds(10)),
                 [&]() -> Task<void> { co_await workload->work(3); });
    TestApplication app(std::move(program),
                        {.settings = {"telemetry.experimental=true", "client.retries_max=2",
                                      "client.retry_after_max=1s", "http.drain_timeout=1ms"}});
    app.upstream("http://stock.example:8080", [&](Router& router) {
      router.get("/", [&]() -> Reply {
        if (!workload->is_busy()) return Reply::text("7");
        return Reply(503).with("Retry-After", "0");
      });
    });
    const auto started = app.start();
    ASSERT_TRUE(started) << started.error().describe();
    // Up to four requests are at work at once; some clients leave before their reply.
    std::vector<PendingReply> pending;
    for (int round = 0; round < 16; ++round) {
      TestFields headers;
      if (round % 3 == 0) {
        headers.push_back({"traceparent", fmt::format("00-{}-{}-01", outside_trace, outside_span)});
      }
      pending.push_back(app.begin_get("/work", headers));
      app.advance(microseconds(static_cast<std::int64_t>(workload->random().below(1500))));
      if (workload->random().below(3) == 0) pending.back().reset();
      if (pending.size() < 4) continue;
      for (PendingReply& each : pending) (void)each.reply();
      pending.clear();
    }
    app.advance(milliseconds(5));
    app.stop();
    check(app.spans());
    for (const CapturedSpan& each : app.spans().all()) ++kinds_[each.name];
    workload.reset();
  }

  static void check(const SpanCapture& spans) {
    std::map<std::string, const CapturedSpan*> by_id;
    for (const CapturedSpan& each : spans.all()) {
      ASSERT_TRUE(by_id.emplace(each.span_id, &each).second) << "two spans have one id";
    }
    for (const CapturedSpan& each : spans.all()) {
      ASSERT_LE(each.began, each.ended) << each.describe();
      if (each.parent_id.empty()) continue;
      if (each.parent_id == outside_span) {
        ASSERT_EQ(each.trace_id, outside_trace) << each.describe();
        continue;
      }
      const auto found = by_id.find(each.parent_id);
      ASSERT_NE(found, by_id.end()) << each.describe() << " has no parent";
      const CapturedSpan& parent = *found->second;
      ASSERT_EQ(each.trace_id, parent.trace_id) << each.describe();
      ASSERT_LE(parent.began, each.began) << each.describe() << " in " << parent.describe();
      // A message is handled after its publication: of these the order alone is known.
      if (parent.kind == trace::SpanKind::producer) continue;
      ASSERT_LE(each.ended, parent.ended) << each.describe() << " in " << parent.describe();
    }
  }

  std::map<std::string, int> kinds_;
};

TEST_F(SpanTreeTest, each_span_has_a_parent_that_encloses_it_or_came_from_outside) {
  const char* const wanted = std::getenv("KATANA_SEEDS");
  const std::uint64_t seeds = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 30;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    run(seed);
    if (HasFatalFailure()) return;
  }
  for (const char* name : {"GET /work", "job tidy", "work", "GET", "publish orders.*",
                           "process orders.*", "pack", "pool work", "count_one"}) {
    EXPECT_GT(kinds_[name], 0) << name << " was never drawn";
  }
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
