// RedisKeys: the keys of a FakeRedis with their ends, and the copy that its replica has.
//
// Owns       the keys, and what the replica has not got yet.
// Thread     one.
// Allocates  for each value.
// Fails      never.
// Invariant  find() never gives a key whose time is over. The replica has what was written
//            `replica_lag` ago or earlier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace katana::testing {

// The words of a command; the first one is its name.
using RedisWords = std::vector<std::string>;

// Fields with their values.
using RedisHash = std::map<std::string, std::string>;
// In the order of the list.
using RedisList = std::deque<std::string>;
// Members.
using RedisSet = std::set<std::string>;
// Members with their scores.
using RedisSorted = std::map<std::string, double>;

// One key.
struct RedisEntry {
  // A text, or one of the collections.
  std::variant<std::string, RedisHash, RedisList, RedisSet, RedisSorted> value;
  std::optional<std::int64_t> expires_us = {};  // in the server's wall clock
};

class RedisKeys {
 public:
  explicit RedisKeys(std::int64_t replica_lag_us) noexcept : lag_us_(replica_lag_us) {}

  // The time of what follows, in microseconds of the server's wall clock.
  void set_time(std::int64_t now_us) noexcept { now_us_ = now_us; }
  std::int64_t now_us() const noexcept { return now_us_; }

  // Null: it is not there, or its time is over.
  RedisEntry* find(const std::string& key);
  RedisEntry& put(const std::string& key, RedisEntry entry);
  bool erase(const std::string& key) { return keys_.erase(key) > 0; }
  // A key was written or removed: the replica will have that, and take_changed() has its name.
  void note(const std::string& key);
  // Those that are there, in order.
  std::vector<std::string> names();
  // The keys that commands have changed or removed since the last call.
  std::vector<std::string> take_changed() { return std::exchange(changed_, {}); }

  // The replica takes over: later writes are lost. Returns their number.
  std::size_t fail_over();
  void clear();

 private:
  // A write that the replica gets.
  struct Write {
    std::int64_t at_us;
    std::string key;
    std::optional<RedisEntry> entry;  // none: it was removed
  };
  void replicate();

  const std::int64_t lag_us_;
  std::int64_t now_us_ = 0;
  std::map<std::string, RedisEntry> keys_;
  std::map<std::string, RedisEntry> replica_;
  std::deque<Write> unreplicated_;
  std::vector<std::string> changed_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
