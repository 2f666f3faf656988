#include "katana/observe/metrics/exposition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "exposition_reader_test.hpp"
#include "katana/base/text/text.hpp"
#include "katana/observe/metrics/text_format.hpp"

namespace katana::metrics {
namespace {

std::string expose(Registry& registry, Format format) {
  std::string text;
  write_exposition(registry, format, text);
  return text;
}

// One family of each kind, with values that need care.
void fill_registry(Registry& registry) {
  auto requests = registry.counters({.name = "shop_requests",
                                     .help = "Requests \"answered\",\nby path \\ status.",
                                     .labels = {"path", "status"}});
  requests->with("/", "200").add(12345678901234567890u);
  requests->with("C:\\dir \"x\"\nnext", "500").add();
  requests->with("", "größe").add(0);
  auto load = registry.gauges(
      {.name = "shop_load_ratio", .help = "Load.", .labels = {"of"}, .unit = "ratio"});
  load->with("nan").set(std::nan(""));
  load->with("inf").set(INFINITY);
  load->with("minus").set(-INFINITY);
  load->with("small").set(std::numeric_limits<double>::denorm_min());
  load->with("large").set(-std::numeric_limits<double>::max());
  load->with("tenth").set(0.1);
  auto size = registry.histograms(
      {.name = "shop_order_size_bytes", .help = "Sizes.", .labels = {"kind"}, .unit = "bytes"},
      {0, 0.00001, 0.5, 1, 100000, 1e6, 2.5e10});
  for (const double value : {0.0, 0.3, 0.3, 50.0, 1e9, 1e30}) size->with("gift").observe(value);
  size->with("none");
  auto time = registry.log_histograms(
      {.name = "shop_request_duration_seconds", .help = "Times.", .labels = {}, .unit = "seconds"},
      {LogBuckets(4, 1'000'000'000), 1e9});
  for (const std::uint64_t value : {5u, 1'000u, 1'000'000u, 999'999'999u}) {
    time->resolve({})->observe(std::uint64_t{value});
  }
  auto read = registry.observed_counters(
      {.name = "shop_read_bytes", .help = "Read.", .labels = {}, .unit = "bytes"});
  read->resolve({})->observe(1.5);
  EXPECT_TRUE(registry.gauge("shop_unused", "Has a series and was never set."));
  EXPECT_TRUE(registry.counters({.name = "shop_nothing", .help = "Empty.", .labels = {"a"}}));
}

TEST(Exposition, is_told_line_by_line_as_the_format_says) {
  Registry registry;
  auto hits = registry.counters(
      {.name = "hits_total", .help = "Hits \\ \"all\".\nReally.", .labels = {"a", "b"}});
  hits->with("x\"\\\n", "").add(3);
  auto time = registry.histograms(
      {.name = "t_seconds", .help = "T.", .labels = {}, .unit = "seconds"}, {0.5, 2});
  time->resolve({})->observe(1.25);
  auto level = registry.gauge("level", "Level.");
  level->set(NAN);
  const std::string samples = "hits_total{a=\"x\\\"\\\\\\n\",b=\"\"} 3\n";
  const std::string buckets =
      "t_seconds_bucket{le=\"0.5\"} 0\nt_seconds_bucket{le=\"2.0\"} 1\n"
      "t_seconds_bucket{le=\"+Inf\"} 1\nt_seconds_sum 1.25\nt_seconds_count 1\n";
  EXPECT_EQ(expose(registry, Format::prometheus),
            "# HELP hits_total Hits \\\\ \"all\".\\nReally.\n# TYPE hits_total counter\n" +
                samples + "# HELP t_seconds T.\n# TYPE t_seconds histogram\n" + buckets +
                "# HELP level Level.\n# TYPE level gauge\nlevel NaN\n");
  EXPECT_EQ(expose(registry, Format::open_metrics),
            "# HELP hits Hits \\\\ \\\"all\\\".\\nReally.\n# TYPE hits counter\n" + samples +
                "# HELP t_seconds T.\n# TYPE t_seconds histogram\n# UNIT t_seconds seconds\n" +
                buckets + "# HELP level Level.\n# TYPE level gauge\nlevel NaN\n# EOF\n");
}

TEST(Exposition, of_everything_is_read_back_by_a_strict_reader) {
  Registry registry;
  fill_registry(registry);
  for (const Format format : {Format::prometheus, Format::open_metrics}) {
    const std::string text = expose(registry, format);
    const ExpositionReader reader(text, format);
    EXPECT_EQ(reader.errors, "") << text;
    EXPECT_EQ(reader.families.size(), 6u);  // without the one that has no series
    const bool open = format == Format::open_metrics;
    const ReadFamily& requests = reader.families.at(open ? "shop_requests" : "shop_requests_total");
    EXPECT_EQ(requests.help, "Requests \"answered\",\nby path \\ status.");
    EXPECT_EQ(requests.samples[1].labels.at("path"), "C:\\dir \"x\"\nnext");
    EXPECT_EQ(requests.samples[0].value, 12345678901234567890.0);
    const ReadFamily& load = reader.families.at("shop_load_ratio");
    EXPECT_EQ(load.unit, open ? "ratio" : "");
    EXPECT_TRUE(std::isnan(load.samples[0].value));
    EXPECT_EQ(load.samples[1].value, INFINITY);
    EXPECT_EQ(load.samples[2].value, -INFINITY);
    EXPECT_EQ(load.samples[3].value, std::numeric_limits<double>::denorm_min());
    EXPECT_EQ(load.samples[4].value, -std::numeric_limits<double>::max());
    EXPECT_EQ(load.samples[5].value, 0.1);
    EXPECT_EQ(reader.value(R"(shop_order_size_bytes_bucket{kind="gift",le="1.0"})"), 3);
    EXPECT_EQ(reader.value(R"(shop_order_size_bytes_count{kind="none"})"), 0);
  }
}

TEST(Exposition, of_open_metrics_has_the_trace_of_each_bucket_and_the_other_format_none) {
  Registry registry;
  auto family = registry.log_histograms({.name = "t_seconds",
                                         .help = "T.",
                                         .labels = {"route"},
                                         .unit = "seconds",
                                         .exemplars = true},
                                        {LogBuckets(3, 10'000'000'000), 1e9, {1'000'000, 1 << 30}});
  const LogHistogram time = family->with("/a");
  family->with("/b").observe(milliseconds(3));
  time.observe(milliseconds(3));
  time.note_exemplar(milliseconds(3), {.trace_high = 0x0af7651916cd43dd,
                                       .trace_low = 0x8448eb211c80319c,
                                       .span = 0xb7,
                                       .at_ns = 1'700'000'000'250'000'000});
  time.observe(seconds(60));
  time.note_exemplar(seconds(60), {.trace_high = 0, .trace_low = 1, .span = 2, .at_ns = 3'000'000});
  const std::string plain = expose(registry, Format::prometheus);
  EXPECT_EQ(ExpositionReader(plain, Format::prometheus).errors, "") << plain;
  const std::string text = expose(registry, Format::open_metrics);
  const ExpositionReader reader(text, Format::open_metrics);
  EXPECT_EQ(reader.errors, "") << text;
  const auto& samples = reader.families.at("t_seconds").samples;
  ASSERT_EQ(samples.size(), 10u);
  EXPECT_TRUE(samples[0].exemplar.labels.empty()) << "nothing was as short";
  EXPECT_EQ(samples[1].exemplar.labels.at("trace_id"), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(samples[1].exemplar.labels.at("span_id"), "00000000000000b7");
  EXPECT_EQ(samples[1].exemplar.value, 0.003);
  EXPECT_EQ(samples[1].exemplar.at_s, 1'700'000'000.25);
  EXPECT_EQ(samples[2].exemplar.value, 60) << "above all bounds";
  EXPECT_EQ(samples[2].exemplar.at_s, 0.003);
  for (std::size_t at = 3; at < samples.size(); ++at) {
    EXPECT_TRUE(samples[at].exemplar.labels.empty()) << samples[at].name;
  }
}

TEST(Exposition, a_family_without_exemplars_ignores_them) {
  Registry registry;
  auto time = registry.log_histogram("t_seconds", "T.");
  time->observe(milliseconds(3));
  time->note_exemplar(milliseconds(3), {.trace_high = 1, .trace_low = 1, .span = 1});
  EXPECT_EQ(expose(registry, Format::open_metrics).find("trace_id"), std::string::npos);
  LogHistogram().note_exemplar(seconds(1), {.trace_low = 1});
}

// promtool's exit status and output for the text; nothing without promtool.
std::optional<std::pair<int, std::string>> run_promtool(const std::string& text) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0) return std::nullopt;
  const std::string path = testing::TempDir() + "katana_exposition_test.prom";
  std::ofstream(path, std::ios::binary) << text;
  std::FILE* const pipe = ::popen(("promtool check metrics <'" + path + "' 2>&1").c_str(), "r");
  std::string said;
  char piece[512];
  while (const std::size_t count = std::fread(piece, 1, sizeof piece, pipe))
    said.append(piece, count);
  const int status = ::pclose(pipe);
  std::remove(path.c_str());
  return std::pair(status, said);
}

TEST(Exposition, passes_promtool_without_a_remark) {
  Registry registry;
  fill_registry(registry);
  const auto verdict = run_promtool(expose(registry, Format::prometheus));
  if (!verdict) GTEST_SKIP() << "promtool is not installed (package prometheus): make setup";
  EXPECT_EQ(verdict->first, 0) << verdict->second;
  EXPECT_EQ(verdict->second, "");
  // promtool would report a mistake.
  const auto other = run_promtool("# TYPE a counter\na 1\na 2\n");
  EXPECT_NE(other->first, 0);
}

TEST(Exposition, in_pieces_is_the_same_as_whole_whatever_is_registered_meanwhile) {
  Registry registry({.series_per_family_max = 5000});
  fill_registry(registry);
  auto many = registry.counters({.name = "many", .help = "Many.", .labels = {"n"}});
  for (int number = 0; number < 3000; ++number) many->with(std::to_string(number)).add(number);
  auto wide = registry.histograms({.name = "wide", .help = "Wide.", .labels = {"n"}},
                                  linear_bounds(0, 1, 500));
  for (int number = 0; number < 3; ++number) wide->with(std::to_string(number)).observe(number);

  const std::string whole = expose(registry, Format::open_metrics);
  std::string pieces;
  std::vector<char> piece(Exposition::piece_bytes_min);
  Exposition exposition(registry, Format::open_metrics);
  std::size_t count = 0;
  while (!exposition.done()) {
    const std::size_t filled = exposition.fill(piece);
    ASSERT_GT(filled, 0u);
    EXPECT_EQ(piece[filled - 1], '\n');
    pieces.append(piece.data(), filled);
    ++count;
  }
  EXPECT_EQ(pieces, whole);
  EXPECT_GT(count, 5u);
  EXPECT_EQ(exposition.fill(piece), 0u);

  Exposition interrupted(registry, Format::open_metrics);
  pieces.clear();
  for (int round = 0; !interrupted.done(); ++round) {
    pieces.append(piece.data(), interrupted.fill(piece));
    if (round >= 12) continue;  // or it would never end
    const std::string name = "new_" + std::to_string(pieces.size());
    ASSERT_TRUE(registry.counter(name, "Registered in the midst of it."));
    wide->with(name);
  }
  EXPECT_EQ(ExpositionReader(pieces, Format::open_metrics).errors, "");
}

TEST(Exposition, tells_a_histogram_from_one_moment_even_across_pieces) {
  Registry registry;
  const std::string name(100, 'w');
  auto wide = registry.histogram(name, "Wide.", linear_bounds(0, 1, bounds_max));
  std::string text;
  std::vector<char> piece(Exposition::piece_bytes_min);
  Exposition exposition(registry, Format::open_metrics);
  while (!exposition.done()) {
    text.append(piece.data(), exposition.fill(piece));
    wide->observe(1);  // between two pieces of one histogram
  }
  EXPECT_GT(text.size(), piece.size());
  const ExpositionReader reader(text, Format::open_metrics);
  EXPECT_EQ(reader.errors, "");
  EXPECT_EQ(reader.value(name + "_count"), 0);
}

TEST(Exposition, goes_into_a_text_as_into_a_string) {
  Registry registry;
  fill_registry(registry);
  Text text;
  write_exposition(registry, Format::prometheus, text);
  EXPECT_EQ(text.bytes(), expose(registry, Format::prometheus));
}

TEST(Exposition, of_an_empty_registry_is_only_the_end_mark) {
  Registry registry;
  EXPECT_EQ(expose(registry, Format::prometheus), "");
  EXPECT_EQ(expose(registry, Format::open_metrics), "# EOF\n");
}

TEST(Exposition, lines_at_every_limit_fit_a_piece) {
  Registry registry;
  std::vector<std::string> labels;
  for (std::size_t index = 0; index < labels_max; ++index) {
    labels.push_back(std::string(label_name_bytes_max - 1, 'a') + static_cast<char>('a' + index));
  }
  auto family = registry.histograms({.name = std::string(name_bytes_max, 'n'),
                                     .help = std::string(help_bytes_max, '\n'),
                                     .labels = labels},
                                    {1});
  ASSERT_TRUE(family);
  const std::string worst(label_bytes_max, '\xff');  // three bytes for each
  const std::vector<std::string_view> values(labels_max, worst);
  ASSERT_TRUE(family->resolve(values));
  EXPECT_EQ(ExpositionReader(expose(registry, Format::open_metrics), Format::open_metrics).errors,
            "");
}

TEST(Format, is_what_the_accept_field_prefers) {
  const std::string_view of_prometheus =
      "application/openmetrics-text;version=1.0.0,application/"
      "openmetrics-text;version=0.0.1;q=0.75,"
      "text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
  EXPECT_EQ(choose_format(of_prometheus), Format::open_metrics);
  EXPECT_EQ(choose_format("Application/OpenMetrics-Text; q=0.5 , text/plain;q=0.4"),
            Format::open_metrics);
  EXPECT_EQ(choose_format("application/openmetrics-text;q=0.4, text/plain"), Format::prometheus);
  EXPECT_EQ(choose_format("application/openmetrics-text;q=0"), Format::prometheus);
  EXPECT_EQ(choose_format("application/openmetrics-text;version=2.0.0"), Format::prometheus);
  for (const std::string_view accept : {"", "*/*", "text/html", "text/plain", ",;,q=,;q=x"}) {
    EXPECT_EQ(choose_format(accept), Format::prometheus) << accept;
  }
}

TEST(TextFormat, writes_bounds_as_open_metrics_wants_them) {
  EXPECT_EQ(canonical_number(0), "0.0");
  EXPECT_EQ(canonical_number(1), "1.0");
  EXPECT_EQ(canonical_number(0.1), "0.1");
  EXPECT_EQ(canonical_number(0.0001), "0.0001");
  EXPECT_EQ(canonical_number(0.00001), "1e-05");
  EXPECT_EQ(canonical_number(123456), "123456.0");
  EXPECT_EQ(canonical_number(1e6), "1e+06");
  EXPECT_EQ(canonical_number(2.5e10), "2.5e+10");
  EXPECT_EQ(canonical_number(INFINITY), "+Inf");
}

TEST(ExpositionReader, refuses_what_a_scraper_would) {
  const auto errors = [](std::string_view text, Format format = Format::prometheus) {
    return ExpositionReader(text, format).errors;
  };
  const std::string head = "# HELP a A.\n# TYPE a gauge\n";
  EXPECT_EQ(errors(head + "a 1\n"), "");
  EXPECT_NE(errors(head + "a 1"), "");
  EXPECT_NE(errors(head + "a 1\na 1\n"), "");
  EXPECT_NE(errors(head + "a x\n"), "");
  EXPECT_NE(errors(head + "b 1\n"), "");
  EXPECT_NE(errors(head + "a{b=\"\\x\"} 1\n"), "");
  EXPECT_NE(errors(head + "a{b=\"} 1\n"), "");
  EXPECT_NE(errors("a 1\n"), "");
  EXPECT_NE(errors(head + "a 1\n", Format::open_metrics), "");  // no # EOF
  EXPECT_NE(errors("# HELP a A.\n# TYPE a counter\na 1\n"), "");
  const std::string histogram = "# HELP h H.\n# TYPE h histogram\n";
  EXPECT_EQ(errors(histogram + "h_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n"), "");
  EXPECT_NE(errors(histogram + "h_bucket{le=\"1\"} 1\nh_sum 1\nh_count 1\n"), "");
  EXPECT_NE(errors(histogram + "h_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 2\n"), "");
  EXPECT_NE(errors(histogram + "h_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_count 1\n"), "");
}

}  // namespace
}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
