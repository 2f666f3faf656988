// Cache settings: the caches of an Application, in memory and at a second level.
//
// Owns       values only.
// Thread     values.
// Allocates  as their options do.
// Fails      as Config does.
// Invariant  a change takes effect by a restart.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "katana/app/redis_settings.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/middleware/http_cache_options.hpp"

namespace katana::app {

// The settings of the HttpCache in the registry, which a program puts in front of its routes.
struct HttpCacheSettings : HttpCacheOptions {
  HttpCacheSettings() { enabled = false; }
};

// Settings of one cache of the program. They replace the values of the program; values that are not
// given stay.
struct NamedCacheSettings {
  std::optional<std::size_t> bytes_max;
  std::optional<std::size_t> entries_max;
  std::optional<Duration> ttl;
  std::optional<Duration> negative_ttl;
  std::optional<unsigned> refresh_ahead_percent;
  std::optional<std::size_t> loads_max;
  std::optional<Duration> load_timeout;
  std::optional<bool> second_level;
  std::optional<bool> lock;
};

// The store behind the memory of caches that ask for it.
enum class CacheLevel : std::uint8_t { none, redis };
KATANA_DESCRIBE_ENUM(CacheLevel, none, redis)

// The section `cache` of the configuration.
struct CacheSettings {
  HttpCacheSettings http;  // of whole replies, in memory
  CacheLevel second_level = CacheLevel::none;
  bool listen = true;
  RedisSettings redis;
  std::map<std::string, NamedCacheSettings> caches;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
