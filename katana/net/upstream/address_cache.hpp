// AddressCache: the addresses of resolved names, and the names whose resolution failed.
//
// Owns       the results.
// Thread     any; a lock is held for the look into a map.
// Allocates  an entry for each name, at most names_max.
// Fails      find() returns the Error of look_up_addresses(), for a short time.
// Invariant  bounded: the entry that expires next gives way to a new name. Time is an argument;
//            reactors of one process have the same clock.
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

// The options of one resolver, which the reactors share.
struct ResolverOptions {
  // Threads that call getaddrinfo. Borrowed. Null: two threads, started with the first name.
  thread::Pool* pool = nullptr;
  // The lifetime of found addresses, because getaddrinfo does not say how long its result is valid.
  Duration addresses_kept = seconds(10);
  Duration failures_kept = seconds(1);
  std::uint32_t names_max = 1024;
};

class AddressCache {
 public:
  // Numeric addresses, in the order of the attempts.
  using Addresses = std::vector<std::string>;
  // The time that an entry is kept.
  struct Lifetimes {
    Duration found;   // with addresses
    Duration failed;  // with an Error
  };
  // The result for one name.
  struct Entry {
    Result<Addresses> addresses;  // an Error: the name could not be resolved
    Instant until;                // the first instant at which it is no longer used
  };

  AddressCache(std::size_t names_max, Lifetimes lifetimes) noexcept
      : names_max_(names_max), lifetimes_(lifetimes) {}

  // Empty: no entry is valid at `now`.
  std::optional<Entry> find(const std::string& name, Instant now);
  // Stores an entry. Returns the instant until which it is kept.
  Instant keep(const std::string& name, Result<Addresses> addresses, Instant now);

 private:
  const std::size_t names_max_;
  const Lifetimes lifetimes_;
  std::mutex mutex_;  // guards entries_
  std::map<std::string, Entry> entries_;
};

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
