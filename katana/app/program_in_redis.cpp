// The data that an application keeps in Redis: sessions, limits, the second level of caches,
// idempotency keys, locks of jobs.
#include <memory>
#include <string>
#include <utility>

#include "katana/app/program.hpp"
#include "katana/app/program_redis.hpp"
#include "katana/app/security.hpp"
#include "katana/http/middleware/redis/redis_rate_limit.hpp"
#include "katana/identity/idempotency/memory_store.hpp"
#include "katana/identity/idempotency/redis/key_store.hpp"
#include "katana/identity/sessions/redis/session_keys.hpp"
#include "katana/stores/cache/redis/redis_level.hpp"
#include "katana/stores/jobs/redis/redis_job_lock.hpp"

namespace katana::app {

Result<void> Program::start_redis(registry::Registry& registry) {
  const auto present = settings();
  if (auto checked = check_redis(*present); !checked) return checked;
  if (present->redis.given()) {
    auto made = ProgramRedis::make(present->redis, "redis", log_->logger("redis"));
    if (!made) return std::unexpected(made.error());
    redis_ = *std::move(made);
    registry.instance<redis::Client>(redis_->client());
    if (auto added = add_redis(*redis_, "redis"); !added) return added;
  }
  if (redis_ == nullptr)
    registry.absent<redis::Client>("the program has no Redis: set 'redis.url'");
  if (!present->cache.redis.given()) return {};
  auto made = ProgramRedis::make(present->cache.redis, "cache.redis", log_->logger("redis"));
  if (!made) return std::unexpected(made.error());
  cache_redis_ = *std::move(made);
  return add_redis(*cache_redis_, "cache redis");
}

Result<void> Program::add_redis(ProgramRedis& redis, std::string name) {
  if (auto added = redis.add_metrics(observability_->registry()); !added) return added;
  if (lacks_redis()) return {};
  on_start([this, &redis, name](const registry::Services&) {
    return spawn(jobs::job_function([&redis] { return redis.connect(); }), "connect " + name);
  });
  return observability_->checks().add({.name = std::move(name),
                                       .run = [&redis](std::stop_token) { return redis.health(); },
                                       .required = redis.settings().required,
                                       .may_block = false});
}

// Security::make() refuses sessions in Redis without one. In a test without Redis sessions are in
// memory, and caches have no second level.
Result<void> Program::start_sessions_and_caches(registry::Registry& registry) {
  const auto present = settings();
  std::shared_ptr<sessions::SessionStore> store;
  if (present->sessions.store == SessionPlace::redis) {
    if (lacks_redis() || redis_ == nullptr) {
      store = std::make_shared<sessions::MemorySessionStore>(present->sessions.memory);
    } else {
      store = std::make_shared<sessions::RedisSessionStore>(redis_->client(),
                                                            redis_->settings().prefix);
    }
  }
  auto security = Security::make(*present, database_ ? &*database_ : nullptr, std::move(store));
  if (!security) return std::unexpected(security.error());
  security_ = *std::move(security);
  security_->register_in(registry);
  std::shared_ptr<cache::SecondLevel> level;
  if (present->cache.second_level == CacheLevel::redis && !lacks_redis()) {
    const ProgramRedis& redis = cache_redis_ ? *cache_redis_ : *redis_;
    using Listens = cache::RedisLevel::Listens;
    level = std::make_shared<cache::RedisLevel>(redis.client(), redis.settings().prefix + "cache:",
                                                present->cache.listen ? Listens::yes : Listens::no);
  }
  auto caches = Caches::make(present->cache, observability_->registry(), std::move(level));
  if (!caches) return std::unexpected(caches.error());
  caches_ = *std::move(caches);
  registry.instance<Caches>(*caches_);
  registry.instance<HttpCache>(caches_->http());
  return {};
}

Result<void> Program::start_idempotency(registry::Registry& registry) {
  const auto present = settings();
  std::shared_ptr<idempotency::Store> store;
  if (present->idempotency.store == KeyPlace::redis) {
    if (lacks_redis()) {
      store = std::make_shared<idempotency::MemoryStore>(present->idempotency.memory);
    } else if (redis_ != nullptr) {
      store =
          std::make_shared<idempotency::RedisStore>(redis_->client(), redis_->settings().prefix);
    }
  }
  auto keys = IdempotencyKeys::make(present->idempotency, database_ ? &*database_ : nullptr,
                                    std::move(store), observability_->registry());
  if (!keys) return std::unexpected(keys.error());
  idempotency_keys_ = *std::move(keys);
  registry.instance<idempotency::Idempotency>(idempotency_keys_->keys());
  return {};
}

std::unique_ptr<jobs::JobLock> Program::make_redis_job_lock() const {
  if (redis_ == nullptr) return nullptr;
  if (lacks_redis()) return std::make_unique<jobs::LocalJobLock>();
  const RedisSettings& settings = redis_->settings();
  if (!settings.lock_jobs && database_) return nullptr;
  return std::make_unique<jobs::RedisJobLock>(redis_->client(), settings.job_lease,
                                              settings.prefix + "job:");
}

RateLimitOptions Program::rate_limit_options() const {
  const RateLimitSettings settings = this->settings()->http.rate_limit;
  RateLimitOptions options = settings;
  if (!settings.shared || lacks_redis()) return options;
  redis::SharedRateOptions shared{.per_second = settings.per_second,
                                  .burst = settings.burst,
                                  .lease = settings.lease,
                                  .keys_max = settings.keys_max,
                                  .prefix = redis_->settings().prefix + "rate:"};
  options.shared_limit = std::make_shared<RedisRateLimit>(redis_->client(), std::move(shared));
  return options;
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
