#include "katana/http/client/origin_health.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace katana::client {
namespace {

std::int64_t bucket_number(const BreakerOptions& options, std::size_t buckets, Instant now) {
  const std::int64_t width = std::max<std::int64_t>(1, options.window.ns / std::int64_t(buckets));
  return now.ns / width;
}

}  // namespace

void RetryBudget::earn(const RetryOptions& options, Instant now) noexcept {
  constexpr std::int64_t second_ns = 1'000'000'000, percents = 100;
  // The budget keeps what ten seconds earn: enough for a burst of failures, but not for a storm.
  constexpr std::int64_t seconds_kept = 10;
  const std::int64_t per_second = std::int64_t{options.per_second_min} * one;
  const std::int64_t passed_ns =
      begun_ ? std::min((now - earned_at_).ns, seconds_kept * second_ns) : second_ns;
  left_ += passed_ns / 1'000'000 * per_second / 1000 +
           std::int64_t{options.share_percent} * one / percents;
  const std::int64_t most = std::max(per_second * seconds_kept, seconds_kept * one);
  left_ = std::min(left_, most);
  if (!begun_ || passed_ns >= 1'000'000) earned_at_ = now;
  begun_ = true;
}

bool RetryBudget::spend() noexcept {
  if (left_ < one) return false;
  left_ -= one;
  return true;
}

Result<CircuitBreaker::Pass> CircuitBreaker::admit(const BreakerOptions& options,
                                                   const std::string& origin, Instant now) {
  if (options.failures_percent == 0 || state_ == State::closed) return Pass::usual;
  if (state_ == State::open && now >= until_) state_ = State::half_open;
  if (state_ == State::half_open && !probing_) {
    probing_ = true;
    return Pass::probe;
  }
  const std::string cause = fmt::format("{} of {} requests failed within {} ms", cause_.failures,
                                        cause_.requests, options.window.count_ms());
  if (state_ == State::half_open) {
    return fail(Code::unavailable,
                fmt::format("the circuit breaker of {} is half open ({}): one request is trying "
                            "whether it works again",
                            origin, cause));
  }
  return fail(Code::unavailable,
              fmt::format("the circuit breaker of {} is open: {}; it is asked again in {} ms",
                          origin, cause, (until_ - now).count_ms()));
}

bool CircuitBreaker::note(const BreakerOptions& options, Pass pass, Outcome outcome,
                          Instant now) noexcept {
  if (options.failures_percent == 0) return false;
  if (pass == Pass::probe) {
    probing_ = false;
    if (outcome == Outcome::cancelled) return false;  // the next request is the probe
    if (outcome == Outcome::failure) {
      open(options, now);
      return true;
    }
    state_ = State::closed;
    buckets_ = {};
    return false;
  }
  // The result of a request that was sent before the breaker opened says nothing about now.
  if (state_ != State::closed || outcome == Outcome::cancelled) return false;
  Bucket& bucket = bucket_at(options, now);
  ++bucket.requests;
  if (outcome == Outcome::success) return false;
  ++bucket.failures;
  const Sum all = sum(options, now);
  if (all.requests < options.requests_min ||
      all.failures * 100 < all.requests * options.failures_percent) {
    return false;
  }
  cause_ = all;
  open(options, now);
  return true;
}

CircuitBreaker::Bucket& CircuitBreaker::bucket_at(const BreakerOptions& options,
                                                  Instant now) noexcept {
  const std::int64_t number = bucket_number(options, bucket_count, now);
  Bucket& bucket = buckets_[static_cast<std::size_t>(number) % bucket_count];
  if (bucket.number != number) bucket = {.number = number};
  return bucket;
}

CircuitBreaker::Sum CircuitBreaker::sum(const BreakerOptions& options, Instant now) const noexcept {
  const std::int64_t first =
      bucket_number(options, bucket_count, now) - std::int64_t{bucket_count} + 1;
  Sum all;
  for (const Bucket& bucket : buckets_) {
    if (bucket.number < first) continue;
    all.requests += bucket.requests;
    all.failures += bucket.failures;
  }
  return all;
}

void CircuitBreaker::open(const BreakerOptions& options, Instant now) noexcept {
  state_ = State::open;
  until_ = now + options.pause;
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
