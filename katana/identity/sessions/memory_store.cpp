#include "katana/identity/sessions/memory_store.hpp"

#include <cstring>
#include <utility>

namespace katana::sessions {
namespace {

// The approximate memory of an entry in nodes and buckets of the three containers.
constexpr std::size_t entry_overhead_bytes = 400;

std::string whose(const std::string& issuer, const std::string& principal) {
  std::string text = issuer;
  text.push_back('\0');
  return text += principal;
}

}  // namespace

// The bytes are a digest of values that clients cannot choose.
std::size_t MemorySessionStore::KeyHash::operator()(const SessionKey& key) const noexcept {
  std::size_t hash = 0;
  std::memcpy(&hash, key.octets.data(), sizeof(hash));
  return hash;
}

void MemorySessionStore::erase(Sessions::iterator found) {
  const SessionRecord& record = *found->second.session.record;
  order_of(record).erase(found->second.place);
  if (!record.principal.empty()) {
    auto [each, end] = by_principal_.equal_range(whose(record.issuer, record.principal));
    while (each != end && each->second != found->first) ++each;
    if (each != end) by_principal_.erase(each);
  }
  bytes_ -= found->second.bytes;
  sessions_.erase(found);
}

void MemorySessionStore::insert(const SessionKey& key, StoredSession session,
                                std::int64_t expires_s) {
  const SessionRecord& record = *session.record;
  const std::size_t bytes = bytes_of(record) + entry_overhead_bytes;
  Order& order = order_of(record);
  if (!record.principal.empty()) by_principal_.emplace(whose(record.issuer, record.principal), key);
  const auto place = order.insert(order.end(), key);
  sessions_.emplace(key, Entry{std::move(session), expires_s, bytes, place});
  bytes_ += bytes;
}

// Expired sessions are in front. Sessions beyond their absolute lifetime may be elsewhere. They are
// found when a request asks for them, or when they come to the front.
void MemorySessionStore::evict(std::size_t bytes, std::int64_t now_s) {
  for (Order* const order : {&nobodys_, &users_}) {
    while (!order->empty()) {
      const auto first = sessions_.find(order->front());
      if (first->second.expires_s > now_s) break;
      erase(first);
    }
  }
  while (!fits(bytes) && !nobodys_.empty()) {
    erase(sessions_.find(nobodys_.front()));
    ++forgotten_;
  }
}

Task<Result<std::optional<StoredSession>>> MemorySessionStore::load(SessionKey key,
                                                                    std::int64_t now_s) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(key);
  if (found == sessions_.end()) co_return std::nullopt;
  if (found->second.expires_s <= now_s) {
    erase(found);
    co_return std::nullopt;
  }
  co_return std::optional(found->second.session);
}

Task<Result<bool>> MemorySessionStore::compare_and_set(SessionWrite write) {
  const std::lock_guard lock(mutex_);
  const std::int64_t now_s = write.record->seen_s;
  const auto found = sessions_.find(write.key);
  const bool is_there = found != sessions_.end() && found->second.expires_s > now_s;
  if (is_there != write.read_version.has_value()) co_return false;
  if (is_there && found->second.session.version != *write.read_version) co_return false;
  // The old entry is removed before others are evicted, and put back if there is no room.
  std::optional<Entry> before;
  if (found != sessions_.end()) {
    if (is_there) before = found->second;
    erase(found);
  }
  const std::size_t bytes = bytes_of(*write.record) + entry_overhead_bytes;
  evict(bytes, now_s);
  if (!fits(bytes)) {
    if (before) insert(write.key, std::move(before->session), before->expires_s);
    co_return fail(Code::resource_exhausted,
                   "the store of sessions is full of users who are logged in; raise "
                   "sessions.memory.sessions_max or bytes_max, keep less in a session, or shorten "
                   "their lifetimes");
  }
  StoredSession session;
  session.record = std::move(write.record);
  session.version = is_there ? *write.read_version + 1 : 0;
  insert(write.key, std::move(session), write.expires_s);
  co_return true;
}

Task<Result<void>> MemorySessionStore::touch(SessionKey key, std::int64_t version,
                                             std::int64_t seen_s, std::int64_t expires_s) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(key);
  if (found == sessions_.end()) co_return {};
  Entry& entry = found->second;
  const bool is_earlier = entry.session.record->seen_s < seen_s && seen_s < entry.expires_s &&
                          entry.session.version == version;
  if (!is_earlier) co_return {};
  auto seen = std::make_shared<SessionRecord>(*entry.session.record);
  seen->seen_s = seen_s;
  Order& order = order_of(*seen);
  order.splice(order.end(), order, entry.place);
  entry.session.record = std::move(seen);
  entry.expires_s = expires_s;
  co_return {};
}

Task<Result<void>> MemorySessionStore::remove(SessionKey key) {
  const std::lock_guard lock(mutex_);
  if (const auto found = sessions_.find(key); found != sessions_.end()) erase(found);
  co_return {};
}

std::int64_t MemorySessionStore::erase_all(const std::string& issuer, const std::string& principal,
                                           const SessionKey* kept) {
  std::vector<SessionKey> keys;
  const auto [first, end] = by_principal_.equal_range(whose(issuer, principal));
  for (auto each = first; each != end; ++each) {
    if (kept == nullptr || each->second != *kept) keys.push_back(each->second);
  }
  for (const SessionKey& key : keys) erase(sessions_.find(key));
  return static_cast<std::int64_t>(keys.size());
}

Task<Result<std::int64_t>> MemorySessionStore::remove_all(std::string issuer,
                                                          std::string principal) {
  const std::lock_guard lock(mutex_);
  co_return erase_all(issuer, principal, nullptr);
}

Task<Result<std::optional<std::int64_t>>> MemorySessionStore::remove_others(std::string issuer,
                                                                            std::string principal,
                                                                            SessionKey kept,
                                                                            std::int64_t version) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(kept);
  if (found == sessions_.end() || found->second.session.version != version) co_return std::nullopt;
  co_return std::optional(erase_all(issuer, principal, &kept));
}

MemorySessionStore::Statistics MemorySessionStore::statistics() const {
  const std::lock_guard lock(mutex_);
  return {sessions_.size(), bytes_, forgotten_};
}

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
