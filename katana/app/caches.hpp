// Caches: those of a program, with their figures in /metrics.
//
//   app::Caches& caches = services.get<app::Caches>();
//   auto users = caches.make<std::int64_t, User>({.name = "users", .ttl = seconds(30)});
//   auto prices = caches.make_shared<Sku, Price>({.name = "prices"});  // and in cache.second_level
//   group.use(caches.http().middleware());            // the settings cache.http
//
//   katana_cache_…{cache}    hits, misses, loads, evictions, bytes, entries, …
//   katana_http_cache_…      hits, misses, requests that passed by, replies that were kept
//
// Owns       the HttpCache; a share of each cache that is added.
// Borrows    the metrics, which outlive the last scrape.
// Thread     any.
// Allocates  when a cache is added.
// Fails      make() for wrong options, including those of the settings cache.caches, and for a name
//            that is taken twice. Also check_names() for a name in the settings that no cache has.
// Invariant  a cache costs nothing unless it is asked.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "katana/app/cache_settings.hpp"
#include "katana/base/system/result.hpp"
#include "katana/http/middleware/http_cache.hpp"
#include "katana/observe/metrics/registry.hpp"
#include "katana/stores/cache/cache.hpp"

namespace katana::app {

// The figures of one cache.
struct NamedCacheStatistics {
  std::string name = {};              // of the cache
  cache::Statistics statistics = {};  // since the start
};

class Caches {
 public:
  static Result<std::unique_ptr<Caches>> make(const CacheSettings& settings,
                                              metrics::Registry& metrics,
                                              std::shared_ptr<cache::SecondLevel> level = nullptr);

  // Makes a cache in memory.
  template <class Key, class Value>
  Result<cache::Cache<Key, Value>> make(const cache::Options& options) {
    return added(options.name, cache::Cache<Key, Value>::make(configured(options)));
  }
  // Makes a cache with a second level behind it.
  template <class Key, class Value>
  Result<cache::Cache<Key, Value>> make(const cache::Options& options,
                                        std::shared_ptr<cache::SecondLevel> level) {
    return added(options.name,
                 cache::Cache<Key, Value>::make(configured(options), std::move(level)));
  }
  // Makes a cache with the second level of the settings (cache.second_level), if they have one.
  template <class Key, class Value>
  Result<cache::Cache<Key, Value>> make_shared(const cache::Options& options) {
    auto level = level_of(options.name);
    if (level == nullptr) return make<Key, Value>(options);
    return make<Key, Value>(options, std::move(level));
  }
  // An Error: the settings name a cache that was not made.
  Result<void> check_names() const;
  HttpCache& http() noexcept { return http_; }
  // The present figures of each cache, in the order in which they were added.
  std::vector<NamedCacheStatistics> statistics() const;

 private:
  using Read = std::function<cache::Statistics()>;
  Caches(const CacheSettings& settings, metrics::Registry& metrics,
         std::shared_ptr<cache::SecondLevel> level)
      : metrics_(metrics),
        http_(settings.http),
        named_(settings.caches),
        level_(std::move(level)) {}
  // The options with the changes of the settings.
  cache::Options configured(cache::Options options) const;
  // Null: none.
  std::shared_ptr<cache::SecondLevel> level_of(const std::string& name) const;
  template <class Cache>
  Result<Cache> added(const std::string& name, Result<Cache> made) {
    if (!made) return made;
    auto done = add(name, [core = made->core()] { return core->statistics(); });
    if (!done) return std::unexpected(done.error());
    return made;
  }
  Result<void> add(const std::string& name, Read read);
  Result<void> add_http();

  metrics::Registry& metrics_;
  HttpCache http_;
  const std::map<std::string, NamedCacheSettings> named_;
  const std::shared_ptr<cache::SecondLevel> level_;  // null: none
  mutable std::mutex mutex_;                         // of the members below
  std::set<std::string> names_;
  std::vector<std::pair<std::string, Read>> reads_;  // by name
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
