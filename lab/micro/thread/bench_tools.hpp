// The tools of micro_thread: rounds, and its report.
//
// Owns       the rows and targets of one run.
// Thread     one.
// Allocates  freely.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/micro/micro.hpp"
#include "lab/micro/report.hpp"

namespace bench {

using micro::median;
using micro::now_ns;

// One figure in each round.
struct Series {
  std::vector<double> values;
  std::vector<double> instructions;
};

class Report {
 public:
  Series& series(const std::string& question, const std::string& subject) {
    const auto key = std::pair(question, subject);
    if (!all_.contains(key)) order_.push_back(key);
    return all_[key];
  }
  bool has(const std::string& question, const std::string& subject) const {
    return all_.contains({question, subject});
  }
  void set_unit(const std::string& question, std::string unit) {
    units_[question] = std::move(unit);
  }
  // The median over the rounds of `dividend` / `divisor`, each a question and a subject.
  using Key = std::pair<std::string, std::string>;
  void target(const std::string& text, const Key& dividend, const Key& divisor, double limit,
              bool at_most) {
    if (!all_.contains(dividend) || !all_.contains(divisor)) return;
    const auto& above = all_[dividend].values;
    const auto& below = all_[divisor].values;
    std::vector<double> ratios;
    for (std::size_t round = 0; round < std::min(above.size(), below.size()); ++round) {
      ratios.push_back(above[round] / below[round]);
    }
    add_target(text, median(ratios), limit, at_most);
  }
  void add_target(const std::string& text, double value, double limit, bool at_most) {
    targets_.push_back({text, value, limit, at_most});
  }

  void print() const {
    for (const auto& key : order_) {
      const auto& [values, instructions] = all_.at(key);
      const auto [low, high] = std::ranges::minmax(values);
      fmt::print("{:<58} {:<34} {:>10.1f} {:<4} ({:.1f} to {:.1f}){}\n", key.first, key.second,
                 median(values), units_.at(key.first), low, high,
                 instructions.empty() ? "" : fmt::format("  {:.0f} ins", median(instructions)));
    }
    for (const Target& each : targets_) {
      fmt::print("{} {}: {:.2f} ({} {})\n", each.met() ? "met   " : "MISSED", each.text, each.value,
                 each.at_most ? "at most" : "at least", each.limit);
    }
  }
  bool write_json(const std::string& path) const {
    micro::Report report("thread");
    for (const auto& key : order_) {
      const auto& [values, instructions] = all_.at(key);
      const auto [low, high] = std::ranges::minmax(values);
      std::optional<double> counted;
      if (!instructions.empty()) counted = median(instructions);
      report.add({key.first, key.second, units_.at(key.first), "lower", median(values), low, high,
                  counted});
    }
    for (const Target& each : targets_) {
      report.add_target(each.text, each.value, each.limit, each.at_most, each.met());
    }
    return report.write(path);
  }

 private:
  struct Target {
    std::string text;
    double value;
    double limit;
    bool at_most;
    bool met() const { return at_most ? value <= limit : value >= limit; }
  };
  std::map<Key, Series> all_;
  std::vector<Key> order_;
  std::map<std::string, std::string> units_;
  std::vector<Target> targets_;
};

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
