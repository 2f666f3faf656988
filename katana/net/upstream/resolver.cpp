#include "katana/net/upstream/resolver.hpp"

#include <utility>

#include "katana/net/upstream/addresses.hpp"

namespace katana::upstream {

Result<thread::Pool*> Resolver::pool() {
  if (given_ != nullptr) return given_;
  const std::scoped_lock lock(mutex_);
  if (own_pool_ == nullptr) {
    auto made = thread::Pool::create({.name = "resolve", .threads_min = 2, .queue_max = 1024});
    if (!made) return std::unexpected(made.error().within("threads for name resolution"));
    own_pool_ = *std::move(made);
  }
  return own_pool_.get();
}

Task<AddressCache::Entry> Resolver::look_up(std::string host, net::Reactor& reactor) {
  if (auto known = addresses_.find(host, reactor.now())) co_return *std::move(known);
  auto threads = pool();
  if (!threads) co_return AddressCache::Entry{std::unexpected(threads.error()), reactor.now()};
  auto job = [name = host] { return look_up_addresses(name); };
  auto found = co_await (*threads)->run(thread::give(job));
  const Instant until = addresses_.keep(host, found, reactor.now());
  co_return AddressCache::Entry{std::move(found), until};
}

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
