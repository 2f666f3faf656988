// Commands of keys and texts, and the table of all commands.
#include "katana/testing/redis/fake/redis_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace katana::testing {
namespace {

using Of = RedisCommands;

const std::map<std::string, Of::Row>& table() {
  static const std::map<std::string, Of::Row> rows = {
      {"DEL", {&Of::remove, 2, 0}},
      {"UNLINK", {&Of::remove, 2, 0}},
      {"EXISTS", {&Of::exists, 2, 0}},
      {"EXPIRE", {&Of::expire, 3, 3}},
      {"PEXPIRE", {&Of::expire, 3, 3}},
      {"EXPIREAT", {&Of::expire, 3, 3}},
      {"PEXPIREAT", {&Of::expire, 3, 3}},
      {"PERSIST", {&Of::persist, 2, 2}},
      {"TTL", {&Of::time_to_live, 2, 2}},
      {"PTTL", {&Of::time_to_live, 2, 2}},
      {"TYPE", {&Of::type, 2, 2}},
      {"KEYS", {&Of::keys, 2, 2}},
      {"DBSIZE", {&Of::size, 1, 1}},
      {"FLUSHALL", {&Of::flush, 1, 2}},
      {"FLUSHDB", {&Of::flush, 1, 2}},
      {"TIME", {&Of::time, 1, 1}},
      {"GET", {&Of::get, 2, 2}},
      {"SET", {&Of::set, 3, 0}},
      {"SETEX", {&Of::set_for, 4, 4}},
      {"PSETEX", {&Of::set_for, 4, 4}},
      {"SETNX", {&Of::set_if_absent, 3, 3}},
      {"GETSET", {&Of::get_set, 3, 3}},
      {"GETDEL", {&Of::get_remove, 2, 2}},
      {"GETRANGE", {&Of::get_range, 4, 4}},
      {"STRLEN", {&Of::length, 2, 2}},
      {"APPEND", {&Of::append, 3, 3}},
      {"INCR", {&Of::add, 2, 2}},
      {"DECR", {&Of::add, 2, 2}},
      {"INCRBY", {&Of::add, 3, 3}},
      {"DECRBY", {&Of::add, 3, 3}},
      {"MGET", {&Of::get_many, 2, 0}},
      {"MSET", {&Of::set_many, 3, 0}},
      {"HSET", {&Of::hash_set, 4, 0}},
      {"HMSET", {&Of::hash_set, 4, 0}},
      {"HGET", {&Of::hash_get, 3, 3}},
      {"HMGET", {&Of::hash_get_many, 3, 0}},
      {"HGETALL", {&Of::hash_get_all, 2, 2}},
      {"HDEL", {&Of::hash_remove, 3, 0}},
      {"HEXISTS", {&Of::hash_exists, 3, 3}},
      {"HLEN", {&Of::hash_size, 2, 2}},
      {"HINCRBY", {&Of::hash_add, 4, 4}},
      {"ZADD", {&Of::sorted_add, 4, 0}},
      {"ZREM", {&Of::sorted_remove, 3, 0}},
      {"ZSCORE", {&Of::sorted_score, 3, 3}},
      {"ZCARD", {&Of::sorted_size, 2, 2}},
      {"ZRANGE", {&Of::sorted_range, 4, 5}},
      {"ZRANGEBYSCORE", {&Of::sorted_range_by_score, 4, 5}},
      {"ZREMRANGEBYSCORE", {&Of::sorted_remove_by_score, 4, 4}},
      {"ZPOPMIN", {&Of::sorted_pop, 2, 3}},
      {"SADD", {&Of::set_add, 3, 0}},
      {"SREM", {&Of::set_remove, 3, 0}},
      {"SISMEMBER", {&Of::set_has, 3, 3}},
      {"SMEMBERS", {&Of::set_members, 2, 2}},
      {"SCARD", {&Of::set_size, 2, 2}},
      {"LPUSH", {&Of::list_push, 3, 0}},
      {"RPUSH", {&Of::list_push, 3, 0}},
      {"LPOP", {&Of::list_pop, 2, 2}},
      {"RPOP", {&Of::list_pop, 2, 2}},
      {"LRANGE", {&Of::list_range, 4, 4}},
      {"LLEN", {&Of::list_size, 2, 2}}};
  return rows;
}

// '*' stands for any text; other signs stand for themselves.
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] != '*') {
    return !text.empty() && text[0] == pattern[0] && matches(pattern.substr(1), text.substr(1));
  }
  for (std::size_t skipped = 0; skipped <= text.size(); ++skipped) {
    if (matches(pattern.substr(1), text.substr(skipped))) return true;
  }
  return false;
}

RedisValue text_or_null(const std::string* text) {
  return text == nullptr ? RedisValue() : RedisValue::bulk(*text);
}

}  // namespace

const RedisCommands::Row* RedisCommands::find(const std::string& name) {
  const auto found = table().find(name);
  return found == table().end() ? nullptr : &found->second;
}

std::int64_t RedisCommands::whole(std::size_t index) const {
  const std::string& text = word(index);
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    throw RedisRefusal{"ERR value is not an integer or out of range"};
  }
  return value;
}

double RedisCommands::number(std::size_t index) const {
  const std::string& text = word(index);
  if (text == "inf" || text == "+inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    throw RedisRefusal{"ERR value is not a valid float"};
  }
  return value;
}

void RedisCommands::wrote(const std::string& key) {
  if (const RedisEntry* const found = data_.find(key)) {
    const bool is_empty = std::visit(
        [](const auto& value) {
          return !std::is_same_v<std::decay_t<decltype(value)>, std::string> && value.empty();
        },
        found->value);
    if (is_empty) (void)data_.erase(key);
  }
  data_.note(key);
}

// Microseconds of the wall clock for EX, PX, EXAT, PXAT and the names of commands with them.
std::int64_t RedisCommands::end_of(std::int64_t value, std::string_view unit) const {
  const std::int64_t us = unit.starts_with('P') ? 1'000 : 1'000'000;
  return unit.ends_with("AT") ? value * us : data_.now_us() + value * us;
}

// ---- keys

RedisValue RedisCommands::remove() {
  std::int64_t gone = 0;
  for (std::size_t index = 1; index < words_.size(); ++index) {
    if (data_.find(word(index)) == nullptr) continue;
    (void)data_.erase(word(index));
    data_.note(word(index));
    ++gone;
  }
  return RedisValue::count(gone);
}

RedisValue RedisCommands::exists() {
  std::int64_t count = 0;
  for (std::size_t index = 1; index < words_.size(); ++index) {
    count += data_.find(word(index)) != nullptr ? 1 : 0;
  }
  return RedisValue::count(count);
}

RedisValue RedisCommands::expire() {
  const std::int64_t value = whole(2);
  RedisEntry* const entry = data_.find(word(1));
  if (entry == nullptr) return RedisValue::count(0);
  entry->expires_us = end_of(value, word(0));
  if (*entry->expires_us <= data_.now_us()) {
    (void)data_.find(word(1));
  } else {
    data_.note(word(1));
  }
  return RedisValue::count(1);
}

RedisValue RedisCommands::persist() {
  RedisEntry* const entry = data_.find(word(1));
  if (entry == nullptr || !entry->expires_us) return RedisValue::count(0);
  entry->expires_us.reset();
  data_.note(word(1));
  return RedisValue::count(1);
}

RedisValue RedisCommands::time_to_live() {
  const RedisEntry* const entry = data_.find(word(1));
  if (entry == nullptr) return RedisValue::count(-2);
  if (!entry->expires_us) return RedisValue::count(-1);
  const std::int64_t left_ms = (*entry->expires_us - data_.now_us()) / 1'000;
  return RedisValue::count(is("PTTL") ? left_ms : (left_ms + 500) / 1'000);
}

RedisValue RedisCommands::type() {
  constexpr std::array names = {"string", "hash", "list", "set", "zset"};
  const RedisEntry* const entry = data_.find(word(1));
  return RedisValue::status(entry == nullptr ? "none" : names[entry->value.index()]);
}

RedisValue RedisCommands::keys() {
  std::vector<RedisValue> found;
  for (const std::string& key : data_.names()) {
    if (matches(word(1), key)) found.push_back(RedisValue::bulk(key));
  }
  return RedisValue::array(std::move(found));
}

RedisValue RedisCommands::size() {
  return RedisValue::count(static_cast<std::int64_t>(data_.names().size()));
}

RedisValue RedisCommands::flush() {
  for (const std::string& key : data_.names()) {
    (void)data_.erase(key);
    data_.note(key);
  }
  return RedisValue::ok();
}

RedisValue RedisCommands::time() {
  return RedisValue::array({RedisValue::bulk(std::to_string(data_.now_us() / 1'000'000)),
                            RedisValue::bulk(std::to_string(data_.now_us() % 1'000'000))});
}

// ---- texts

RedisValue RedisCommands::get() { return text_or_null(find<std::string>(word(1))); }

RedisValue RedisCommands::set_text(const std::string& key, std::string value) {
  (void)data_.put(key, {.value = std::move(value)});
  data_.note(key);
  return RedisValue::ok();
}

RedisValue RedisCommands::set() {
  bool if_absent = false;
  bool if_present = false;
  bool keeps_end = false;
  bool gives_old = false;
  std::optional<std::int64_t> end;
  for (std::size_t index = 3; index < words_.size(); ++index) {
    const std::string option = upper_case(word(index));
    const bool has_time = option == "EX" || option == "PX" || option == "EXAT" || option == "PXAT";
    if (has_time && index + 1 < words_.size()) {
      const std::int64_t value = whole(++index);
      if (value <= 0) throw RedisRefusal{"ERR invalid expire time in 'set' command"};
      end = end_of(value, option);
      continue;
    }
    if_absent |= option == "NX";
    if_present |= option == "XX";
    keeps_end |= option == "KEEPTTL";
    gives_old |= option == "GET";
    const bool is_known =
        option == "NX" || option == "XX" || option == "KEEPTTL" || option == "GET";
    if (!is_known) throw RedisRefusal{"ERR syntax error"};
  }
  const RedisValue old = gives_old ? get() : RedisValue();
  const RedisEntry* const before = data_.find(word(1));
  const bool holds = !(if_absent && before != nullptr) && !(if_present && before == nullptr);
  if (!holds) return old;
  if (keeps_end && before != nullptr) end = before->expires_us;
  (void)data_.put(word(1), {.value = word(2), .expires_us = end});
  data_.note(word(1));
  return gives_old ? old : RedisValue::ok();
}

RedisValue RedisCommands::set_for() {
  const std::int64_t end = end_of(whole(2), is("PSETEX") ? "PX" : "EX");
  (void)data_.put(word(1), {.value = word(3), .expires_us = end});
  data_.note(word(1));
  return RedisValue::ok();
}

RedisValue RedisCommands::set_if_absent() {
  if (data_.find(word(1)) != nullptr) return RedisValue::count(0);
  (void)set_text(word(1), word(2));
  return RedisValue::count(1);
}

RedisValue RedisCommands::get_set() {
  RedisValue old = get();
  (void)set_text(word(1), word(2));
  return old;
}

RedisValue RedisCommands::get_remove() {
  RedisValue old = get();
  if (data_.erase(word(1))) data_.note(word(1));
  return old;
}

RedisValue RedisCommands::get_range() {
  const std::string* const text = find<std::string>(word(1));
  if (text == nullptr) return RedisValue::bulk("");
  const auto count = static_cast<std::int64_t>(text->size());
  const std::int64_t begin = whole(2);
  std::int64_t end = whole(3);
  if (begin < 0 && end < 0 && begin > end) return RedisValue::bulk("");
  // Unlike that of a list, an end before the beginning means the first byte.
  if (end < 0) end = std::max<std::int64_t>(end + count, 0);
  const auto [first, last] = range_of(begin, end, text->size());
  return RedisValue::bulk(text->substr(first, last - first));
}

RedisValue RedisCommands::length() {
  const std::string* const text = find<std::string>(word(1));
  return RedisValue::count(text == nullptr ? 0 : static_cast<std::int64_t>(text->size()));
}

RedisValue RedisCommands::append() {
  std::string& text = make<std::string>(word(1));
  text += word(2);
  const auto size = static_cast<std::int64_t>(text.size());
  wrote(word(1));
  return RedisValue::count(size);
}

RedisValue RedisCommands::add() {
  std::int64_t by = words_.size() > 2 ? whole(2) : 1;
  if (word(0).starts_with("DECR")) by = -by;
  std::string* const text = find<std::string>(word(1));
  std::int64_t value = 0;
  if (text != nullptr) {
    const auto read = std::from_chars(text->data(), text->data() + text->size(), value);
    if (read.ec != std::errc() || read.ptr != text->data() + text->size()) {
      throw RedisRefusal{"ERR value is not an integer or out of range"};
    }
  }
  if (__builtin_add_overflow(value, by, &value)) {
    throw RedisRefusal{"ERR increment or decrement would overflow"};
  }
  make<std::string>(word(1)) = std::to_string(value);
  wrote(word(1));
  return RedisValue::count(value);
}

RedisValue RedisCommands::get_many() {
  std::vector<RedisValue> values;
  for (std::size_t index = 1; index < words_.size(); ++index) {
    const RedisEntry* const entry = data_.find(word(index));
    const auto* const text = entry == nullptr ? nullptr : std::get_if<std::string>(&entry->value);
    values.push_back(text_or_null(text));
  }
  return RedisValue::array(std::move(values));
}

RedisValue RedisCommands::set_many() {
  if (words_.size() % 2 == 0) {
    throw RedisRefusal{"ERR wrong number of arguments for 'mset' command"};
  }
  for (std::size_t index = 1; index < words_.size(); index += 2) {
    (void)set_text(word(index), word(index + 1));
  }
  return RedisValue::ok();
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
