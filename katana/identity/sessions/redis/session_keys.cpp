#include "katana/identity/sessions/redis/session_keys.hpp"

#include <charconv>

#include "katana/identity/sessions/stored_key.hpp"

namespace katana::sessions {
namespace {

// ARGV of all scripts: prefix, id, and then the arguments of the script. A script makes the keys of
// owners from stored values. The caller cannot name them in advance: one server must have all keys.
const std::string common = R"(
local prefix, id = ARGV[1], ARGV[2]
local key = prefix .. 'session:' .. id
local function list_of(owner) return prefix .. 'sessions:' .. owner end
local function put(owner, record, seen, expires, version)
  redis.call('HSET', key, 'record', record, 'seen', seen, 'expires', expires, 'version', version,
             'owner', owner)
  redis.call('EXPIREAT', key, expires + 60)
  if owner == '' then return end
  local list = list_of(owner)
  redis.call('ZADD', list, expires, id)
  local now = tonumber(redis.call('TIME')[1])
  redis.call('ZREMRANGEBYSCORE', list, '-inf', now - 60)
  if redis.call('TTL', list) < expires + 60 - now then
    redis.call('EXPIREAT', list, expires + 60)
  end
end
)";

// Arguments: owner, record, seen, expires, and the version that was read (empty: no session).
const redis::Script compare_and_set_script(common + R"(
local old = redis.call('HMGET', key, 'version', 'owner', 'expires')
local is_there = old[1] and tonumber(old[3]) > tonumber(ARGV[5])
local version = 0
if ARGV[7] == '' then
  if is_there then return 0 end
else
  if not is_there or old[1] ~= ARGV[7] then return 0 end
  version = ARGV[7] + 1
end
if old[2] and old[2] ~= '' and old[2] ~= ARGV[3] then redis.call('ZREM', list_of(old[2]), id) end
put(ARGV[3], ARGV[4], ARGV[5], ARGV[6], version)
return 1)");

// Arguments: seen, expires, version.
const redis::Script touch_script(common + R"(
local old = redis.call('HMGET', key, 'seen', 'owner', 'record', 'version', 'expires')
local seen = tonumber(ARGV[3])
if old[4] ~= ARGV[5] or tonumber(old[1]) >= seen or tonumber(old[5]) <= seen then return 0 end
put(old[2], old[3], ARGV[3], ARGV[4], old[4])
return 1)");

const redis::Script remove_script(common + R"(
local owner = redis.call('HGET', key, 'owner')
if owner and owner ~= '' then redis.call('ZREM', list_of(owner), id) end
return redis.call('DEL', key))");

// The id is that of the kept session, or empty. Arguments: owner, version of the kept session.
const redis::Script remove_all_script(common + R"(
if id ~= '' and redis.call('HGET', key, 'version') ~= ARGV[4] then return -1 end
local list, gone = list_of(ARGV[3]), 0
for _, each in ipairs(redis.call('ZRANGE', list, 0, -1)) do
  if each ~= id then
    gone = gone + redis.call('DEL', prefix .. 'session:' .. each)
    redis.call('ZREM', list, each)
  end
end
return gone)");

Error failed(const redis::Error& error) {
  return Error(Code::unavailable, error.describe()).within("the store of sessions failed");
}

bool parse(const redis::Reply& field, std::int64_t& value) noexcept {
  const std::string& text = field.text();
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

// The stored session; nothing: it is missing, has ended, or another version of KATANA wrote it.
std::optional<StoredSession> session_of(const redis::Reply& reply, std::int64_t now_s) {
  if (reply.elements().size() != 4) return {};
  std::int64_t seen_s = 0, expires_s = 0, version = 0;
  if (!parse(reply.elements()[1], seen_s) || !parse(reply.elements()[2], expires_s) ||
      !parse(reply.elements()[3], version) || expires_s <= now_s) {
    return {};
  }
  auto record = decode_session(reply.elements()[0].text());
  if (!record) return {};
  record->seen_s = seen_s;
  return StoredSession{std::make_shared<const SessionRecord>(*std::move(record)), version};
}

}  // namespace

Task<Result<std::optional<StoredSession>>> RedisSessionStore::load(SessionKey key,
                                                                   std::int64_t now_s) {
  redis::Command command("HMGET", prefix_ + "session:" + key_text(key), "record", "seen", "expires",
                         "version");
  const redis::CallOptions options{.effect = redis::Effect::reads};
  const redis::Result<redis::Reply> reply = co_await redis_.call(std::move(command), options);
  if (!reply) co_return std::unexpected(failed(reply.error()));
  co_return session_of(*reply, now_s);
}

Task<Result<bool>> RedisSessionStore::compare_and_set(SessionWrite write) {
  const SessionRecord& record = *write.record;
  const std::string id = key_text(write.key);
  const std::string owner = owner_text(record.issuer, record.principal);
  const std::string octets = encode_session(record);
  const std::string seen = std::to_string(record.seen_s);
  const std::string expires = std::to_string(write.expires_s);
  std::string version;
  if (write.read_version) version = std::to_string(*write.read_version);
  auto asked =
      redis_.run(compare_and_set_script, 0, prefix_, id, owner, octets, seen, expires, version);
  const redis::Result<redis::Reply> changed = co_await std::move(asked);
  if (!changed) co_return std::unexpected(failed(changed.error()));
  co_return changed->integer() == 1;
}

Task<Result<void>> RedisSessionStore::touch(SessionKey key, std::int64_t version,
                                            std::int64_t seen_s, std::int64_t expires_s) {
  const std::string id = key_text(key);
  const std::string seen = std::to_string(seen_s);
  const std::string expires = std::to_string(expires_s);
  const std::string read = std::to_string(version);
  auto asked = redis_.run(touch_script, 0, prefix_, id, seen, expires, read);
  const redis::Result<redis::Reply> changed = co_await std::move(asked);
  if (!changed) co_return std::unexpected(failed(changed.error()));
  co_return {};
}

Task<Result<void>> RedisSessionStore::remove(SessionKey key) {
  const std::string id = key_text(key);
  auto asked = redis_.run(remove_script, 0, prefix_, id);
  const redis::Result<redis::Reply> gone = co_await std::move(asked);
  if (!gone) co_return std::unexpected(failed(gone.error()));
  co_return {};
}

Task<Result<std::int64_t>> RedisSessionStore::remove_all(std::string issuer,
                                                         std::string principal) {
  const std::string owner = owner_text(issuer, principal);
  if (owner.empty()) co_return 0;
  const std::string none;
  auto asked = redis_.run(remove_all_script, 0, prefix_, none, owner, none);
  const redis::Result<redis::Reply> gone = co_await std::move(asked);
  if (!gone) co_return std::unexpected(failed(gone.error()));
  co_return gone->integer().value_or(0);
}

Task<Result<std::optional<std::int64_t>>> RedisSessionStore::remove_others(std::string issuer,
                                                                           std::string principal,
                                                                           SessionKey kept,
                                                                           std::int64_t version) {
  const std::string owner = owner_text(issuer, principal);
  if (owner.empty()) co_return std::nullopt;
  const std::string but = key_text(kept);
  const std::string read = std::to_string(version);
  auto asked = redis_.run(remove_all_script, 0, prefix_, but, owner, read);
  const redis::Result<redis::Reply> gone = co_await std::move(asked);
  if (!gone) co_return std::unexpected(failed(gone.error()));
  const std::int64_t count = gone->integer().value_or(-1);
  if (count < 0) co_return std::nullopt;
  co_return std::optional(count);
}

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
