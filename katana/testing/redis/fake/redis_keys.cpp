#include "katana/testing/redis/fake/redis_keys.hpp"

namespace katana::testing {

RedisEntry* RedisKeys::find(const std::string& key) {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return nullptr;
  if (found->second.expires_us && *found->second.expires_us <= now_us_) {
    keys_.erase(found);
    note(key);
    return nullptr;
  }
  return &found->second;
}

RedisEntry& RedisKeys::put(const std::string& key, RedisEntry entry) {
  return keys_.insert_or_assign(key, std::move(entry)).first->second;
}

void RedisKeys::note(const std::string& key) {
  changed_.push_back(key);
  const auto found = keys_.find(key);
  unreplicated_.push_back(
      {now_us_, key, found == keys_.end() ? std::nullopt : std::optional(found->second)});
  replicate();
}

std::vector<std::string> RedisKeys::names() {
  std::vector<std::string> all;
  for (const auto& [name, unused] : keys_) all.push_back(name);
  std::erase_if(all, [this](const std::string& name) { return find(name) == nullptr; });
  return all;
}

void RedisKeys::replicate() {
  while (!unreplicated_.empty() && unreplicated_.front().at_us + lag_us_ <= now_us_) {
    Write& write = unreplicated_.front();
    if (write.entry) {
      replica_.insert_or_assign(write.key, *std::move(write.entry));
    } else {
      replica_.erase(write.key);
    }
    unreplicated_.pop_front();
  }
}

std::size_t RedisKeys::fail_over() {
  replicate();
  const std::size_t lost = unreplicated_.size();
  unreplicated_.clear();
  keys_ = replica_;
  changed_.clear();
  return lost;
}

void RedisKeys::clear() {
  keys_.clear();
  replica_.clear();
  unreplicated_.clear();
  changed_.clear();
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
