// LoginThrottle: how often passwords may be guessed, without a way for a stranger to lock out the
// owner of an account.
//
//   const Duration wait = throttle.begin(name, address, now);
//   if (wait > Duration{}) return too_many(wait);                 // 429 with Retry-After
//   …                                                             // verify the password
//   if (right) throttle.succeeded(name, address);
//
// The account as the program looks it up, with its case folded if the program does that: otherwise
// each way to write it has its own guesses. The address as text, with or without a port.
//
// Failures are counted in three ways, and an attempt waits for the longest:
//
//   account and network   account_free_failures in a row, then each one doubles the wait. A
//                         stranger fills the count of the stranger's own network, not the owner's.
//   network               address_free_failures within forget_after, whatever the accounts; of IPv6
//                         also four times as many of the /56 and sixteen times as many of the /48.
//   account               account_free_failures_everywhere, and one more in each wait_max, from all
//                         networks that the account has not logged in from: so many guesses has a
//                         crowd of machines. One network adds account_free_failures at most, so one
//                         attacker cannot fill it.
//
// A network that the account has logged in from, and a device that it knows (known_device.hpp),
// pass the last count; a known device passes the first two as well and has its own count. This
// is the practice of NIST SP 800-63B (§3.2.2: at most 100 failures in a row, waits that grow, and
// known clients before others) and of OWASP's device cookies.
//
// An attempt counts as failed from its begin, so that guesses at the same time are counted too.
//
// Owns       tables of bounded size, by SHA-256 of account and network.
// Thread     any; one lock, held for some microseconds.
// Allocates  for each key, up to accounts_max and addresses_max.
// Fails      never. A full table forgets what has not failed for the longest time.
// Invariant  an attempt that had to wait counts as none.
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

  // Zero: go on, and the attempt counts. Otherwise how long to wait; then it does not. `device`:
  // what KnownDevices::find() has said of this account; empty: the client is not known.
  Duration begin(Bytes account, Bytes address, Instant now, Bytes device = {});
  // Of account and network it begins anew, and they know each other from now on; of the network
  // this attempt was none. REQUIRES the arguments of begin().
  void succeeded(Bytes account, Bytes address, Bytes device = {});

 private:
  struct KeyHash {
    std::size_t operator()(const crypto::Sha256& key) const noexcept;
  };
  using Order = std::list<crypto::Sha256>;  // what has not failed for the longest time first
  struct Entry {
    double failures = 0;
    Instant last = {};
    Order::iterator place = {};
  };
  struct Table {
    std::unordered_map<crypto::Sha256, Entry, KeyHash> entries;
    Order order;

    const Entry* find(const crypto::Sha256& key) const noexcept;
    // Now the last one of the order.
    Entry& renew(const crypto::Sha256& key, std::size_t entries_max);
    void erase(const crypto::Sha256& key);
    void forget(Instant before);
  };
  // What attempts are counted by.
  struct Attempt {
    crypto::Sha256 account;
    crypto::Sha256 pair;                   // with its network, or its device
    std::vector<crypto::Sha256> networks;  // from the smallest to the largest
    bool has_device = false;
  };
  static Attempt attempt_of(Bytes account, Bytes address, Bytes device);
  void forget(Instant now);
  Duration wait_of_pair(const Attempt& attempt, Instant now) const;
  Duration wait_of_networks(const Attempt& attempt, Instant now) const;
  Duration wait_of_account(const Attempt& attempt, Instant now) const;
  Duration grown(double failures, double free_failures) const noexcept;
  // What is left of an entry's failures when `free_failures` of them are forgotten in forget_after.
  double left_of(const Entry& entry, double free_failures, Instant now) const noexcept;
  void count(const Attempt& attempt, Instant now);

  const ThrottleOptions options_;
  std::mutex mutex_;
  Table pairs_;
  Table networks_;
  Table accounts_;  // from everywhere
  Table known_;     // pairs that have succeeded
};

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
