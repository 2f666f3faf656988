// Table: one shard of a cache: entries by key, bounded in bytes and in number. S3-FIFO (Yang et
// al., SOSP 2023) chooses the entry to evict:
//
//   put ──▶ small ──used again──▶ main ──not used since──▶ gone
//             │                     └──────used──▶ main, again
//             └─used never──▶ ghost ──put again──▶ main
//
// small is a tenth. Entries that are read once, as by a scan, leave through it and evict nothing
// from main. A hit moves no entry: it only counts.
//
// Owns       its entries, the arrays of buckets and ghosts, and the index of tags.
// Thread     one lock's, of its caller.
// Allocates  an entry for each put(); arrays when they grow, by doubling.
// Fails      put() is false for an entry that would take more than half of the table, or when an
//            allocation fails (std::bad_alloc). The key then has no entry.
// Invariant  bytes() ≤ bytes_max and count() ≤ entries_max, at every moment, arrays included. One
//            put() looks at no more than kept_max entries that stay, and then takes the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/stores/cache/entry.hpp"
#include "katana/stores/cache/ghosts.hpp"

namespace katana::cache::detail {

struct TableLimits {
  std::size_t bytes_max = 0;
  std::size_t entries_max = 0;
};

// Counts since the table was made.
struct TableCounts {
  std::uint64_t evictions = 0;  // for want of room
  std::uint64_t expired = 0;    // found, or found in the way, when their time was over
  std::uint64_t refused = 0;    // too large to be kept
};

class Table {
 public:
  static constexpr unsigned kept_max = 128;
  static constexpr std::uint8_t uses_max = 3;

  explicit Table(TableLimits limits);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // Finds an entry, which counts as a use of it. Null: it is not there. An entry whose time is over
  // at `now` is taken out, and null as well.
  Entry* find(Bytes key, std::uint64_t hash, Instant now, Garbage& garbage) noexcept {
    Entry* const entry = look(key, hash);
    if (entry == nullptr) return nullptr;
    if (now >= entry->look_again_at) [[unlikely]] {
      if (now >= entry->expires) {
        ++counts_.expired;
        take_out(*entry, garbage);
        return nullptr;
      }
    }
    if (entry->uses < uses_max) ++entry->uses;
    return entry;
  }
  // As find(), but counts no use, and finds an entry whose time is over, too.
  Entry* peek(Bytes key, std::uint64_t hash) const noexcept { return look(key, hash); }
  // Replaces what is there.
  bool put(Bytes key, std::uint64_t hash, const Contents& contents, Instant now, Garbage& garbage);
  bool erase(Bytes key, std::uint64_t hash, Garbage& garbage) noexcept;
  // Removes all entries with this tag, and returns their number.
  std::size_t erase_tag(std::uint64_t tag, Garbage& garbage) noexcept;
  // Removes the entries whose keys begin with `prefix`; looks at every entry.
  std::size_t erase_prefix(Bytes prefix, Garbage& garbage) noexcept;
  void clear(Garbage& garbage) noexcept { erase_prefix({}, garbage); }

  std::size_t count() const noexcept { return small_.count + main_.count; }
  // The memory of the table, entries and arrays included.
  std::size_t bytes() const noexcept { return small_.bytes + main_.bytes + own_bytes(); }
  const TableCounts& counts() const noexcept { return counts_; }
  // The largest size of one value, its key included.
  static std::size_t value_bytes_max(TableLimits limits) noexcept { return limits.bytes_max / 2; }

 private:
  struct Queue {
    Entry* first = nullptr;  // the one that gives way first
    Entry* last = nullptr;
    std::size_t count = 0;
    std::size_t bytes = 0;

    void push(Entry& entry) noexcept;
    void remove(Entry& entry) noexcept;
  };
  struct Same {
    std::size_t operator()(std::uint64_t hash) const noexcept {
      return static_cast<std::size_t>(hash);
    }
  };

  Entry* look(Bytes key, std::uint64_t hash) const noexcept {
    for (Entry* entry = buckets_[hash & mask_]; entry != nullptr; entry = entry->next_in_bucket) {
      if (entry->hash == hash && entry->key() == key) return entry;
    }
    return nullptr;
  }
  std::size_t own_bytes() const noexcept;
  // The bytes by which the index of tags may grow for `tag_count` tags.
  std::size_t index_bytes_for(std::size_t tag_count) const noexcept;
  Queue& queue_of(const Entry& entry) noexcept {
    return entry.queue == Entry::Queue::small ? small_ : main_;
  }
  void enter(Entry& entry, Entry::Queue queue) noexcept;
  // Takes an entry out of bucket, queue and tags.
  void take_out(Entry& entry, Garbage& garbage) noexcept;
  void unlink_tags(Entry& entry) noexcept;
  void link_tags(Entry& entry);
  bool fits(std::size_t bytes, std::size_t entries) const noexcept {
    return this->bytes() + bytes <= limits_.bytes_max && count() + entries <= limits_.entries_max;
  }
  bool small_has_its_share() const noexcept;
  // Evicts until this much more fits, or no entry is left.
  void evict_for(std::size_t bytes, std::size_t entries, Instant now, Garbage& garbage) noexcept;
  void step(bool may_keep, Instant now, Garbage& garbage, unsigned& kept) noexcept;
  void grow(Instant now, Garbage& garbage);

  // The members that a hit touches come first.
  std::unique_ptr<Entry*[]> buckets_;
  std::size_t mask_;
  const TableLimits limits_;
  Queue small_;
  Queue main_;
  Ghosts ghosts_;
  std::unordered_map<std::uint64_t, TagLink*, Same> tags_;  // the first of each list
  TableCounts counts_;
};

}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
