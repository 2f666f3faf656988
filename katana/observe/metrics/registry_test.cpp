#include "katana/observe/metrics/registry.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <vector>

#include "exposition_reader_test.hpp"
#include "katana/observe/metrics/exposition.hpp"

namespace katana::metrics {
namespace {

// The message of the Error, or "accepted".
template <class T>
std::string refusal(const Result<T>& result) {
  return result ? "accepted" : result.error().describe();
}

class RegistryTest : public testing::Test {
 protected:
  std::optional<double> told(const std::string& series) {
    std::string text;
    write_exposition(registry, Format::prometheus, text);
    const ExpositionReader reader(text, Format::prometheus);
    EXPECT_EQ(reader.errors, "") << text;
    return reader.value(series);
  }
  Registry registry{{.series_per_family_max = 3}};
};

TEST_F(RegistryTest, names_that_a_scraper_would_refuse_are_errors_that_name_them) {
  for (const std::string name : {"", "1st", "a-b", "a b", "a.b", "ä"}) {
    const std::string message = refusal(registry.counter(name, "help"));
    EXPECT_NE(message.find("metric '" + name + "'"), std::string::npos) << message;
    EXPECT_NE(message.find("letters, digits"), std::string::npos) << message;
  }
  EXPECT_NE(refusal(registry.counter(std::string(201, 'a'), "help")), "accepted");
  EXPECT_EQ(refusal(registry.counter("a:b_1", "help")), "accepted");
}

TEST_F(RegistryTest, endings_that_mean_something_else_are_refused) {
  EXPECT_NE(refusal(registry.gauge("queue_total", "help")).find("'_total'"), std::string::npos);
  EXPECT_NE(refusal(registry.gauge("queue_count", "help")).find("'_count'"), std::string::npos);
  EXPECT_NE(refusal(registry.histogram("t_bucket", "help", {1})).find("'_bucket'"),
            std::string::npos);
  EXPECT_NE(refusal(registry.counter("a_total_total", "help")).find("'_total'"), std::string::npos);
  EXPECT_EQ(refusal(registry.gauge("build_info", "help")), "accepted");
}

TEST_F(RegistryTest, help_is_required_and_is_utf8) {
  EXPECT_NE(refusal(registry.counter("a", "")).find("help is 1 to"), std::string::npos);
  EXPECT_NE(refusal(registry.counter("a", "\xff")).find("UTF-8"), std::string::npos);
}

TEST_F(RegistryTest, a_unit_stands_at_the_end_of_the_name) {
  EXPECT_NE(refusal(registry.gauges({.name = "a", .help = "h", .labels = {}, .unit = "seconds"}))
                .find("must end with '_seconds'"),
            std::string::npos);
  EXPECT_EQ(
      refusal(registry.gauges({.name = "a_seconds", .help = "h", .labels = {}, .unit = "seconds"})),
      "accepted");
}

TEST_F(RegistryTest, labels_that_are_wrong_are_errors_that_name_them) {
  const auto with_labels = [this](std::vector<std::string> labels) {
    return refusal(
        registry.histograms({.name = "x", .help = "h", .labels = std::move(labels)}, {1}));
  };
  EXPECT_NE(with_labels({"__x"}).find("label '__x'"), std::string::npos);
  EXPECT_NE(with_labels({"a:b"}).find("label 'a:b'"), std::string::npos);
  EXPECT_NE(with_labels({"le"}).find("label 'le' is the histogram's own"), std::string::npos);
  EXPECT_NE(with_labels({"a", "b", "a"}).find("label 'a' is there twice"), std::string::npos);
  EXPECT_NE(with_labels(std::vector<std::string>(17, "a")).find("17 labels"), std::string::npos);
}

TEST_F(RegistryTest, the_same_description_again_is_the_same_family) {
  auto first = registry.counter("hits_total", "Hits.");
  auto second = registry.counter("hits", "Hits.");  // with or without the end
  ASSERT_TRUE(first && second);
  first->add(2);
  second->add(3);
  EXPECT_EQ(told("hits_total"), 5);
}

TEST_F(RegistryTest, a_name_that_is_taken_otherwise_is_an_error_that_says_by_what) {
  ASSERT_TRUE(registry.counters({.name = "hits", .help = "Hits.", .labels = {"page"}}));
  const std::string expected = "registered as counter 'hits' with labels (page), help 'Hits.'";
  for (const std::string& message :
       {refusal(registry.gauge("hits", "Hits.")), refusal(registry.counter("hits", "Hits.")),
        refusal(registry.counters({.name = "hits", .help = "Other.", .labels = {"page"}})),
        refusal(registry.observed_counters({.name = "hits", .help = "Hits.", .labels = {"page"}})),
        refusal(registry.histogram("hits", "Hits.", {1}))}) {
    EXPECT_NE(message.find(expected), std::string::npos) << message;
  }
  ASSERT_TRUE(registry.histogram("t", "T.", {1, 2}));
  EXPECT_NE(refusal(registry.histogram("t", "T.", {1, 3})), "accepted");
  ASSERT_TRUE(registry.log_histogram("l", "L."));
  EXPECT_NE(refusal(registry.log_histogram("l", "L.", {LogBuckets(3, 1000), 1})), "accepted");
}

TEST_F(RegistryTest, a_series_is_resolved_once_for_the_same_values) {
  auto hits = registry.counters({.name = "hits", .help = "Hits.", .labels = {"page", "status"}});
  ASSERT_TRUE(hits);
  hits->with("home", "200").add(1);
  hits->with("home", "200").add(1);
  hits->with("home2", "00").add(1);  // not the same as the values run together
  EXPECT_EQ(told(R"(hits_total{page="home",status="200"})"), 2);
  EXPECT_EQ(told(R"(hits_total{page="home2",status="00"})"), 1);
}

TEST_F(RegistryTest, a_divisor_that_is_none_is_refused) {
  for (const double divisor : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    const std::string message = refusal(registry.log_histogram("l", "L.", {LogBuckets(), divisor}));
    EXPECT_NE(message.find("metric 'l': its divisor is"), std::string::npos) << message;
  }
}

TEST_F(RegistryTest, the_wrong_number_of_values_is_an_error_that_names_the_labels) {
  auto hits = registry.counters({.name = "hits", .help = "Hits.", .labels = {"page", "status"}});
  const std::string message = refusal(hits->resolve({"home"}));
  EXPECT_NE(message.find("metric 'hits' has 2 labels (page, status) and was given 1"),
            std::string::npos)
      << message;
}

TEST_F(RegistryTest, series_beyond_the_limit_are_refused_or_counted_in_the_overflow_series) {
  auto hits = registry.counters({.name = "hits", .help = "Hits.", .labels = {"page"}});
  for (const char* page : {"a", "b", "c"}) ASSERT_TRUE(hits->resolve({page}));
  const std::string message = refusal(hits->resolve({"d"}));
  EXPECT_NE(message.find("metric 'hits' has 3 series, which is its limit"), std::string::npos);
  EXPECT_NE(message.find("raise series_max"), std::string::npos);
  EXPECT_EQ(refusal(hits->resolve({"a"})), "accepted");  // existing series stay

  hits->with("d").add(1);
  hits->with("e").add(2);
  EXPECT_EQ(told(R"(hits_total{page="_overflow"})"), 3);
  EXPECT_EQ(told(R"(katana_metrics_overflowed_total{metric="hits"})"), 2);
  hits->with("b").add(5);
  EXPECT_EQ(told(R"(hits_total{page="b"})"), 5);
}

TEST_F(RegistryTest, a_value_that_is_too_long_goes_to_the_overflow_series) {
  auto hits = registry.gauges({.name = "hits", .help = "Hits.", .labels = {"page"}});
  const std::string value(label_bytes_max + 1, 'x');
  EXPECT_NE(refusal(hits->resolve({value})).find("label 'page' has 257 bytes"), std::string::npos);
  hits->with(value).set(4);
  EXPECT_EQ(told(R"(hits{page="_overflow"})"), 4);
  EXPECT_EQ(refusal(hits->resolve({std::string(label_bytes_max, 'x')})), "accepted");
}

TEST_F(RegistryTest, octets_that_are_no_text_are_replaced_and_one_series) {
  auto hits = registry.counters({.name = "hits", .help = "Hits.", .labels = {"page"}});
  hits->with("a\xff").add(1);
  hits->with("a\xfe").add(1);
  EXPECT_EQ(told("hits_total{page=\"a\xef\xbf\xbd\"}"), 2);
}

TEST_F(RegistryTest, gauges_are_set_and_moved_and_observed_counters_never_fall) {
  auto gauge = registry.gauge("depth", "Depth.");
  gauge->set(10);
  gauge->add(5);
  gauge->subtract(2.5);
  EXPECT_EQ(told("depth"), 12.5);
  auto counters = registry.observed_counters({.name = "read", .help = "Read."});
  const ObservedCounter counter = *counters->resolve({});
  for (const double value : {3.0, 2.0, std::nan(""), -1.0}) counter.observe(value);
  EXPECT_EQ(told("read_total"), 3);
}

TEST_F(RegistryTest, what_is_kept_elsewhere_is_read_before_each_scrape) {
  auto gauge = registry.gauge("elsewhere", "Elsewhere.");
  int calls = 0;
  registry.before_scrape([&, gauge = *gauge] { gauge.set(++calls); });
  EXPECT_EQ(told("elsewhere"), 1);
  EXPECT_EQ(told("elsewhere"), 2);
}

TEST_F(RegistryTest, a_histogram_counts_and_sums_and_takes_nonsense_as_zero) {
  auto histogram = registry.histogram("t_seconds", "T.", {0.1, 1});
  for (const double value : {0.05, 0.1, 0.5, 7.0, -3.0}) histogram->observe(value);
  histogram->observe(NAN);
  EXPECT_EQ(told(R"(t_seconds_bucket{le="0.1"})"), 4);
  EXPECT_EQ(told(R"(t_seconds_bucket{le="1.0"})"), 5);
  EXPECT_EQ(told(R"(t_seconds_bucket{le="+Inf"})"), 6);
  EXPECT_EQ(told("t_seconds_count"), 6);
  EXPECT_DOUBLE_EQ(*told("t_seconds_sum"), 7.65);
  EXPECT_EQ(histogram->count(), 6u);
  EXPECT_DOUBLE_EQ(histogram->sum(), 7.65);
}

TEST_F(RegistryTest, the_series_of_a_log_histogram_are_summed_but_those_that_are_excepted) {
  EXPECT_FALSE(registry.sum_of("took"));
  auto took = registry.log_histograms({.name = "took", .help = "T.", .labels = {"route"}});
  ASSERT_TRUE(took);
  EXPECT_FALSE(registry.sum_of("took"));
  took->with("/a").observe(1000);
  took->with("/b").observe(2000);
  took->with("/stream").observe(900'000);
  const auto all = registry.sum_of("took"), some = registry.sum_of("took", "/stream");
  ASSERT_TRUE(all && some);
  EXPECT_EQ(all->count, 3u);
  EXPECT_EQ(all->sum, 903'000u);
  EXPECT_EQ(some->count, 2u);
  EXPECT_EQ(some->sum, 3'000u);
  LogSnapshot difference = *all;
  difference -= *some;
  EXPECT_EQ(difference.count, 1u);
  EXPECT_NEAR(static_cast<double>(difference.quantile(0.5)), 900'000, 900'000 / 16.0);
  EXPECT_FALSE(registry.sum_of("took", "route"));
  EXPECT_FALSE(registry.sum_of("other"));
}

TEST_F(RegistryTest, a_log_histogram_answers_quantiles_within_its_precision) {
  auto histogram = registry.log_histogram("t_seconds", "T.");
  EXPECT_EQ(histogram->snapshot().quantile(0.5), 0u);
  for (std::uint64_t value = 1; value <= 100'000; ++value) histogram->observe(value * 1000);
  histogram->observe(microseconds(-5));
  const LogSnapshot snapshot = histogram->snapshot();
  EXPECT_EQ(snapshot.count, 100'001u);
  EXPECT_EQ(snapshot.sum, 100'000ull * 100'001 / 2 * 1000);
  for (const double q : {0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const double exact = q * 1e8;
    EXPECT_GE(static_cast<double>(snapshot.quantile(q)), exact * 0.999) << q;
    EXPECT_LE(static_cast<double>(snapshot.quantile(q)), exact * (1 + 1.0 / 32) + 1000) << q;
  }
  EXPECT_EQ(snapshot.quantile(0), 0u);
  // Exposed in seconds, with the buckets that end a power of two.
  EXPECT_EQ(told(R"(t_seconds_bucket{le="0.016777215"})"), 16'778);
  EXPECT_EQ(told("t_seconds_count"), 100'001);
}

TEST_F(RegistryTest, handles_of_nobody_count_nowhere) {
  Counter().add();
  Gauge().set(1);
  Histogram().observe(1);
  LogHistogram().observe(std::uint64_t{1});
  ObservedCounter().observe(1);
  EXPECT_EQ(Histogram().count(), 0u);
  EXPECT_EQ(LogHistogram().snapshot().count, 0u);
  std::string text;
  write_exposition(registry, Format::prometheus, text);
  EXPECT_EQ(text, "");
}

TEST_F(RegistryTest, threads_that_count_resolve_and_scrape_at_once_lose_nothing) {
  Registry shared;
  auto hits = shared.counters({.name = "hits", .help = "Hits.", .labels = {"page"}});
  auto times = shared.histogram("times", "Times.", exponential_bounds(1, 2, 10));
  auto logs = shared.log_histogram("logs", "Logs.");
  constexpr int threads = 4, rounds = 3'000;
  std::atomic<int> running = threads;
  std::vector<std::thread> all;
  for (int number = 0; number < threads; ++number) {
    all.emplace_back([&, number] {
      for (int round = 0; round < rounds; ++round) {
        hits->with(std::to_string((round + number) % 50)).add();
        times->observe(round);
        logs->observe(static_cast<std::uint64_t>(round));
      }
      --running;
    });
  }
  double last = 0;
  do {
    std::string text;
    write_exposition(shared, Format::open_metrics, text);
    const ExpositionReader reader(text, Format::open_metrics);
    ASSERT_EQ(reader.errors, "");
    const double count = reader.value("times_count").value_or(0);
    ASSERT_GE(count, last);
    last = count;
  } while (running > 0);
  for (std::thread& thread : all) thread.join();
  double sum = 0;
  for (int page = 0; page < 50; ++page) {
    sum += static_cast<double>(hits->with(std::to_string(page)).value());
  }
  EXPECT_EQ(sum, threads * rounds);
  EXPECT_EQ(times->count(), std::uint64_t{threads} * rounds);
  EXPECT_EQ(times->sum(), threads * (rounds - 1.0) * rounds / 2);
  EXPECT_EQ(logs->snapshot().count, std::uint64_t{threads} * rounds);
}

}  // namespace
}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
