// The checks of the settings of Redis, before anything connects. The rest is in
// tests/end_to_end/test_redis.py, with real servers.
#include "katana/app/program_redis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "katana/observe/metrics/exposition.hpp"

namespace katana::app {
namespace {

using testing::HasSubstr;

class ProgramRedisTest : public testing::Test {
 protected:
  std::string mistake() {
    const auto checked = check_redis(settings);
    return checked ? std::string() : checked.error().describe();
  }
  ApplicationSettings settings;
};

TEST_F(ProgramRedisTest, without_a_url_there_is_none_and_nothing_may_ask_for_one) {
  EXPECT_EQ(mistake(), "");
  settings.http.rate_limit.shared = true;
  EXPECT_EQ(mistake(), "") << "it is not enabled";
  settings.http.rate_limit.enabled = true;
  EXPECT_THAT(mistake(), HasSubstr("set redis.url"));
  settings.http.rate_limit = {};
  settings.cache.second_level = CacheLevel::redis;
  EXPECT_THAT(mistake(), HasSubstr("set redis.url, or cache.redis.url"));
  settings.cache.redis.url = "redis://127.0.0.1";
  EXPECT_EQ(mistake(), "");
  settings.cache.second_level = CacheLevel::none;
  EXPECT_THAT(mistake(), HasSubstr("cache.second_level is none"));
}

TEST_F(ProgramRedisTest, what_is_wrong_is_said_with_its_key) {
  settings.redis.url = "http://127.0.0.1";
  EXPECT_THAT(mistake(), HasSubstr("redis.url: Redis URL"));
  settings.redis.url = "redis://:secret@127.0.0.1";
  EXPECT_THAT(mistake(), HasSubstr("redis.password_file"));
  EXPECT_THAT(mistake(), Not(HasSubstr("secret")));
  settings.redis.url = "redis://app@127.0.0.1";
  EXPECT_THAT(mistake(), HasSubstr("redis.url names a user: set redis.password_file"));
  settings.redis.password_file = "/nowhere/password";
  EXPECT_THAT(mistake(), HasSubstr("redis.password_file: "));
  EXPECT_THAT(mistake(), HasSubstr("/nowhere/password"));
  settings.redis = {};
  settings.redis.url = "redis://127.0.0.1";
  settings.redis.reconnect_min = seconds(9);
  EXPECT_THAT(mistake(), HasSubstr("redis.reconnect_max is less than redis.reconnect_min"));
  settings.redis.reconnect_min = milliseconds(50);
  settings.redis.tls.authorities_file = "/nowhere/ca.pem";
  EXPECT_EQ(mistake(), "") << "without TLS there is nothing to trust";
  settings.redis.url = "rediss://127.0.0.1";
  EXPECT_THAT(mistake(), HasSubstr("/nowhere/ca.pem"));
}

TEST_F(ProgramRedisTest, its_options_are_those_of_the_settings) {
  std::string folder = (std::filesystem::temp_directory_path() / "redis_XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  RedisSettings& redis = settings.redis;
  redis.url = "redis://app@127.0.0.1:7000/3";
  redis.password_file = folder + "/password";
  redis.timeout = milliseconds(77);
  redis.commands_max = 78;
  redis.vanished_after = seconds(79);
  std::ofstream(redis.password_file) << "first\n";
  const auto made = *ProgramRedis::make(redis, "redis", {});
  const redis::Options& options = made->client().options();
  EXPECT_EQ(options.upstream.servers[0].text(), "127.0.0.1:7000");
  EXPECT_EQ(options.user, "app");
  EXPECT_EQ(options.database, 3u);
  EXPECT_EQ(options.timeout, milliseconds(77));
  EXPECT_EQ(options.commands_max, 78u);
  EXPECT_EQ(options.upstream.vanished_after, seconds(79));
  EXPECT_EQ(made->client().shared()->password().reveal(), "first");
  std::ofstream(redis.password_file) << "second\n";
  ASSERT_TRUE(made->reload());
  EXPECT_EQ(made->client().shared()->password().reveal(), "second");
  std::filesystem::remove(redis.password_file);
  EXPECT_FALSE(made->reload());
  EXPECT_EQ(made->client().shared()->password().reveal(), "second") << "the present one stays";
  std::filesystem::remove_all(folder);
}

TEST_F(ProgramRedisTest, it_is_not_ready_before_it_is_connected_and_its_figures_have_its_name) {
  settings.redis.url = "redis://127.0.0.1";
  const auto made = *ProgramRedis::make(settings.redis, "redis", {});
  EXPECT_THAT(made->health().error().describe(), HasSubstr("not connected yet"));
  metrics::Registry registry;
  ASSERT_TRUE(made->add_metrics(registry));
  std::string text;
  metrics::Exposition exposition(registry, metrics::Format::prometheus);
  std::string piece(metrics::Exposition::piece_bytes_min, ' ');
  while (!exposition.done()) text.append(piece, 0, exposition.fill(piece));
  EXPECT_THAT(text, HasSubstr("katana_redis_connections{client=\"redis\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("katana_redis_commands_total{client=\"redis\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("katana_redis_reply_wait_seconds_total{client=\"redis\"} 0\n"));
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
