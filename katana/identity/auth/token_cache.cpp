#include "katana/identity/auth/token_cache.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "katana/base/values/secrets.hpp"

namespace katana::auth {
namespace {

KeyedHash random_hash() {
  std::uint64_t key[2];
  const std::string octets = random_octets(sizeof(key));
  std::memcpy(key, octets.data(), sizeof(key));
  return {key[0], key[1]};
}

using container::Object;
using container::Value;

std::size_t heap_bytes(const std::string& text) noexcept {
  return text.capacity() < sizeof(std::string) / 2 ? 0 : text.capacity() + 1;
}
std::size_t heap_bytes(const std::vector<std::string>& texts) noexcept {
  std::size_t bytes = texts.capacity() * sizeof(std::string);
  for (const std::string& each : texts) bytes += heap_bytes(each);
  return bytes;
}
std::size_t heap_bytes(const Object& object) noexcept;
// The recursion is at most token_depth_max deep, the limit of jose for claims.
std::size_t heap_bytes(const Value& value) noexcept {
  if (value.kind() == container::Kind::text) return heap_bytes(value.as_text());
  if (const Object* const object = value.get_object()) return heap_bytes(*object);
  std::size_t bytes = 0;
  if (const container::List* const list = value.get_list()) {
    bytes = list->capacity() * sizeof(Value);
    for (const Value& each : *list) bytes += heap_bytes(each);
  }
  return bytes;
}
std::size_t heap_bytes(const Object& object) noexcept {
  std::size_t bytes = 2 * object.size() * sizeof(container::Member);  // or less
  for (const container::Member& each : object)
    bytes += heap_bytes(each.name) + heap_bytes(each.value);
  return bytes;
}

// The memory of an entry. The claims of a small token may take many times its size: each number of
// "[1,1,1" becomes a Value.
std::size_t bytes_of(const TokenCache::Entry& entry) noexcept {
  const PrincipalFacts& facts = entry.principal.facts();
  return sizeof(TokenCache::Entry) + sizeof(PrincipalFacts) + heap_bytes(entry.token) +
         heap_bytes(entry.id) + heap_bytes(facts.id) + heap_bytes(facts.issuer) +
         heap_bytes(facts.name) + heap_bytes(facts.scheme) + heap_bytes(facts.roles) +
         heap_bytes(facts.scopes) + heap_bytes(facts.claims);
}

}  // namespace

TokenCache::TokenCache(std::size_t count_max, std::size_t bytes_max)
    : hash_(random_hash()),
      bytes_max_(bytes_max),
      slots_(ways * std::bit_floor(std::max<std::size_t>(1, count_max / ways))) {}

// Only the end of a token is hashed. It is part of the signature, which differs between tokens.
std::uint64_t TokenCache::hash_of(Bytes token) const noexcept {
  constexpr std::size_t hashed_bytes = 64;
  return hash_.of(token.substr(token.size() - std::min(token.size(), hashed_bytes)));
}

TokenCache::Slot* TokenCache::set_of(std::uint64_t hash) noexcept {
  return &slots_[(hash & (slots_.size() / ways - 1)) * ways];
}

TokenCache::Entry* TokenCache::find(Bytes token) noexcept {
  const std::uint64_t hash = hash_of(token);
  Slot* const set = set_of(hash);
  for (Slot* each = set; each != set + ways; ++each) {
    if (each->hash != hash || each->entry == nullptr || each->entry->token != token) continue;
    each->used = ++clock_;
    return each->entry.get();
  }
  return nullptr;
}

void TokenCache::empty(Slot& slot) noexcept {
  if (slot.entry == nullptr) return;
  bytes_ -= slot.bytes;
  --count_;
  slot = {};
}

void TokenCache::add(Entry entry) {
  const std::size_t size = bytes_of(entry);
  if (size > bytes_max_) return;
  remove(entry.token);
  const std::uint64_t hash = hash_of(entry.token);
  Slot* const set = set_of(hash);
  Slot& slot = *std::min_element(set, set + ways,
                                 [](const Slot& a, const Slot& b) { return a.used < b.used; });
  empty(slot);
  while (bytes_ + size > bytes_max_) {
    empty(slots_[hand_]);
    hand_ = (hand_ + 1) % slots_.size();
  }
  slot = {hash, ++clock_, size, std::make_unique<Entry>(std::move(entry))};
  bytes_ += size;
  ++count_;
}

void TokenCache::remove(Bytes token) noexcept {
  const std::uint64_t hash = hash_of(token);
  Slot* const set = set_of(hash);
  for (Slot* each = set; each != set + ways; ++each) {
    if (each->hash == hash && each->entry != nullptr && each->entry->token == token) empty(*each);
  }
}

void TokenCache::clear() noexcept {
  for (Slot& slot : slots_) empty(slot);
}

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
