#include "katana/app/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "katana/observe/metrics/registry.hpp"

namespace katana::app {
namespace {

using testing::ElementsAre;

class HistoryTest : public testing::Test {
 protected:
  HistoryTest() : observability_(*server::Observability::make()) {
    auto& registry = observability_->registry();
    requests_ = std::make_unique<metrics::Family<metrics::Counter>>(
        *registry.counters({.name = "katana_http_route_requests",
                            .help = "Requests.",
                            .labels = {"method", "route", "status"}}));
    durations_ = std::make_unique<metrics::Family<metrics::LogHistogram>>(
        *registry.log_histograms({.name = "katana_http_route_duration_seconds",
                                  .help = "Durations.",
                                  .labels = {"method", "route"},
                                  .unit = "seconds"},
                                 {metrics::LogBuckets(3, 600'000'000'000), 1e9, {}}));
    stalls_ = std::make_unique<metrics::Family<metrics::Counter>>(*registry.counters(
        {.name = "katana_reactor_stalls", .help = "Stalls.", .labels = {"reactor"}}));
  }

  void serve(const std::string& route, const std::string& status, Duration duration,
             int count = 1) {
    for (int each = 0; each < count; ++each) {
      requests_->with("GET", route, status).add();
      durations_->with("GET", route).observe(duration);
    }
  }
  void tick(History& history) {
    history.tick(now_);
    now_ += std::chrono::seconds(10);
  }

  std::unique_ptr<server::Observability> observability_;
  std::unique_ptr<metrics::Family<metrics::Counter>> requests_, stalls_;
  std::unique_ptr<metrics::Family<metrics::LogHistogram>> durations_;
  server::SlowestRequests slowest_;
  Timestamp now_ = Timestamp(std::chrono::seconds(1'700'000'000));
};

TEST_F(HistoryTest, a_column_has_what_happened_since_the_one_before) {
  History history(*observability_, nullptr, slowest_);
  serve("/users", "2xx", milliseconds(3), 5);  // before the history begins
  tick(history);
  EXPECT_TRUE(history.document().columns.empty());
  serve("/users", "2xx", milliseconds(3), 7);
  serve("/users", "5xx", milliseconds(3), 2);
  serve("_unmatched", "none", milliseconds(3));
  stalls_->with("0").add();
  stalls_->with("1").add();
  tick(history);
  tick(history);
  const HistoryDocument document = history.document();
  ASSERT_EQ(document.columns.size(), 2u);
  EXPECT_THAT(document.columns[0].statuses, ElementsAre(1, 0, 7, 0, 0, 2));
  EXPECT_EQ(document.columns[0].span_ms, 10'000);
  EXPECT_EQ(document.columns[0].at_ms, 1'700'000'010'000);
  EXPECT_EQ(document.columns[0].stalls, 2);
  EXPECT_GT(document.columns[0].resident_bytes, 0);
  EXPECT_THAT(document.columns[1].statuses, ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_EQ(document.columns[1].stalls, 0);
  EXPECT_EQ(document.interval_s, 10);
  EXPECT_FALSE(document.has_database);
}

TEST_F(HistoryTest, durations_are_counted_by_route_and_step) {
  History history(*observability_, nullptr, slowest_);
  tick(history);
  serve("/users", "2xx", microseconds(400), 3);
  serve("/users", "2xx", milliseconds(40));
  serve("/report", "2xx", seconds(700));  // beyond the largest bucket of the metric
  tick(history);
  serve("/users", "2xx", microseconds(400), 2);
  tick(history);
  const HistoryDocument document = history.document();
  ASSERT_EQ(document.routes.size(), 2u);
  EXPECT_EQ(document.routes[0].route, "GET /report");
  EXPECT_THAT(document.routes[0].cells, ElementsAre(0, 11, 1));
  EXPECT_EQ(document.routes[1].route, "GET /users");
  EXPECT_EQ(document.bounds_us[5], 50'000);
  EXPECT_THAT(document.routes[1].cells, ElementsAre(0, 0, 3, 0, 5, 1, 1, 0, 2));
}

TEST_F(HistoryTest, only_a_quarter_of_an_hour_is_kept) {
  History history(*observability_, nullptr, slowest_);
  tick(history);
  serve("/old", "2xx", milliseconds(1));
  for (std::size_t each = 0; each <= History::columns_max; ++each) tick(history);
  const HistoryDocument document = history.document();
  EXPECT_EQ(document.columns.size(), History::columns_max);
  EXPECT_EQ(static_cast<std::int64_t>(History::columns_max) * document.interval_s, 15 * 60);
  EXPECT_TRUE(document.routes.empty());
}

TEST_F(HistoryTest, a_clock_that_was_set_back_gives_no_negative_span) {
  History history(*observability_, nullptr, slowest_);
  tick(history);
  now_ -= std::chrono::hours(1);
  tick(history);
  EXPECT_EQ(history.document().columns.at(0).span_ms, 1);
}

TEST_F(HistoryTest, slow_requests_stay_for_a_quarter_of_an_hour) {
  History history(*observability_, nullptr, slowest_);
  session::ExchangeRecord record;
  record.method = "GET";
  record.duration = seconds(3);
  slowest_.on_end(record);
  ASSERT_EQ(history.document().slowest.size(), 1u);
  EXPECT_EQ(history.document().slowest[0].duration_ms, 3000);
  for (std::size_t each = 0; each + 1 < History::columns_max; ++each) tick(history);
  EXPECT_EQ(history.document().slowest.size(), 1u);
  tick(history);
  EXPECT_TRUE(history.document().slowest.empty());
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
