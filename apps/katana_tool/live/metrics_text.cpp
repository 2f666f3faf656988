#include "katana_tool/live/metrics_text.hpp"

#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>

namespace katana::tool {
namespace {

// Reads a label's value up to its quote, which it leaves behind.
std::optional<std::string> read_value(std::string_view& line) {
  std::string value;
  while (!line.empty()) {
    const char c = line.front();
    line.remove_prefix(1);
    if (c == '"') return value;
    if (c != '\\') {
      value += c;
      continue;
    }
    if (line.empty()) break;
    value += line.front() == 'n' ? '\n' : line.front();
    line.remove_prefix(1);
  }
  return std::nullopt;
}

// Reads `name="value",…}`.
bool read_labels(std::string_view& line, std::map<std::string, std::string>& labels) {
  while (!line.empty() && line.front() != '}') {
    const std::size_t end = line.find("=\"");
    if (end == std::string_view::npos) return false;
    std::string name(line.substr(0, end));
    line.remove_prefix(end + 2);
    auto value = read_value(line);
    if (!value) return false;
    labels.emplace(std::move(name), *std::move(value));
    if (line.starts_with(',')) line.remove_prefix(1);
  }
  if (line.empty()) return false;
  line.remove_prefix(1);
  return true;
}

std::optional<Sample> read_sample(std::string_view line) {
  Sample sample;
  const std::size_t end = line.find_first_of("{ ");
  if (end == std::string_view::npos) return std::nullopt;
  sample.name = line.substr(0, end);
  line.remove_prefix(end);
  if (line.starts_with('{')) {
    line.remove_prefix(1);
    if (!read_labels(line, sample.labels)) return std::nullopt;
  }
  while (line.starts_with(' ')) line.remove_prefix(1);
  const auto read = std::from_chars(line.data(), line.data() + line.size(), sample.value);
  if (read.ec != std::errc()) return std::nullopt;
  return sample;
}

}  // namespace

std::vector<Sample> read_samples(std::string_view text, std::string_view prefix) {
  std::vector<Sample> samples;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.starts_with(prefix)) continue;
    if (auto sample = read_sample(line)) samples.push_back(*std::move(sample));
  }
  return samples;
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
