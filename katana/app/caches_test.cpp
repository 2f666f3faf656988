#include "katana/app/caches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "katana/observe/metrics/exposition.hpp"

namespace katana::app {
namespace {

using testing::HasSubstr;

class CachesTest : public testing::Test {
 protected:
  std::string scraped() {
    std::string text;
    metrics::Exposition exposition(registry_, metrics::Format::prometheus);
    std::string piece(metrics::Exposition::piece_bytes_min, ' ');
    while (!exposition.done()) text.append(piece, 0, exposition.fill(piece));
    return text;
  }

  metrics::Registry registry_;
};

TEST_F(CachesTest, each_cache_has_its_figures_under_its_name) {
  const auto caches = *Caches::make({}, registry_);
  const auto users = *caches->make<int, int>({.name = "users"});
  const auto pages = *caches->make<std::string, std::string>({.name = "pages"});
  users.put(1, 10);
  EXPECT_TRUE(users.get(1));
  EXPECT_FALSE(users.get(2));
  const std::string text = scraped();
  EXPECT_THAT(text, HasSubstr("katana_cache_hits_total{cache=\"users\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("katana_cache_misses_total{cache=\"users\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("katana_cache_entries{cache=\"users\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("katana_cache_entries{cache=\"pages\"} 0\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("katana_http_cache")));
}

TEST_F(CachesTest, a_name_is_of_one_cache) {
  const auto caches = *Caches::make({}, registry_);
  ASSERT_TRUE((caches->make<int, int>({.name = "users"})));
  const auto second = caches->make<int, int>({.name = "users"});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().describe(), HasSubstr("'users'"));
}

TEST_F(CachesTest, settings_say_of_each_cache_what_is_other_than_the_program_says) {
  CacheSettings settings;
  settings.caches["users"].ttl = seconds(7);
  settings.caches["users"].lock = true;
  const auto caches = *Caches::make(settings, registry_);
  const auto users = *caches->make<int, int>({.name = "users", .entries_max = 77});
  EXPECT_EQ(users.options().ttl, seconds(7));
  EXPECT_TRUE(users.options().second_level.lock);
  EXPECT_EQ(users.options().entries_max, 77u);
  EXPECT_EQ((*caches->make<int, int>({.name = "pages"})).options().ttl, cache::Options().ttl);
  EXPECT_TRUE(caches->check_names());
}

TEST_F(CachesTest, a_setting_of_a_cache_that_is_none_or_out_of_range_is_said) {
  CacheSettings settings;
  settings.caches["usrs"].ttl = seconds(7);
  settings.caches["small"].bytes_max = 1;
  const auto caches = *Caches::make(settings, registry_);
  const auto small = caches->make<int, int>({.name = "small"});
  ASSERT_FALSE(small);
  EXPECT_THAT(small.error().describe(), HasSubstr("bytes_max"));
  ASSERT_TRUE((caches->make<int, int>({.name = "users"})));
  EXPECT_THAT(caches->check_names().error().describe(), HasSubstr("cache.caches."));
}

// Counts its calls.
struct CountedLevel final : cache::SecondLevel {
  Task<Result<std::optional<std::string>>> get(std::string) override { co_return std::nullopt; }
  Task<Result<void>> put(std::string, std::string, Duration) override { co_return {}; }
  Task<Result<void>> remove(std::string) override { co_return {}; }
  Result<void> health() const override { return {}; }
};

TEST_F(CachesTest, the_second_level_of_the_settings_is_for_those_that_ask_for_it) {
  CacheSettings settings;
  settings.caches["private"].second_level = false;
  const auto caches = *Caches::make(settings, registry_, std::make_shared<CountedLevel>());
  const auto levels = [](const auto& made) { return made->core()->has_second_level(); };
  EXPECT_TRUE(levels(caches->make_shared<std::string, std::string>({.name = "shared"})));
  EXPECT_FALSE(levels(caches->make_shared<std::string, std::string>({.name = "private"})));
  EXPECT_FALSE(levels(caches->make<std::string, std::string>({.name = "own"})));
  const auto without = *Caches::make({}, registry_);
  EXPECT_FALSE(levels(without->make_shared<std::string, std::string>({.name = "alone"})));
}

TEST_F(CachesTest, the_response_cache_is_there_when_it_is_enabled) {
  CacheSettings settings;
  EXPECT_EQ((*Caches::make(settings, registry_))->http().middleware().function, nullptr);
  settings.http.enabled = true;
  const auto caches = *Caches::make(settings, registry_);
  EXPECT_NE(caches->http().middleware().function, nullptr);
  EXPECT_THAT(scraped(), HasSubstr("katana_http_cache_hits_total 0\n"));
  EXPECT_THAT(scraped(), HasSubstr("katana_cache_bytes{cache=\"http\"}"));
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
