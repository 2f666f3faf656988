// LogExporter: the records that a collector gets, and their fate when it is slow or down.
#include "katana/app/telemetry/log_exporter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "katana/net/reactor/spawn.hpp"
#include "katana/observe/log/log.hpp"
#include "katana/testing/fake_upstream.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LogExporterTest : public ::testing::Test {
 protected:
  LogExporterTest() : server_(make_service()) {
    options_.sender.signal = "log records";
    options_.sender.url = "http://collector:4318/v1/logs";
    options_.sender.gzip = false;
    options_.batch_records_max = 4;
    collector_ = std::make_unique<katana::testing::FakeUpstream>(
        server_, "http://collector:4318",
        [](Router& router) { router.post("/v1/logs", [] { return Reply::text(Text()); }); });
  }
  ~LogExporterTest() override {
    if (exporter_) server_.get("/finish");
    server_.advance(seconds(60));
  }
  Result<Service> make_service() {
    Router router;
    router.get("/start", [this] {
      EXPECT_TRUE(net::spawn(exporter_->run()));
      return Reply();
    });
    router.get("/collect", [this] {
      exporter_->collect();
      return Reply();
    });
    router.get("/finish", [this] {
      exporter_->finish();
      return Reply();
    });
    return std::move(router).build();
  }
  void start(log::Level level = log::Level::info) {
    log::Options options;
    options.sinks.push_back(otlp_output(queue_, level));
    options.mode = log::Mode::synchronous;
    log_ = *log::Log::start(std::move(options));
    client::HttpClientOptions of_client;
    of_client.tls.system_authorities = false;
    of_client.retries_max = 0;
    of_client.seed = 1;
    exporter_ = std::make_unique<LogExporter>(
        queue_, *client::HttpClient::make(std::move(of_client)), options_, log::Logger());
    server_.get("/start");
  }
  void log(int count) {
    for (int index = 0; index < count; ++index) log_->logger("shop").info("record {}", index);
    log_->flush();
  }
  std::uint64_t counted(OtlpFate fate) const { return exporter_->sender().counted(fate); }
  // Everything that was logged has come to one of its ends.
  void expect_all_counted(std::uint64_t logged) const {
    std::uint64_t sum = exporter_->queued();
    for (std::size_t fate = 0; fate < static_cast<std::size_t>(OtlpFate::count); ++fate) {
      sum += counted(static_cast<OtlpFate>(fate));
    }
    EXPECT_EQ(sum, logged);
  }

  katana::testing::TestServer server_;
  std::shared_ptr<LogQueue> queue_ = std::make_shared<LogQueue>(16);
  std::unique_ptr<katana::testing::FakeUpstream> collector_;
  LogExporterOptions options_;
  std::unique_ptr<LogExporter> exporter_;
  std::unique_ptr<log::Log> log_;
};

TEST_F(LogExporterTest, records_are_sent_in_their_order_after_the_interval_or_with_a_full_batch) {
  start();
  log(1);
  server_.advance(milliseconds(500));
  EXPECT_EQ(collector_->requests().size(), 0u);
  server_.advance(seconds(1));
  ASSERT_EQ(collector_->requests().size(), 1u);
  EXPECT_THAT(collector_->requests()[0].content, HasSubstr("record 0"));
  log(6);
  server_.advance(milliseconds(300));
  ASSERT_EQ(collector_->requests().size(), 3u);
  EXPECT_THAT(collector_->requests()[1].content, HasSubstr("record 3"));
  EXPECT_THAT(collector_->requests()[1].content, Not(HasSubstr("record 4")));
  EXPECT_THAT(collector_->requests()[2].content, HasSubstr("record 5"));
  EXPECT_EQ(counted(OtlpFate::sent), 7u);
}

TEST_F(LogExporterTest, an_exporter_without_records_rests_until_one_wakes_it) {
  int wakes = 0;
  queue_->set_wake([&] { ++wakes; });
  start();
  for (int round = 1; round <= 3; ++round) {
    server_.advance(seconds(10));
    log(2);
    EXPECT_EQ(wakes, round) << "once, however many records come";
    server_.advance(seconds(60));
    EXPECT_EQ(collector_->requests().size(), static_cast<std::size_t>(round - 1))
        << "it looks by itself";
    server_.get("/collect");  // as the thread of the exporters does when it is woken
    server_.advance(seconds(2));
    EXPECT_EQ(collector_->requests().size(), static_cast<std::size_t>(round));
  }
  EXPECT_EQ(counted(OtlpFate::sent), 6u);
  queue_->set_wake(nullptr);
}

TEST_F(LogExporterTest, records_below_the_level_are_not_sent) {
  start(log::Level::error);
  log(3);
  log_->logger("shop").error("broken");
  log_->flush();
  server_.advance(seconds(2));
  ASSERT_EQ(collector_->requests().size(), 1u);
  EXPECT_THAT(collector_->requests()[0].content, HasSubstr("broken"));
  expect_all_counted(1);
}

TEST_F(LogExporterTest, a_collector_that_is_down_costs_the_queue_and_gets_what_is_left) {
  start();
  collector_->go_down();
  log(40);
  server_.advance(seconds(2));
  EXPECT_EQ(counted(OtlpFate::queue_full), 24u);
  expect_all_counted(40);
  collector_->come_back();
  server_.advance(seconds(60));
  EXPECT_EQ(counted(OtlpFate::sent), 16u);
  EXPECT_EQ(exporter_->queued(), 0u);
  expect_all_counted(40);
}

TEST_F(LogExporterTest, the_end_sends_what_there_is_and_waits_for_nobody) {
  start();
  log(2);
  server_.get("/finish");
  server_.advance(milliseconds(300));
  EXPECT_EQ(counted(OtlpFate::sent), 2u);
}

TEST_F(LogExporterTest, what_is_left_when_time_is_over_is_counted_and_nothing_is_kept_after_it) {
  start();
  collector_->delay(seconds(9));
  log(6);
  server_.advance(seconds(2));
  exporter_->drop_rest();
  EXPECT_EQ(counted(OtlpFate::shutdown), 6u);
  log(3);
  EXPECT_EQ(queue_->size(), 0u);
}

TEST(LogQueue, its_memory_is_bounded_whatever_the_records_are) {
  LogQueue queue(1'000'000);
  // A record of 64 KiB: field 2 with a length.
  std::string record("\x12\x80\x80\x04", 4);
  record += std::string(64 * 1024, 'x');
  for (int count = 0; count < 300; ++count) queue.put(record);
  EXPECT_EQ(queue.size(), LogQueue::bytes_max / record.size());
  EXPECT_EQ(queue.take_dropped(), 300 - queue.size());
  std::size_t count = 1'000'000;
  EXPECT_EQ(queue.take(count).size(), count * record.size());
  queue.put(record);
  EXPECT_EQ(queue.size(), 1u);
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
