// MetricExporter: when a collector gets metrics, and their fate when it is down.
#include "katana/app/telemetry/metric_exporter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "katana/net/reactor/spawn.hpp"
#include "katana/testing/fake_upstream.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MetricExporterTest : public ::testing::Test {
 protected:
  MetricExporterTest() : server_(make_service()), orders_(*registry_.counter("orders", "Orders.")) {
    options_.sender.signal = "metrics";
    options_.sender.url = "http://collector:4318/v1/metrics";
    options_.sender.gzip = false;
    options_.wall_ns = [this] { return static_cast<std::uint64_t>(server_.now().ns); };
    collector_ = std::make_unique<katana::testing::FakeUpstream>(
        server_, "http://collector:4318",
        [](Router& router) { router.post("/v1/metrics", [] { return Reply::text(Text()); }); });
  }
  ~MetricExporterTest() override {
    if (exporter_) server_.get("/finish");
    server_.advance(seconds(60));
  }
  Result<Service> make_service() {
    Router router;
    router.get("/start", [this] {
      EXPECT_TRUE(net::spawn(exporter_->run()));
      return Reply();
    });
    router.get("/drain", [this] {
      exporter_->drain();
      return Reply();
    });
    router.get("/finish", [this] {
      exporter_->finish();
      return Reply();
    });
    return std::move(router).build();
  }
  void start() {
    client::HttpClientOptions of_client;
    of_client.tls.system_authorities = false;
    of_client.retries_max = 0;
    of_client.seed = 1;
    exporter_ = std::make_unique<MetricExporter>(
        registry_, *client::HttpClient::make(std::move(of_client)), options_, log::Logger());
    server_.get("/start");
  }
  std::size_t exports() const { return collector_->requests().size(); }
  std::uint64_t counted(OtlpFate fate) const { return exporter_->sender().counted(fate); }

  katana::testing::TestServer server_;
  metrics::Registry registry_;
  metrics::Counter orders_;
  std::unique_ptr<katana::testing::FakeUpstream> collector_;
  MetricExporterOptions options_;
  std::unique_ptr<MetricExporter> exporter_;
};

TEST_F(MetricExporterTest, metrics_are_sent_once_in_an_interval_and_refreshed_before) {
  int asked = 0;
  const auto level = *registry_.gauge("level", "Level.");
  registry_.ask_before_scrape([&] { ++asked; });
  registry_.before_scrape([&] { level.set(asked); });
  start();
  server_.advance(seconds(59));
  EXPECT_EQ(exports(), 0u);
  server_.advance(seconds(2));
  ASSERT_EQ(exports(), 1u);
  EXPECT_EQ(asked, 1);
  EXPECT_THAT(collector_->requests()[0].content, HasSubstr("orders"));
  EXPECT_EQ(collector_->requests()[0].field("content-type"), "application/x-protobuf");
  server_.advance(seconds(60));
  EXPECT_EQ(exports(), 2u);
  EXPECT_EQ(counted(OtlpFate::sent), 4u) << "two points each";
}

TEST_F(MetricExporterTest, an_outage_costs_points_and_no_count_of_a_delta) {
  options_.encoder.temporality = otlp::Temporality::delta;
  start();
  orders_.add(5);
  collector_->go_down();
  server_.advance(seconds(60) + OtlpSender::retry_time_max + seconds(30));
  EXPECT_EQ(counted(OtlpFate::failed), 1u);
  collector_->come_back();
  orders_.add(2);
  server_.advance(seconds(120));
  // Field 6 of a point is a sfixed64. The export that was under way has five, the next one two.
  ASSERT_EQ(exports(), 2u);
  EXPECT_THAT(collector_->requests()[0].content,
              HasSubstr(std::string("\x31\x05\0\0\0\0\0\0\0", 9)));
  EXPECT_THAT(collector_->requests()[1].content,
              HasSubstr(std::string("\x31\x02\0\0\0\0\0\0\0", 9)));
  server_.advance(seconds(120));
  EXPECT_EQ(exports(), 2u) << "nothing has come since";
}

TEST_F(MetricExporterTest, a_drain_sends_at_once_and_the_end_sends_what_came_after_it) {
  start();
  orders_.add(1);
  server_.get("/drain");
  server_.advance(seconds(1));
  ASSERT_EQ(exports(), 1u);
  orders_.add(1);
  registry_.stop_refreshing();
  server_.get("/finish");
  server_.advance(milliseconds(10));
  ASSERT_EQ(exports(), 2u);
  EXPECT_THAT(collector_->requests()[1].content,
              HasSubstr(std::string("\x31\x02\0\0\0\0\0\0\0", 9)));
}

TEST_F(MetricExporterTest, a_drain_during_an_export_is_not_lost) {
  start();
  collector_->delay(seconds(2));
  server_.advance(seconds(61));
  ASSERT_EQ(exports(), 1u);
  EXPECT_EQ(counted(OtlpFate::sent), 0u) << "it is under way";
  server_.get("/drain");
  server_.advance(seconds(6));
  EXPECT_EQ(exports(), 2u);
}

TEST_F(MetricExporterTest, a_program_that_did_not_serve_sends_nothing_at_its_end) {
  start();
  server_.get("/finish");
  server_.advance(seconds(1));
  EXPECT_EQ(exports(), 0u);
}

TEST_F(MetricExporterTest, at_the_end_a_collector_that_is_down_is_not_waited_for) {
  start();
  collector_->go_down();
  server_.get("/drain");
  server_.advance(milliseconds(300));
  server_.get("/finish");
  server_.advance(seconds(1));
  EXPECT_GT(counted(OtlpFate::shutdown), 0u);
  EXPECT_EQ(counted(OtlpFate::sent), 0u);
}

TEST_F(MetricExporterTest, functions_are_not_called_once_refreshing_has_stopped) {
  int called = 0;
  registry_.ask_before_scrape([&] { ++called; });
  registry_.before_scrape([&] { ++called; });
  registry_.stop_refreshing();
  start();
  server_.advance(seconds(61));
  EXPECT_EQ(called, 0);
  EXPECT_EQ(exports(), 1u);
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
