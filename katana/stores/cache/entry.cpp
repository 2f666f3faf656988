#include "katana/stores/cache/entry.hpp"

#include <cstring>

#include "katana/stores/cache/heap_bytes.hpp"

namespace katana::cache::detail {
namespace {

std::size_t size_of(std::size_t key_bytes, std::size_t tag_count) noexcept {
  return sizeof(Entry) + tag_count * sizeof(TagLink) + key_bytes;
}

}  // namespace

std::size_t Entry::bytes_for(std::size_t key_bytes, std::size_t tag_count) noexcept {
  return allocation_bytes(size_of(key_bytes, tag_count));
}

Entry* Entry::make(Bytes key, std::uint64_t hash, const Contents& contents) {
  static_assert(sizeof(Entry) % alignof(TagLink) == 0);
  const std::size_t tag_count = contents.tags.size();
  auto* const entry = new (::operator new(size_of(key.size(), tag_count))) Entry();
  entry->hash = hash;
  entry->value = contents.value;
  entry->expires = contents.expires;
  entry->set_refresh_at(contents.refresh_at);
  entry->key_bytes = static_cast<std::uint32_t>(key.size());
  entry->tag_count = static_cast<std::uint16_t>(tag_count);
  entry->bytes = bytes_for(key.size(), tag_count) + contents.value_bytes;
  char* at = reinterpret_cast<char*>(entry + 1);
  for (const std::uint64_t tag : contents.tags) {
    new (at) TagLink{.tag = tag, .entry = entry};
    at += sizeof(TagLink);
  }
  if (!key.empty()) std::memcpy(at, key.data(), key.size());
  return entry;
}

void Entry::destroy(Entry* entry) noexcept {
  const std::size_t bytes = size_of(entry->key_bytes, entry->tag_count);
  entry->~Entry();
  ::operator delete(entry, bytes);
}

}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
