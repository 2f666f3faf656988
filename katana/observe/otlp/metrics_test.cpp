// Metrics of OTLP, read back by field; tests/conformance/test_telemetry.py reads them with the
// definitions of opentelemetry-proto.
#include "katana/observe/otlp/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "katana/observe/otlp/message_reader_test.hpp"

namespace katana::otlp {
namespace {

using test::bytes_in;
using test::double_in;
using test::fields_of;
using test::fixed_in;
using test::ReadField;
using test::signed_in;
using test::value_in;
using test::varints_in;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t started_ns = 1'000;
constexpr std::uint64_t now_ns = 5'000;

struct ReadMetric {
  std::string unit;
  std::string help;
  std::uint32_t kind = 0;  // the number of its field: 5, 7, 9, 10
  std::uint64_t temporality = 0;
  std::uint64_t is_monotonic = 0;
  std::vector<std::string> points = {};
};

class MetricsTest : public ::testing::Test {
 protected:
  std::map<std::string, ReadMetric> read(const std::vector<MetricsMessage>& messages) {
    std::map<std::string, ReadMetric> read;
    for (const MetricsMessage& message : messages) {
      std::size_t points = 0;
      for (const ReadField& each : fields_of(message.metrics)) {
        EXPECT_EQ(each.number, 2u);
        ReadMetric& metric = read[bytes_in(each.bytes, 1)];
        metric.help = bytes_in(each.bytes, 2);
        metric.unit = bytes_in(each.bytes, 3);
        for (const ReadField& data : fields_of(each.bytes)) {
          if (data.number < 5) continue;
          metric.kind = data.number;
          metric.temporality = value_in(data.bytes, 2);
          metric.is_monotonic = value_in(data.bytes, 3);
          for (const ReadField& point : fields_of(data.bytes)) {
            if (point.number == 1) metric.points.push_back(point.bytes), ++points;
          }
        }
      }
      EXPECT_EQ(points, message.points);
    }
    read.erase("katana_metrics_overflowed");
    return read;
  }
  std::map<std::string, ReadMetric> collect() {
    messages_ = encoder_->collect(registry_, now_ns);
    return read(messages_);
  }
  void commit() {
    for (const MetricsMessage& each : messages_) encoder_->commit(each);
  }
  // Attributes of a point as "key=value" of text.
  static std::vector<std::string> attributes(Bytes point, std::uint32_t number) {
    std::vector<std::string> texts;
    for (const ReadField& each : fields_of(point)) {
      if (each.number != number) continue;
      texts.push_back(bytes_in(each.bytes, 1) + "=" + bytes_in(bytes_in(each.bytes, 2), 1));
    }
    return texts;
  }
  void use(MetricsEncoderOptions options) {
    options.started_ns = started_ns;
    encoder_.emplace(options);
  }

  metrics::Registry registry_;
  std::optional<MetricsEncoder> encoder_{MetricsEncoderOptions{.started_ns = started_ns}};
  std::vector<MetricsMessage> messages_;
};

TEST_F(MetricsTest, a_counter_is_a_sum_of_whole_numbers_from_the_start_on) {
  const auto family = registry_.counters(
      {.name = "shop_orders_total", .help = "Orders.", .labels = {"kind", "city"}});
  family->with("new", "a\"\\\nb").add(3);
  family->with("old", "").add(1);
  const ReadMetric orders = collect().at("shop_orders");
  EXPECT_EQ(orders.kind, 7u);
  EXPECT_EQ(orders.help, "Orders.");
  EXPECT_EQ(orders.unit, "");
  EXPECT_EQ(orders.temporality, 2u) << "cumulative";
  EXPECT_EQ(orders.is_monotonic, 1u);
  ASSERT_THAT(orders.points, SizeIs(2));
  EXPECT_THAT(attributes(orders.points[0], 7), ElementsAre("kind=new", "city=a\"\\\nb"));
  EXPECT_THAT(fixed_in(orders.points[0], 2), ElementsAre(started_ns));
  EXPECT_THAT(fixed_in(orders.points[0], 3), ElementsAre(now_ns));
  EXPECT_THAT(fixed_in(orders.points[0], 6), ElementsAre(3u));
  EXPECT_THAT(attributes(orders.points[1], 7), ElementsAre("kind=old", "city="));
}

TEST_F(MetricsTest, a_gauge_has_its_value_now_and_no_start) {
  registry_.gauge("shop_stock_bytes", "Stock.")->set(-1.5);
  const ReadMetric stock = collect().at("shop_stock_bytes");
  EXPECT_EQ(stock.kind, 5u);
  EXPECT_EQ(stock.unit, "By");
  ASSERT_THAT(stock.points, SizeIs(1));
  EXPECT_EQ(double_in(stock.points[0], 4), -1.5);
  EXPECT_THAT(fixed_in(stock.points[0], 2), IsEmpty());
}

TEST_F(MetricsTest, an_observed_counter_is_a_sum_of_a_number) {
  registry_.observed_counters({.name = "shop_cpu_seconds", .help = "CPU."})->with().observe(0.25);
  const ReadMetric cpu = collect().at("shop_cpu_seconds");
  EXPECT_EQ(cpu.kind, 7u);
  EXPECT_EQ(cpu.unit, "s");
  EXPECT_EQ(cpu.is_monotonic, 1u);
  EXPECT_EQ(double_in(cpu.points.at(0), 4), 0.25);
}

TEST_F(MetricsTest, a_histogram_has_its_bounds_and_each_bucket) {
  const auto sizes = registry_.histogram("shop_sizes", "Sizes.", {1, 10});
  for (const double size : {0.5, 1.0, 2.0, 100.0}) sizes->observe(size);
  const ReadMetric read = collect().at("shop_sizes");
  EXPECT_EQ(read.kind, 9u);
  const std::string& point = read.points.at(0);
  EXPECT_THAT(fixed_in(point, 4), ElementsAre(4u));
  EXPECT_EQ(double_in(point, 5), 103.5);
  EXPECT_THAT(fixed_in(point, 6), ElementsAre(2u, 1u, 1u));
  EXPECT_THAT(fixed_in(point, 7),
              ElementsAre(std::bit_cast<std::uint64_t>(1.0), std::bit_cast<std::uint64_t>(10.0)));
}

// Upper bound of the bucket (base^index, base^(index + 1)].
double upper_of(std::int64_t index, std::int64_t scale) {
  return std::exp2(std::ldexp(static_cast<double>(index + 1), static_cast<int>(-scale)));
}

TEST_F(MetricsTest, a_log_histogram_is_exponential_and_as_precise_as_it_was_counted) {
  const auto times = registry_.log_histogram("shop_seconds", "Time.");
  times->observe(Duration{});
  for (int count = 0; count < 3; ++count) times->observe(milliseconds(10));
  times->observe(milliseconds(20));
  const ReadMetric read = collect().at("shop_seconds");
  EXPECT_EQ(read.kind, 10u);
  EXPECT_EQ(read.unit, "s");
  const std::string& point = read.points.at(0);
  EXPECT_THAT(fixed_in(point, 4), ElementsAre(5u));
  EXPECT_NEAR(double_in(point, 5), 0.05, 1e-9);
  EXPECT_THAT(fixed_in(point, 7), ElementsAre(1u)) << "zero";
  const std::int64_t scale = signed_in(point, 6);
  EXPECT_EQ(scale, 5);
  const std::string positive = bytes_in(point, 8);
  const std::int64_t offset = signed_in(positive, 1);
  const auto counts = varints_in(bytes_in(positive, 2));
  EXPECT_EQ(counts.front(), 3u);
  EXPECT_EQ(counts.back(), 1u);
  EXPECT_NEAR(upper_of(offset, scale), 0.010, 0.010 * 0.05);
  EXPECT_NEAR(upper_of(offset + static_cast<std::int64_t>(counts.size()) - 1, scale), 0.020,
              0.020 * 0.05);
}

TEST_F(MetricsTest, the_scale_falls_until_all_fits_into_the_buckets_that_there_may_be) {
  const auto times = registry_.log_histogram("shop_seconds", "Time.");
  std::uint64_t count = 0;
  for (std::uint64_t ns = 1; ns < 200'000'000'000; ns = ns * 5 / 4 + 1, ++count) {
    times->observe(ns);
  }
  const std::string point = collect().at("shop_seconds").points.at(0);
  const auto counts = varints_in(bytes_in(bytes_in(point, 8), 2));
  EXPECT_LE(counts.size(), MetricsEncoder::exponential_buckets_max);
  EXPECT_GT(counts.size(), MetricsEncoder::exponential_buckets_max / 2 - 1);
  std::uint64_t sum = 0;
  for (const std::uint64_t each : counts) sum += each;
  EXPECT_EQ(sum, count);
  EXPECT_LT(signed_in(point, 6), 5);
}

TEST_F(MetricsTest, a_log_histogram_may_have_the_bounds_that_a_scraper_is_told) {
  use({.histograms = HistogramForm::explicit_bounds});
  metrics::LogShape shape;
  shape.told = {1'000'000, 1'000'000'000};
  const auto times = registry_.log_histogram("shop_seconds", "Time.", shape);
  times->observe(milliseconds(1));
  times->observe(milliseconds(5));
  times->observe(seconds(5));
  const ReadMetric read = collect().at("shop_seconds");
  EXPECT_EQ(read.kind, 9u);
  EXPECT_THAT(fixed_in(read.points.at(0), 6), ElementsAre(1u, 1u, 1u));
  EXPECT_THAT(fixed_in(read.points.at(0), 7), SizeIs(2));
}

TEST_F(MetricsTest, an_exemplar_is_sent_with_its_trace_until_it_is_accepted) {
  auto family = registry_.log_histograms(
      {.name = "t_seconds", .help = "T.", .unit = "seconds", .exemplars = true},
      {metrics::LogBuckets(3, 10'000'000'000), 1e9, {1'000'000, 1 << 30}});
  const auto time = family->with();
  time.observe(milliseconds(3));
  time.note_exemplar(milliseconds(3),
                     {.trace_high = 0x01, .trace_low = 0x02, .span = 0x03, .at_ns = 4'000});
  for (const auto form : {HistogramForm::exponential, HistogramForm::explicit_bounds}) {
    use({.histograms = form});
    const std::uint32_t number = form == HistogramForm::exponential ? 11 : 8;
    const std::string point = collect().at("t_seconds").points.at(0);
    const std::string exemplar = bytes_in(point, number);
    EXPECT_THAT(fixed_in(exemplar, 2), ElementsAre(4'000u));
    EXPECT_EQ(double_in(exemplar, 3), 0.003);
    EXPECT_EQ(bytes_in(exemplar, 4), std::string("\0\0\0\0\0\0\0\x03", 8));
    EXPECT_EQ(bytes_in(exemplar, 5), std::string("\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x02", 16));
    const std::string again = collect().at("t_seconds").points.at(0);
    EXPECT_NE(bytes_in(again, number), "") << "nobody took the first";
    commit();
    const std::string next = collect().at("t_seconds").points.at(0);
    EXPECT_EQ(bytes_in(next, number), "") << "it was accepted";
  }
}

TEST_F(MetricsTest, what_overflows_has_the_attribute_of_the_specification) {
  const auto family = registry_.counters(
      {.name = "shop_orders", .help = "Orders.", .labels = {"user"}, .series_max = 1});
  family->with("ann").add();
  family->with("bob").add(2);
  const ReadMetric orders = collect().at("shop_orders");
  ASSERT_THAT(orders.points, SizeIs(2));
  EXPECT_THAT(attributes(orders.points[1], 7), ElementsAre("otel.metric.overflow="));
}

TEST_F(MetricsTest, a_delta_counts_from_what_was_taken_and_leaves_out_what_is_as_it_was) {
  use({.temporality = Temporality::delta});
  const auto orders = registry_.counter("shop_orders", "Orders.");
  const auto times = registry_.log_histogram("shop_seconds", "Time.");
  registry_.gauge("shop_level", "Level.")->set(7);
  orders->add(3);
  times->observe(seconds(1));
  auto read = collect();
  EXPECT_EQ(read.at("shop_orders").temporality, 1u);
  EXPECT_THAT(fixed_in(read.at("shop_orders").points.at(0), 2), ElementsAre(started_ns));
  EXPECT_THAT(fixed_in(read.at("shop_orders").points.at(0), 6), ElementsAre(3u));
  // The message was not accepted: the next one has it, too.
  orders->add(2);
  read = collect();
  EXPECT_THAT(fixed_in(read.at("shop_orders").points.at(0), 6), ElementsAre(5u));
  commit();
  read = collect();
  EXPECT_EQ(read.count("shop_orders"), 0u);
  EXPECT_EQ(read.count("shop_seconds"), 0u);
  EXPECT_EQ(read.count("shop_level"), 1u) << "a gauge is what it is";
  orders->add(4);
  times->observe(seconds(2));
  messages_ = encoder_->collect(registry_, now_ns + 100);
  read = this->read(messages_);
  EXPECT_THAT(fixed_in(read.at("shop_orders").points.at(0), 2), ElementsAre(now_ns));
  EXPECT_THAT(fixed_in(read.at("shop_orders").points.at(0), 6), ElementsAre(4u));
  EXPECT_THAT(fixed_in(read.at("shop_seconds").points.at(0), 4), ElementsAre(1u));
  EXPECT_NEAR(double_in(read.at("shop_seconds").points.at(0), 5), 2.0, 1e-9);
}

TEST_F(MetricsTest, low_memory_has_deltas_but_of_counters_that_are_kept_elsewhere) {
  use({.temporality = Temporality::low_memory});
  registry_.counter("shop_orders", "Orders.")->add(3);
  registry_.observed_counters({.name = "shop_seen", .help = "Seen."})->with().observe(5);
  (void)collect();
  commit();
  const auto read = collect();
  EXPECT_EQ(read.count("shop_orders"), 0u);
  EXPECT_EQ(read.at("shop_seen").temporality, 2u);
  EXPECT_EQ(double_in(read.at("shop_seen").points.at(0), 4), 5);
}

TEST_F(MetricsTest, a_message_ends_at_its_size_and_each_is_taken_alone) {
  use({.temporality = Temporality::delta, .message_bytes_max = 200});
  const auto family =
      registry_.counters({.name = "shop_orders", .help = "Orders.", .labels = {"user"}});
  for (int user = 0; user < 20; ++user) family->with(std::to_string(user)).add();
  EXPECT_THAT(collect().at("shop_orders").points, SizeIs(20));
  ASSERT_GT(messages_.size(), 3u);
  const std::size_t taken = messages_[1].points;
  encoder_->commit(messages_[1]);
  EXPECT_THAT(collect().at("shop_orders").points, SizeIs(20 - taken));
}

TEST_F(MetricsTest, a_standard_metric_has_the_names_of_the_conventions_and_no_empty_attribute) {
  use({});
  const metrics::StandardMetric& standard = metrics::http_server_request_duration();
  auto durations = *registry_.log_histograms(metrics::description_of(standard, false),
                                             metrics::standard_shape());
  durations.with("GET", "http", "/users/{id}", "200", "1.1", "").observe(milliseconds(20));
  auto read = collect();
  ASSERT_TRUE(read.contains("http.server.request.duration"));
  const ReadMetric& metric = read["http.server.request.duration"];
  EXPECT_EQ(metric.unit, "s");
  EXPECT_EQ(metric.kind, 10u);
  ASSERT_THAT(metric.points, SizeIs(1));
  EXPECT_THAT(attributes(metric.points[0], 1),
              ElementsAre("http.request.method=GET", "url.scheme=http", "http.route=/users/{id}",
                          "http.response.status_code=", "network.protocol.version=1.1"));
  for (const ReadField& each : fields_of(metric.points[0])) {
    if (each.number != 1 || bytes_in(each.bytes, 1) != "http.response.status_code") continue;
    EXPECT_EQ(value_in(bytes_in(each.bytes, 2), 3), 200u) << "it is a number";
  }
}

}  // namespace
}  // namespace katana::otlp

// SPDX-License-Identifier: Apache-2.0
