#include "katana/redis/shared_rate.hpp"

#include <algorithm>

#include "katana/base/check.hpp"

namespace katana::redis {
namespace {

// per second, burst, tokens wanted. Gives how many there are, and in how many milliseconds one is.
const Script take_script(R"(
local rate, burst, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local old = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(old[1]) or burst, tonumber(old[2]) or now
tokens = math.min(burst, tokens + math.max(0, now - at) * rate)
local given = math.min(math.floor(tokens), wanted)
tokens = tokens - given
redis.call('HSET', KEYS[1], 'tokens', string.format('%.9f', tokens),
           'at', string.format('%.6f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil((burst - tokens) / rate * 1000) + 1000)
local wait = 0
if given == 0 then wait = math.ceil((1 - tokens) / rate * 1000) end
return {given, wait})");

}  // namespace

SharedRate::SharedRate(Client client, SharedRateOptions options)
    : redis_(std::move(client)), options_(std::move(options)) {
  KATANA_REQUIRE(options_.per_second > 0 && options_.burst >= 1 && options_.keys_max >= 1);
  KATANA_REQUIRE(options_.lease >= 1 && options_.lease <= options_.burst);
}

bool SharedRate::take_leased(const std::string& key, Instant now) {
  const std::scoped_lock lock(mutex_);
  const auto found = leased_.find(key);
  if (found == leased_.end()) return false;
  if (found->second.until <= now) {
    leased_.erase(found);
    return false;
  }
  if (--found->second.tokens == 0) leased_.erase(found);
  return true;
}

void SharedRate::keep(const std::string& key, std::uint32_t tokens, Instant now) {
  const std::scoped_lock lock(mutex_);
  if (leased_.size() >= options_.keys_max && !leased_.contains(key)) {
    std::erase_if(leased_, [now](const auto& each) { return each.second.until <= now; });
    if (leased_.size() >= options_.keys_max) leased_.clear();
  }
  Leased& leased = leased_[key];
  // Of two that asked at the same time each has got its own; more than a lease is not kept.
  leased.tokens = std::min(leased.tokens + tokens, options_.lease - 1);
  leased.until = now + options_.lease_time;
}

Task<RateVerdict> SharedRate::take(std::string key) {
  const core::Reactor& reactor = *core::Reactor::current();
  if (take_leased(key, reactor.now())) co_return RateVerdict{.passes = true, .is_known = true};
  const std::string full = options_.prefix + key;
  auto asked =
      redis_.run(take_script, 1, full, options_.per_second, options_.burst, options_.lease);
  const Result<Reply> reply = co_await std::move(asked);
  if (!reply || reply->elements().size() != 2) {
    co_return RateVerdict{.passes = options_.when_down == WhenDown::pass, .wait = seconds(1)};
  }
  const std::int64_t given = reply->elements()[0].integer().value_or(0);
  const std::int64_t wait_ms = reply->elements()[1].integer().value_or(0);
  if (given <= 0) co_return RateVerdict{.wait = milliseconds(wait_ms), .is_known = true};
  if (given > 1) keep(key, static_cast<std::uint32_t>(given - 1), reactor.now());
  co_return RateVerdict{.passes = true, .is_known = true};
}

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
