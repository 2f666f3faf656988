// The table of OpenTelemetry's names, and what the outputs make of it.
#include "katana/observe/metrics/standard_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "katana/observe/metrics/exposition.hpp"

namespace katana::metrics {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(StandardNames, follow_the_rules_of_prometheus_and_are_found_by_them) {
  std::set<std::string> names;
  for (const StandardMetric& each : standard_metrics()) {
    const std::string name = prometheus_name(each);
    EXPECT_TRUE(names.insert(name).second);
    EXPECT_EQ(find_standard(name), &each);
    EXPECT_EQ(name.find('.'), std::string::npos);
    EXPECT_FALSE(each.labels.empty());
  }
  EXPECT_THAT(names, ElementsAre("db_client_operation_duration_seconds",
                                 "http_client_request_duration_seconds",
                                 "http_server_request_duration_seconds"));
  EXPECT_EQ(prometheus_label("http.response.status_code"), "http_response_status_code");
}

TEST(StandardNames, of_other_metrics_are_not_found) {
  for (const char* name :
       {"", "seconds", "_seconds", "katana_http_route_duration_seconds",
        "http_server_request_duration", "http_server_request_duration_bytes",
        "http.server.request.duration_seconds", "http_server_request_durationxseconds"}) {
    EXPECT_EQ(find_standard(name), nullptr) << name;
  }
}

TEST(StandardNames, are_exposed_only_if_that_is_wanted) {
  for (const bool is_exposed : {true, false}) {
    Registry registry;
    auto family = registry.log_histograms(
        description_of(db_client_operation_duration(), is_exposed), standard_shape());
    ASSERT_TRUE(family);
    family->with("sqlite", "SELECT users", "").observe(milliseconds(6));
    std::string text;
    write_exposition(registry, Format::open_metrics, text);
    const std::string line =
        "db_client_operation_duration_seconds_count{db_system_name=\"sqlite\","
        "db_query_summary=\"SELECT users\",error_type=\"\"} 1\n";
    if (is_exposed) {
      EXPECT_THAT(text, HasSubstr("# TYPE db_client_operation_duration_seconds histogram\n"
                                  "# UNIT db_client_operation_duration_seconds seconds\n"));
      EXPECT_THAT(text, HasSubstr(line));
    } else {
      EXPECT_THAT(text, Not(HasSubstr("db_client")));
    }
    EXPECT_EQ(registry.families().back()->description().is_exposed, is_exposed);
  }
}

TEST(StandardNames, have_buckets_from_5_ms_to_10_s) {
  const LogShape shape = standard_shape();
  EXPECT_EQ(shape.told.size(), 14u);
  EXPECT_EQ(shape.told.front(), 5'000'000u);
  EXPECT_EQ(shape.told.back(), 10'000'000'000u);
}

}  // namespace
}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
