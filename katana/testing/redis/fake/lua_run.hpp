// run_lua(): runs a script of a FakeRedis as Redis runs it: KEYS, ARGV, redis.call(), and one step.
//
// Owns       the variables of the run, until it returns.
// Borrows    the script, and `call`.
// Thread     its caller's.
// Allocates  for each value.
// Fails      by a result that is an error: a mistake of the script, a command that failed, or more
//            than steps_max steps.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "katana/testing/redis/fake/lua_tree.hpp"
#include "katana/testing/redis/fake/redis_value.hpp"

namespace katana::testing::lua {

// Statements and expressions of one run.
inline constexpr std::size_t steps_max = 100'000;

// Executes a command for redis.call().
using Caller = std::function<RedisValue(const std::vector<std::string>&)>;

// Functions: tonumber, tostring, type, error, ipairs, pairs, unpack.
// string: format, sub, len, rep, upper, lower. math: floor, ceil, min, max, abs.
// table: insert, remove, concat.
RedisValue run_lua(const Block& script, const std::vector<std::string>& keys,
                   const std::vector<std::string>& arguments, const Caller& call);

}  // namespace katana::testing::lua

// SPDX-License-Identifier: Apache-2.0
