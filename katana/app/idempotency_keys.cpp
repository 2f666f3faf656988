#include "katana/app/idempotency_keys.hpp"

#include <array>
#include <utility>
#include <vector>

#include "katana/identity/idempotency/database/key_table.hpp"

namespace katana::app {
namespace {

using idempotency::Idempotency;
using idempotency::MemoryStore;
using idempotency::Statistics;

struct ResultRow {
  const char* result;
  std::uint64_t Statistics::* number;
};
constexpr std::array request_rows{ResultRow{"begun", &Statistics::begun},
                                  ResultRow{"repeated", &Statistics::repeated},
                                  ResultRow{"in_progress", &Statistics::in_progress},
                                  ResultRow{"mismatched", &Statistics::mismatched},
                                  ResultRow{"missing", &Statistics::missing},
                                  ResultRow{"malformed", &Statistics::malformed},
                                  ResultRow{"without_key", &Statistics::without_key}};
constexpr std::array reply_rows{
    ResultRow{"kept", &Statistics::kept}, ResultRow{"without_reply", &Statistics::without_reply},
    ResultRow{"released", &Statistics::released}, ResultRow{"lost", &Statistics::lost}};

template <class Rows>
Result<std::vector<metrics::ObservedCounter>> counters_of(metrics::Registry& registry,
                                                          metrics::Description description,
                                                          const Rows& rows) {
  description.labels = {"result"};
  auto family = registry.observed_counters(std::move(description));
  if (!family) return std::unexpected(family.error());
  std::vector<metrics::ObservedCounter> counters;
  for (const ResultRow& row : rows) counters.push_back(family->with(row.result));
  return counters;
}

template <class Rows>
void observe(const Rows& rows, const std::vector<metrics::ObservedCounter>& counters,
             const Statistics& statistics) {
  for (std::size_t index = 0; index < rows.size(); ++index) {
    counters[index].observe(static_cast<double>(statistics.*rows[index].number));
  }
}

Result<void> add_memory_metrics(metrics::Registry& registry,
                                std::shared_ptr<const MemoryStore> memory) {
  auto keys =
      registry.gauges({.name = "katana_idempotency_keys", .help = "Idempotency keys in memory."});
  if (!keys) return std::unexpected(keys.error());
  auto bytes = registry.gauges({.name = "katana_idempotency_bytes",
                                .help = "Approximate memory of the keys and their replies.",
                                .unit = "bytes"});
  if (!bytes) return std::unexpected(bytes.error());
  registry.before_scrape([memory = std::move(memory), all = keys->with(), size = bytes->with()] {
    const MemoryStore::Statistics statistics = memory->statistics();
    all.set(static_cast<double>(statistics.keys));
    size.set(static_cast<double>(statistics.bytes));
  });
  return {};
}

}  // namespace

Result<void> add_idempotency_metrics(metrics::Registry& registry, const Idempotency& keys) {
  auto requests = counters_of(
      registry,
      {.name = "katana_idempotency_requests", .help = "Requests of routes with idempotency keys."},
      request_rows);
  if (!requests) return std::unexpected(requests.error());
  auto replies = counters_of(registry,
                             {.name = "katana_idempotency_replies",
                              .help = "Replies to requests with an idempotency key."},
                             reply_rows);
  if (!replies) return std::unexpected(replies.error());
  auto failures = registry.observed_counters(
      {.name = "katana_idempotency_store_failures",
       .help = "Calls of the store of idempotency keys that failed or took too long."});
  if (!failures) return std::unexpected(failures.error());
  registry.before_scrape([keys, requests = *std::move(requests), replies = *std::move(replies),
                          failed = failures->with()] {
    const Statistics statistics = keys.statistics();
    observe(request_rows, requests, statistics);
    observe(reply_rows, replies, statistics);
    failed.observe(static_cast<double>(statistics.store_failures));
  });
  return {};
}

Result<void> IdempotencyKeys::check(const IdempotencySettings& settings, bool has_database,
                                    bool has_redis) {
  if (settings.enabled && settings.store == KeyPlace::database && !has_database) {
    return fail(Code::invalid_argument,
                "idempotency.store is database, and the program has none; take memory");
  }
  if (settings.enabled && settings.store == KeyPlace::redis && !has_redis) {
    return fail(Code::invalid_argument,
                "idempotency.store is redis, and the program has none; set redis.url");
  }
  auto made = Idempotency::make(settings, std::make_shared<MemoryStore>(settings.memory));
  if (!made) return std::unexpected(made.error());
  return {};
}

Result<std::unique_ptr<IdempotencyKeys>> IdempotencyKeys::make(
    const IdempotencySettings& settings, database::Database* database,
    std::shared_ptr<idempotency::Store> redis, metrics::Registry& metrics) {
  if (auto checked = check(settings, database != nullptr, redis != nullptr); !checked) {
    return std::unexpected(checked.error());
  }
  std::shared_ptr<MemoryStore> memory;
  std::shared_ptr<idempotency::Store> store;
  if (settings.enabled && settings.store == KeyPlace::database) {
    store = std::make_shared<idempotency::DatabaseStore>(*database, settings.make_table);
  } else if (settings.enabled && settings.store == KeyPlace::redis) {
    store = std::move(redis);
  } else {
    store = memory = std::make_shared<MemoryStore>(settings.memory);
  }
  auto keys = Idempotency::make(settings, std::move(store));
  if (!keys) return std::unexpected(keys.error());
  std::unique_ptr<IdempotencyKeys> made(new IdempotencyKeys(*std::move(keys)));
  if (!settings.enabled) return made;
  if (auto added = add_idempotency_metrics(metrics, made->keys_); !added) {
    return std::unexpected(added.error());
  }
  if (memory == nullptr) return made;
  if (auto added = add_memory_metrics(metrics, std::move(memory)); !added) {
    return std::unexpected(added.error());
  }
  return made;
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
