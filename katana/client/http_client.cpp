#include "katana/client/http_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "katana/base/misuse.hpp"
#include "katana/client/addresses.hpp"
#include "katana/client/call.hpp"
#include "katana/client/outgoing.hpp"
#include "katana/client/reactor_pool.hpp"
#include "katana/core/sleep.hpp"
#include "katana/wire/http/date.hpp"
#include "katana/wire/http/reply_head.hpp"
#include "katana/wire/http1/facts.hpp"

namespace katana::client {
namespace {

constexpr unsigned service_unavailable = 503;

Result<void> check(const HttpClientOptions& options) {
  const auto wrong = [](const char* option, const char* range) {
    return fail(Code::invalid_argument, fmt::format("HTTP client: {} must be {}", option, range));
  };
  if (options.connections_max == 0) return wrong("connections_max", "at least 1");
  if (options.origins_max == 0) return wrong("origins_max", "at least 1");
  if (options.streams_max == 0 || options.streams_max > 1000) {
    return wrong("streams_max", "from 1 to 1,000");
  }
  if (options.head_bytes_max == 0 || options.head_bytes_max > http::head_bytes_capacity) {
    return wrong("head_bytes_max", "from 1 to 65,535");
  }
  if (options.stream_bytes_max == 0) return wrong("stream_bytes_max", "at least 1");
  for (const Duration each : {options.idle_timeout, options.connect_timeout, options.tls_timeout,
                              options.timeout, options.addresses_kept}) {
    if (each <= Duration{} || each > seconds(366 * 24 * 3600)) {
      return wrong("each timeout", "above zero and at most a year");
    }
  }
  if (options.backoff_min < Duration{} || options.backoff_max < options.backoff_min) {
    return wrong("backoff_max", "at least backoff_min, which is not negative");
  }
  for (const auto& [host, addresses] : options.hosts) {
    if (addresses.empty() || !std::ranges::all_of(addresses, is_numeric_address)) {
      return wrong("each of `hosts`", "one or more numeric addresses, such as 127.0.0.1 or ::1");
    }
  }
  if (!http::valid_field("User-Agent", options.user_agent)) {
    return wrong("user_agent", "a valid field value: no control characters, no spaces at its ends");
  }
  return {};
}

// The Retry-After of a 503 (RFC 9110 §10.2.3): seconds, or a date. Empty: absent or malformed.
std::optional<Duration> retry_after(const Response& response, std::int64_t now_s) {
  const auto value = response.find("Retry-After");
  if (!value) return {};
  std::uint64_t wait_s = 0;
  if (http1::parse_content_length(*value, wait_s)) {
    return seconds(static_cast<std::int64_t>(std::min<std::uint64_t>(wait_s, 366 * 24 * 3600)));
  }
  const auto date = http::parse_date(*value, now_s);
  if (!date) return {};
  return seconds(std::clamp<std::int64_t>(*date - now_s, 0, 366 * 24 * 3600));
}

// How long to wait before a call that has ended is sent again. Empty: it is not sent again.
std::optional<Duration> pause_before_retry(ReactorContext& context, Call& call,
                                           std::uint32_t retries) {
  const HttpClientOptions& options = context.options();
  if (retries >= options.retries_max) return {};
  if (call.repeat() != Repeat::always && !call.outgoing().repeatable) return {};
  if (call.failed()) {
    if (call.repeat() == Repeat::never) return {};
    if (retries == 0) return Duration{};
    Duration most = options.backoff_min;
    for (std::uint32_t count = 1; count < retries && most < options.backoff_max; ++count) {
      most = most * 2;
    }
    return context.random_part(std::min(most, options.backoff_max));
  }
  if (call.response().status() != service_unavailable) return {};
  const auto asked = retry_after(call.response(), context.reactor().wall_clock_s());
  if (!asked || options.retry_after_max <= Duration{} || *asked > options.retry_after_max) {
    return {};
  }
  return asked;
}

struct Deadline {
  Duration timeout;
  Instant at;
};

Deadline deadline_of(const Request& request, ReactorContext& context) {
  const Duration timeout =
      request.timeout() > Duration{} ? request.timeout() : context.options().timeout;
  const Instant now = context.reactor().now();
  return {timeout, timeout < never - now ? now + timeout : never};
}

ReactorPool& pool_here(const std::shared_ptr<const Shared>& shared) {
  core::Reactor* const reactor = core::Reactor::current();
  if (reactor == nullptr) {
    throw_misuse("an HttpClient was called on a thread without a reactor",
                 "call it in a coroutine that a reactor runs, such as a handler, not in a job on a "
                 "thread pool; return from the job first");
  }
  ReactorPool& pool = ReactorPool::of(*reactor, shared);
  ++pool.context().counters().calls;
  return pool;
}

std::unexpected<Error> refuse(ReactorContext& context, Error error) {
  ++context.counters().failures;
  return std::unexpected(std::move(error));
}

// Before a retry: when one kept connection is dead, the other idle ones probably are, too.
void prepare_retry(ReactorPool& pool, const Call& call) {
  ++pool.context().counters().retries;
  if (!call.failed() || call.repeat() == Repeat::always) return;
  pool.retire_idle(call.outgoing().origin);
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
  return HttpClient(std::make_shared<const Shared>(options, *std::move(context)));
}

Task<Result<Response>> HttpClient::fetch(Request request) const {
  ReactorPool& pool = pool_here(shared_);
  ReactorContext& context = pool.context();
  const Deadline deadline = deadline_of(request, context);
  auto outgoing = make_outgoing(std::move(request), context.options());
  if (!outgoing) co_return refuse(context, outgoing.error());
  for (std::uint32_t retries = 0;; ++retries) {
    std::optional<Duration> pause;
    {
      Call call(context, *outgoing, Call::Wanted::whole, deadline.at, deadline.timeout);
      pool.submit(call);
      co_await call;
      pause = pause_before_retry(context, call, retries);
      if (pause && context.reactor().now() + *pause >= deadline.at) pause.reset();
      if (!pause && call.failed()) co_return refuse(context, call.error().within(outgoing->name));
      if (!pause) co_return std::move(call.response());
      prepare_retry(pool, call);
    }
    co_await core::sleep_for(*pause);
  }
}

Task<Result<ResponseStream>> HttpClient::open(Request request) const {
  ReactorPool& pool = pool_here(shared_);
  ReactorContext& context = pool.context();
  const Deadline deadline = deadline_of(request, context);
  auto outgoing = make_outgoing(std::move(request), context.options());
  if (!outgoing) co_return refuse(context, outgoing.error());
  for (std::uint32_t retries = 0;; ++retries) {
    auto exchange = std::make_unique<ResponseStream::Exchange>(context, *std::move(outgoing),
                                                               deadline.at, deadline.timeout);
    Call& call = exchange->call;
    pool.submit(call);
    co_await call;
    auto pause = pause_before_retry(context, call, retries);
    if (pause && context.reactor().now() + *pause >= deadline.at) pause.reset();
    if (!pause && call.failed()) {
      co_return refuse(context, call.error().within(exchange->outgoing.name));
    }
    if (!pause) co_return ResponseStream(std::move(exchange));
    prepare_retry(pool, call);
    outgoing = std::move(exchange->outgoing);
    exchange.reset();
    co_await core::sleep_for(*pause);
  }
}

ClientCounters HttpClient::counters(core::Reactor& reactor) const {
  auto* const pool = static_cast<ReactorPool*>(reactor.attached(shared_.get()));
  if (pool == nullptr) return {};
  const PoolCounters& counted = pool->context().counters();
  return {.calls = counted.calls,
          .retries = counted.retries,
          .failures = counted.failures,
          .connections = pool->connection_count(),
          .handshakes = counted.handshakes,
          .handshakes_resumed = counted.handshakes_resumed};
}

Task<Result<Text>> ResponseStream::read() {
  Exchange& exchange = *exchange_;
  Call& call = exchange.call;
  call.want(Call::Wanted::content);
  co_await call;
  if (Text piece = call.take_content(); !piece.empty()) co_return piece;
  if (call.failed()) co_return std::unexpected(call.error().within(exchange.outgoing.name));
  co_return Text();
}

}  // namespace katana::client
