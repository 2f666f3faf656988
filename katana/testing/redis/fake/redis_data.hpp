// RedisData: the commands and scripts of a FakeRedis on its keys.
//
// Owns       the keys, and the scripts that were sent.
// Thread     one.
// Allocates  for each value.
// Fails      execute() by an error reply, as Redis words it.
// Invariant  a script is one step: all its commands have the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/testing/redis/fake/lua_tree.hpp"
#include "katana/testing/redis/fake/redis_keys.hpp"
#include "katana/testing/redis/fake/redis_value.hpp"

namespace katana::testing {

class RedisData {
 public:
  explicit RedisData(std::int64_t replica_lag_us) noexcept : keys_(replica_lag_us) {}

  // Runs a command at that time of the server's wall clock, in microseconds.
  RedisValue execute(const RedisWords& words, std::int64_t now_us);
  // The keys that commands have changed or removed since the last call.
  std::vector<std::string> take_changed() { return keys_.take_changed(); }

  std::size_t size(std::int64_t now_us);
  // The text of a key; nothing: it is not there, or no text.
  std::optional<std::string> text(const std::string& key, std::int64_t now_us);
  // Removes a key as an eviction does.
  bool evict(const std::string& key);
  // The replica takes over: later writes are lost, and scripts. Returns the number of writes.
  std::size_t fail_over(std::int64_t now_us);
  // Every key and script is lost.
  void clear();
  // Scripts are lost, as at a restart.
  void forget_scripts() { scripts_.clear(); }

 private:
  RedisValue run(const RedisWords& words, bool is_in_script);
  RedisValue run_script(const RedisWords& words, bool by_digest);

  RedisKeys keys_;
  std::map<std::string, std::shared_ptr<const lua::Block>> scripts_;  // by digest
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
