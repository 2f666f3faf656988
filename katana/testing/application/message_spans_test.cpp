// Spans of messages and of jobs of a pool in a program, with telemetry.experimental.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/app/bus_part.hpp"
#include "katana/app/telemetry/telemetry.hpp"
#include "katana/base/thread/pool.hpp"
#include "katana/observe/trace/span.hpp"
#include "katana/stores/bus/bus.hpp"
#include "katana/testing/application/span_capture.hpp"
#include "katana/testing/application/test_application.hpp"

namespace katana::testing {
namespace {

using ::testing::SizeIs;

class MessageSpansTest : public ::testing::Test {
 protected:
  void make(std::vector<std::string> settings) {
    auto program = std::make_unique<app::Application<>>(app::ApplicationOptions{.name = "shop"});
    program->use(app::telemetry());
    program->use(app::memory_bus());
    program->routes([this](const registry::Services& services, Router& router) {
      auto& bus = services.get<bus::Bus>();
      router.post("/orders", [this, &bus]() -> Reply {
        if (!subscription_) subscribe(bus);
        (void)bus.publish("orders.17", "tea");
        return Reply::no_content();
      });
      router.get("/sum", [](Inject<thread::Pool> pool) -> Task<Reply> {
        const trace::Span span("sum");
        auto sum = co_await pool->run([] { return 3 + 4; });
        co_return Reply::text(Text(std::to_string(*sum)));
      });
      router.get("/failing", [](Inject<thread::Pool> pool) -> Task<Reply> {
        const auto done =
            co_await pool->run([]() -> Result<int> { return fail(Code::not_found, "secret"); });
        co_return Reply::text(Text(done ? "" : "none"));
      });
    });
    app_ = std::make_unique<TestApplication>(
        std::move(program), TestApplicationOptions{.settings = std::move(settings)});
    ASSERT_TRUE(app_->start());
  }
  void subscribe(bus::Bus& bus) {
    auto subscribed =
        bus.subscribe("orders.*", [](const bus::Delivery&) { const trace::Span span("pack"); });
    ASSERT_TRUE(subscribed);
    subscription_ = *std::move(subscribed);
  }
  const CapturedSpan& named(const char* name) {
    const CapturedSpan* const found = app_->spans().find(name);
    static const CapturedSpan none;
    if (found != nullptr) return *found;
    ADD_FAILURE() << "no span '" << name << "' in\n" << app_->spans().describe();
    return none;
  }
  void TearDown() override {
    if (app_) app_->stop();
  }

  bus::Subscription subscription_;
  std::unique_ptr<TestApplication> app_;
};

TEST_F(MessageSpansTest, a_request_its_message_and_the_work_on_it_are_one_trace) {
  make({"telemetry.experimental=true"});
  EXPECT_EQ(app_->post("/orders", "").status(), 204u);
  app_->advance(milliseconds(1));
  EXPECT_EQ(named("publish orders.*").parent_id, named("POST /orders").span_id);
  EXPECT_EQ(named("process orders.*").parent_id, named("publish orders.*").span_id);
  EXPECT_EQ(named("process orders.*").link_id, named("publish orders.*").span_id);
  EXPECT_EQ(named("process orders.*").kind, trace::SpanKind::consumer);
  EXPECT_EQ(named("pack").parent_id, named("process orders.*").span_id);
  EXPECT_EQ(named("pack").trace_id, named("POST /orders").trace_id);
}

TEST_F(MessageSpansTest, a_job_of_a_pool_is_below_the_span_that_awaits_it) {
  make({"telemetry.experimental=true"});
  EXPECT_EQ(app_->get("/sum").content(), "7");
  EXPECT_EQ(named("pool work").parent_id, named("sum").span_id);
  EXPECT_EQ(named("pool work").attribute("katana.pool.name"), "work");
  EXPECT_FALSE(named("pool work").failed());
  app_->spans().clear();
  EXPECT_EQ(app_->get("/failing").content(), "none");
  EXPECT_TRUE(named("pool work").failed());
  EXPECT_EQ(named("pool work").attribute("error.type"), "not found");
}

TEST_F(MessageSpansTest, without_the_switch_neither_is_recorded) {
  make({});
  EXPECT_EQ(app_->post("/orders", "").status(), 204u);
  EXPECT_EQ(app_->get("/sum").content(), "7");
  app_->advance(milliseconds(1));
  EXPECT_THAT(app_->spans().all(), SizeIs(3)) << app_->spans().describe();
  EXPECT_EQ(app_->spans().find("publish orders.*"), nullptr);
  EXPECT_EQ(app_->spans().find("pool work"), nullptr);
  EXPECT_EQ(app_->spans().find("pack"), nullptr);
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
