// Resolver: the addresses of host names, found on its own threads and kept for a while.
//
//   auto known = co_await resolver.look_up("redis.internal", reactor);
//
// Owns       the addresses of looked-up names, and its threads if the options have no pool.
// Borrows    the pool of its options.
// Thread     any reactor's; reactors share one.
// Allocates  for each name, at most names_max of them.
// Fails      the addresses of an entry are an Error, which names the host and the reason. It is
//            kept for a short time: a name that does not exist costs no question for each call.
// Invariant  no reactor ever waits: getaddrinfo() blocks, and runs on a pool.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/thread/pool.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/upstream/address_cache.hpp"

namespace katana::upstream {

class Resolver {
 public:
  explicit Resolver(const ResolverOptions& options) noexcept
      : given_(options.pool),
        addresses_(options.names_max, {options.addresses_kept, options.failures_kept}) {}

  // Runs on `reactor`, whose clock decides how old an entry is.
  Task<AddressCache::Entry> look_up(std::string host, net::Reactor& reactor);

 private:
  Result<thread::Pool*> pool();

  thread::Pool* const given_;
  AddressCache addresses_;
  std::mutex mutex_;  // guards own_pool_
  std::unique_ptr<thread::Pool> own_pool_;
};

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
