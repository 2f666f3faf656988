#include "katana/host/caches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "katana/metrics/exposition.hpp"

namespace katana::host {
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
}  // namespace katana::host

// SPDX-License-Identifier: Apache-2.0
