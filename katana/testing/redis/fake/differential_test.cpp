// A FakeRedis against a real redis-server: random commands and scripts get the same replies.
#include <fmt/format.h>

#include "katana/base/values/random.hpp"
#include "katana/stores/redis/redis_fixture_test.hpp"
#include "katana/testing/redis/fake/redis_data.hpp"

namespace katana::redis {
namespace {

using katana::testing::RedisData;
using katana::testing::RedisValue;
using katana::testing::RedisWords;

// The order of hashes and sets is free.
std::vector<std::string> sorted(std::vector<std::string> texts) {
  std::ranges::sort(texts);
  return texts;
}

std::string text_of(const RedisValue& value) {
  switch (value.type) {
    case RedisValue::Type::null: return "null";
    case RedisValue::Type::error: return "error " + value.text.substr(0, value.text.find(' '));
    case RedisValue::Type::integer: return std::to_string(value.integer);
    case RedisValue::Type::number: return fmt::format("{:.6g}", value.number_value);
    case RedisValue::Type::status:
    case RedisValue::Type::text: return "'" + value.text + "'";
    default: break;
  }
  std::vector<std::string> texts;
  for (const RedisValue& each : value.elements) texts.push_back(text_of(each));
  return fmt::format("[{}]", fmt::join(texts, " "));
}

std::string text_of(const Reply& reply) {
  if (reply.is_null()) return "null";
  if (reply.is_error()) return "error " + reply.text().substr(0, reply.text().find(' '));
  if (reply.is_text()) return "'" + reply.text() + "'";
  if (const auto count = reply.integer()) return std::to_string(*count);
  if (const auto number = reply.number()) return fmt::format("{:.6g}", *number);
  std::vector<std::string> texts;
  for (const Reply& each : reply.elements()) texts.push_back(text_of(each));
  return fmt::format("[{}]", fmt::join(texts, " "));
}

class FakeRedisDifferential : public RedisTest {
 protected:
  std::string real(const RedisWords& words) {
    Command command{Bytes(words[0])};
    for (std::size_t index = 1; index < words.size(); ++index) command.add(Bytes(words[index]));
    auto call = client_.call(std::move(command));
    const Result<Reply> reply = run(awaited(std::move(call)));
    return reply ? text_of(*reply) : reply.error().describe();
  }
  static Task<Result<Reply>> awaited(Call<Reply> call) { co_return co_await std::move(call); }
  std::string fake(const RedisWords& words) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return text_of(
        data_.execute(words, std::chrono::duration_cast<std::chrono::microseconds>(now).count()));
  }
  // Errors of a client's call have the server's text behind its own.
  void compare(const RedisWords& words) {
    std::string one = real(words);
    std::string other = fake(words);
    const bool fails = other.starts_with("error");
    if (fails) {
      EXPECT_NE(one.find(other.substr(6)), std::string::npos) << one << " and " << other;
      return;
    }
    if (words[0] == "HGETALL" || words[0] == "SMEMBERS" || words[0] == "KEYS") {
      one = fmt::format("{}", fmt::join(sorted(parts(one)), " "));
      other = fmt::format("{}", fmt::join(sorted(parts(other)), " "));
    }
    EXPECT_EQ(one, other) << fmt::format("{}", fmt::join(words, " "));
  }
  static std::vector<std::string> parts(std::string text) {
    std::vector<std::string> found;
    for (char& c : text) {
      if (c == '[' || c == ']') c = ' ';
    }
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(' '), text.size());
      if (end > 0) found.push_back(text.substr(0, end));
      text.erase(0, end + 1);
    }
    return found;
  }

  RedisServer server_;
  Client client_ = client_of(server_);
  RedisData data_{0};
};

RedisWords random_command(Random& random) {
  const auto key = [&random] { return fmt::format("k{}", random.below(6)); };
  const auto name = [&random] { return fmt::format("m{}", random.below(4)); };
  const auto number = [&random] {
    return std::to_string(static_cast<std::int64_t>(random.below(9)) - 4);
  };
  switch (random.below(44)) {
    case 0: return {"SET", key(), number()};
    case 1: return {"SET", key(), name(), "NX"};
    case 2: return {"SET", key(), number(), "XX", "GET"};
    case 3: return {"SET", key(), name(), "EX", "100"};
    case 4: return {"GET", key()};
    case 5: return {"GETDEL", key()};
    case 6: return {"GETRANGE", key(), number(), number()};
    case 7: return {"INCRBY", key(), number()};
    case 8: return {"DECR", key()};
    case 9: return {"APPEND", key(), name()};
    case 10: return {"STRLEN", key()};
    case 11: return {"MGET", key(), key(), key()};
    case 12: return {"DEL", key(), key()};
    case 13: return {"UNLINK", key()};
    case 14: return {"EXISTS", key(), key()};
    case 15: return {"PERSIST", key()};
    case 16: return {"EXPIRE", key(), "1000"};
    case 17: return {"TTL", key()};
    case 18: return {"TYPE", key()};
    case 19: return {"HSET", key(), name(), number(), name(), number()};
    case 20: return {"HGET", key(), name()};
    case 21: return {"HMGET", key(), name(), name()};
    case 22: return {"HDEL", key(), name()};
    case 23: return {"HGETALL", key()};
    case 24: return {"HINCRBY", key(), name(), number()};
    case 25: return {"HLEN", key()};
    case 26: return {"ZADD", key(), number(), name(), number(), name()};
    case 27: return {"ZREM", key(), name()};
    case 28: return {"ZRANGE", key(), number(), number()};
    case 29: return {"ZRANGE", key(), "0", "-1", "WITHSCORES"};
    case 30: return {"ZRANGEBYSCORE", key(), "-inf", number()};
    case 31: return {"ZREMRANGEBYSCORE", key(), "(" + number(), number()};
    case 32: return {"ZPOPMIN", key()};
    case 33: return {"ZPOPMIN", key(), "2"};
    case 34: return {"ZSCORE", key(), name()};
    case 35: return {"SADD", key(), name(), name()};
    case 36: return {"SREM", key(), name()};
    case 37: return {"SISMEMBER", key(), name()};
    case 38: return {"SMEMBERS", key()};
    case 39: return {"RPUSH", key(), name(), number()};
    case 40: return {"LPUSH", key(), name()};
    case 41: return {"LPOP", key()};
    case 42: return {"LRANGE", key(), number(), number()};
    default: return {"KEYS", "k*"};
  }
}

TEST_F(FakeRedisDifferential, random_commands_get_the_replies_of_a_real_server) {
  Random random(7);
  for (int round = 0; round < 6'000; ++round) {
    compare(random_command(random));
    if (HasFailure()) FAIL() << "in round " << round;
  }
}

TEST_F(FakeRedisDifferential, scripts_get_the_replies_of_a_real_server) {
  const std::vector<RedisWords> scripts = {
      {"return {KEYS[1], ARGV[1], #ARGV, tonumber(ARGV[1]) + 1}", "1", "a", "41"},
      {"return string.format('%.3f|%d|%5s|%x', 1.5, 7, 'x', 255)", "0"},
      {"return {tostring(1/3), tostring(1e20), tostring(10), 3 .. ''}", "0"},
      {"return {math.floor(-1.5), math.ceil(1.2), math.min(3, 1, 2), math.max(1, 5)}", "0"},
      {"redis.call('HSET', KEYS[1], 'f', 1.25) return redis.call('HGETALL', KEYS[1])", "1", "h"},
      {"redis.call('ZADD', KEYS[1], 1, 'a', 2.5, 'b') return redis.call('ZRANGE', KEYS[1], 0, -1, "
       "'WITHSCORES')",
       "1", "z"},
      {"return redis.call('ZPOPMIN', KEYS[1], 5)", "1", "z"},
      {"local t = {} for i = 1, 3 do t[#t + 1] = i * i end return t", "0"},
      {"local t = {5, 6} table.insert(t, 7) table.insert(t, 1, 4) return {unpack(t)}", "0"},
      {"return {string.sub('abcdef', 2, -2), string.rep('ab', 3), string.upper('x')}", "0"},
      {"if redis.call('EXISTS', KEYS[1]) == 0 then return redis.error_reply('NO such') end", "1",
       "none"},
      {"return redis.pcall('INCRBY', KEYS[1], 'x')['err'] ~= nil", "1", "a"},
      {"return redis.call('GET', KEYS[1])", "1", "h"},
      {"return -7 % 3", "0"},
      {"return {1, 2, nil, 4}", "0"},
      {"return 'a' < 'b' and 2 >= 2 and 'yes' or 'no'", "0"}};
  for (const RedisWords& each : scripts) {
    RedisWords words = {"EVAL"};
    words.insert(words.end(), each.begin(), each.end());
    compare(words);
  }
}

}  // namespace
}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
