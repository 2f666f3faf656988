#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "katana/app/application.hpp"

namespace katana::app {

struct MailSettings {
  std::string host = "localhost";
  std::uint16_t port = 25;
  std::string password = "0f-mail";
};
KATANA_DESCRIBE(MailSettings, (host, length(1, 64), help("server of outgoing mail")),
                (port, at_least(1)), (password, secret))

enum class Season : std::uint8_t { summer, winter };
KATANA_DESCRIBE_ENUM(Season, summer, winter)

// Every kind of member, and options of modules whose descriptions this source does not see.
struct OwnSettings : SettingsWithDatabase {
  std::size_t page_max = 100;
  bool enabled = true;
  double share = 0.5;
  Season season = Season::winter;
  Duration pause = seconds(90);
  config::ByteCount memory = config::mebibytes(3);
  std::optional<std::string> motto;
  std::vector<std::string> names = {"a b", "null"};
  std::map<std::string, Duration> waits = {{"short", milliseconds(5)}};
  MailSettings mail;
  std::optional<MailSettings> fallback = MailSettings();
  std::map<std::string, MailSettings> mails = {{"other", MailSettings{.host = "other"}}};
  database::Durability durability = database::Durability::normal;
  std::vector<FilesOptions> assets = {FilesOptions{}};
  std::map<std::string, client::HttpClientOptions> clients = {{"prices", {}}};
  tls::ClientTlsOptions tls;
  RedisSettings second_redis;
};
KATANA_DESCRIBE_DERIVED(OwnSettings, SettingsWithDatabase,
                        (page_max, range(1, 1000), reloadable, help("rows of a page")), enabled,
                        share, season, pause, memory, motto, names, waits, mail, fallback, mails,
                        durability, assets, clients, tls, second_redis)

namespace {

class OwnSettingsTest : public testing::Test {
 protected:
  OwnSettingsTest() {
    std::string name = (std::filesystem::temp_directory_path() / "katana_own_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    sources_.file = folder_ + "/own.yaml";
  }
  ~OwnSettingsTest() override {
    std::error_code ignored;  // a folder that stays behind is no failure of the test
    std::filesystem::remove_all(folder_, ignored);
  }
  Result<config::Config<OwnSettings>> load(Bytes text) {
    std::ofstream(sources_.file) << text;
    return config::Config<OwnSettings>::load(sources_);
  }

  std::string folder_;
  config::Sources sources_{.environment_prefix = ""};
};

TEST_F(OwnSettingsTest, what_is_written_of_all_settings_of_a_program_is_read_as_the_same) {
  sources_.sets = {"page_max=7", "clients={prices: {timeout: 3s, proxy: {password: Passw0rd}}}",
                   "assets=[{types: {wasm: application/wasm}}, {}]", "http.port=9000"};
  const auto first = load("");
  ASSERT_TRUE(first) << first.error().describe();
  EXPECT_EQ(first->get()->clients.at("prices").timeout, seconds(3));
  EXPECT_EQ(first->get()->assets.size(), 2u);
  const std::string written = config::write_value(*first->get(), true);
  sources_.sets.clear();
  const auto second = load(written);
  ASSERT_TRUE(second) << second.error().describe();
  EXPECT_EQ(config::write_value(*second->get(), true), written);
  EXPECT_EQ(second->get()->page_max, 7u);
  EXPECT_EQ(second->get()->http.port, 9000);
}

TEST_F(OwnSettingsTest, rules_and_secrets_hold_for_options_that_the_program_does_not_describe) {
  const auto refused = load(
      "clients: {a: {retry: {share_percent: 101}}}\n"
      "durability: some\n"
      "second_redis: {commands_max: 0}\n");
  ASSERT_FALSE(refused);
  const std::string words = refused.error().describe();
  EXPECT_NE(words.find("clients.a.retry.share_percent: expected at most 100, got 101"),
            std::string::npos)
      << words;
  EXPECT_NE(words.find("durability: expected one of full, normal, got 'some'"), std::string::npos);
  EXPECT_NE(words.find("second_redis.commands_max: expected 1 to 16777216, got 0"),
            std::string::npos);
  const auto loaded = load("clients: {a: {proxy: {password: Passw0rd}}}\n");
  ASSERT_TRUE(loaded) << loaded.error().describe();
  EXPECT_EQ(loaded->print().find("Passw0rd"), std::string::npos);
  EXPECT_EQ(loaded->print().find("0f-mail"), std::string::npos);
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
