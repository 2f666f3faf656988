#include "katana/stores/redis/shared_rate.hpp"

#include <algorithm>
#include <random>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/failure.hpp"
#include "katana/base/values/sha1.hpp"

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

// A longer key is stored as its digest: texts of clients then do not fill the server.
constexpr std::size_t key_bytes_max = 100;

std::uint64_t random_word() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace

SharedRate::SharedRate(Client client, SharedRateOptions options)
    : redis_(std::move(client)),
      options_(std::move(options)),
      hash_(random_word(), random_word()),
      per_second_(options_.per_second),
      burst_(options_.burst) {
  KATANA_REQUIRE(options_.per_second > 0 && options_.burst >= 1 && options_.keys_max >= 1);
  KATANA_REQUIRE(options_.lease >= 1 && options_.timeout > Duration{});
}

void SharedRate::set_rate(double per_second, std::uint32_t burst) {
  KATANA_REQUIRE(per_second > 0 && burst >= 1);
  per_second_.store(per_second, std::memory_order_relaxed);
  burst_.store(burst, std::memory_order_relaxed);
}

std::uint32_t SharedRate::lease() const noexcept {
  return std::min(options_.lease, burst_.load(std::memory_order_relaxed));
}

std::string SharedRate::name_of(const std::string& key) const {
  if (key.size() <= key_bytes_max) return options_.prefix + key;
  static constexpr char digits[] = "0123456789abcdef";
  std::string name = options_.prefix + "sha1:";
  for (const std::uint8_t octet : sha1(key)) {
    name += digits[octet >> 4];
    name += digits[octet & 15];
  }
  return name;
}

// ---- the table of this instance ----------------------------------------------------------------

SharedRate::Asking::Asking(SharedRate& of, std::uint64_t of_key, Instant now)
    : rate(of), hash(of_key) {
  Shard& shard = rate.shard_of(hash);
  const std::scoped_lock lock(shard.mutex);
  known = rate.verdict_of(shard, hash, now);
  if (!known) is_first = rate.entry_of(shard, hash).asking++ == 0;
}

SharedRate::Asking::~Asking() {
  if (known) return;
  Shard& shard = rate.shard_of(hash);
  const std::scoped_lock lock(shard.mutex);
  const auto found = shard.held.find(hash);
  if (found != shard.held.end() && found->second.asking > 0) --found->second.asking;
}

SharedRate::Held& SharedRate::entry_of(Shard& shard, std::uint64_t hash) {
  const std::size_t most = std::max<std::size_t>(1, options_.keys_max / shards);
  if (shard.held.size() >= most && !shard.held.contains(hash)) shard.held.clear();
  return shard.held[hash];
}

std::optional<RateVerdict> SharedRate::verdict_of(Shard& shard, std::uint64_t hash, Instant now) {
  const auto found = shard.held.find(hash);
  if (found == shard.held.end()) return {};
  Held& held = found->second;
  if (held.tokens > 0 && now < held.until) {
    --held.tokens;
    return RateVerdict{.passes = true, .is_known = true};
  }
  if (now < held.refused_until) return RateVerdict{.wait = held.token_at - now, .is_known = true};
  if (held.asking == 0) shard.held.erase(found);
  return {};
}

std::optional<RateVerdict> SharedRate::look(Bytes key, Instant now) {
  const std::uint64_t hash = hash_.of(key);
  Shard& shard = shard_of(hash);
  {
    const std::scoped_lock lock(shard.mutex);
    if (auto known = verdict_of(shard, hash, now)) return known;
  }
  if (may_ask(now)) return {};
  return RateVerdict{.passes = options_.when_down == WhenDown::pass, .wait = seconds(1)};
}

// When the pause is over, one caller tries Redis. The others get the verdict of an outage until its
// answer comes.
bool SharedRate::may_ask(Instant now) noexcept {
  std::int64_t until = down_until_ns_.load(std::memory_order_relaxed);
  if (until == 0) return true;
  if (now.ns < until) return false;
  const std::int64_t next = (now + options_.retry_after).ns;
  return down_until_ns_.compare_exchange_strong(until, next, std::memory_order_relaxed);
}

// ---- answers of Redis --------------------------------------------------------------------------

RateVerdict SharedRate::note_failure(const katana::Error& why, Instant now) noexcept {
  const std::int64_t until = (now + options_.retry_after).ns;
  if (down_until_ns_.exchange(until, std::memory_order_relaxed) == 0) {
    const Executor* const executor = Executor::current();
    FailureObserver* const observer = executor != nullptr ? executor->failure_observer() : nullptr;
    if (observer != nullptr) {
      observer->on_failure({.what = "limits of all instances cannot be asked for",
                            .error = &why,
                            .place = "rate limit",
                            .severity = Severity::warning});
    }
  }
  return {.passes = options_.when_down == WhenDown::pass, .wait = seconds(1)};
}

// Other requests may have got a lease for the key meanwhile: this request then takes its tokens.
RateVerdict SharedRate::note_refused(std::uint64_t hash, Duration wait, Instant now) {
  Shard& shard = shard_of(hash);
  const std::scoped_lock lock(shard.mutex);
  if (auto known = verdict_of(shard, hash, now)) return *known;
  Held& held = entry_of(shard, hash);
  held.token_at = now + wait;
  held.refused_until = now + std::min(wait, options_.lease_time);
  return {.wait = wait, .is_known = true};
}

void SharedRate::keep(std::uint64_t hash, std::uint32_t tokens, Instant now) {
  Shard& shard = shard_of(hash);
  const std::scoped_lock lock(shard.mutex);
  Held& held = entry_of(shard, hash);
  if (now >= held.until) held.tokens = 0;
  // More than a lease is not kept: that is the bound.
  held.tokens = std::min(held.tokens + tokens, options_.lease - 1);
  held.until = now + options_.lease_time;
}

Task<RateVerdict> SharedRate::take(std::string key) {
  if (const auto known = look(key, net::Reactor::current()->now())) co_return *known;
  co_return co_await ask(std::move(key));
}

Task<RateVerdict> SharedRate::ask(std::string key) {
  const net::Reactor& reactor = *net::Reactor::current();
  const Asking asking(*this, hash_.of(key), reactor.now());
  if (asking.known) co_return *asking.known;
  const std::string name = name_of(key);
  const std::uint32_t wanted = asking.is_first ? lease() : 1;
  const CallOptions call{.timeout = options_.timeout};
  auto asked = redis_.run(take_script, call, 1, name, per_second_.load(std::memory_order_relaxed),
                          burst_.load(std::memory_order_relaxed), wanted);
  const Result<Reply> reply = co_await std::move(asked);
  if (!reply) co_return note_failure(reply.error(), reactor.now());
  if (reply->elements().size() != 2) {
    const katana::Error wrong(Code::data_loss, "the script of the rate limit has no such reply");
    co_return note_failure(wrong, reactor.now());
  }
  down_until_ns_.store(0, std::memory_order_relaxed);
  const std::int64_t given = reply->elements()[0].integer().value_or(0);
  const std::int64_t wait_ms = reply->elements()[1].integer().value_or(0);
  if (given <= 0) co_return note_refused(asking.hash, milliseconds(wait_ms), reactor.now());
  if (given > 1) keep(asking.hash, static_cast<std::uint32_t>(given - 1), reactor.now());
  co_return RateVerdict{.passes = true, .is_known = true};
}

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
