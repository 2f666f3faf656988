// LoginThrottle: limits the guesses of passwords. A stranger cannot use it to lock out the owner of
// an account.
//
//   const Duration wait = throttle.begin(name, address, now);
//   if (wait > Duration{}) return too_many(wait);                 // 429 with Retry-After
//   …                                                             // verify the password
//   if (right) throttle.succeeded(name, address);
//
// Pass the account as the program looks it up. If the program ignores case, fold the case first:
// otherwise each spelling has separate guesses. The address is text, with or without a port.
//
// Failures are counted in three ways, and an attempt waits for the longest of the waits:
//
//   account and network   account_free_failures in a row, then each failure doubles the wait. A
//                         stranger fills only the count of the stranger's network.
//   network               address_free_failures within forget_after, for any accounts. IPv6 also
//                         counts four times as many for the /56, and sixteen times for the /48.
//   account               account_free_failures_everywhere, and one more in each wait_max. It
//                         counts all networks from which the account has never logged in. This
//                         is the number of guesses of many machines together. One network adds
//                         at most account_free_failures: a single attacker cannot fill it.
//
// Networks from which the account has logged in, and its known devices (known_device.hpp), pass the
// last count. A known device also passes the first two, and has a separate count. This follows NIST
// SP 800-63B §3.2.2 (at most 100 failures in a row, growing waits, known clients first) and OWASP's
// device cookies.
//
// An attempt counts as failed from its begin. Simultaneous guesses are therefore counted, too.
//
// Owns       tables of bounded size, by SHA-256 of account and network.
// Thread     any; one lock, held for some microseconds.
// Allocates  for each key, up to accounts_max and addresses_max.
// Fails      never. A full table drops the entry that has not failed for the longest time.
// Invariant  an attempt that must wait is not counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "katana/base/crypto/digest.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/identity/passwords/throttle_options.hpp"

namespace katana::passwords {

class LoginThrottle {
 public:
  explicit LoginThrottle(ThrottleOptions options = {}) : options_(options) {}

  // Begins an attempt, and returns the time to wait. Zero: go on; the attempt counts. Otherwise the
  // attempt does not count. `device` is the result of KnownDevices::find() for this account; empty:
  // the client is not known.
  Duration begin(Bytes account, Bytes address, Instant now, Bytes device = {});
  // Notes a success: the count of account and network is reset, and the network is known from now
  // on. The network no longer counts this attempt. REQUIRES the arguments of begin().
  void succeeded(Bytes account, Bytes address, Bytes device = {});

 private:
  struct KeyHash {
    std::size_t operator()(const crypto::Sha256& key) const noexcept;
  };
  using Order = std::list<crypto::Sha256>;  // the key with the oldest failure is first
  struct Entry {
    double failures = 0;
    Instant last = {};
    Order::iterator place = {};
  };
  struct Table {
    std::unordered_map<crypto::Sha256, Entry, KeyHash> entries;
    Order order;

    const Entry* find(const crypto::Sha256& key) const noexcept;
    // Returns the entry of the key, and moves it to the end of the order.
    Entry& renew(const crypto::Sha256& key, std::size_t entries_max);
    void erase(const crypto::Sha256& key);
    void forget(Instant before);
  };
  // The keys under which an attempt is counted.
  struct Attempt {
    crypto::Sha256 account;
    crypto::Sha256 pair;                   // account with its network, or its device
    std::vector<crypto::Sha256> networks;  // from the smallest to the largest
    bool has_device = false;
  };
  static Attempt attempt_of(Bytes account, Bytes address, Bytes device);
  void forget(Instant now);
  Duration wait_of_pair(const Attempt& attempt, Instant now) const;
  Duration wait_of_networks(const Attempt& attempt, Instant now) const;
  Duration wait_of_account(const Attempt& attempt, Instant now) const;
  Duration grown(double failures, double free_failures) const noexcept;
  // The failures that are left of an entry, if `free_failures` of them expire in forget_after.
  double left_of(const Entry& entry, double free_failures, Instant now) const noexcept;
  void count(const Attempt& attempt, Instant now);

  const ThrottleOptions options_;
  std::mutex mutex_;
  Table pairs_;
  Table networks_;
  Table accounts_;  // failures from all networks
  Table known_;     // pairs that have succeeded
};

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
