#include "katana/http/middleware/redis/redis_rate_limit.hpp"

namespace katana {
namespace {

SharedLimit::Verdict as_verdict(const redis::RateVerdict& said) noexcept {
  return {.is_known = said.is_known, .passes = said.passes, .wait = said.wait};
}

}  // namespace

std::optional<SharedLimit::Verdict> RedisRateLimit::look(Bytes key, Instant now) {
  if (const auto known = rate_.look(key, now)) return as_verdict(*known);
  return std::nullopt;
}

Task<SharedLimit::Verdict> RedisRateLimit::ask(std::string key) {
  const redis::RateVerdict said = co_await rate_.ask(std::move(key));
  co_return as_verdict(said);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
