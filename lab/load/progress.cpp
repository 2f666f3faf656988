#include "lab/load/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "lab/load/summary.hpp"

namespace katana::load {
namespace {

constexpr std::size_t bar_width = 30;

std::string bar(double share) {
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * bar_width);
  return "[" + std::string(full, '#') + std::string(bar_width - full, '.') + "]";
}

// The last rates, each as one of eight heights.
std::string sparkline(const std::vector<IntervalStatistics>& series) {
  constexpr const char* heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t count = std::min(series.size(), bar_width);
  double highest = 1;
  const auto rate_of = [](const IntervalStatistics& row) {
    return row.duration_s > 0 ? static_cast<double>(row.requests) / row.duration_s : 0;
  };
  for (std::size_t at = series.size() - count; at < series.size(); ++at) {
    highest = std::max(highest, rate_of(series[at]));
  }
  std::string line;
  for (std::size_t at = series.size() - count; at < series.size(); ++at) {
    line += heights[static_cast<std::size_t>(rate_of(series[at]) / highest * 7)];
  }
  return line;
}

}  // namespace

void Progress::show(const IntervalStatistics& interval, const RunResult& so_far) {
  // The last replies after the end make their own interval, too short to show a rate of.
  constexpr double shortest_share = 0.05;
  const double usual_s = static_cast<double>(plan_.interval.ns) / 1e9;
  if (interval.duration_s < shortest_share * usual_s && so_far.series.size() > 1) return;
  if (on_terminal_) {
    show_block(interval, so_far);
  } else {
    show_line(interval);
  }
}

void Progress::show_line(const IntervalStatistics& interval) {
  const double rate = static_cast<double>(interval.requests) / std::max(1e-9, interval.duration_s);
  fmt::print(out_, "{:8.1f} s {} {:>8}/s  p50 {}  p99 {}  max {}  errors {}  connections {}\n",
             interval.begin_s + interval.duration_s, interval.warm_up ? "warm-up" : "       ",
             short_count(rate), short_duration(interval.p50_ns), short_duration(interval.p99_ns),
             short_duration(interval.max_ns), interval.failures, interval.open);
  std::fflush(out_);
}

void Progress::show_block(const IntervalStatistics& interval, const RunResult& so_far) {
  const double at_s = interval.begin_s + interval.duration_s;
  const double all_s = static_cast<double>(plan_.duration.ns) / 1e9;
  const double rate = static_cast<double>(interval.requests) / std::max(1e-9, interval.duration_s);
  const double share = plan_.requests_max > 0 ? static_cast<double>(so_far.total.counts.sent) /
                                                    static_cast<double>(plan_.requests_max)
                                              : at_s / all_s;
  clear();
  fmt::print(out_, "{} {} {:.0f} s{}\n", interval.warm_up ? "warm-up" : "running", bar(share), at_s,
             plan_.requests_max > 0 ? std::string() : fmt::format(" of {:.0f} s", all_s));
  fmt::print(out_, "rate    {}/s   {}\n", short_count(rate), sparkline(so_far.series));
  fmt::print(out_, "latency p50 {}   p99 {}   max {}\n", short_duration(interval.p50_ns),
             short_duration(interval.p99_ns), short_duration(interval.max_ns));
  fmt::print(out_, "errors  {} now, {} in all   connections {} open, {} requests in flight\n",
             interval.failures, so_far.total.counts.all_failures(), interval.open,
             interval.in_flight);
  drawn_lines_ = 4;
  std::fflush(out_);
}

void Progress::clear() {
  if (drawn_lines_ == 0) return;
  fmt::print(out_, "\x1b[{}A\x1b[J", drawn_lines_);
  drawn_lines_ = 0;
  std::fflush(out_);
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
