// RedisCommands: what each command of a FakeRedis does.
//
// Borrows    the data, for the call.
// Thread     one.
// Allocates  for replies.
// Fails      by error replies; by RedisRefusal within its functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/testing/redis/fake/redis_keys.hpp"
#include "katana/testing/redis/fake/redis_value.hpp"

namespace katana::testing {

// An error reply, from within a command.
struct RedisRefusal {
  // Begins with the code: "ERR syntax error".
  std::string text;
};

class RedisCommands {
 public:
  // Scripts get replies as of RESP2, which has no pairs and no maps.
  RedisCommands(RedisKeys& data, const RedisWords& words, bool is_in_script) noexcept
      : data_(data), words_(words), is_in_script_(is_in_script) {}

  // One function for each command.
  using Function = RedisValue (RedisCommands::*)();
  // A command as the table has it.
  struct Row {
    // Executes it.
    Function run;
    // With the name.
    std::size_t words_min;
    std::size_t words_max;  // 0: any number
  };
  // Null: there is no such command. `name` is in upper case.
  static const Row* find(const std::string& name);

  // ---- keys
  RedisValue remove();
  RedisValue exists();
  RedisValue expire();
  RedisValue persist();
  RedisValue time_to_live();
  RedisValue type();
  RedisValue keys();
  RedisValue size();
  RedisValue flush();
  RedisValue time();
  // ---- texts
  RedisValue get();
  RedisValue set();
  RedisValue set_for();
  RedisValue set_if_absent();
  RedisValue get_set();
  RedisValue get_remove();
  RedisValue get_range();
  RedisValue length();
  RedisValue append();
  RedisValue add();
  RedisValue get_many();
  RedisValue set_many();
  // ---- hashes
  RedisValue hash_set();
  RedisValue hash_get();
  RedisValue hash_get_many();
  RedisValue hash_get_all();
  RedisValue hash_remove();
  RedisValue hash_exists();
  RedisValue hash_size();
  RedisValue hash_add();
  // ---- sorted sets
  RedisValue sorted_add();
  RedisValue sorted_remove();
  RedisValue sorted_score();
  RedisValue sorted_size();
  RedisValue sorted_range();
  RedisValue sorted_range_by_score();
  RedisValue sorted_remove_by_score();
  RedisValue sorted_pop();
  // ---- sets and lists
  RedisValue set_add();
  RedisValue set_remove();
  RedisValue set_has();
  RedisValue set_members();
  RedisValue set_size();
  RedisValue list_push();
  RedisValue list_pop();
  RedisValue list_range();
  RedisValue list_size();

 private:
  const std::string& word(std::size_t index) const { return words_[index]; }
  bool is(std::string_view name) const { return words_[0] == name; }
  // Throw RedisRefusal for text that is no number.
  std::int64_t whole(std::size_t index) const;
  double number(std::size_t index) const;
  // The value of the key if it is there. Throws RedisRefusal if it has another type.
  template <class T>
  T* find(const std::string& key);
  // The same; an empty one is made.
  template <class T>
  T& make(const std::string& key);
  // A write of the key is over: an empty collection is removed.
  void wrote(const std::string& key);
  std::int64_t end_of(std::int64_t value, std::string_view unit) const;
  RedisValue set_text(const std::string& key, std::string value);
  RedisValue sorted_reply(const std::vector<std::pair<double, std::string>>& members, bool scores);

  RedisKeys& data_;
  const RedisWords& words_;
  const bool is_in_script_;
};

template <class T>
T* RedisCommands::find(const std::string& key) {
  RedisEntry* const entry = data_.find(key);
  if (entry == nullptr) return nullptr;
  T* const value = std::get_if<T>(&entry->value);
  if (value == nullptr) {
    throw RedisRefusal{"WRONGTYPE Operation against a key holding the wrong kind of value"};
  }
  return value;
}

template <class T>
T& RedisCommands::make(const std::string& key) {
  if (T* const value = find<T>(key)) return *value;
  return std::get<T>(data_.put(key, {.value = T()}).value);
}

// From the first element to behind the last one. Negative indices count from the end.
inline std::pair<std::size_t, std::size_t> range_of(std::int64_t first, std::int64_t last,
                                                    std::size_t size) {
  const auto count = static_cast<std::int64_t>(size);
  if (first < 0) first = std::max<std::int64_t>(first + count, 0);
  if (last < 0) last += count;
  last = std::min(last, count - 1);
  if (first > last || first >= count) return {0, 0};
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(last + 1)};
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
