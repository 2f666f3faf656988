// OriginHealth: the health of an origin as the client sees it: a retry budget and a circuit
// breaker.
//
//   closed ──share of failures over a window──▶ open ──pause──▶ half open ──success──▶ closed
//                                                 ▲────────────failure──────┘
//
// Owns       counts; a ring of buckets for the window.
// Thread     its reactor's.
// Allocates  never.
// Fails      admit() returns an Error that names the origin and the time of the next attempt.
// Invariant  time is an argument. While half open, one request at a time passes.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/client/options.hpp"

namespace katana::client {

// Limits retries to a share of the requests and a number per second.
class RetryBudget {
 public:
  // Call it when a request begins that is not a retry.
  void earn(const RetryOptions& options, Instant now) noexcept;
  // Returns false, and takes nothing, if the budget is used up.
  bool spend() noexcept;

 private:
  static constexpr std::int64_t one = 1000;  // retry, in thousandths
  std::int64_t left_ = 0;
  Instant earned_at_{};
  bool begun_ = false;
};

// Stops requests to an origin while too many fail; see BreakerOptions.
class CircuitBreaker {
 public:
  // closed: requests pass. open: they fail at once. half_open: one passes, as a probe.
  enum class State : std::uint8_t { closed, open, half_open };
  // The result of a request. cancelled: the result is unknown.
  enum class Outcome : std::uint8_t { success, failure, cancelled };

  // probe: the one request that passes while the breaker is half open.
  enum class Pass : std::uint8_t { usual, probe };

  // Returns whether a request may be sent. If not, the Error names the `origin` and the end of the
  // pause.
  Result<Pass> admit(const BreakerOptions& options, const std::string& origin, Instant now);
  // Records the outcome of an admitted request. Returns whether it opened the breaker.
  bool note(const BreakerOptions& options, Pass pass, Outcome outcome, Instant now) noexcept;
  State state() const noexcept { return state_; }

 private:
  static constexpr std::size_t bucket_count = 10;
  struct Bucket {
    std::int64_t number = -1;  // of its part of the window, counted from the epoch
    std::uint32_t requests = 0;
    std::uint32_t failures = 0;
  };
  struct Sum {
    std::uint64_t requests = 0;
    std::uint64_t failures = 0;
  };

  Bucket& bucket_at(const BreakerOptions& options, Instant now) noexcept;
  Sum sum(const BreakerOptions& options, Instant now) const noexcept;
  void open(const BreakerOptions& options, Instant now) noexcept;

  State state_ = State::closed;
  bool probing_ = false;  // a request is under way while half open
  Instant until_{};       // it is open
  Sum cause_;             // what opened it
  std::array<Bucket, bucket_count> buckets_{};
};

struct OriginHealth {
  RetryBudget budget;      // of the origin; shared by all its requests on this reactor
  CircuitBreaker breaker;  // of the origin; shared by all its requests on this reactor
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
