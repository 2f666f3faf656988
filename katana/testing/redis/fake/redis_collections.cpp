// Commands of hashes, sorted sets, sets and lists.
#include <algorithm>
#include <charconv>
#include <limits>

#include "katana/testing/redis/fake/redis_commands.hpp"

namespace katana::testing {
namespace {

template <class T>
RedisValue size_of(const T* collection) {
  return RedisValue::count(collection == nullptr ? 0
                                                 : static_cast<std::int64_t>(collection->size()));
}

using Members = std::vector<std::pair<double, std::string>>;

// By score, and by name among equal ones.
Members in_order(const RedisSorted* sorted) {
  Members members;
  if (sorted == nullptr) return members;
  for (const auto& [member, score] : *sorted) members.emplace_back(score, member);
  std::ranges::sort(members);
  return members;
}

// A bound of a range of scores: "(1" leaves out 1.
struct Bound {
  double score = 0;
  bool is_open = false;

  explicit Bound(std::string text) {
    is_open = text.starts_with('(');
    if (is_open) text.erase(0, 1);
    if (text == "-inf" || text == "+inf" || text == "inf") {
      score = std::numeric_limits<double>::infinity();
      if (text[0] == '-') score = -score;
      return;
    }
    const auto read = std::from_chars(text.data(), text.data() + text.size(), score);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
      throw RedisRefusal{"ERR min or max is not a float"};
    }
  }
  bool is_below(double other) const { return is_open ? score < other : score <= other; }
  bool is_above(double other) const { return is_open ? score > other : score >= other; }
};

Members between(const RedisSorted* sorted, const std::string& min, const std::string& max) {
  const Bound least(min);
  const Bound most(max);
  Members members = in_order(sorted);
  std::erase_if(members, [&](const auto& each) {
    return !least.is_below(each.first) || !most.is_above(each.first);
  });
  return members;
}

}  // namespace

// ---- hashes

RedisValue RedisCommands::hash_set() {
  if (words_.size() % 2 != 0) {
    throw RedisRefusal{"ERR wrong number of arguments for 'hset' command"};
  }
  RedisHash& hash = make<RedisHash>(word(1));
  std::int64_t added = 0;
  for (std::size_t index = 2; index < words_.size(); index += 2) {
    added += hash.insert_or_assign(word(index), word(index + 1)).second ? 1 : 0;
  }
  wrote(word(1));
  return is("HMSET") ? RedisValue::ok() : RedisValue::count(added);
}

RedisValue RedisCommands::hash_get() {
  const RedisHash* const hash = find<RedisHash>(word(1));
  if (hash == nullptr || !hash->contains(word(2))) return {};
  return RedisValue::bulk(hash->at(word(2)));
}

RedisValue RedisCommands::hash_get_many() {
  const RedisHash* const hash = find<RedisHash>(word(1));
  std::vector<RedisValue> values;
  for (std::size_t index = 2; index < words_.size(); ++index) {
    const bool is_there = hash != nullptr && hash->contains(word(index));
    values.push_back(is_there ? RedisValue::bulk(hash->at(word(index))) : RedisValue());
  }
  return RedisValue::array(std::move(values));
}

RedisValue RedisCommands::hash_get_all() {
  RedisValue made{.type = RedisValue::Type::map};
  const RedisHash* const hash = find<RedisHash>(word(1));
  if (hash == nullptr) return made;
  for (const auto& [field, value] : *hash) {
    made.elements.push_back(RedisValue::bulk(field));
    made.elements.push_back(RedisValue::bulk(value));
  }
  return made;
}

RedisValue RedisCommands::hash_remove() {
  RedisHash* const hash = find<RedisHash>(word(1));
  std::int64_t gone = 0;
  if (hash == nullptr) return RedisValue::count(0);
  for (std::size_t index = 2; index < words_.size(); ++index) {
    gone += static_cast<std::int64_t>(hash->erase(word(index)));
  }
  if (gone > 0) wrote(word(1));
  return RedisValue::count(gone);
}

RedisValue RedisCommands::hash_exists() {
  const RedisHash* const hash = find<RedisHash>(word(1));
  return RedisValue::count(hash != nullptr && hash->contains(word(2)) ? 1 : 0);
}

RedisValue RedisCommands::hash_size() { return size_of(find<RedisHash>(word(1))); }

RedisValue RedisCommands::hash_add() {
  const std::int64_t by = whole(3);
  RedisHash& hash = make<RedisHash>(word(1));
  std::int64_t value = 0;
  if (const auto found = hash.find(word(2)); found != hash.end()) {
    const std::string& text = found->second;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
      throw RedisRefusal{"ERR hash value is not an integer"};
    }
  }
  value += by;
  hash[word(2)] = std::to_string(value);
  wrote(word(1));
  return RedisValue::count(value);
}

// ---- sorted sets

RedisValue RedisCommands::sorted_add() {
  if (words_.size() % 2 != 0) throw RedisRefusal{"ERR syntax error"};
  for (std::size_t index = 2; index < words_.size(); index += 2) (void)number(index);
  RedisSorted& sorted = make<RedisSorted>(word(1));
  std::int64_t added = 0;
  for (std::size_t index = 2; index < words_.size(); index += 2) {
    added += sorted.insert_or_assign(word(index + 1), number(index)).second ? 1 : 0;
  }
  wrote(word(1));
  return RedisValue::count(added);
}

RedisValue RedisCommands::sorted_remove() {
  RedisSorted* const sorted = find<RedisSorted>(word(1));
  std::int64_t gone = 0;
  if (sorted == nullptr) return RedisValue::count(0);
  for (std::size_t index = 2; index < words_.size(); ++index) {
    gone += static_cast<std::int64_t>(sorted->erase(word(index)));
  }
  if (gone > 0) wrote(word(1));
  return RedisValue::count(gone);
}

RedisValue RedisCommands::sorted_score() {
  const RedisSorted* const sorted = find<RedisSorted>(word(1));
  if (sorted == nullptr || !sorted->contains(word(2))) return {};
  return RedisValue::number(sorted->at(word(2)));
}

RedisValue RedisCommands::sorted_size() { return size_of(find<RedisSorted>(word(1))); }

RedisValue RedisCommands::sorted_reply(const Members& members, bool scores) {
  std::vector<RedisValue> made;
  for (const auto& [score, member] : members) {
    if (scores && is_in_script_) {
      made.push_back(RedisValue::bulk(member));
      made.push_back(RedisValue::number(score));
    } else if (scores) {
      made.push_back(RedisValue::array({RedisValue::bulk(member), RedisValue::number(score)}));
    } else {
      made.push_back(RedisValue::bulk(member));
    }
  }
  return RedisValue::array(std::move(made));
}

RedisValue RedisCommands::sorted_range() {
  const Members members = in_order(find<RedisSorted>(word(1)));
  const auto [first, last] = range_of(whole(2), whole(3), members.size());
  const auto begin = members.begin();
  return sorted_reply(Members(begin + static_cast<std::ptrdiff_t>(first),
                              begin + static_cast<std::ptrdiff_t>(last)),
                      words_.size() > 4);
}

RedisValue RedisCommands::sorted_range_by_score() {
  return sorted_reply(between(find<RedisSorted>(word(1)), word(2), word(3)), words_.size() > 4);
}

RedisValue RedisCommands::sorted_remove_by_score() {
  RedisSorted* const sorted = find<RedisSorted>(word(1));
  const Members members = between(sorted, word(2), word(3));
  for (const auto& each : members) sorted->erase(each.second);
  if (!members.empty()) wrote(word(1));
  return RedisValue::count(static_cast<std::int64_t>(members.size()));
}

// In RESP3 one member has a flat reply, and several have pairs.
RedisValue RedisCommands::sorted_pop() {
  const auto count = words_.size() > 2
                         ? static_cast<std::size_t>(std::max<std::int64_t>(whole(2), 0))
                         : std::size_t{1};
  RedisSorted* const sorted = find<RedisSorted>(word(1));
  Members members = in_order(sorted);
  members.resize(std::min(count, members.size()));
  for (const auto& each : members) sorted->erase(each.second);
  if (!members.empty()) wrote(word(1));
  if (words_.size() > 2 || is_in_script_) return sorted_reply(members, true);
  if (members.empty()) return RedisValue::array();
  const auto& [score, member] = members[0];
  return RedisValue::array({RedisValue::bulk(member), RedisValue::number(score)});
}

// ---- sets

RedisValue RedisCommands::set_add() {
  RedisSet& set = make<RedisSet>(word(1));
  std::int64_t added = 0;
  for (std::size_t index = 2; index < words_.size(); ++index) {
    added += set.insert(word(index)).second ? 1 : 0;
  }
  wrote(word(1));
  return RedisValue::count(added);
}

RedisValue RedisCommands::set_remove() {
  RedisSet* const set = find<RedisSet>(word(1));
  std::int64_t gone = 0;
  if (set == nullptr) return RedisValue::count(0);
  for (std::size_t index = 2; index < words_.size(); ++index) {
    gone += static_cast<std::int64_t>(set->erase(word(index)));
  }
  if (gone > 0) wrote(word(1));
  return RedisValue::count(gone);
}

RedisValue RedisCommands::set_has() {
  const RedisSet* const set = find<RedisSet>(word(1));
  return RedisValue::count(set != nullptr && set->contains(word(2)) ? 1 : 0);
}

RedisValue RedisCommands::set_members() {
  RedisValue made = RedisValue::array();
  if (const RedisSet* const set = find<RedisSet>(word(1))) {
    for (const std::string& each : *set) made.elements.push_back(RedisValue::bulk(each));
  }
  return made;
}

RedisValue RedisCommands::set_size() { return size_of(find<RedisSet>(word(1))); }

// ---- lists

RedisValue RedisCommands::list_push() {
  RedisList& list = make<RedisList>(word(1));
  for (std::size_t index = 2; index < words_.size(); ++index) {
    if (is("LPUSH")) {
      list.push_front(word(index));
    } else {
      list.push_back(word(index));
    }
  }
  const auto size = static_cast<std::int64_t>(list.size());
  wrote(word(1));
  return RedisValue::count(size);
}

RedisValue RedisCommands::list_pop() {
  RedisList* const list = find<RedisList>(word(1));
  if (list == nullptr) return {};
  std::string taken = is("LPOP") ? list->front() : list->back();
  if (is("LPOP")) {
    list->pop_front();
  } else {
    list->pop_back();
  }
  wrote(word(1));
  return RedisValue::bulk(std::move(taken));
}

RedisValue RedisCommands::list_range() {
  RedisValue made = RedisValue::array();
  const RedisList* const list = find<RedisList>(word(1));
  if (list == nullptr) return made;
  const auto [first, last] = range_of(whole(2), whole(3), list->size());
  for (std::size_t index = first; index < last; ++index) {
    made.elements.push_back(RedisValue::bulk((*list)[index]));
  }
  return made;
}

RedisValue RedisCommands::list_size() { return size_of(find<RedisList>(word(1))); }

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
