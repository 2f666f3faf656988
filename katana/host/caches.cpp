#include "katana/host/caches.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace katana::host {
namespace {

template <class Figures>
struct FigureRow {
  const char* name;
  const char* help;
  bool goes_down;  // a gauge, and no counter
  std::uint64_t (*value)(const Figures&);
};

using CacheRow = FigureRow<cache::Figures>;
constexpr std::array cache_rows{
    CacheRow{"katana_cache_hits", "Keys that were found, and those known to have no value.", false,
             [](const cache::Figures& of) { return of.hits; }},
    CacheRow{"katana_cache_negative_hits", "Keys that were known to have no value.", false,
             [](const cache::Figures& of) { return of.negative_hits; }},
    CacheRow{"katana_cache_misses", "Keys that were not found.", false,
             [](const cache::Figures& of) { return of.misses; }},
    CacheRow{"katana_cache_loads", "Loads that were begun.", false,
             [](const cache::Figures& of) { return of.loads; }},
    CacheRow{"katana_cache_load_failures", "Loads that failed.", false,
             [](const cache::Figures& of) { return of.load_failures; }},
    CacheRow{"katana_cache_loads_refused", "Loads that were refused: too many ran and waited.",
             false, [](const cache::Figures& of) { return of.loads_refused; }},
    CacheRow{"katana_cache_loads_joined", "Requests that waited for the load of another one.",
             false, [](const cache::Figures& of) { return of.joined; }},
    CacheRow{"katana_cache_loads_moved", "Loads that another reactor took over.", false,
             [](const cache::Figures& of) { return of.loads_moved; }},
    CacheRow{"katana_cache_refreshes", "Loads before the end of a value.", false,
             [](const cache::Figures& of) { return of.refreshes; }},
    CacheRow{"katana_cache_evictions", "Values that gave way to others.", false,
             [](const cache::Figures& of) { return of.evictions; }},
    CacheRow{"katana_cache_expired", "Values that were removed when their time was over.", false,
             [](const cache::Figures& of) { return of.expired; }},
    CacheRow{"katana_cache_refused", "Values that were too large to be kept.", false,
             [](const cache::Figures& of) { return of.refused; }},
    CacheRow{"katana_cache_second_level_hits", "Values that the second level had.", false,
             [](const cache::Figures& of) { return of.second_hits; }},
    CacheRow{"katana_cache_second_level_misses", "Values that the second level did not have.",
             false, [](const cache::Figures& of) { return of.second_misses; }},
    CacheRow{"katana_cache_second_level_failures",
             "Calls of the second level that failed or took too long.", false,
             [](const cache::Figures& of) { return of.second_failures; }},
    CacheRow{"katana_cache_second_level_invalid", "Replies of the second level that were no value.",
             false, [](const cache::Figures& of) { return of.second_invalid; }},
    CacheRow{"katana_cache_second_level_skipped",
             "Calls of the second level that were left out while it failed.", false,
             [](const cache::Figures& of) { return of.second_skipped; }},
    CacheRow{"katana_cache_loads_running", "Loads that run.", true,
             [](const cache::Figures& of) { return std::uint64_t{of.loads_running}; }},
    CacheRow{"katana_cache_entries", "Values that are kept.", true,
             [](const cache::Figures& of) { return std::uint64_t{of.entries}; }},
    CacheRow{"katana_cache_bytes", "Memory that they take, with all that is kept beside them.",
             true, [](const cache::Figures& of) { return std::uint64_t{of.bytes}; }},
    CacheRow{"katana_cache_removals_owed", "Removals that the second level did not get yet.", true,
             [](const cache::Figures& of) { return std::uint64_t{of.owed}; }}};

using HttpRow = FigureRow<HttpCacheFigures>;
constexpr std::array http_rows{
    HttpRow{"katana_http_cache_hits", "Requests that were answered from the response cache.", false,
            [](const HttpCacheFigures& of) { return of.hits; }},
    HttpRow{"katana_http_cache_stale_hits", "Those with a reply whose time was over.", false,
            [](const HttpCacheFigures& of) { return of.stale_hits; }},
    HttpRow{"katana_http_cache_not_modified", "Those with 304.", false,
            [](const HttpCacheFigures& of) { return of.not_modified; }},
    HttpRow{"katana_http_cache_misses", "Requests that went on to their handler.", false,
            [](const HttpCacheFigures& of) { return of.misses; }},
    HttpRow{"katana_http_cache_passed_by", "Requests that may not be answered from the cache.",
            false, [](const HttpCacheFigures& of) { return of.passed_by; }},
    HttpRow{"katana_http_cache_kept", "Replies that were kept.", false,
            [](const HttpCacheFigures& of) { return of.kept; }},
    HttpRow{"katana_http_cache_not_kept", "Replies that may not be kept, or were too large.", false,
            [](const HttpCacheFigures& of) { return of.not_kept; }},
    HttpRow{"katana_http_cache_waited", "Requests that waited for the reply of another one.", false,
            [](const HttpCacheFigures& of) { return of.waited; }},
    HttpRow{"katana_http_cache_invalidated", "Replies that were removed because of a change.",
            false, [](const HttpCacheFigures& of) { return of.invalidated; }}};

// `name`: of the label `cache`; empty: no label.
template <class Rows, class Read>
Result<void> add_rows(metrics::Registry& registry, const Rows& rows, const std::string& name,
                      Read read) {
  std::vector<metrics::ObservedCounter> counters;
  std::vector<metrics::Gauge> gauges;
  for (const auto& row : rows) {
    metrics::Description description{.name = row.name, .help = row.help};
    if (!name.empty()) description.labels = {"cache"};
    if (std::string_view(row.name).ends_with("_bytes")) description.unit = "bytes";
    const auto resolve = [&name](auto& family, auto& to) {
      to.push_back(name.empty() ? family->with() : family->with(name));
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
    const auto figures = read();
    std::size_t counter = 0, gauge = 0;
    for (const auto& row : rows) {
      const auto value = static_cast<double>(row.value(figures));
      if (row.goes_down) {
        gauges[gauge++].set(value);
      } else {
        counters[counter++].observe(value);
      }
    }
  });
  return {};
}

}  // namespace

Result<std::unique_ptr<Caches>> Caches::make(const CacheSettings& settings,
                                             metrics::Registry& metrics) {
  std::unique_ptr<Caches> caches(new Caches(settings, metrics));
  if (!settings.http.enabled) return caches;
  if (auto added = caches->add_http(); !added) return std::unexpected(added.error());
  return caches;
}

Result<void> Caches::add_http() {
  if (const std::string mistake = http_.middleware().mistake; !mistake.empty()) {
    return fail(Code::invalid_argument, "cache.http: " + mistake);
  }
  const HttpCache http = http_;  // shares what is kept
  auto added = add("http", [http] { return http.memory(); });
  if (!added) return added;
  return add_rows(metrics_, http_rows, "", [http] { return http.figures(); });
}

Result<void> Caches::add(const std::string& name, Read read) {
  {
    const std::scoped_lock lock(mutex_);
    if (!names_.insert(name).second) {
      return fail(Code::already_exists,
                  fmt::format("there is a cache '{}' already: give each a name of its own", name));
    }
  }
  return add_rows(metrics_, cache_rows, name, std::move(read));
}

}  // namespace katana::host

// SPDX-License-Identifier: Apache-2.0
