#include "katana/http/client/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/coroutine/deadline.hpp"
#include "katana/http/client/client_span.hpp"
#include "katana/http/client/content_decoding.hpp"
#include "katana/http/client/cookie_jar.hpp"
#include "katana/http/client/hedge.hpp"
#include "katana/http/client/redirect.hpp"
#include "katana/http/client/retry.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::client {
namespace {

using Sent = Result<std::unique_ptr<Exchange>>;

struct Deadline {
  Duration timeout;
  Instant at;
};

Deadline deadline_of(const Request& request, ReactorContext& context) {
  const Duration timeout =
      request.timeout() > Duration{} ? request.timeout() : context.options().timeout;
  const Instant now = context.reactor().now();
  const Duration left = time_left(now, timeout);  // of the calling handler, or of a part of it
  return {left, left < never - now ? now + left : never};
}

std::unexpected<Error> refuse(ReactorContext& context, Error error) {
  ++context.counters().failures;
  return std::unexpected(std::move(error));
}

// A body that was read from a source is sent again only if the source can begin again.
bool can_send_again(Exchange& exchange) {
  return !exchange.upload || !exchange.upload->consumed() || exchange.outgoing.source->restart();
}

// Reports the outcome of a request to the breaker of its origin, also if it was cancelled.
class Admission {
 public:
  static Result<Admission> ask(ReactorPool& pool, const Origin& origin) {
    const BreakerOptions& options = pool.context().options().breaker;
    const bool has_breaker = options.failures_percent > 0;
    OriginHealth* const health = has_breaker ? pool.health(origin) : nullptr;
    if (health == nullptr) return Admission(nullptr, {}, CircuitBreaker::Pass::usual);
    const Instant now = pool.context().reactor().now();
    auto pass = health->breaker.admit(options, origin.text(), now);
    if (pass) return Admission(&pool, origin, *pass);
    ++pool.context().counters().breaker_refusals;
    return std::unexpected(pass.error());
  }
  Admission(Admission&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)),
        origin_(std::move(other.origin_)),
        pass_(other.pass_) {}
  Admission& operator=(Admission&&) = delete;
  ~Admission() { note(CircuitBreaker::Outcome::cancelled); }

  // The first call counts; further ones do nothing.
  void note(CircuitBreaker::Outcome outcome) noexcept {
    ReactorPool* const pool = std::exchange(pool_, nullptr);
    OriginHealth* const health = pool != nullptr ? pool->health(origin_) : nullptr;
    if (health == nullptr) return;
    ReactorContext& context = pool->context();
    const BreakerOptions& options = context.options().breaker;
    const bool opened = health->breaker.note(options, pass_, outcome, context.reactor().now());
    if (opened) ++context.counters().breaker_openings;
  }

 private:
  Admission(ReactorPool* pool, Origin origin, CircuitBreaker::Pass pass)
      : pool_(pool), origin_(std::move(origin)), pass_(pass) {}

  ReactorPool* pool_;  // null: there is no breaker, or it has been told
  Origin origin_;
  CircuitBreaker::Pass pass_;
};

// A request that the server did not process says nothing about the health of the server.
CircuitBreaker::Outcome outcome_of(Call& call) {
  if (is_unprocessed(call)) return CircuitBreaker::Outcome::cancelled;
  return is_failure_of_origin(call) ? CircuitBreaker::Outcome::failure
                                    : CircuitBreaker::Outcome::success;
}

RetryBudget* budget_of(ReactorPool& pool, const Origin& origin) {
  OriginHealth* const health = pool.health(origin);
  return health != nullptr ? &health->budget : nullptr;
}

// Waits for the first of two calls that has a reply, and cancels the other.
Task<void> race(ReactorContext& context, Exchange& exchange) {
  Call* winner = &exchange.call;
  Call* loser = &*exchange.second;
  co_await FirstOf(context, *winner, loser);
  if (!winner->done()) std::swap(winner, loser);
  if (winner->failed()) {
    co_await *loser;
    if (!loser->failed()) std::swap(winner, loser);
  }
  if (winner == &*exchange.second) ++context.counters().hedges_won;
  exchange.reply = winner;
  if (!loser->done()) loser->abort(Error(Code::cancelled));
}

// Makes one attempt, and a second one in parallel if there is no reply after `hedge_after`.
Task<void> attempt(ReactorPool& pool, Exchange& exchange, Deadline deadline, Duration hedge_after) {
  ReactorContext& context = pool.context();
  Call& call = exchange.call;
  pool.submit(call);
  if (hedge_after > Duration{}) co_await FirstOf(context, call, nullptr, hedge_after);
  if (hedge_after > Duration{} && !call.done()) {
    RetryBudget* const budget = budget_of(pool, exchange.outgoing.origin);
    if (budget != nullptr && budget->spend()) {
      ++context.counters().hedges;
      exchange.second.emplace(context, exchange.outgoing, Call::Wanted::whole, deadline.at,
                              deadline.timeout);
      pool.submit(*exchange.second);
      co_await race(context, exchange);
      co_return;
    }
    ++context.counters().retries_denied;
  }
  co_await call;
}

// A hedge needs a request that may be sent twice, and its complete body at once.
Duration hedge_after_of(const Request& request, const Outgoing& outgoing, Call::Wanted wanted,
                        const HttpClientOptions& options) {
  const bool can =
      wanted == Call::Wanted::whole && outgoing.repeatable && outgoing.source == nullptr;
  return can ? request.hedge_after().value_or(options.hedge_after) : Duration{};
}

// Sends one request, with its retries.
Task<Sent> send(ReactorPool& pool, Outgoing outgoing, Call::Wanted wanted, Deadline deadline,
                Duration hedge_after) {
  ReactorContext& context = pool.context();
  const RetryOptions& policy = context.options().retry;
  const bool has_budget = policy.transient || hedge_after > Duration{};
  if (RetryBudget* const budget = has_budget ? budget_of(pool, outgoing.origin) : nullptr) {
    budget->earn(policy, context.reactor().now());
  }
  const std::size_t fields_size = outgoing.fields.size();
  for (Repetitions done;;) {
    auto admission = Admission::ask(pool, outgoing.origin);
    if (!admission) co_return refuse(context, admission.error().within(outgoing.name));
    ClientSpan span(outgoing, fields_size, done.retries + done.unprocessed,
                    context.options().trace_context);
    auto exchange = std::make_unique<Exchange>(context, std::move(outgoing), wanted, deadline.at,
                                               deadline.timeout);
    const Instant began = context.reactor().now();
    co_await attempt(pool, *exchange, deadline, hedge_after);
    Call& call = *exchange->reply;
    span.end(call);
    report_attempt(context.options(), exchange->outgoing, call, context.reactor().now() - began);
    admission->note(outcome_of(call));
    RetryBudget* const budget = has_budget ? budget_of(pool, exchange->outgoing.origin) : nullptr;
    auto pause = pause_before_retry(context, budget, call, done, deadline.at);
    if (pause && !can_send_again(*exchange)) pause.reset();
    if (!pause && call.failed()) {
      co_return refuse(context, call.error().within(exchange->outgoing.name));
    }
    if (!pause) co_return std::move(exchange);
    ++context.counters().retries;
    ++(is_unprocessed(call) ? done.unprocessed : done.retries);
    // When one kept connection is dead, the other idle ones probably are, too.
    if (call.repeat() == Repeat::if_idempotent) {
      pool.retire_idle(exchange->outgoing.origin);
    }
    outgoing = std::move(exchange->outgoing);
    exchange.reset();
    co_await net::sleep_for(*pause);
  }
}

// Adds the jar's cookies for this URL, unless the request has a Cookie field.
void add_cookies(Outgoing& outgoing, const Request& request, ReactorContext& context) {
  CookieJar* const jar = context.options().cookies.get();
  const auto is_cookie = [](const Request::Field& field) {
    return http::equals_ignoring_case(field.name, "Cookie");
  };
  if (jar == nullptr || outgoing.method == "TRACE" ||
      std::ranges::any_of(request.fields(), is_cookie)) {
    return;
  }
  const auto url = parse_url(request.url());
  const std::string value =
      url ? jar->header(*url, context.reactor().wall_clock_s()) : std::string();
  if (!value.empty()) outgoing.fields.append("Cookie: ").append(value).append("\r\n");
}

void keep_cookies(const Response& response, const Request& request, ReactorContext& context) {
  CookieJar* const jar = context.options().cookies.get();
  if (jar == nullptr) return;
  const auto url = parse_url(request.url());
  for (std::size_t index = 0; url && index < response.field_count(); ++index) {
    if (!http::equals_ignoring_case(response.name(index), "Set-Cookie")) continue;
    jar->store(*url, response.value(index), context.reactor().wall_clock_s());
  }
}

std::uint32_t redirects_max_of(const Request& request, ReactorContext& context) {
  return request.redirects().value_or(context.options().redirects_max);
}

// Returns the target of a redirect that is to be followed.
std::optional<Bytes> redirect_of(const Response& response, std::uint32_t redirects_max) {
  if (redirects_max == 0 || !is_redirect(response.status())) return {};
  return response.find("Location");
}

// Makes `next` from the same request, with the body that was sent `before`.
Result<void> make_again(Request& request, Outgoing& next, Exchange& before,
                        const HttpClientOptions& options) {
  Outgoing& outgoing = before.outgoing;
  auto made = make_outgoing(request, options, outgoing.decodes);
  if (!made) return std::unexpected(made.error());
  if (request.source() == nullptr && request.has_content()) {
    made->content = std::move(outgoing.content);
    made->content_length = outgoing.content_length;
  }
  next = *std::move(made);
  return {};
}

// Makes `next` from the request that follows the reply of `before`.
Result<void> make_next(Request& request, Outgoing& next, Exchange& before, Bytes location,
                       const HttpClientOptions& options) {
  const auto from = parse_url(request.url());
  if (!from) return std::unexpected(from.error());
  const unsigned status = before.reply->response().status();
  if (auto done = follow_redirect(request, *from, status, location, options); !done) return done;
  if (request.source() != nullptr && !can_send_again(before)) {
    return fail(Code::unsupported,
                fmt::format("redirect with status {}: the content was read and its source cannot "
                            "begin again; implement ContentSource::restart()",
                            status));
  }
  if (auto made = make_again(request, next, before, options); !made) {
    return std::unexpected(made.error().within("redirect"));
  }
  next.name += fmt::format(" (redirected from {})", before.outgoing.name);
  return {};
}

// The answers of one request to challenges of Digest.
class DigestTurn {
 public:
  void authorize(ReactorContext& context, Outgoing& outgoing) {
    // The reply to TRACE repeats the request (RFC 9110 §9.3.8).
    if (outgoing.method != "TRACE") nonce_ = context.digest().authorize(outgoing);
  }
  // Whether the request is sent again with an answer.
  bool answers(ReactorContext& context, const Request& request, Exchange& exchange) {
    const Response& response = exchange.reply->response();
    const bool is_new =
        context.digest().learn(exchange.outgoing.origin, response, nonce_, answers_ != 0);
    if (!is_new || answers_ == answers_max) return false;
    if (request.source() != nullptr && !can_send_again(exchange)) return false;
    ++answers_;
    return true;
  }
  void begin_anew() { answers_ = 0; }

 private:
  static constexpr int answers_max = 2;  // the second one to a stale nonce

  std::string nonce_;
  int answers_ = 0;
};

Result<void> finish(Exchange& exchange, Call::Wanted wanted, Request& request,
                    std::vector<Hop> hops, const HttpClientOptions& options) {
  Response& response = exchange.reply->response();
  response.set_route(request.take_url(), std::move(hops));
  if (wanted != Call::Wanted::whole || !exchange.outgoing.decodes) return {};
  auto decoded = decode_content(response, options.codecs, options.content_bytes_max);
  if (!decoded) return std::unexpected(decoded.error().within(exchange.outgoing.name));
  return {};
}

std::string too_many(std::uint32_t redirects_max, Bytes location) {
  return fmt::format(
      "more than {} redirects (redirects_max), the next to {:?}: the server may "
      "redirect in a loop",
      redirects_max, shown_url(location, 200));
}

}  // namespace

Task<Sent> perform(ReactorPool& pool, Request request, Call::Wanted wanted) {
  ReactorContext& context = pool.context();
  const HttpClientOptions& options = context.options();
  const Deadline deadline = deadline_of(request, context);
  const std::uint32_t redirects_max = redirects_max_of(request, context);
  const bool is_whole = wanted == Call::Wanted::whole;
  auto made =
      make_outgoing(request, options, request.decode().value_or(is_whole && options.decode));
  if (!made) co_return refuse(context, made.error());
  Outgoing outgoing = *std::move(made);
  std::vector<Hop> hops;
  DigestTurn digest;
  for (;;) {
    add_cookies(outgoing, request, context);
    digest.authorize(context, outgoing);
    const Duration hedge_after = hedge_after_of(request, outgoing, wanted, options);
    Task<Sent> sending = send(pool, std::move(outgoing), wanted, deadline, hedge_after);
    auto sent = co_await std::move(sending);
    if (!sent) co_return std::move(sent);
    Exchange& exchange = **sent;
    const Response& response = exchange.reply->response();
    keep_cookies(response, request, context);
    if (digest.answers(context, request, exchange)) {
      std::string name = exchange.outgoing.name;
      auto again = make_again(request, outgoing, exchange, options);
      if (!again) co_return refuse(context, again.error().within(name));
      outgoing.name = std::move(name);
      continue;
    }
    const auto location = redirect_of(response, redirects_max);
    if (!location) {
      auto done = finish(exchange, wanted, request, std::move(hops), options);
      if (!done) co_return refuse(context, done.error());
      co_return std::move(sent);
    }
    if (hops.size() == redirects_max) {
      Error error(Code::resource_exhausted, too_many(redirects_max, *location));
      co_return refuse(context, error.within(exchange.outgoing.name));
    }
    hops.push_back({response.status(), request.url()});
    digest.begin_anew();
    auto done = make_next(request, outgoing, exchange, *location, options);
    if (!done) co_return refuse(context, done.error().within(exchange.outgoing.name));
  }
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
