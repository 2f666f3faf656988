// Registry: the metrics of one program, by name.
//
//   Registry registry;
//   auto requests = registry.counters({.name = "shop_requests", .help = "Requests that were
//                                      answered.", .labels = {"method", "status"}});
//   Counter get_ok = requests->with("GET", "200");   // once
//   get_ok.add();                                    // about a nanosecond, from any thread
//
// Owns       every family and its series, until it is destroyed.
// Thread     any.
// Allocates  when families and series are made.
// Fails      registering returns an Error that names the metric and the remedy. Mistakes are a name
//            or label that Prometheus would refuse, a missing help, and a name with another
//            description. The same description again returns the same family.
// Invariant  no two families expose a sample of the same name.
//
// There is no global registry: main() makes one and passes it on.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/observe/metrics/family.hpp"
#include "katana/observe/metrics/options.hpp"

namespace katana::metrics {

class Registry {
 public:
  explicit Registry(const RegistryOptions& options = {});
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Counters, gauges, and counters whose value is read at each scrape.
  Result<Family<Counter>> counters(Description description);
  Result<Family<Gauge>> gauges(Description description);
  Result<Family<ObservedCounter>> observed_counters(Description description);
  // A value is counted in the bucket of the smallest bound that is not below it.
  Result<Family<Histogram>> histograms(Description description, std::vector<double> bounds);
  Result<Family<LogHistogram>> log_histograms(Description description, const LogShape& shape = {});

  // The same without labels: a family of one series.
  Result<Counter> counter(std::string name, std::string help);
  Result<Gauge> gauge(std::string name, std::string help);
  Result<Histogram> histogram(std::string name, std::string help, std::vector<double> bounds);
  Result<LogHistogram> log_histogram(std::string name, std::string help,
                                     const LogShape& shape = {});

  // Called before each scrape, one at a time, by the scraping thread: sets gauges and observed
  // counters to the values of other owners. Its borrowed objects must last until stop_refreshing(),
  // or outlive the registry.
  void before_scrape(std::function<void()> refresh);

  // For figures that take a moment: `ask` requests them, and the next refresh() uses those that
  // have arrived. Called and ended like the functions of before_scrape().
  void ask_before_scrape(std::function<void()> ask);
  // Calls none of them from here on, and waits for running ones: their borrowed objects may then be
  // destroyed.
  void stop_refreshing();

  // The sum of all series of a log histogram, except those whose labels contain the text `except`.
  // Nothing if there is no such family or no series. For reports, like LogHistogram::snapshot().
  std::optional<LogSnapshot> sum_of(std::string_view name, std::string_view except = {}) const;

  // ---- for the exposition, and for exporters
  void ask();
  void refresh();
  // The present families; none is ever removed.
  std::vector<detail::FamilyState*> families() const;

 private:
  Result<detail::FamilyState*> add(Kind kind, Description description, std::optional<Bounds> bounds,
                                   std::optional<LogShape> shape);
  template <class Instrument>
  Result<Family<Instrument>> add_family(Kind kind, Description description,
                                        std::optional<Bounds> bounds = {},
                                        std::optional<LogShape> shape = {});
  friend void detail::count_overflow(Registry& registry, const detail::FamilyState& family);

  const RegistryOptions options_;
  mutable std::mutex mutex_;  // guards families and names
  std::vector<std::unique_ptr<detail::FamilyState>> families_;
  std::unordered_map<std::string, detail::FamilyState*> by_sample_name_;
  std::mutex refresh_mutex_;  // guards refreshers, and is held while they run
  std::vector<std::function<void()>> refreshers_;
  std::vector<std::function<void()>> askers_;  // guarded by refresh_mutex_, too
  detail::FamilyState* overflowed_ = nullptr;
};

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
