#include "katana/app/idempotency_keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "katana/app/insecure_settings.hpp"
#include "katana/app/settings.hpp"
#include "katana/observe/metrics/exposition.hpp"

namespace katana::app {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string scraped(metrics::Registry& registry) {
  std::string text;
  metrics::Exposition exposition(registry, metrics::Format::prometheus);
  std::string piece(metrics::Exposition::piece_bytes_min, ' ');
  while (!exposition.done()) text.append(piece, 0, exposition.fill(piece));
  return text;
}

TEST(IdempotencyKeys, have_figures_when_they_are_enabled) {
  metrics::Registry registry;
  IdempotencySettings settings;
  ASSERT_TRUE(IdempotencyKeys::make(settings, nullptr, nullptr, registry));
  EXPECT_THAT(scraped(registry), Not(HasSubstr("katana_idempotency")));
  settings.enabled = true;
  const auto keys = IdempotencyKeys::make(settings, nullptr, nullptr, registry);
  ASSERT_TRUE(keys) << keys.error().describe();
  EXPECT_THAT(scraped(registry),
              HasSubstr("katana_idempotency_requests_total{result=\"repeated\"} 0\n"));
  EXPECT_THAT(scraped(registry),
              HasSubstr("katana_idempotency_replies_total{result=\"kept\"} 0\n"));
  EXPECT_THAT(scraped(registry), HasSubstr("katana_idempotency_keys 0\n"));
}

TEST(IdempotencyKeys, in_a_database_want_one) {
  IdempotencySettings settings;
  settings.store = KeyPlace::database;
  EXPECT_TRUE(IdempotencyKeys::check(settings, false, false)) << "it is not enabled";
  settings.enabled = true;
  const auto checked = IdempotencyKeys::check(settings, false, false);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().describe(), HasSubstr("idempotency.store"));
}

TEST(IdempotencyKeys, in_redis_want_one_and_are_kept_there) {
  metrics::Registry registry;
  IdempotencySettings settings;
  settings.enabled = true;
  settings.store = KeyPlace::redis;
  const auto checked = IdempotencyKeys::check(settings, true, false);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().describe(), HasSubstr("set redis.url"));
  const auto store = std::make_shared<idempotency::MemoryStore>(settings.memory);
  const auto keys = IdempotencyKeys::make(settings, nullptr, store, registry);
  ASSERT_TRUE(keys);
  EXPECT_EQ(store.use_count(), 2) << "the store that was given is the one that is used";
  EXPECT_THAT(scraped(registry), Not(HasSubstr("katana_idempotency_keys")));
}

TEST(IdempotencyKeys, of_everyone_are_named_as_insecure) {
  ApplicationSettings settings;
  settings.idempotency.scope = idempotency::Scope::everyone;
  const auto has = [&] {
    for (const auto& each : insecure_settings(settings, {})) {
      if (each.key == "idempotency.scope") return true;
    }
    return false;
  };
  EXPECT_FALSE(has());
  settings.idempotency.enabled = true;
  EXPECT_TRUE(has());
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
