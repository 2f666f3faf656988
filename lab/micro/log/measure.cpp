#include "measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "lab/micro/report.hpp"

namespace log_bench {

std::uint64_t ordered_ticks() noexcept {
#if defined(__x86_64__)
  unsigned processor = 0;
  return __rdtscp(&processor);  // waits for the instructions before it
#else
  return micro::ticks();
#endif
}

double grouped_percentile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double at = share * static_cast<double>(values.size());
  const double value = values[std::min(values.size() - 1, static_cast<std::size_t>(at))];
  const auto [first, last] = std::ranges::equal_range(values, value);
  // The width of a group: the distance to the values before it.
  const double step = first == values.begin() ? 0 : value - *(first - 1);
  const double inside =
      (at - static_cast<double>(first - values.begin())) / static_cast<double>(last - first);
  return value - step / 2 + step * inside;
}

namespace {

std::string instructions_of(const Row& row) {
  return row.instructions.empty() ? "null" : fmt::format("{:.1f}", micro::median(row.instructions));
}

}  // namespace

bool write_json(const std::string& path, const std::vector<Row>& rows,
                const std::vector<Target>& targets) {
  micro::Report report("log");
  for (const Row& row : rows) {
    std::optional<double> instructions;
    if (!row.instructions.empty()) instructions = micro::median(row.instructions);
    const auto [low, high] = std::ranges::minmax(row.values);
    report.add({row.question, row.subject, row.unit, row.better, micro::median(row.values), low,
                high, instructions});
  }
  for (const Target& target : targets) {
    report.add_target(target.text, target.value, target.limit, target.at_most, target.met());
  }
  return report.write(path);
}

void print(const std::vector<Row>& rows, const std::vector<Target>& targets) {
  fmt::print(
      "| question | subject | median | low | high | unit | instructions |\n"
      "|---|---|---:|---:|---:|---|---:|\n");
  for (const Row& row : rows) {
    fmt::print("| {} | {} | {:.4g} | {:.4g} | {:.4g} | {} | {} |\n", row.question, row.subject,
               micro::median(row.values), std::ranges::min(row.values),
               std::ranges::max(row.values), row.unit, instructions_of(row));
  }
  for (const Target& target : targets) {
    fmt::print("\n{}: {:.3g} ({} {}): {}", target.text, target.value,
               target.at_most ? "at most" : "at least", target.limit,
               target.met() ? "met" : "MISSED");
  }
  fmt::print("\n");
}

}  // namespace log_bench

// SPDX-License-Identifier: Apache-2.0
