// add_figure_rows: the figures of a part of the program as metrics: a row for each of them.
//
// Owns       nothing.
// Borrows    the registry; the rows, which are constants.
// Thread     any.
// Allocates  when registered.
// Fails      with an Error that names the metric.
// Invariant  the source of the figures is asked once for each scrape, for all rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/observe/metrics/registry.hpp"

namespace katana::app {

// One metric: a part of some figures.
template <class Statistics>
struct FigureRow {
  const char* name;                    // of the family, without _total
  const char* help;                    // a sentence
  bool goes_down;                      // a gauge, and no counter
  double (*value)(const Statistics&);  // in the unit that the name ends with
};

// The series that a row has; `label` empty: one without a label.
struct FigureLabel {
  std::string name = {};   // of the label
  std::string value = {};  // the label's value
};

template <class Rows, class Read>
Result<void> add_figure_rows(metrics::Registry& registry, const Rows& rows,
                             const FigureLabel& label, Read read) {
  std::vector<metrics::ObservedCounter> counters;
  std::vector<metrics::Gauge> gauges;
  for (const auto& row : rows) {
    metrics::Description description{.name = row.name, .help = row.help};
    if (!label.name.empty()) description.labels = {label.name};
    for (const char* const unit : {"bytes", "seconds"}) {
      if (std::string_view(row.name).ends_with("_" + std::string(unit))) description.unit = unit;
    }
    const auto resolve = [&label](auto& family, auto& to) {
      to.push_back(label.name.empty() ? family->with() : family->with(label.value));
    };
    if (row.goes_down) {
      auto family = registry.gauges(std::move(description));
      if (!family) return std::unexpected(family.error());
      resolve(family, gauges);
    } else {
      auto family = registry.observed_counters(std::move(description));
      if (!family) return std::unexpected(family.error());
      resolve(family, counters);
    }
  }
  registry.before_scrape([&rows, counters, gauges, read = std::move(read)] {
    const auto statistics = read();
    std::size_t counter = 0, gauge = 0;
    for (const auto& row : rows) {
      const double value = row.value(statistics);
      if (row.goes_down) {
        gauges[gauge++].set(value);
      } else {
        counters[counter++].observe(value);
      }
    }
  });
  return {};
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
