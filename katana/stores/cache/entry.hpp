// Entry: a key and its value in a cache: one piece of the heap, key and tags behind the head.
//
// Owns       its bytes of the key, its share of the value.
// Thread     that of its Table's lock.
// Allocates  one piece; `bytes` is its size, with the value.
// Fails      make() throws std::bad_alloc.
// Invariant  an entry is in one bucket, one queue, and a list for each of its tags; or in nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::cache::detail {

struct Entry;

// An entry's place in the list of one of its tags.
struct TagLink {
  std::uint64_t tag = 0;  // its hash
  Entry* entry = nullptr;
  TagLink* prev = nullptr;
  TagLink* next = nullptr;
};

// The hashes of tags; two of one hash are invalidated together, which costs a load.
using TagHashes = std::span<const std::uint64_t>;

// The value and the times that put() stores under a key.
struct Contents {
  std::shared_ptr<const void> value = {};  // null: there is known to be none
  std::size_t value_bytes = 0;             // of the heap, all that goes with it
  Instant expires = never;
  Instant refresh_at = never;  // from then on a hit asks for a load
  TagHashes tags = {};
};

struct Entry {
  enum class Queue : std::uint8_t { none, small, main };

  static Entry* make(Bytes key, std::uint64_t hash, const Contents& contents);
  static void destroy(Entry* entry) noexcept;
  // The heap bytes of one entry, without its value.
  static std::size_t bytes_for(std::size_t key_bytes, std::size_t tag_count) noexcept;

  Bytes key() const noexcept {
    return {reinterpret_cast<const char*>(this + 1) + tag_count * sizeof(TagLink), key_bytes};
  }
  std::span<TagLink> tags() noexcept {
    return {std::launder(reinterpret_cast<TagLink*>(this + 1)), tag_count};
  }

  // Asks for a load from `instant` on; never: it does not.
  void set_refresh_at(Instant instant) noexcept { look_again_at = std::min(instant, expires); }
  bool refresh_is_due(Instant now) const noexcept { return now >= look_again_at; }

  Entry* prev = nullptr;  // of its queue
  Entry* next = nullptr;
  std::size_t bytes = 0;
  Instant expires = never;
  // The members that a hit reads stand together, and the key behind them where there are no tags.
  Entry* next_in_bucket = nullptr;
  std::uint64_t hash = 0;
  std::shared_ptr<const void> value = {};
  Instant look_again_at = never;  // it expires, or asks for a load
  std::uint32_t key_bytes = 0;
  std::uint16_t tag_count = 0;
  std::uint8_t uses = 0;  // since it entered its queue, at most 3
  Queue queue = Queue::none;
};

// Entries that were taken out, to be destroyed when the lock is released: the destructors of values
// are code of the program.
class Garbage {
 public:
  Garbage() noexcept = default;
  Garbage(const Garbage&) = delete;
  Garbage& operator=(const Garbage&) = delete;
  ~Garbage() {
    while (first_ != nullptr) {
      Entry* const entry = first_;
      first_ = entry->next;
      Entry::destroy(entry);
    }
  }
  void add(Entry& entry) noexcept {
    entry.next = first_;
    first_ = &entry;
  }

 private:
  Entry* first_ = nullptr;
};

}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
