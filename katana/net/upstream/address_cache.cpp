#include "katana/net/upstream/address_cache.hpp"

#include <algorithm>
#include <utility>

namespace katana::upstream {

std::optional<AddressCache::Entry> AddressCache::find(const std::string& name, Instant now) {
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end() || now >= found->second.until) return {};
  return found->second;
}

Instant AddressCache::keep(const std::string& name, Result<Addresses> addresses, Instant now) {
  const Duration lifetime = addresses ? lifetimes_.found : lifetimes_.failed;
  const Instant until = lifetime < never - now ? now + lifetime : never;
  const std::scoped_lock lock(mutex_);
  if (entries_.size() >= names_max_ && !entries_.contains(name)) {
    const auto ends = [](const auto& each) { return each.second.until; };
    entries_.erase(std::ranges::min_element(entries_, {}, ends));
  }
  entries_.insert_or_assign(name, Entry{std::move(addresses), until});
  return until;
}

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
