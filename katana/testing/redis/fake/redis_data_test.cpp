#include "katana/testing/redis/fake/redis_data.hpp"

#include <gtest/gtest.h>

namespace katana::testing {
namespace {

constexpr std::int64_t s = 1'000'000;  // in microseconds

// The reply on the wire, on one line.
std::string said(RedisData& data, const RedisWords& words, std::int64_t at_us = 0) {
  std::string text = data.execute(words, at_us).wire();
  std::string line;
  for (const char c : text) {
    if (c == '\r') continue;
    line += c == '\n' ? ' ' : c;
  }
  line.pop_back();
  return line;
}

TEST(RedisData, a_key_is_gone_when_its_time_is_over) {
  RedisData data(0);
  EXPECT_EQ(said(data, {"SET", "a", "1", "PX", "1500"}, 10 * s), "+OK");
  EXPECT_EQ(said(data, {"PTTL", "a"}, 11 * s), ":500");
  EXPECT_EQ(said(data, {"GET", "a"}, 11 * s), "$1 1");
  EXPECT_EQ(said(data, {"GET", "a"}, 11 * s + s / 2), "_");
  EXPECT_EQ(said(data, {"PTTL", "a"}, 12 * s), ":-2");
}

TEST(RedisData, a_write_without_an_end_removes_the_earlier_end) {
  RedisData data(0);
  (void)said(data, {"SET", "a", "1", "EX", "5"});
  EXPECT_EQ(said(data, {"INCRBY", "a", "4"}), ":5");
  EXPECT_EQ(said(data, {"TTL", "a"}), ":5");  // a change keeps it
  (void)said(data, {"SET", "a", "1"});
  EXPECT_EQ(said(data, {"TTL", "a"}), ":-1");
}

TEST(RedisData, a_fail_over_loses_the_writes_that_the_replica_has_not_got) {
  RedisData data(s);
  (void)said(data, {"SET", "old", "1"}, 0);
  (void)said(data, {"SET", "changed", "1"}, 0);
  (void)said(data, {"SET", "changed", "2"}, 5 * s);
  (void)said(data, {"SET", "new", "1"}, 5 * s);
  (void)said(data, {"DEL", "old"}, 5 * s);
  EXPECT_EQ(data.fail_over(5 * s + s / 2), 3u);
  EXPECT_EQ(said(data, {"GET", "old"}, 6 * s), "$1 1");
  EXPECT_EQ(said(data, {"GET", "changed"}, 6 * s), "$1 1");
  EXPECT_EQ(said(data, {"EXISTS", "new"}, 6 * s), ":0");
  (void)said(data, {"SET", "new", "1"}, 6 * s);
  EXPECT_EQ(data.fail_over(7 * s), 0u);
  EXPECT_EQ(said(data, {"EXISTS", "new"}, 7 * s), ":1");
}

TEST(RedisData, a_command_on_another_type_is_refused_and_changes_nothing) {
  RedisData data(0);
  (void)said(data, {"HSET", "a", "f", "1"});
  EXPECT_TRUE(said(data, {"GET", "a"}).starts_with("-WRONGTYPE")) << said(data, {"GET", "a"});
  EXPECT_TRUE(said(data, {"ZADD", "a", "1", "m"}).starts_with("-WRONGTYPE"));
  EXPECT_EQ(said(data, {"HGET", "a", "f"}), "$1 1");
}

TEST(RedisData, an_unknown_command_and_a_wrong_number_of_words_are_named) {
  RedisData data(0);
  EXPECT_NE(said(data, {"XADD", "a"}).find("'XADD'"), std::string::npos);
  EXPECT_NE(said(data, {"GET"}).find("wrong number of arguments for 'GET'"), std::string::npos);
}

TEST(RedisData, an_emptied_collection_is_no_key) {
  RedisData data(0);
  (void)said(data, {"SADD", "a", "m"});
  EXPECT_EQ(said(data, {"EXISTS", "a"}), ":1");
  (void)said(data, {"SREM", "a", "m"});
  EXPECT_EQ(said(data, {"EXISTS", "a"}), ":0");
}

// ---- scripts

std::string ran(const std::string& script, const RedisWords& arguments = {"0"}) {
  RedisData data(0);
  RedisWords words = {"EVAL", script};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return said(data, words, 100 * s + 7);
}

TEST(RedisScript, values_become_replies) {
  EXPECT_EQ(ran("return 7"), ":7");
  EXPECT_EQ(ran("return 7.9"), ":7");
  EXPECT_EQ(ran("return '7'"), "$1 7");
  EXPECT_EQ(ran("return true"), ":1");
  EXPECT_EQ(ran("return false"), "_");
  EXPECT_EQ(ran("return {1, 'b', {3}}"), "*3 :1 $1 b *1 :3");
  EXPECT_EQ(ran("return {1, nil, 3}"), "*1 :1");
  EXPECT_EQ(ran("local unused = 1"), "_");
  EXPECT_EQ(ran("return redis.status_reply('FINE')"), "+FINE");
  EXPECT_EQ(ran("return redis.error_reply('ERR no')"), "-ERR no");
}

TEST(RedisScript, expressions_have_the_precedence_of_lua) {
  EXPECT_EQ(ran("return 1 + 2 * 3 - 4 / 2"), ":5");
  EXPECT_EQ(ran("return 2 ^ 3 ^ 2"), ":512");
  EXPECT_EQ(ran("return -2 ^ 2"), ":-4");
  EXPECT_EQ(ran("return 'a' .. 1 .. 'b'"), "$3 a1b");
  EXPECT_EQ(ran("return not nil and 1 < 2 or false"), ":1");
  EXPECT_EQ(ran("return 7 % 3 + -7 % 3"), ":3");
  EXPECT_EQ(ran("return (1 + 2) * 3"), ":9");
  EXPECT_EQ(ran("return #'abc' + #{1, 2}"), ":5");
}

TEST(RedisScript, loops_functions_and_branches_run) {
  EXPECT_EQ(ran("local sum = 0 for i = 1, 5 do if i == 4 then break end sum = sum + i end "
                "return sum"),
            ":6");
  EXPECT_EQ(ran("local sum = 0 for i = 6, 1, -2 do sum = sum + i end return sum"), ":12");
  EXPECT_EQ(ran("local n = 0 while n < 3 do n = n + 1 end return n"), ":3");
  EXPECT_EQ(ran("local t = '' for i, v in ipairs({'a', 'b'}) do t = t .. i .. v end return t"),
            "$4 1a2b");
  EXPECT_EQ(ran("local function f(n) if n <= 1 then return 1 else return n * f(n - 1) end end "
                "return f(5)"),
            ":120");
  EXPECT_EQ(ran("local a, b = 1 return b == nil and a"), ":1");
  EXPECT_EQ(ran("if KEYS[1] == 'k' then return ARGV[1] elseif true then return 'no' end",
                {"1", "k", "v"}),
            "$1 v");
}

TEST(RedisScript, commands_run_at_one_time_and_their_errors_end_the_script) {
  EXPECT_EQ(ran("redis.call('SET', 'a', 5) return redis.call('INCRBY', 'a', 2)"), ":7");
  EXPECT_EQ(ran("return redis.call('TIME')"), "*2 $3 100 $1 7");
  EXPECT_EQ(ran("return redis.call('GET', 'none') == false"), ":1");
  EXPECT_TRUE(ran("redis.call('NONE') return 1").starts_with("-ERR unknown command"));
  EXPECT_EQ(ran("local r = redis.pcall('NONE') return r.err ~= nil"), ":1");
}

TEST(RedisScript, mistakes_are_error_replies) {
  EXPECT_NE(ran("return (").find("Error compiling"), std::string::npos);
  EXPECT_NE(ran("return none").find("nonexistent global variable 'none'"), std::string::npos);
  EXPECT_NE(ran("none = 1").find("attempted to create global"), std::string::npos);
  EXPECT_NE(ran("while true do local a = 1 end").find("too many steps"), std::string::npos);
  EXPECT_NE(ran("return 1 < 'a'").find("attempt to compare"), std::string::npos);
  EXPECT_NE(ran("local function f() return f() end return f()").find("stack"), std::string::npos);
}

TEST(RedisScript, a_digest_is_known_once_the_text_was_sent_and_until_a_restart) {
  RedisData data(0);
  const std::string digest = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";  // of "return 1"
  EXPECT_TRUE(said(data, {"EVALSHA", digest, "0"}).starts_with("-NOSCRIPT"));
  EXPECT_EQ(said(data, {"EVAL", "return 1", "0"}), ":1");
  EXPECT_EQ(said(data, {"EVALSHA", digest, "0"}), ":1");
  data.forget_scripts();
  EXPECT_TRUE(said(data, {"EVALSHA", digest, "0"}).starts_with("-NOSCRIPT"));
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
