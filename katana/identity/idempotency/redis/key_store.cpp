#include "katana/identity/idempotency/redis/key_store.hpp"

#include <algorithm>

#include "katana/base/values/base64.hpp"

namespace katana::idempotency {
namespace {

// Arguments: fingerprint, token, milliseconds.
const redis::Script claim_script(R"(
local old = redis.call('HMGET', KEYS[1], 'fingerprint', 'reply')
if old[1] then return old end
redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'token', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return {})");

// Arguments: token, reply, milliseconds.
const redis::Script keep_script(R"(
local old = redis.call('HMGET', KEYS[1], 'token', 'reply')
if old[1] ~= ARGV[1] or old[2] then return 0 end
redis.call('HSET', KEYS[1], 'reply', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1)");

// Arguments: token.
const redis::Script release_script(R"(
local old = redis.call('HMGET', KEYS[1], 'token', 'reply')
if old[1] ~= ARGV[1] or old[2] then return 0 end
return redis.call('DEL', KEYS[1]))");

Error failed(const redis::Error& error) { return Error(Code::unavailable, error.describe()); }

std::string milliseconds_text(Duration duration) {
  return std::to_string(std::max<std::int64_t>((duration.ns + 999'999) / 1'000'000, 1));
}

Result<Claimed> claimed_of(const redis::Reply& reply) {
  const auto& elements = reply.elements();
  if (elements.empty()) return Claimed{};
  Claimed claimed{.state = ClaimState::in_progress};
  const std::string& fingerprint = elements[0].text();
  if (elements.size() != 2 || fingerprint.size() != claimed.fingerprint.octets.size()) {
    return fail(Code::data_loss, "a key of the store is not as this program writes it; delete it");
  }
  std::ranges::copy(fingerprint, claimed.fingerprint.octets.begin());
  if (!elements[1].is_null()) {
    claimed.state = ClaimState::done;
    claimed.reply = elements[1].text();
  }
  return claimed;
}

}  // namespace

std::string RedisStore::key_of(const Claim& claim) const {
  return prefix_ + "idempotency:" + encode_base64url(claim.key.bytes());
}

Task<Result<Claimed>> RedisStore::claim(Claim claim, Duration lease) {
  const std::string key = key_of(claim);
  const std::string token = std::to_string(claim.token);
  auto asked =
      redis_.run(claim_script, 1, key, claim.fingerprint.bytes(), token, milliseconds_text(lease));
  const redis::Result<redis::Reply> claimed = co_await std::move(asked);
  if (!claimed) co_return std::unexpected(failed(claimed.error()));
  co_return claimed_of(*claimed);
}

Task<Result<bool>> RedisStore::keep(Claim claim, std::string reply, Duration kept) {
  const std::string key = key_of(claim);
  const std::string token = std::to_string(claim.token);
  auto asked = redis_.run(keep_script, 1, key, token, reply, milliseconds_text(kept));
  const redis::Result<redis::Reply> changed = co_await std::move(asked);
  if (!changed) co_return std::unexpected(failed(changed.error()));
  co_return changed->integer() == 1;
}

Task<Result<void>> RedisStore::release(Claim claim) {
  const std::string key = key_of(claim);
  const std::string token = std::to_string(claim.token);
  auto asked = redis_.run(release_script, 1, key, token);
  const redis::Result<redis::Reply> gone = co_await std::move(asked);
  if (!gone) co_return std::unexpected(failed(gone.error()));
  co_return {};
}

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
