#include "katana/identity/passwords/login_throttle.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/base/values/client_network.hpp"

namespace katana::passwords {
namespace {

// The IPv6 networks of a customer, a large customer, and a company (RFC 6177). `times`: the number
// of allowed failures, as a multiple of that of the first.
struct Level {
  unsigned v6_bits;
  double times;
};
constexpr std::array<Level, 3> levels = {{{64, 1}, {56, 4}, {48, 16}}};

// Puts the size in front of each text. Different lists then always give different keys.
crypto::Sha256 key_of(Bytes use, Bytes first, Bytes second = {}) {
  std::string all(use);
  for (const Bytes part : {first, second}) {
    all += std::to_string(part.size());
    all += ' ';
    all += part;
  }
  return crypto::sha256(all);
}

}  // namespace

std::size_t LoginThrottle::KeyHash::operator()(const crypto::Sha256& key) const noexcept {
  std::size_t hash = 0;
  std::memcpy(&hash, key.octets.data(), sizeof(hash));
  return hash;
}

const LoginThrottle::Entry* LoginThrottle::Table::find(const crypto::Sha256& key) const noexcept {
  const auto found = entries.find(key);
  return found == entries.end() ? nullptr : &found->second;
}

LoginThrottle::Entry& LoginThrottle::Table::renew(const crypto::Sha256& key,
                                                  std::size_t entries_max) {
  const auto found = entries.find(key);
  if (found != entries.end()) {
    order.splice(order.end(), order, found->second.place);
    return found->second;
  }
  if (entries.size() >= entries_max) erase(crypto::Sha256(order.front()));
  Entry& entry = entries[key];
  entry.place = order.insert(order.end(), key);
  return entry;
}

void LoginThrottle::Table::erase(const crypto::Sha256& key) {
  const auto found = entries.find(key);
  KATANA_CHECK(found != entries.end());  // each place in the order has its entry
  order.erase(found->second.place);
  entries.erase(found);
}

void LoginThrottle::Table::forget(Instant before) {
  while (!order.empty()) {
    const auto first = entries.find(order.front());
    KATANA_CHECK(first != entries.end());
    if (first->second.last > before) return;
    order.pop_front();
    entries.erase(first);
  }
}

LoginThrottle::Attempt LoginThrottle::attempt_of(Bytes account, Bytes address, Bytes device) {
  Attempt attempt;
  attempt.account = key_of("account", account);
  attempt.has_device = !device.empty();
  const Text network = client_network_text(address);
  attempt.pair = attempt.has_device ? key_of("device", account, device)
                                    : key_of("pair", account, network.bytes());
  for (const Level& level : levels) {
    const Text wider = client_network_text(address, {.v6 = level.v6_bits});
    const crypto::Sha256 key = key_of("network", wider.bytes(), std::to_string(level.v6_bits));
    attempt.networks.push_back(key);
    // IPv4 addresses and names have no wider networks.
    if (network.bytes().find(':') == Bytes::npos || network.bytes().starts_with("unix:")) break;
  }
  return attempt;
}

Duration LoginThrottle::grown(double failures, double free_failures) const noexcept {
  if (failures < free_failures) return {};
  // 30 doublings exceed any wait_max.
  const auto doublings = static_cast<unsigned>(std::min(failures - free_failures, 30.0));
  Duration wait = options_.wait_min;
  for (unsigned count = 0; count < doublings && wait < options_.wait_max; ++count) {
    wait = nanoseconds(wait.ns * 2);
  }
  return std::min(wait, options_.wait_max);
}

double LoginThrottle::left_of(const Entry& entry, double free_failures,
                              Instant now) const noexcept {
  const double passed =
      static_cast<double>((now - entry.last).ns) / static_cast<double>(options_.forget_after.ns);
  return std::max(0.0, entry.failures - passed * free_failures);
}

Duration LoginThrottle::wait_of_pair(const Attempt& attempt, Instant now) const {
  const Entry* const entry = pairs_.find(attempt.pair);
  if (entry == nullptr) return {};
  return entry->last + grown(entry->failures, options_.account_free_failures) - now;
}

Duration LoginThrottle::wait_of_networks(const Attempt& attempt, Instant now) const {
  Duration wait;
  for (std::size_t index = 0; index < attempt.networks.size(); ++index) {
    const Entry* const entry = networks_.find(attempt.networks[index]);
    if (entry == nullptr) continue;
    const double free_failures = levels[index].times * options_.address_free_failures;
    const double left = left_of(*entry, free_failures, now);
    wait = std::max(wait, entry->last + grown(left, free_failures) - now);
  }
  return wait;
}

// A bucket that leaks one failure in each wait_max. An attempt beyond its size waits until it fits.
Duration LoginThrottle::wait_of_account(const Attempt& attempt, Instant now) const {
  if (known_.find(attempt.pair) != nullptr) return {};
  const Entry* const entry = accounts_.find(attempt.account);
  if (entry == nullptr) return {};
  const double wait_ns = static_cast<double>(options_.wait_max.ns);
  const double leaked = static_cast<double>((now - entry->last).ns) / wait_ns;
  const double over = entry->failures - leaked + 1 - options_.account_free_failures_everywhere;
  // Rounded up to a whole nanosecond. An attempt after this wait is then allowed.
  return over <= 0 ? Duration{} : nanoseconds(static_cast<std::int64_t>(over * wait_ns) + 1);
}

void LoginThrottle::count(const Attempt& attempt, Instant now) {
  const Entry* const before = pairs_.find(attempt.pair);
  const bool is_first = before == nullptr || before->failures < options_.account_free_failures;
  if (!attempt.has_device && is_first && known_.find(attempt.pair) == nullptr) {
    Entry& everywhere = accounts_.renew(attempt.account, options_.accounts_max);
    const double leaked =
        static_cast<double>((now - everywhere.last).ns) / static_cast<double>(options_.wait_max.ns);
    everywhere.failures = std::max(0.0, everywhere.failures - leaked) + 1;
    everywhere.last = now;
  }
  Entry& pair = pairs_.renew(attempt.pair, options_.accounts_max);
  pair.failures += 1;
  pair.last = now;
  if (attempt.has_device) return;
  for (std::size_t index = 0; index < attempt.networks.size(); ++index) {
    Entry& network = networks_.renew(attempt.networks[index], options_.addresses_max);
    const double free_failures = levels[index].times * options_.address_free_failures;
    network.failures = left_of(network, free_failures, now) + 1;
    network.last = now;
  }
}

void LoginThrottle::forget(Instant now) {
  const Instant forgotten{now.ns - options_.forget_after.ns};
  pairs_.forget(forgotten);
  networks_.forget(forgotten);
  const Duration leaks_out{options_.wait_max.ns * options_.account_free_failures_everywhere};
  accounts_.forget(Instant{now.ns - leaks_out.ns});
  known_.forget(Instant{now.ns - options_.known_for.ns});
}

Duration LoginThrottle::begin(Bytes account, Bytes address, Instant now, Bytes device) {
  const Attempt attempt = attempt_of(account, address, device);
  const std::lock_guard lock(mutex_);
  forget(now);
  Duration wait = wait_of_pair(attempt, now);
  if (!attempt.has_device) {
    wait = std::max({wait, wait_of_networks(attempt, now), wait_of_account(attempt, now)});
  }
  if (wait > Duration{}) return wait;
  count(attempt, now);
  return {};
}

void LoginThrottle::succeeded(Bytes account, Bytes address, Bytes device) {
  const Attempt attempt = attempt_of(account, address, device);
  const std::lock_guard lock(mutex_);
  const Entry* const pair = pairs_.find(attempt.pair);
  if (pair == nullptr) return;  // evicted meanwhile from a full table
  const Instant now = pair->last;
  pairs_.erase(attempt.pair);
  if (attempt.has_device) return;
  // Failures of others at the account, and failures of the network, stay counted.
  const auto take_off = [](Table& table, const crypto::Sha256& key) {
    const auto found = table.entries.find(key);
    if (found == table.entries.end()) return;
    found->second.failures = std::max(0.0, found->second.failures - 1);
  };
  for (const crypto::Sha256& network : attempt.networks) take_off(networks_, network);
  if (known_.find(attempt.pair) == nullptr) take_off(accounts_, attempt.account);
  known_.renew(attempt.pair, options_.accounts_max).last = now;
}

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
