// RedisRateLimit: a limit for rate_limit() that all instances share in Redis.
//
//   RateLimitOptions options{.per_second = 50, .burst = 100};
//   options.shared_limit =
//       std::make_shared<RedisRateLimit>(redis, options.per_second, options.burst);
//   router.use(rate_limit(options));
//
// An instance leases requests, and most requests need no call of the server. See
// stores/redis/shared_rate.hpp for the leases, and for the requests that they may admit beyond the
// rate.
//
// Owns       a SharedRate.
// Thread     any reactor's.
// Allocates  as SharedRate does; look() allocates only for keys that are refused.
// Fails      never: the verdict is then unknown, and no request calls Redis for a while.
#pragma once

#include <optional>
#include <string>

#include "katana/http/middleware/rate_limit.hpp"
#include "katana/stores/redis/shared_rate.hpp"

namespace katana {

class RedisRateLimit final : public SharedLimit {
 public:
  // RateLimitOptions::when_unknown decides whether requests pass while Redis is not available.
  RedisRateLimit(redis::Client client, redis::SharedRateOptions options)
      : rate_(std::move(client), std::move(options)) {}
  RedisRateLimit(redis::Client client, double per_second, std::uint32_t burst)
      : RedisRateLimit(std::move(client),
                       redis::SharedRateOptions{.per_second = per_second, .burst = burst}) {}

  std::optional<Verdict> look(Bytes key, Instant now) override;
  Task<Verdict> ask(std::string key) override;
  void set_rate(double per_second, std::uint32_t burst) override {
    rate_.set_rate(per_second, burst);
  }

 private:
  redis::SharedRate rate_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
