#include "katana/app/caches.hpp"

#include <fmt/format.h>

#include <array>

#include "katana/app/figure_rows.hpp"

namespace katana::app {
namespace {

using CacheRow = FigureRow<cache::Statistics>;
constexpr std::array cache_rows{
    CacheRow{"katana_cache_hits", "Keys that were found, and those known to have no value.", false,
             [](const cache::Statistics& of) { return double(of.hits); }},
    CacheRow{"katana_cache_negative_hits", "Keys that were known to have no value.", false,
             [](const cache::Statistics& of) { return double(of.negative_hits); }},
    CacheRow{"katana_cache_misses", "Keys that were not found.", false,
             [](const cache::Statistics& of) { return double(of.misses); }},
    CacheRow{"katana_cache_loads", "Loads that were begun.", false,
             [](const cache::Statistics& of) { return double(of.loads); }},
    CacheRow{"katana_cache_load_failures", "Loads that failed.", false,
             [](const cache::Statistics& of) { return double(of.load_failures); }},
    CacheRow{"katana_cache_loads_refused", "Loads that were refused: too many ran and waited.",
             false, [](const cache::Statistics& of) { return double(of.loads_refused); }},
    CacheRow{"katana_cache_loads_joined", "Requests that waited for the load of another one.",
             false, [](const cache::Statistics& of) { return double(of.joined); }},
    CacheRow{"katana_cache_loads_moved", "Loads that another reactor took over.", false,
             [](const cache::Statistics& of) { return double(of.loads_moved); }},
    CacheRow{"katana_cache_refreshes", "Loads before the end of a value.", false,
             [](const cache::Statistics& of) { return double(of.refreshes); }},
    CacheRow{"katana_cache_evictions", "Values that gave way to others.", false,
             [](const cache::Statistics& of) { return double(of.evictions); }},
    CacheRow{"katana_cache_expired", "Values that were removed when their time was over.", false,
             [](const cache::Statistics& of) { return double(of.expired); }},
    CacheRow{"katana_cache_refused", "Values that were too large to be kept.", false,
             [](const cache::Statistics& of) { return double(of.refused); }},
    CacheRow{"katana_cache_second_level_hits", "Values that the second level had.", false,
             [](const cache::Statistics& of) { return double(of.second_hits); }},
    CacheRow{"katana_cache_second_level_misses", "Values that the second level did not have.",
             false, [](const cache::Statistics& of) { return double(of.second_misses); }},
    CacheRow{"katana_cache_second_level_failures",
             "Calls of the second level that failed or took too long.", false,
             [](const cache::Statistics& of) { return double(of.second_failures); }},
    CacheRow{"katana_cache_second_level_invalid", "Replies of the second level that were no value.",
             false, [](const cache::Statistics& of) { return double(of.second_invalid); }},
    CacheRow{"katana_cache_second_level_skipped",
             "Calls of the second level that were left out while it failed.", false,
             [](const cache::Statistics& of) { return double(of.second_skipped); }},
    CacheRow{"katana_cache_loads_running", "Loads that run.", true,
             [](const cache::Statistics& of) { return double(of.loads_running); }},
    CacheRow{"katana_cache_entries", "Values that are kept.", true,
             [](const cache::Statistics& of) { return double(of.entries); }},
    CacheRow{"katana_cache_bytes", "Memory that they take, with all that is kept beside them.",
             true, [](const cache::Statistics& of) { return double(of.bytes); }},
    CacheRow{"katana_cache_removals_owed", "Removals that the second level did not get yet.", true,
             [](const cache::Statistics& of) { return double(of.owed); }}};

using HttpRow = FigureRow<HttpCacheStatistics>;
constexpr std::array http_rows{
    HttpRow{"katana_http_cache_hits", "Requests that were answered from the response cache.", false,
            [](const HttpCacheStatistics& of) { return double(of.hits); }},
    HttpRow{"katana_http_cache_stale_hits", "Those with a reply whose time was over.", false,
            [](const HttpCacheStatistics& of) { return double(of.stale_hits); }},
    HttpRow{"katana_http_cache_not_modified", "Those with 304.", false,
            [](const HttpCacheStatistics& of) { return double(of.not_modified); }},
    HttpRow{"katana_http_cache_misses", "Requests that went on to their handler.", false,
            [](const HttpCacheStatistics& of) { return double(of.misses); }},
    HttpRow{"katana_http_cache_passed_by", "Requests that may not be answered from the cache.",
            false, [](const HttpCacheStatistics& of) { return double(of.passed_by); }},
    HttpRow{"katana_http_cache_kept", "Replies that were kept.", false,
            [](const HttpCacheStatistics& of) { return double(of.kept); }},
    HttpRow{"katana_http_cache_not_kept", "Replies that may not be kept, or were too large.", false,
            [](const HttpCacheStatistics& of) { return double(of.not_kept); }},
    HttpRow{"katana_http_cache_waited", "Requests that waited for the reply of another one.", false,
            [](const HttpCacheStatistics& of) { return double(of.waited); }},
    HttpRow{"katana_http_cache_invalidated", "Replies that were removed because of a change.",
            false, [](const HttpCacheStatistics& of) { return double(of.invalidated); }}};

}  // namespace

Result<std::unique_ptr<Caches>> Caches::make(const CacheSettings& settings,
                                             metrics::Registry& metrics,
                                             std::shared_ptr<cache::SecondLevel> level) {
  std::unique_ptr<Caches> caches(new Caches(settings, metrics, std::move(level)));
  if (!settings.http.enabled) return caches;
  if (auto added = caches->add_http(); !added) return std::unexpected(added.error());
  return caches;
}

cache::Options Caches::configured(cache::Options options) const {
  const auto found = named_.find(options.name);
  if (found == named_.end()) return options;
  const NamedCacheSettings& said = found->second;
  const auto set = [](auto& to, const auto& from) {
    if (from) to = *from;
  };
  set(options.bytes_max, said.bytes_max);
  set(options.entries_max, said.entries_max);
  set(options.ttl, said.ttl);
  set(options.negative_ttl, said.negative_ttl);
  set(options.refresh_ahead_percent, said.refresh_ahead_percent);
  set(options.loads_max, said.loads_max);
  set(options.load_timeout, said.load_timeout);
  set(options.second_level.lock, said.lock);
  return options;
}

std::shared_ptr<cache::SecondLevel> Caches::level_of(const std::string& name) const {
  const auto found = named_.find(name);
  return found != named_.end() && !found->second.second_level.value_or(true) ? nullptr : level_;
}

Result<void> Caches::check_names() const {
  const std::scoped_lock lock(mutex_);
  std::string names;
  for (const std::string& name : names_) names += (names.empty() ? "'" : ", '") + name + "'";
  for (const auto& [name, said] : named_) {
    if (name == "http") {
      return fail(Code::invalid_argument, "cache.caches.http: set cache.http instead");
    }
    if (names_.contains(name)) continue;
    return fail(Code::invalid_argument,
                names.empty()
                    ? fmt::format("cache.caches.{}: this program has no caches", name)
                    : fmt::format("cache.caches.{}: unknown cache, there are {}", name, names));
  }
  return {};
}

Result<void> Caches::add_http() {
  if (const std::string mistake = http_.middleware().mistake; !mistake.empty()) {
    return fail(Code::invalid_argument, "cache.http: " + mistake);
  }
  const HttpCache http = http_;  // shares the entries
  auto added = add("http", [http] { return http.memory(); });
  if (!added) return added;
  return add_figure_rows(metrics_, http_rows, {}, [http] { return http.statistics(); });
}

std::vector<NamedCacheStatistics> Caches::statistics() const {
  std::vector<NamedCacheStatistics> all;
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, read] : reads_) all.push_back({name, read()});
  return all;
}

Result<void> Caches::add(const std::string& name, Read read) {
  {
    const std::scoped_lock lock(mutex_);
    if (!names_.insert(name).second) {
      return fail(Code::already_exists,
                  fmt::format("there is a cache '{}' already: give each cache another name", name));
    }
    reads_.emplace_back(name, read);
  }
  return add_figure_rows(metrics_, cache_rows, {.name = "cache", .value = name}, std::move(read));
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
