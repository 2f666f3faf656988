// LoginThrottle: how often somebody may guess: by account, and by the address that guesses come
// from.
//
//   const Duration wait = throttle.begin(name, address, now);
//   if (wait > Duration{}) return too_many(wait);                 // 429 with Retry-After
//   …                                                             // verify the password
//   if (right) throttle.succeeded(name, address);
//
// The account as the program looks it up, with its case folded if the program does that: else each
// way to write it has guesses of its own.
//
// Nobody is locked out for ever, since then anybody could lock out anybody: after `free_failures`
// in a row each further one doubles the wait, from `wait_min` to `wait_max`. An attempt counts as
// failed from its begin, so that guesses at the same time are counted too. What has not failed for
// `forget_after` is forgotten.
//
// Owns       two tables of bounded size, by SHA-256 of account and of address.
// Thread     any; one lock, held for less than a microsecond.
// Allocates  for each key, up to accounts_max and addresses_max.
// Fails      never. A full table forgets what has not failed for the longest time.
// Invariant  an attempt that had to wait counts as none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <unordered_map>

#include "katana/base/bytes.hpp"
#include "katana/base/described.hpp"
#include "katana/base/instant.hpp"
#include "katana/crypto/digest.hpp"

namespace katana::passwords {

// When an attempt has to wait, and how much is remembered.
struct ThrottleOptions {
  unsigned account_free_failures = 5;  // in a row, before an account has to wait
  // Of an address more, since a network may share one.
  unsigned address_free_failures = 20;
  Duration wait_min = seconds(1);
  Duration wait_max = seconds(300);
  Duration forget_after = seconds(3600);
  std::size_t accounts_max = 64 * 1024;
  std::size_t addresses_max = 64 * 1024;
};
// For settings of a program.
KATANA_DESCRIBE(ThrottleOptions,
                (account_free_failures, range(1, 1000),
                 help("wrong passwords of one account before it has to wait")),
                (address_free_failures, range(1, 100'000), help("the same, of one address")),
                (wait_min, range(milliseconds(1), seconds(3600)),
                 help("the first wait; it doubles")),
                (wait_max, range(milliseconds(1), seconds(24 * 3600)), help("and is no longer")),
                (forget_after, range(seconds(1), seconds(7 * 24 * 3600)),
                 help("without a failure for so long it begins anew")),
                (accounts_max, range(1, 1 << 24), help("accounts that are remembered")),
                (addresses_max, range(1, 1 << 24), help("addresses that are remembered")))

class LoginThrottle {
 public:
  explicit LoginThrottle(ThrottleOptions options = {}) : options_(options) {}

  // Zero: go on, and the attempt counts. Else how long to wait; then it does not.
  Duration begin(Bytes account, Bytes address, Instant now);
  // The account begins anew; of the address this attempt was none.
  void succeeded(Bytes account, Bytes address);

 private:
  struct KeyHash {
    std::size_t operator()(const crypto::Sha256& key) const noexcept;
  };
  using Order = std::list<crypto::Sha256>;  // what has not failed for the longest time first
  struct Entry {
    unsigned failures;
    Instant last;
    Order::iterator place;
  };
  struct Table {
    std::unordered_map<crypto::Sha256, Entry, KeyHash> entries;
    Order order;

    void count(const crypto::Sha256& key, Instant now, std::size_t entries_max);
    void erase(const crypto::Sha256& key);
    void forget(Instant before);
  };
  Duration wait_of(const Table& table, const crypto::Sha256& key, unsigned free_failures,
                   Instant now) const;

  const ThrottleOptions options_;
  std::mutex mutex_;
  Table accounts_;
  Table addresses_;
};

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
