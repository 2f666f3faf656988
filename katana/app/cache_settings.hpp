// Cache settings: what an Application keeps in memory so that it need not be found out again.
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

#include "katana/app/option_descriptions.hpp"
#include "katana/app/redis_settings.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/middleware/http_cache.hpp"

namespace katana::app {

// Of the HttpCache in the registry, which a program puts in front of its routes.
struct HttpCacheSettings : HttpCacheOptions {
  HttpCacheSettings() { enabled = false; }
};
KATANA_DESCRIBE(
    HttpCacheSettings, (enabled, help("keep replies that say for how long they are good")),
    (bytes_max, byte_count, at_least(64 * 1024),
     help("memory, with all that is kept beside the replies")),
    (entries_max, range(16, 100'000'000), help("replies that are kept")),
    (reply_bytes_max, byte_count, help("content of one reply; larger ones are not kept")),
    (fresh_max, range(milliseconds(1), seconds(366 * 24 * 3600)),
     help("nothing is kept for longer, whatever its reply says")),
    (wait_max, option_rules::timeout, help("how long a request waits for the same of another one")),
    (waiting_max, help("requests that wait so; more go on to their handlers")),
    (private_fields, length(0, 64), each(length(1, 100)),
     help("header fields whose requests are never answered from it, and fill nothing")),
    (status_name, length(0, 64), help("name in Cache-Status; empty: the field is not sent")))

// In the place of what the program says of one of its caches; what is not given stays.
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
KATANA_DESCRIBE(NamedCacheSettings,
                (bytes_max, help("memory, with all that is kept beside the values")),
                (entries_max, help("how many are kept")), (ttl, help("how long a value is good")),
                (negative_ttl, help("how long it is remembered that there is none; 0: not at all")),
                (refresh_ahead_percent,
                 help("of the ttl: who asks in the last part begins a load, and gets the old "
                      "value")),
                (loads_max, help("loads at a time")), (load_timeout, help("of one load")),
                (second_level, help("false: without the one of cache.second_level")),
                (lock, help("one instance loads a key, the others wait for what it puts there")))

// What is behind the memory of caches that ask for it.
enum class CacheLevel : std::uint8_t { none, redis };
KATANA_DESCRIBE_ENUM(CacheLevel, none, redis)

struct CacheSettings {
  HttpCacheSettings http;
  CacheLevel second_level = CacheLevel::none;
  bool listen = true;
  RedisSettings redis;
  std::map<std::string, NamedCacheSettings> caches;
};
KATANA_DESCRIBE(CacheSettings, http,
                (second_level,
                 help("redis: instances share what caches loaded that are made for it")),
                (listen,
                 help("Redis tells of what other instances change (client-side caching); false: "
                      "it is seen when second_level.memory_ttl_max is over")),
                (redis, help("a Redis for caches alone; without a url that of `redis`")),
                (caches, help("caches of the program, by name")))

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
