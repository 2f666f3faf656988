// AddressCache: the addresses of names that were resolved, and the names that could not be.
//
// Owns       the results.
// Thread     any; a lock is held for the look into a map.
// Allocates  an entry for each name, at most names_max.
// Fails      find() returns what look_up_addresses() failed with, for a short time.
// Invariant  bounded: the entry that is the next to expire gives way to a new name. Time is an
//            argument; reactors of one process have the same clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::thread {
class Pool;
}

namespace katana::upstream {

// Of one resolver, which the reactors share.
struct ResolverOptions {
  // Threads that call getaddrinfo. Borrowed. Null: two threads, started with the first name.
  thread::Pool* pool = nullptr;
  // getaddrinfo does not say how long its result is valid.
  Duration addresses_kept = seconds(10);
  Duration failures_kept = seconds(1);
  std::uint32_t names_max = 1024;
};

class AddressCache {
 public:
  // Numeric, in the order in which they are to be tried.
  using Addresses = std::vector<std::string>;
  // How long an entry is kept.
  struct Lifetimes {
    Duration found;   // with addresses
    Duration failed;  // with an Error
  };
  // What is known of a name.
  struct Entry {
    Result<Addresses> addresses;  // an Error: the name could not be resolved
    Instant until;                // the first instant at which it is not used any more
  };

  AddressCache(std::size_t names_max, Lifetimes lifetimes) noexcept
      : names_max_(names_max), lifetimes_(lifetimes) {}

  // Empty: nothing is known at `now`.
  std::optional<Entry> find(const std::string& name, Instant now);
  // Returns until when it is kept.
  Instant keep(const std::string& name, Result<Addresses> addresses, Instant now);

 private:
  const std::size_t names_max_;
  const Lifetimes lifetimes_;
  std::mutex mutex_;  // guards entries_
  std::map<std::string, Entry> entries_;
};

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
