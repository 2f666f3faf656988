#include "katana/http/client/http_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/base/system/misuse.hpp"
#include "katana/http/client/exchange.hpp"
#include "katana/http/client/reactor_pool.hpp"
#include "katana/net/upstream/addresses.hpp"
#include "katana/wire/http/reply_head.hpp"

namespace katana::client {
namespace {

Result<void> check(const HttpClientOptions& options) {
  const auto wrong = [](const char* option, const char* range) {
    return fail(Code::invalid_argument, fmt::format("HTTP client: {} must be {}", option, range));
  };
  if (options.connections_max == 0) return wrong("connections_max", "at least 1");
  if (options.origins_max == 0) return wrong("origins_max", "at least 1");
  if (options.names_max == 0) return wrong("names_max", "at least 1");
  if (options.streams_max == 0 || options.streams_max > 1000) {
    return wrong("streams_max", "from 1 to 1,000");
  }
  if (options.head_bytes_max == 0 || options.head_bytes_max > http::head_bytes_capacity) {
    return wrong("head_bytes_max", "from 1 to 65,535");
  }
  if (options.stream_bytes_max == 0) return wrong("stream_bytes_max", "at least 1");
  for (const Duration each :
       {options.idle_timeout, options.connect_timeout, options.tls_timeout, options.timeout,
        options.addresses_kept, options.failures_kept, options.continue_timeout,
        options.breaker.window, options.breaker.pause}) {
    if (each <= Duration{} || each > seconds(366 * 24 * 3600)) {
      return wrong("each timeout", "above zero and at most a year");
    }
  }
  if (options.backoff_min < Duration{} || options.backoff_max < options.backoff_min) {
    return wrong("backoff_max", "at least backoff_min, which is not negative");
  }
  if (options.retry.share_percent > 100) return wrong("retry.share_percent", "at most 100");
  if (options.retry.per_second_min > 1'000'000) {
    return wrong("retry.per_second_min", "at most 1,000,000");
  }
  if (options.breaker.failures_percent > 100) {
    return wrong("breaker.failures_percent", "at most 100; 0: no breaker");
  }
  if (options.hedge_after < Duration{}) return wrong("hedge_after", "zero (never) or above");
  for (const auto& [host, addresses] : options.hosts) {
    if (addresses.empty() || !std::ranges::all_of(addresses, upstream::is_numeric_address)) {
      return wrong("each of `hosts`", "one or more numeric addresses, such as 127.0.0.1 or ::1");
    }
  }
  if (const auto picked = options.codecs.pick(options.codings); !picked) {
    return std::unexpected(picked.error().within("HTTP client: codings"));
  }
  if (!http::valid_field("User-Agent", options.user_agent)) {
    return wrong("user_agent", "a valid field value: no control characters, no spaces at its ends");
  }
  return {};
}

ReactorPool& pool_here(const std::shared_ptr<const Shared>& shared) {
  net::Reactor* const reactor = net::Reactor::current();
  if (reactor == nullptr) {
    throw_misuse("an HttpClient was called on a thread without a reactor",
                 "call it in a coroutine that a reactor runs, such as a handler. A job on a thread "
                 "pool returns first");
  }
  ReactorPool& pool = ReactorPool::of(*reactor, shared);
  ++pool.context().counters().calls;
  return pool;
}

}  // namespace

HttpClient::HttpClient(std::shared_ptr<const Shared> shared) noexcept
    : shared_(std::move(shared)) {}

Result<HttpClient> HttpClient::make(HttpClientOptions options) {
  if (auto right = check(options); !right) return std::unexpected(right.error());
  options.tls.protocols = {"http/1.1"};
  if (options.http2 != Http2::never)
    options.tls.protocols.insert(options.tls.protocols.begin(), "h2");
  auto context = tls::ClientContext::make(options.tls);
  if (!context) return std::unexpected(context.error().within("HTTP client"));
  auto proxy = Proxy::make(options.proxy);
  if (!proxy) return std::unexpected(proxy.error().within("HTTP client"));
  auto digest = DigestAccounts::make(options.digest);
  if (!digest) return std::unexpected(digest.error().within("HTTP client"));
  return HttpClient(std::make_shared<const Shared>(options, *std::move(context), *std::move(proxy),
                                                   *std::move(digest)));
}

Task<Result<Response>> HttpClient::fetch(Request request) const {
  auto done = co_await perform(pool_here(shared_), std::move(request), Call::Wanted::whole);
  if (!done) co_return std::unexpected(done.error());
  co_return std::move((*done)->reply->response());
}

Task<Result<ResponseStream>> HttpClient::open(Request request) const {
  auto opened = co_await perform(pool_here(shared_), std::move(request), Call::Wanted::head);
  if (!opened) co_return std::unexpected(opened.error());
  co_return ResponseStream(*std::move(opened), shared_->options().codecs);
}

ClientCounters HttpClient::counters(net::Reactor& reactor) const {
  auto* const pool = static_cast<ReactorPool*>(reactor.attached(shared_.get()));
  if (pool == nullptr) return {};
  const PoolCounters& counted = pool->context().counters();
  return {.calls = counted.calls,
          .retries = counted.retries,
          .failures = counted.failures,
          .retries_denied = counted.retries_denied,
          .hedges = counted.hedges,
          .hedges_won = counted.hedges_won,
          .breaker_openings = counted.breaker_openings,
          .breaker_refusals = counted.breaker_refusals,
          .breakers_open = pool->open_breaker_count(),
          .connections = pool->connection_count(),
          .handshakes = counted.handshakes,
          .handshakes_resumed = counted.handshakes_resumed};
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
