#include "katana/stores/cache/table.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "katana/stores/cache/heap_bytes.hpp"

namespace katana::cache::detail {
namespace {

constexpr std::size_t buckets_min = 16;
// A node of the index of tags: a pointer, a hash, a pointer, and what malloc adds.
constexpr std::size_t tag_node_bytes = allocation_bytes(4 * sizeof(void*));

// Ghosts for three quarters of the buckets take as many slots as there are buckets. There are
// between three quarters and one and a half times as many of them as entries.
constexpr std::size_t ghosts_for(std::size_t buckets) noexcept { return buckets / 4 * 3; }

std::size_t arrays_bytes(std::size_t buckets) noexcept {
  return allocation_bytes(buckets * sizeof(Entry*)) + Ghosts::bytes_for(ghosts_for(buckets));
}

}  // namespace

void Table::Queue::push(Entry& entry) noexcept {
  entry.prev = last;
  entry.next = nullptr;
  (last != nullptr ? last->next : first) = &entry;
  last = &entry;
  ++count;
  bytes += entry.bytes;
}

void Table::Queue::remove(Entry& entry) noexcept {
  (entry.prev != nullptr ? entry.prev->next : first) = entry.next;
  (entry.next != nullptr ? entry.next->prev : last) = entry.prev;
  --count;
  bytes -= entry.bytes;
}

Table::Table(TableLimits limits)
    : buckets_(std::make_unique<Entry*[]>(buckets_min)),
      mask_(buckets_min - 1),
      limits_(limits),
      ghosts_(ghosts_for(buckets_min)) {}

Table::~Table() {
  Garbage garbage;
  clear(garbage);
}

std::size_t Table::own_bytes() const noexcept {
  return arrays_bytes(mask_ + 1) + tags_.size() * tag_node_bytes +
         (tags_.empty() ? 0 : allocation_bytes(tags_.bucket_count() * sizeof(void*)));
}

void Table::enter(Entry& entry, Entry::Queue queue) noexcept {
  entry.queue = queue;
  queue_of(entry).push(entry);
}

void Table::take_out(Entry& entry, Garbage& garbage) noexcept {
  Entry** link = &buckets_[entry.hash & mask_];
  while (*link != &entry) link = &(*link)->next_in_bucket;
  *link = entry.next_in_bucket;
  queue_of(entry).remove(entry);
  unlink_tags(entry);
  garbage.add(entry);
}

void Table::unlink_tags(Entry& entry) noexcept {
  for (TagLink& link : entry.tags()) {
    if (link.next != nullptr) link.next->prev = link.prev;
    if (link.prev != nullptr) {
      link.prev->next = link.next;
    } else if (const auto found = tags_.find(link.tag);
               found != tags_.end() && found->second == &link) {
      if (link.next != nullptr) {
        found->second = link.next;
      } else {
        tags_.erase(found);
      }
    }
  }
}

void Table::link_tags(Entry& entry) {
  for (TagLink& link : entry.tags()) {
    TagLink*& first = tags_[link.tag];
    link.next = first;
    if (first != nullptr) first->prev = &link;
    first = &link;
  }
}

std::size_t Table::index_bytes_for(std::size_t tag_count) const noexcept {
  if (tag_count == 0) return 0;
  const std::size_t nodes = tag_count * tag_node_bytes;
  const std::size_t tags = tags_.size() + tag_count;
  if (tags <= tags_.bucket_count()) return nodes;
  // The next prime behind twice as many, while the old ones are still there.
  return nodes + allocation_bytes((2 * std::max(tags, tags_.bucket_count()) + 32) * 2 * 8);
}

bool Table::put(Bytes key, std::uint64_t hash, const Contents& contents, Instant now,
                Garbage& garbage) {
  Entry::Queue queue = Entry::Queue::none;
  std::uint8_t uses = 0;
  if (Entry* const old = look(key, hash)) {
    queue = old->queue;
    uses = old->uses;
    take_out(*old, garbage);
  }
  const std::size_t tag_count = contents.tags.size();
  const std::size_t own = Entry::bytes_for(key.size(), tag_count) + contents.value_bytes;
  if (key.size() > UINT32_MAX || tag_count > UINT16_MAX || own > value_bytes_max(limits_)) {
    ++counts_.refused;
    return false;
  }
  if (queue == Entry::Queue::none) {
    queue = ghosts_.take(hash) ? Entry::Queue::main : Entry::Queue::small;
  }
  const std::size_t bytes = own + index_bytes_for(tag_count);
  if (count() > mask_) grow(now, garbage);
  evict_for(bytes, 1, now, garbage);
  if (!fits(bytes, 1)) {  // the arrays alone leave no room
    ++counts_.refused;
    return false;
  }
  Entry* const entry = Entry::make(key, hash, contents);
  try {
    link_tags(*entry);
  } catch (...) {
    unlink_tags(*entry);
    Entry::destroy(entry);
    throw;
  }
  entry->uses = uses;
  entry->next_in_bucket = std::exchange(buckets_[hash & mask_], entry);
  enter(*entry, queue);
  return true;
}

bool Table::erase(Bytes key, std::uint64_t hash, Garbage& garbage) noexcept {
  Entry* const entry = look(key, hash);
  if (entry == nullptr) return false;
  take_out(*entry, garbage);
  return true;
}

std::size_t Table::erase_tag(std::uint64_t tag, Garbage& garbage) noexcept {
  std::size_t erased = 0;
  for (auto found = tags_.find(tag); found != tags_.end(); found = tags_.find(tag)) {
    take_out(*found->second->entry, garbage);
    ++erased;
  }
  return erased;
}

std::size_t Table::erase_prefix(Bytes prefix, Garbage& garbage) noexcept {
  std::size_t erased = 0;
  for (Queue* const queue : {&small_, &main_}) {
    for (Entry* entry = queue->first; entry != nullptr;) {
      Entry* const next = entry->next;
      if (entry->key().starts_with(prefix)) {
        take_out(*entry, garbage);
        ++erased;
      }
      entry = next;
    }
  }
  return erased;
}

bool Table::small_has_its_share() const noexcept {
  return small_.bytes > limits_.bytes_max / 10 || small_.count > limits_.entries_max / 10;
}

void Table::evict_for(std::size_t bytes, std::size_t entries, Instant now,
                      Garbage& garbage) noexcept {
  unsigned kept = 0;
  while (!fits(bytes, entries) && count() > 0) step(kept < kept_max, now, garbage, kept);
}

void Table::step(bool may_keep, Instant now, Garbage& garbage, unsigned& kept) noexcept {
  const bool from_small = main_.count == 0 || (small_.count > 0 && small_has_its_share());
  Queue& queue = from_small ? small_ : main_;
  Entry& entry = *queue.first;
  if (now >= entry.expires) {
    ++counts_.expired;
    take_out(entry, garbage);
    return;
  }
  if (may_keep && entry.uses > 0) {
    ++kept;
    queue.remove(entry);
    entry.uses = from_small ? 0 : static_cast<std::uint8_t>(entry.uses - 1);
    enter(entry, Entry::Queue::main);
    return;
  }
  ++counts_.evictions;
  if (from_small) ghosts_.add(entry.hash);
  take_out(entry, garbage);
}

void Table::grow(Instant now, Garbage& garbage) {
  const std::size_t buckets = (mask_ + 1) * 2;
  // Both arrays are there for a moment.
  const std::size_t bytes = arrays_bytes(buckets);
  if (bytes > limits_.bytes_max / 4) return;  // longer lists are cheaper than entries
  evict_for(bytes, 0, now, garbage);
  auto grown = std::make_unique<Entry*[]>(buckets);
  Ghosts ghosts(ghosts_for(buckets));  // anew: a table that grows has had few of them
  for (const Queue* const queue : {&small_, &main_}) {
    for (Entry* entry = queue->first; entry != nullptr; entry = entry->next) {
      entry->next_in_bucket = std::exchange(grown[entry->hash & (buckets - 1)], entry);
    }
  }
  buckets_ = std::move(grown);
  ghosts_ = std::move(ghosts);
  mask_ = buckets - 1;
}

}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
