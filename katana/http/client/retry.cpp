#include "katana/http/client/retry.hpp"

#include <algorithm>

#include "katana/http/client/retry_after.hpp"
#include "katana/wire/http/date.hpp"
#include "katana/wire/http1/facts.hpp"

namespace katana::client {
namespace {

bool is_transient(unsigned status) noexcept {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

bool is_transient(Code code) noexcept {
  return code == Code::unavailable || code == Code::deadline_exceeded;
}

// A random part of backoff_min, doubled for each retry so far, up to backoff_max.
Duration backoff(ReactorContext& context, std::uint32_t doublings) {
  const HttpClientOptions& options = context.options();
  Duration most = options.backoff_min;
  for (; doublings > 0 && most < options.backoff_max; --doublings) most = most * 2;
  return context.random_part(std::min(most, options.backoff_max));
}

// The reason for sending a call again.
// loss: a kept connection was dead. The load of the server does not cause that, and it needs no
// budget.
// asked: a 503 says when to retry.
enum class Cause : std::uint8_t { none, loss, asked, transient };

Cause cause_of(const HttpClientOptions& options, Call& call, const std::optional<Duration>& asked) {
  const bool repeatable = call.outgoing().repeatable;
  if (call.failed()) {
    if (!repeatable) return Cause::none;
    if (call.repeat() == Repeat::if_idempotent) return Cause::loss;
    const bool passes = options.retry.transient && is_transient(call.error().code());
    return passes ? Cause::transient : Cause::none;
  }
  const unsigned status = call.response().status();
  const Duration most = options.retry_after_max;
  if (!repeatable || (asked && most > Duration{} && *asked > most)) return Cause::none;
  if (options.retry.transient && is_transient(status)) return Cause::transient;
  return status == 503 && asked && most > Duration{} ? Cause::asked : Cause::none;
}

}  // namespace

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

bool is_unprocessed(Call& call) noexcept {
  return call.failed() && call.repeat() == Repeat::always;
}

std::optional<Duration> pause_before_retry(ReactorContext& context, RetryBudget* budget, Call& call,
                                           const Repetitions& done, Instant deadline) {
  const std::uint32_t retries_max = context.options().retries_max;
  if (is_unprocessed(call)) {
    if (retries_max == 0 || done.unprocessed >= unprocessed_max) return {};
    Duration pause;
    if (done.unprocessed >= unprocessed_at_once) {
      pause = backoff(context, done.unprocessed - unprocessed_at_once);
    }
    if (context.reactor().now() + pause >= deadline) return {};
    return pause;
  }
  const std::uint32_t retries = done.retries;
  if (retries >= retries_max) return {};
  std::optional<Duration> asked;
  if (!call.failed()) asked = retry_after(call.response(), context.reactor().wall_clock_s());
  const Cause cause = cause_of(context.options(), call, asked);
  if (cause == Cause::none) return {};
  Duration pause;
  if (cause == Cause::asked) {
    pause = *asked;
  } else if (cause == Cause::transient) {
    // Not before the server's time, and not all clients at once.
    pause.ns = asked.value_or(Duration{}).ns + backoff(context, retries).ns;
  } else if (retries > 0) {
    pause = backoff(context, retries - 1);
  }
  if (context.reactor().now() + pause >= deadline) return {};
  if (cause != Cause::transient || (budget != nullptr && budget->spend())) return pause;
  ++context.counters().retries_denied;
  return {};
}

bool is_failure_of_origin(Call& call) noexcept {
  constexpr unsigned server_error = 500;
  if (!call.failed()) return call.response().status() >= server_error;
  return is_transient(call.error().code());
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
