// Memo: remembers whether a value fits a schema during one evaluation. Recursive schemas ask for
// the same verdict once for each path to the value. The number of paths may be exponential.
//
// Owns       its table.
// Thread     one: a call's.
// Allocates  the first note, and growth.
// Fails      never.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace katana::schema {

struct Node;

class Memo {
 public:
  // The verdict about an instance and a schema.
  enum class Verdict : std::uint8_t {
    unknown,     // not evaluated yet
    fits,        // the instance fits the schema
    fails,       // it does not fit, and no finding was added
    fails_told,  // it does not fit, and the findings have the reason
  };

  // The verdict of an earlier set(); unknown: there is none.
  Verdict find(const Node* node, std::uint64_t instance) const noexcept {
    if (entries_.empty()) return Verdict::unknown;
    return entries_[place_of(node, instance)].verdict();
  }
  // Notes a verdict, which is not `unknown`.
  void set(const Node* node, std::uint64_t instance, Verdict verdict) {
    if ((count_ + 1) * 2 > entries_.size()) grow();
    Entry& entry = entries_[place_of(node, instance)];
    if (entry.key == 0) ++count_;
    entry = Entry(node, instance, verdict);
  }

 private:
  // Nodes are aligned. The last two bits of their address are free for the verdict.
  struct Entry {
    Entry() = default;
    Entry(const Node* node, std::uint64_t of_instance, Verdict verdict) noexcept
        : key(key_of(node) | static_cast<std::uint64_t>(verdict)), instance(of_instance) {}
    Verdict verdict() const noexcept { return static_cast<Verdict>(key & 3); }
    bool is(const Node* node, std::uint64_t of_instance) const noexcept {
      return (key & ~std::uint64_t{3}) == key_of(node) && instance == of_instance;
    }
    std::uint64_t key = 0;  // 0: the entry is free
    std::uint64_t instance = 0;
  };
  static std::uint64_t key_of(const Node* node) noexcept {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(node));
  }

  // The index of the entry, or of the free place for it. A client chooses neither addresses nor
  // the consecutive places in a document. No key against collisions is needed.
  std::size_t place_of(const Node* node, std::uint64_t instance) const noexcept {
    std::uint64_t mixed =
        (key_of(node) ^ (instance * 0x9e37'79b9'7f4a'7c15)) * 0xbf58'476d'1ce4'e5b9;
    mixed ^= mixed >> 32;
    const std::size_t mask = entries_.size() - 1;
    std::size_t place = static_cast<std::size_t>(mixed) & mask;
    while (entries_[place].key != 0 && !entries_[place].is(node, instance)) {
      place = (place + 1) & mask;
    }
    return place;
  }
  void grow() {
    std::vector<Entry> before(entries_.empty() ? 64 : entries_.size() * 2);
    before.swap(entries_);
    for (const Entry& each : before) {
      if (each.key == 0) continue;
      const auto* const node =
          reinterpret_cast<const Node*>(static_cast<std::uintptr_t>(each.key & ~std::uint64_t{3}));
      entries_[place_of(node, each.instance)] = each;
    }
  }

  std::vector<Entry> entries_;  // a power of two of them, half of them unused
  std::size_t count_ = 0;
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
