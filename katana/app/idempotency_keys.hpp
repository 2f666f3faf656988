// IdempotencyKeys: the Idempotency of a program, by its settings, with its figures in /metrics.
//
//   auto& keys = services.get<idempotency::Idempotency>();   // the settings `idempotency`
//   api.use(authenticate).use(keys.middleware());
//
//   katana_idempotency_requests_total{result}   requests with a key
//   katana_idempotency_replies_total{result}    their replies
//   katana_idempotency_store_failures_total
//   katana_idempotency_keys, katana_idempotency_bytes   of the store in memory
//
// Owns       the Idempotency, and the store in memory.
// Borrows    the metrics, which outlive the last scrape; the database, if the keys are there.
// Thread     any.
// Allocates  when it is made.
// Fails      make() names the setting.
// Invariant  while it is not enabled there are no metrics, and its middleware lets all pass.
#pragma once

#include <memory>

#include "katana/app/idempotency_settings.hpp"
#include "katana/base/system/result.hpp"
#include "katana/identity/idempotency/idempotency.hpp"
#include "katana/observe/metrics/registry.hpp"
#include "katana/stores/database/database.hpp"

namespace katana::app {

class IdempotencyKeys {
 public:
  // `redis`: the store of `idempotency.store: redis`, null if the program has no Redis.
  static Result<std::unique_ptr<IdempotencyKeys>> make(const IdempotencySettings& settings,
                                                       database::Database* database,
                                                       std::shared_ptr<idempotency::Store> redis,
                                                       metrics::Registry& metrics);
  // Without a store: everything that is wrong.
  static Result<void> check(const IdempotencySettings& settings, bool has_database, bool has_redis);

  idempotency::Idempotency& keys() noexcept { return keys_; }  // valid as long as this object

 private:
  explicit IdempotencyKeys(idempotency::Idempotency keys) noexcept : keys_(std::move(keys)) {}
  idempotency::Idempotency keys_;
};

// Adds metrics of an Idempotency that a program has made itself, as with keys in Redis. Once in a
// program.
Result<void> add_idempotency_metrics(metrics::Registry& registry,
                                     const idempotency::Idempotency& keys);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
