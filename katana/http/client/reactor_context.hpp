// Shared: the state that all reactors of one HttpClient share.
// ReactorContext: the state that its pools, connections and calls on one reactor share.
//
// Owns       Shared: the context of TLS, the resolver of names, and accounts of Digest.
//            ReactorContext: the context of HTTP/2, counters, and a share of the Shared.
// Borrows    the reactor.
// Thread     Shared any; a ReactorContext its reactor's.
// Allocates  when made, and for the first connection of HTTP/2.
// Invariant  it knows neither pools nor connections nor calls.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "katana/http/client/digest.hpp"
#include "katana/http/client/options.hpp"
#include "katana/http/client/proxy.hpp"
#include "katana/http/client/run_queue.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/tls/client_context.hpp"
#include "katana/net/upstream/resolver.hpp"
#include "katana/wire/http1/response_machine.hpp"
#include "katana/wire/http2/client_machine.hpp"

namespace katana::client {

class Shared {
 public:
  Shared(const HttpClientOptions& options, std::shared_ptr<const tls::ClientContext> context,
         std::optional<Proxy> proxy, DigestAccounts digest)
      : options_(options),
        tls_(std::move(context)),
        proxy_(std::move(proxy)),
        digest_(std::move(digest)),
        resolver_({.pool = options.resolver,
                   .addresses_kept = options.addresses_kept,
                   .failures_kept = options.failures_kept,
                   .names_max = options.names_max}) {}

  const HttpClientOptions& options() const noexcept { return options_; }  // checked and constant
  // Shared by all connections with TLS.
  const std::shared_ptr<const tls::ClientContext>& tls() const noexcept { return tls_; }
  // Resolves on its own threads and caches the answers.
  upstream::Resolver& resolver() const noexcept { return resolver_; }
  // Contains its own lock.
  DigestAccounts& digest() const noexcept { return digest_; }
  // Returns null if requests to `origin` need no proxy.
  const Proxy* proxy_for(const Origin& origin) const noexcept {
    return proxy_ && proxy_->serves(origin) ? &*proxy_ : nullptr;
  }

 private:
  const HttpClientOptions options_;
  const std::shared_ptr<const tls::ClientContext> tls_;
  const std::optional<Proxy> proxy_;
  mutable DigestAccounts digest_;
  mutable upstream::Resolver resolver_;
};

// Counters of the client on one reactor.
struct PoolCounters {
  std::uint64_t calls = 0;               // requests started, without retries
  std::uint64_t retries = 0;             // repeated attempts
  std::uint64_t failures = 0;            // calls that ended in an error, after their retries
  std::uint64_t retries_denied = 0;      // by the budget
  std::uint64_t hedges = 0;              // second requests
  std::uint64_t hedges_won = 0;          // of those
  std::uint64_t breaker_openings = 0;    // times that a circuit breaker opened
  std::uint64_t breaker_refusals = 0;    // calls that were not sent
  std::uint64_t handshakes = 0;          // of TLS, complete
  std::uint64_t handshakes_resumed = 0;  // of those
};

// Lives as long as the pools of its reactor.
class ReactorContext {
 public:
  ReactorContext(net::Reactor& reactor, std::shared_ptr<const Shared> shared);

  net::Reactor& reactor() noexcept { return reactor_; }  // on which everything here runs
  // As given to HttpClient::make().
  const HttpClientOptions& options() const noexcept { return shared_->options(); }
  // Shared by all reactors.
  const std::shared_ptr<const tls::ClientContext>& tls() const noexcept { return shared_->tls(); }
  // Shared by all reactors.
  upstream::Resolver& resolver() const noexcept { return shared_->resolver(); }
  // Shared by all reactors.
  DigestAccounts& digest() const noexcept { return shared_->digest(); }
  const Proxy* proxy_for(const Origin& origin) const noexcept { return shared_->proxy_for(origin); }
  http1::HeadMemo& head_memo() noexcept { return head_memo_; }
  // The context that all HTTP/2 connections share; made for the first one.
  http2::ClientContext& http2();
  PoolCounters& counters() noexcept { return counters_; }
  RunQueue& queue() noexcept { return queue_; }
  // Returns a random part of `most`.
  Duration random_part(Duration most) noexcept;

 private:
  net::Reactor& reactor_;
  const std::shared_ptr<const Shared> shared_;
  std::unique_ptr<http2::ClientContext> http2_;
  http1::HeadMemo head_memo_;
  PoolCounters counters_;
  RunQueue queue_{reactor_};
  std::uint64_t random_;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
