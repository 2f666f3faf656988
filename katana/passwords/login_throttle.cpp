#include "katana/passwords/login_throttle.hpp"

#include <algorithm>
#include <cstring>

namespace katana::passwords {

std::size_t LoginThrottle::KeyHash::operator()(const crypto::Sha256& key) const noexcept {
  std::size_t hash = 0;
  std::memcpy(&hash, key.octets.data(), sizeof(hash));
  return hash;
}

void LoginThrottle::Table::erase(const crypto::Sha256& key) {
  const auto found = entries.find(key);
  if (found == entries.end()) return;
  order.erase(found->second.place);
  entries.erase(found);
}

void LoginThrottle::Table::forget(Instant before) {
  while (!order.empty()) {
    const auto first = entries.find(order.front());
    if (first->second.last > before) return;
    order.pop_front();
    entries.erase(first);
  }
}

void LoginThrottle::Table::count(const crypto::Sha256& key, Instant now, std::size_t entries_max) {
  const auto found = entries.find(key);
  if (found != entries.end()) {
    Entry& entry = found->second;
    ++entry.failures;
    entry.last = now;
    order.splice(order.end(), order, entry.place);
    return;
  }
  if (entries.size() >= entries_max) erase(crypto::Sha256(order.front()));
  entries.emplace(key, Entry{1, now, order.insert(order.end(), key)});
}

Duration LoginThrottle::wait_of(const Table& table, const crypto::Sha256& key,
                                unsigned free_failures, Instant now) const {
  const auto found = table.entries.find(key);
  if (found == table.entries.end() || found->second.failures < free_failures) return {};
  // More doublings than that are beyond every wait_max.
  const unsigned doublings = std::min(found->second.failures - free_failures, 30u);
  Duration wait = options_.wait_min;
  for (unsigned count = 0; count < doublings && wait < options_.wait_max; ++count) {
    wait = nanoseconds(wait.ns * 2);
  }
  wait = std::min(wait, options_.wait_max);
  return std::max(found->second.last + wait - now, Duration{});
}

Duration LoginThrottle::begin(Bytes account, Bytes address, Instant now) {
  const crypto::Sha256 account_key = crypto::sha256(account);
  const crypto::Sha256 address_key = crypto::sha256(address);
  const std::lock_guard lock(mutex_);
  const Instant forgotten{now.ns - options_.forget_after.ns};
  accounts_.forget(forgotten);
  addresses_.forget(forgotten);
  const Duration wait =
      std::max(wait_of(accounts_, account_key, options_.account_free_failures, now),
               wait_of(addresses_, address_key, options_.address_free_failures, now));
  if (wait > Duration{}) return wait;
  accounts_.count(account_key, now, options_.accounts_max);
  addresses_.count(address_key, now, options_.addresses_max);
  return {};
}

void LoginThrottle::succeeded(Bytes account, Bytes address) {
  const crypto::Sha256 account_key = crypto::sha256(account);
  const crypto::Sha256 address_key = crypto::sha256(address);
  const std::lock_guard lock(mutex_);
  accounts_.erase(account_key);
  // Who has one account may guess at others from the same address: only this attempt is taken off.
  const auto found = addresses_.entries.find(address_key);
  if (found == addresses_.entries.end()) return;
  if (--found->second.failures == 0) addresses_.erase(address_key);
}

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
