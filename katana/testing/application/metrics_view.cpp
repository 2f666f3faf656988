#include "katana/testing/application/metrics_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <set>

#include "katana/observe/metrics/exposition.hpp"

namespace katana::testing {
namespace {

// A line of the exposition: name{label="value",…} number
struct Sample {
  std::string_view name;
  MetricLabels labels;
  std::string_view labels_text;
  double number = 0;
};

// Reads the text after the opening quote; moves `line` behind the closing one.
std::string read_quoted(std::string_view& line) {
  std::string value;
  while (!line.empty() && line.front() != '"') {
    const bool escaped = line.front() == '\\' && line.size() > 1;
    if (escaped) line.remove_prefix(1);
    value += escaped && line.front() == 'n' ? '\n' : line.front();
    line.remove_prefix(1);
  }
  line.remove_prefix(std::min<std::size_t>(1, line.size()));
  return value;
}

Sample read_sample(std::string_view line) {
  Sample sample;
  const std::size_t end = std::min(line.find_first_of("{ "), line.size());
  sample.name = line.substr(0, end);
  line.remove_prefix(end);
  const std::string_view labels = line;
  if (line.starts_with('{')) {
    line.remove_prefix(1);
    for (std::size_t equals;
         !line.starts_with('}') && (equals = line.find("=\"")) != std::string_view::npos;) {
      std::string label(line.substr(0, equals));
      line.remove_prefix(equals + 2);
      sample.labels.emplace_back(std::move(label), read_quoted(line));
      if (line.starts_with(',')) line.remove_prefix(1);
    }
    line.remove_prefix(std::min<std::size_t>(1, line.size()));
    sample.labels_text = labels.substr(0, labels.size() - line.size());
  }
  while (line.starts_with(' ')) line.remove_prefix(1);
  (void)std::from_chars(line.data(), line.data() + line.size(), sample.number);
  return sample;
}

bool has_labels(const Sample& sample, const MetricLabels& wanted) {
  return std::ranges::all_of(
      wanted, [&](const auto& each) { return std::ranges::count(sample.labels, each) > 0; });
}

// The number of bytes to change (Levenshtein distance).
std::size_t distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t changed = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
    }
  }
  return row.back();
}

Error unknown_name(std::string_view name, const std::set<std::string_view>& known) {
  constexpr std::size_t shown_max = 3;
  std::vector<std::string_view> near(known.begin(), known.end());
  std::ranges::sort(near, {}, [&](std::string_view each) { return distance(name, each); });
  near.resize(std::min(near.size(), shown_max));
  return Error(Code::not_found,
               fmt::format("no metric '{}'; similar ones: {}", name, fmt::join(near, ", ")));
}

Error unknown_labels(std::string_view name, const std::set<std::string_view>& known) {
  return Error(Code::not_found,
               fmt::format("metric '{}' has no series with these labels; it has {}", name,
                           known.empty() ? "none yet" : fmt::format("{}", fmt::join(known, " "))));
}

// The sum of all matching samples.
Result<double> sum_of(std::string_view text, std::string_view name, const MetricLabels& labels) {
  std::optional<double> sum;
  std::set<std::string_view> names, series;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    // A family without series has its type only.
    if (line.starts_with("# TYPE ")) names.insert(line.substr(7, line.rfind(' ') - 7));
    if (line.empty() || line.starts_with('#')) continue;
    const Sample sample = read_sample(line);
    names.insert(sample.name);
    if (sample.name != name) continue;
    series.insert(sample.labels_text);
    if (has_labels(sample, labels)) sum = sum.value_or(0) + sample.number;
  }
  if (sum) return *sum;
  return std::unexpected(names.contains(name) ? unknown_labels(name, series)
                                              : unknown_name(name, names));
}

}  // namespace

std::string MetricsView::text() const {
  refresh_();
  std::string text;
  metrics::write_exposition(*registry_, metrics::Format::prometheus, text);
  return text;
}

Result<double> MetricsView::value(std::string_view name, const MetricLabels& labels) const {
  return sum_of(text(), name, labels);
}

Result<MetricHistogram> MetricsView::histogram(std::string_view name,
                                               const MetricLabels& labels) const {
  const std::string read = text();
  const auto count = sum_of(read, std::string(name) + "_count", labels);
  if (!count) return std::unexpected(count.error());
  const auto sum = sum_of(read, std::string(name) + "_sum", labels);
  if (!sum) return std::unexpected(sum.error());
  return MetricHistogram{static_cast<std::uint64_t>(*count), *sum};
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
