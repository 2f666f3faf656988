// ReactorPool: the pools of one HttpClient on one reactor, one for each origin.
//
// Owns       its OriginPools and their context. It is attached to its reactor, which destroys it.
// Borrows    the reactor.
// Thread     its reactor's.
// Allocates  for each origin and connection.
// Fails      submit() fails the call when origins_max origins have connections.
// Invariant  an origin has one pool, which is forgotten only when it is empty and not queued.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "katana/http/client/call.hpp"
#include "katana/http/client/origin_health.hpp"
#include "katana/http/client/origin_pool.hpp"
#include "katana/http/client/reactor_context.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::client {

class ReactorPool final : public net::Attachment {
 public:
  // The reactor's; made on first use.
  static ReactorPool& of(net::Reactor& reactor, const std::shared_ptr<const Shared>& shared);

  ReactorPool(net::Reactor& reactor, std::shared_ptr<const Shared> shared);
  ~ReactorPool() override;

  ReactorContext& context() noexcept { return context_; }  // outlives the pools
  std::size_t connection_count() const noexcept;           // to all origins, open and opening
  // Sends the call on a connection to its origin, now or when one has capacity, or fails it.
  void submit(Call& call) noexcept;
  // Returns the health of that origin. Null if origins_max others are known. Valid for this turn
  // only.
  OriginHealth* health(const Origin& origin) noexcept;
  std::size_t open_breaker_count() const noexcept;
  // Closes the idle connections to that origin.
  void retire_idle(const Origin& origin) noexcept;

 private:
  OriginPool* find_or_make(const Origin& origin) noexcept;
  void forget_empty() noexcept;

  ReactorContext context_;  // outlives the pools
  std::unordered_map<std::string, std::unique_ptr<OriginPool>> origins_;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
