#include "lab/load/summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "lab/load/progress.hpp"

namespace katana::load {
namespace {

TEST(Text, has_the_unit_that_reads_best) {
  EXPECT_EQ(short_duration(0), "0 ns");
  EXPECT_EQ(short_duration(999), "999 ns");
  EXPECT_EQ(short_duration(12'345), "12.35 us");
  EXPECT_EQ(short_duration(1'500'000), "1.5 ms");
  EXPECT_EQ(short_duration(61'000'000'000), "61 s");
  EXPECT_EQ(short_count(9'999), "9999");
  EXPECT_EQ(short_count(12'345), "12.35 k");
  EXPECT_EQ(short_count(1'234'567), "1.235 M");
  EXPECT_EQ(short_bytes(1023), "1023 B");
  EXPECT_EQ(short_bytes(1536), "1.5 KiB");
}

TEST(Summary, names_figures_errors_and_why_the_result_is_void) {
  RunResult result;
  result.duration_s = 2;
  result.total.counts.requests = result.total.counts.completions = 1000;
  result.total.counts.statuses[200] = 1000;
  result.total.counts.count(Failure::reset);
  result.total.latency.record_many(5'000'000, 1000);
  Verdict verdict;
  verdict.void_reasons = {"it stood still"};
  verdict.notes = {"a note"};
  const Target target;
  const std::string text = summary({{}, target, result, verdict, "http://a/", "GET"});
  for (const char* piece : {"GET http://a/: closed loop", "1000 in 2.00 s: 500 per second",
                            "p50 5 ms", "(n = 1000)", "200: 1000", "errors      1: reset 1",
                            "note        a note", "VOID        it stood still"}) {
    EXPECT_NE(text.find(piece), std::string::npos) << piece << "\n" << text;
  }
}

std::string shown(bool on_terminal, const std::vector<double>& durations_s) {
  std::FILE* file = std::tmpfile();
  const LoadPlan plan;
  RunResult so_far;
  Progress progress(plan, file, on_terminal);
  for (const double duration_s : durations_s) {
    IntervalStatistics row;
    row.duration_s = duration_s;
    row.requests = 100;
    so_far.series.push_back(row);
    progress.show(row, so_far);
  }
  progress.clear();
  std::rewind(file);
  std::string text(8192, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

TEST(Progress, is_one_line_for_each_interval_and_none_for_the_rest_after_the_end) {
  const std::string text = shown(false, {1.0, 1.0, 0.01});
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Progress, on_a_terminal_is_taken_off_before_it_is_drawn_again) {
  const std::string text = shown(true, {1.0, 1.0});
  std::size_t count = 0;
  for (auto at = text.find("\x1b[4A"); at != std::string::npos; at = text.find("\x1b[4A", at + 1)) {
    ++count;
  }
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(std::ranges::count(text, '\n'), 8);
}

}  // namespace
}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
