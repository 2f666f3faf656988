// Options of a cache, and its statistics.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      check() with an Error that names the wrong option, and the allowed values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::cache {

// How a cache uses its second level.
struct SecondLevelOptions {
  // The timeout of one call: a longer one is given up, and the loader runs.
  Duration timeout = milliseconds(50);
  // The longest time of a value in memory while this instance is not told of other instances'
  // changes: it sees them after that. 0: the whole ttl.
  Duration memory_ttl_max = seconds(5);
  // True: one instance loads, and the others wait at most `lease` for its value.
  bool lock = false;
  Duration lease = seconds(5);
  Duration lock_poll = milliseconds(20);
  // After this many failures in a row the level is not used for pause_min, then for twice as long …
  unsigned failures_max = 5;
  Duration pause_min = seconds(1);
  Duration pause_max = seconds(30);
  // Writes in the background at a time.
  std::size_t writes_max = 1024;
  // The number of keys whose removal failed. The removal is retried before they are read there.
  std::size_t owed_max = 4096;
};
KATANA_DESCRIBE(
    SecondLevelOptions,
    (timeout, range(milliseconds(1), seconds(60)),
     help("of one call; then the loader is asked instead")),
    (memory_ttl_max, range(Duration{}, seconds(24 * 3600)),
     help("how long a value stays in memory where no message tells of changes; 0: its own ttl")),
    (lock, help("one instance loads a key, the others wait for what it puts there")),
    (lease, range(milliseconds(100), seconds(300)), help("they wait no longer than that")),
    (lock_poll, range(milliseconds(1), seconds(10)), help("and look so often")),
    (failures_max, range(1, 1000), help("failures in a row before it is left alone")),
    (pause_min, range(milliseconds(10), seconds(3600)), help("for how long at first; doubled")),
    (pause_max, range(milliseconds(10), seconds(3600)), help("and at most")),
    (writes_max, range(1, 1 << 20), help("writes in the background at a time")),
    (owed_max, range(1, 1 << 20), help("removals that failed and are tried again")))

// The bounds of a cache, the time that it keeps values, and the number of its loads.
struct Options {
  // The name in metrics, messages, and the keys in a second level: letters, digits, '-', '_', '.'.
  std::string name = "cache";
  std::size_t bytes_max = std::size_t{64} << 20;  // of memory, all overhead included
  std::size_t entries_max = 1'000'000;
  Duration ttl = seconds(60);
  // The time for which the absence of a value is remembered; 0: not at all.
  Duration negative_ttl = seconds(5);
  // Each ttl is shortened by a random time up to this: values then do not expire together.
  unsigned ttl_jitter_percent = 10;
  // A value that is requested in the last part of its ttl is loaded again, once, while all callers
  // get the old one. 0: not before its end.
  unsigned refresh_ahead_percent = 0;
  std::size_t loads_max = 256;             // at a time
  std::size_t loads_waiting_max = 10'000;  // more are refused
  Duration load_timeout = seconds(30);
  unsigned shards = 0;  // rounded up to a power of two; 0: by size
  SecondLevelOptions second_level = {};
};
KATANA_DESCRIBE(
    Options, (name, length(1, 100), help("in metrics, and before the keys of a second level")),
    (bytes_max, range(std::size_t{64} << 10, std::size_t{1} << 42),
     help("memory, with all that is kept beside the values")),
    (entries_max, range(16, 1'000'000'000), help("how many are kept")),
    (ttl, range(milliseconds(1), seconds(366 * 24 * 3600)), help("how long a value is good for")),
    (negative_ttl, range(Duration{}, seconds(24 * 3600)),
     help("how long it is remembered that there is none; 0: not at all")),
    (ttl_jitter_percent, range(0, 90), help("of the ttl, by chance less")),
    (refresh_ahead_percent, range(0, 90),
     help("of the ttl: who asks in the last part begins a load, and gets the old value")),
    (loads_max, range(1, 1'000'000), help("loads at a time")),
    (loads_waiting_max, range(0, 10'000'000),
     help("that wait for a place; more are refused (503)")),
    (load_timeout, range(milliseconds(1), seconds(3600)), help("of one load")),
    (shards, range(0, 1024), help("parts, each with a lock; 0: by size")), second_level)

// An Error names the option.
Result<void> check(const Options& options);

// Present levels, and counts since the cache was made.
struct Statistics {
  std::uint64_t hits = 0;             // negative ones included
  std::uint64_t negative_hits = 0;    // of those: it was known that there is none
  std::uint64_t misses = 0;           // neither a value nor a known absence
  std::uint64_t loads = 0;            // begun, refreshes included
  std::uint64_t load_failures = 0;    // with an Error or an exception
  std::uint64_t loads_refused = 0;    // too many ran and waited
  std::uint64_t loads_moved = 0;      // to another reactor, because theirs ended
  std::uint64_t joined = 0;           // callers that waited for the load of another
  std::uint64_t refreshes = 0;        // ahead of the end
  std::uint64_t evictions = 0;        // entries that were removed for want of room
  std::uint64_t expired = 0;          // entries found when their time was over
  std::uint64_t refused = 0;          // values that are too large
  std::uint64_t second_hits = 0;      // looks that found a value or a known absence
  std::uint64_t second_misses = 0;    // looks that found nothing
  std::uint64_t second_failures = 0;  // calls that failed or took too long
  std::uint64_t second_invalid = 0;   // bytes that no cache has written
  std::uint64_t second_skipped = 0;   // calls that were left out during a pause
  std::size_t loads_running = 0;      // at present
  std::size_t entries = 0;            // in memory at present
  std::size_t bytes = 0;              // that these take, of bytes_max
  std::size_t owed = 0;               // removals that the second level has not received yet
};

}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
