#include "katana/stores/cache/redis/redis_level.hpp"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "katana/base/values/keyed_hash.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::cache {
namespace {

// The bytes behind each value: eight that name the writer, and eight with the number of its write.
constexpr std::size_t mark_bytes = 16;

constexpr redis::CallOptions only_reads{.effect = redis::Effect::reads};

std::uint64_t random_word() {
  std::uint64_t word = 0;
  fill_random({reinterpret_cast<char*>(&word), sizeof word});
  return word;
}

// Keys of locks and tags begin in another way than those of values: no subscriber is told of them.
std::string beside(const std::string& prefix, const char* kind) {
  return prefix.substr(0, prefix.find_last_not_of(':') + 1) + kind;
}

// The prefix of keys with the time of a tag's removal; no cache has such a name. Redis reports
// changes of these keys, as of values.
constexpr Bytes removed_tag = "@removed:";

// The value's key, then of each tag when it was removed and its keys; bytes, milliseconds, mark.
const redis::Script put_tagged_script(R"(
for index = 2, #KEYS, 2 do
  local gone = redis.call('GET', KEYS[index])
  if gone and tonumber(gone) >= tonumber(ARGV[3]) then return 0 end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for index = 3, #KEYS, 2 do
  local keys = KEYS[index]
  redis.call('ZREMRANGEBYSCORE', keys, '-inf', now)
  redis.call('ZADD', keys, now + ARGV[2], KEYS[1])
  if redis.call('PTTL', keys) < tonumber(ARGV[2]) then redis.call('PEXPIRE', keys, ARGV[2]) end
end
return 1)");

const redis::Script note_removed_script(R"(
local time = redis.call('TIME')
redis.call('SET', KEYS[1], string.format('%.0f', time[1] * 1000000 + time[2]), 'EX', 7200)
return 1)");

// Removes at most this many keys at a time: no other caller then waits for long. The script returns
// their number.
constexpr int removed_at_once = 500;
const redis::Script remove_some_script(R"(
local keys = redis.call('ZPOPMIN', KEYS[1], ARGV[1])
for index = 1, #keys, 2 do redis.call('UNLINK', keys[index]) end
return #keys / 2)");

}  // namespace

// Receives the changes that Redis reports, for the caches that listen.
class RedisLevel::Changes final : public redis::Hearer,
                                  public std::enable_shared_from_this<Changes> {
 public:
  Changes(redis::Client client, std::string prefix)
      : redis_(std::move(client)), prefix_(std::move(prefix)), writer_(random_octets(8)) {}

  // True: it is the first listener.
  bool add(std::string prefix, std::weak_ptr<ChangeListener> listener) {
    const std::scoped_lock lock(mutex_);
    caches_.emplace_back(std::move(prefix), std::move(listener));
    return caches_.size() == 1;
  }
  // Notes a write that is about to begin, and returns its number.
  std::uint64_t note_write(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t number = ++writes_;
    if (caches_.empty()) return number;
    if (own_.size() >= own_writes_max) own_.clear();
    own_[hash_.of(key)] = number;
    return number;
  }
  std::string mark_of(std::uint64_t number) const {
    std::string mark = writer_;
    mark.append(reinterpret_cast<const char*>(&number), sizeof number);
    return mark;
  }
  void forget(const std::string& key, std::uint64_t number) {
    const std::scoped_lock lock(mutex_);
    const auto found = own_.find(hash_.of(key));
    if (found != own_.end() && found->second == number) own_.erase(found);
  }

  void on_changed(Bytes full) noexcept override {
    std::string key(full.substr(prefix_.size()));
    if (key.starts_with(removed_tag)) return tell_tag(Bytes(key).substr(removed_tag.size()));
    std::uint64_t number = 0;
    {
      const std::scoped_lock lock(mutex_);
      const auto own = own_.find(hash_.of(key));
      if (own != own_.end()) {
        number = own->second;
        own_.erase(own);
      }
    }
    net::Reactor* const reactor = net::Reactor::current();
    if (number != 0 && reactor != nullptr &&
        reactor->tasks().spawn(compare(shared_from_this(), key, number), "cache")) {
      return;
    }
    tell(key);
  }
  void on_missed() noexcept override {
    for (const auto& [prefix, cache] : caches_now()) {
      if (const auto listener = cache.lock()) listener->on_all_changed();
    }
    const std::scoped_lock lock(mutex_);
    own_.clear();  // their messages may be among those that were missed
  }

 private:
  using CacheList = std::vector<std::pair<std::string, std::weak_ptr<ChangeListener>>>;

  CacheList caches_now() {
    const std::scoped_lock lock(mutex_);
    std::erase_if(caches_, [](const auto& each) { return each.second.expired(); });
    return caches_;
  }
  void tell(const std::string& key) {
    for (const auto& [prefix, cache] : caches_now()) {
      if (!key.starts_with(prefix)) continue;
      if (const auto listener = cache.lock()) listener->on_changed(key);
    }
  }
  void tell_tag(Bytes tag) {
    for (const auto& [prefix, cache] : caches_now()) {
      if (!tag.starts_with(prefix)) continue;
      if (const auto listener = cache.lock()) listener->on_tag_removed(tag.substr(prefix.size()));
    }
  }
  // Tells of the key unless its last write has this number. A later write has another message.
  static Task<void> compare(std::shared_ptr<Changes> self, std::string key, std::uint64_t number) {
    redis::Command command("GETRANGE", self->prefix_ + key, -static_cast<int>(mark_bytes), -1);
    const redis::Result<redis::Reply> last =
        co_await self->redis_.call(std::move(command), only_reads);
    if (!last || last->text() != self->mark_of(number)) self->tell(key);
  }

  const redis::Client redis_;
  const std::string prefix_;
  const std::string writer_;
  const KeyedHash hash_{random_word(), random_word()};
  std::mutex mutex_;  // guards what follows; not held while a cache is told
  CacheList caches_;
  std::uint64_t writes_ = 0;
  // The last write of this process, by the hash of the key; two keys of one hash cost a load.
  std::unordered_map<std::uint64_t, std::uint64_t> own_;
};

RedisLevel::RedisLevel(redis::Client client, std::string prefix, Listens listens)
    : redis_(client),
      locks_(client, beside(prefix, "-lock:")),
      prefix_(std::move(prefix)),
      tags_prefix_(beside(prefix_, "-tag:")),
      listens_(listens),
      listener_(client),
      changes_(std::make_shared<Changes>(std::move(client), prefix_)) {}

bool RedisLevel::listen(std::string prefix, std::weak_ptr<ChangeListener> listener) {
  if (listens_ == Listens::no) return false;
  if (changes_->add(std::move(prefix), std::move(listener))) listener_.track(prefix_, changes_);
  is_asked_.store(true, std::memory_order_relaxed);
  return true;
}

// Listens on the reactor of the first caller, because there is none before.
void RedisLevel::start_listening() {
  if (is_asked_.load(std::memory_order_relaxed)) listener_.start();
}

Task<Result<std::optional<std::string>>> RedisLevel::get(std::string key) {
  start_listening();
  const std::string full = prefix_ + key;
  redis::Result<std::optional<std::string>> found = co_await redis_.get(full);
  if (!found) co_return std::unexpected(found.error());
  if (!*found || (*found)->size() < mark_bytes) co_return std::nullopt;
  (*found)->resize((*found)->size() - mark_bytes);
  co_return *std::move(found);
}

Task<Result<void>> RedisLevel::put(std::string key, std::string octets, Duration ttl) {
  start_listening();
  const std::string full = prefix_ + key;
  const std::uint64_t number = changes_->note_write(key);
  octets += changes_->mark_of(number);
  const redis::SetOptions options{.time_to_live = ttl};
  const redis::Result<bool> set = co_await redis_.set(full, octets, options);
  if (set) co_return {};
  changes_->forget(key, number);
  co_return std::unexpected(set.error());
}

Task<Result<void>> RedisLevel::remove(std::string key) {
  redis::Command command("UNLINK", prefix_ + key);
  const redis::Result<redis::Reply> gone = co_await redis_.call(std::move(command));
  if (!gone) co_return std::unexpected(gone.error());
  co_return {};
}

// ---- tags ----

Task<Result<std::uint64_t>> RedisLevel::tag_mark(std::string) {
  const redis::Result<redis::Reply> time = co_await redis_.call(redis::Command("TIME"), only_reads);
  if (!time) co_return std::unexpected(time.error());
  std::uint64_t parts[2] = {};
  for (std::size_t index = 0; index < 2 && index < time->elements().size(); ++index) {
    const std::string& text = time->elements()[index].text();
    std::from_chars(text.data(), text.data() + text.size(), parts[index]);
  }
  co_return parts[0] * 1'000'000 + parts[1];
}

Task<Result<bool>> RedisLevel::put_tagged(std::string key, std::string octets, Duration ttl,
                                          std::string prefix, std::vector<std::string> tags,
                                          std::uint64_t mark) {
  start_listening();
  const std::uint64_t number = changes_->note_write(key);
  octets += changes_->mark_of(number);
  redis::Command command("EVALSHA", put_tagged_script.digest(), 1 + 2 * tags.size(), prefix_ + key);
  for (const std::string& tag : tags) {
    command.add(Bytes(prefix_ + std::string(removed_tag) + prefix + tag));
    command.add(Bytes(tags_prefix_ + prefix + tag));
  }
  command.add(Bytes(octets)).add(std::max<std::int64_t>(ttl.count_ms(), 1)).add(mark);
  auto asked = redis_.run(put_tagged_script, std::move(command));
  const redis::Result<redis::Reply> put = co_await std::move(asked);
  if (put && put->integer() == 1) co_return true;
  changes_->forget(key, number);
  if (!put) co_return std::unexpected(put.error());
  co_return false;
}

Task<Result<void>> RedisLevel::remove_tag(std::string prefix, std::string tag) {
  const std::string removed = prefix_ + std::string(removed_tag) + prefix + tag;
  auto noting = redis_.run(note_removed_script, 1, removed);
  const redis::Result<redis::Reply> noted = co_await std::move(noting);
  if (!noted) co_return std::unexpected(noted.error());
  const std::string keys = tags_prefix_ + prefix + tag;
  for (;;) {
    auto removing = redis_.run(remove_some_script, 1, keys, removed_at_once);
    const redis::Result<redis::Reply> some = co_await std::move(removing);
    if (!some) co_return std::unexpected(some.error());
    if (some->integer().value_or(0) < removed_at_once) co_return {};
  }
}

Task<Result<std::optional<Lease>>> RedisLevel::try_lock(std::string key, Duration lease) {
  const redis::Result<std::optional<redis::HeldLock>> held =
      co_await locks_.try_acquire(std::move(key), lease);
  if (!held) co_return std::unexpected(held.error());
  if (!*held) co_return std::nullopt;
  co_return Lease{.token = (*held)->token};
}

Task<Result<void>> RedisLevel::unlock(std::string key, Lease lease) {
  redis::HeldLock held{std::move(key), lease.token};
  const redis::Result<bool> released = co_await locks_.release(std::move(held));
  if (!released) co_return std::unexpected(released.error());
  co_return {};
}

Result<void> RedisLevel::health() const {
  const upstream::Status status = redis_.status();
  if (status.down > 0 && status.why) return std::unexpected(*status.why);
  return {};
}

}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
