// Measuring for micro_log, whose figures are of single calls: ordered ticks, percentiles below a
// tick, and its rows.
//
// Thread     one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/micro/micro.hpp"

namespace log_bench {

// The same as ticks(), once all instructions before it are done.
std::uint64_t ordered_ticks() noexcept;

// The value that `share` of the values do not exceed, for a clock with coarse ticks. The values of
// one tick are taken as spread evenly over it, as in the median of grouped data. A load::Histogram
// has steps of whole nanoseconds, which is too coarse here.
double grouped_percentile(std::vector<double>& values, double share);

struct Row {
  std::string question, subject, unit, better;
  std::vector<double> values;        // one of each round
  std::vector<double> instructions;  // per operation; empty where they are not counted
};

struct Target {
  std::string text;
  double value = 0, limit = 0;
  bool at_most = true;
  bool met() const { return at_most ? value <= limit : value >= limit; }
};

// False: the file cannot be written.
bool write_json(const std::string& path, const std::vector<Row>& rows,
                const std::vector<Target>& targets);
void print(const std::vector<Row>& rows, const std::vector<Target>& targets);

}  // namespace log_bench

// SPDX-License-Identifier: Apache-2.0
