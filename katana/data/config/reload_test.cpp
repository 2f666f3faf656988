#include <algorithm>
#include <atomic>
#include <thread>

#include "katana/data/config/config_fixture_test.hpp"

namespace katana::config {
namespace {

class ReloadTest : public ConfigTest {
 protected:
  Config<Program> loaded(Bytes text) {
    write(text);
    auto config = Config<Program>::load(sources);
    EXPECT_TRUE(config) << config.error().describe();
    return std::move(*config);
  }
};

TEST_F(ReloadTest, applies_what_is_reloadable_and_reports_what_is_not) {
  auto config = loaded("network: {http: {port: 1, idle_timeout: 30s}}\n");
  const auto before = config.get();
  write("network: {http: {port: 2, idle_timeout: 10s}}\nlog: {levels: {http: debug}}\n");
  const auto reloaded = config.reload();
  ASSERT_TRUE(reloaded) << reloaded.error().describe();
  EXPECT_EQ(config.get()->network.http.port, 1);
  EXPECT_EQ(config.get()->network.http.idle_timeout, seconds(10));
  EXPECT_EQ(config.get()->log.levels.at("http"), "debug");
  ASSERT_EQ(reloaded->applied.size(), 2u);
  EXPECT_EQ(without_folder(reloaded->applied[0]),
            "network.http.idle_timeout: 30s → 10s (katana.yaml:1)");
  EXPECT_EQ(without_folder(reloaded->applied[1]), "log.levels: {} → {http: debug} (katana.yaml:2)");
  ASSERT_EQ(reloaded->needs_restart.size(), 1u);
  EXPECT_EQ(without_folder(reloaded->needs_restart[0]), "network.http.port: 1 → 2 (katana.yaml:1)");
  // A kept old value stays as it was.
  EXPECT_EQ(before->network.http.idle_timeout, seconds(30));
}

TEST_F(ReloadTest, a_broken_file_changes_nothing_and_says_why) {
  auto config = loaded("log: {sample: 0.5}\n");
  for (const Bytes broken : {"log: {sample: 0.25, json: 3}\n", "log: [\n", "lgo: {sample: 1}\n"}) {
    write(broken);
    const auto reloaded = config.reload();
    ASSERT_FALSE(reloaded);
    EXPECT_TRUE(reloaded.error().describe().starts_with("the configuration was not reloaded: /"))
        << reloaded.error().describe();
    EXPECT_EQ(config.get()->log.sample, 0.5);
  }
  std::filesystem::remove(sources.file);
  EXPECT_FALSE(config.reload());
  EXPECT_EQ(config.get()->log.sample, 0.5);
}

TEST_F(ReloadTest, the_programs_own_check_judges_what_would_be_in_force) {
  write("network: {http: {port: 1}}\nlog: {sample: 1}\n");
  auto config = Config<Program>::load(sources, [](const Program& value) -> Result<void> {
    if (value.network.http.port == 1 && value.log.sample < 1) {
      return fail(Code::invalid_argument, "no samples at port 1");
    }
    return {};
  });
  ASSERT_TRUE(config);
  write("network: {http: {port: 2}}\nlog: {sample: 0.5}\n");  // the port stays 1
  EXPECT_FALSE(config->reload());
  EXPECT_EQ(config->get()->log.sample, 1);
}

struct Band {
  int low = 1;
  int high = 5;
};
KATANA_DESCRIBE(Band, low, (high, reloadable))
KATANA_DESCRIBE_RULES(Band, (high, [](const Band& b) { return b.low <= b.high; }, "at least 'low'"))
struct Radio {
  Band band;
  std::vector<Band> others;
};
KATANA_DESCRIBE(Radio, band, others)

TEST_F(ReloadTest, a_rule_across_members_is_applied_at_the_start_and_to_what_would_be_in_force) {
  write("band: {low: 6}\nothers: [{low: 2}, {low: 3, high: 2}]\n");
  const auto refused = Config<Radio>::load(sources);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().describe().find("band.high: expected at least 'low'"), Bytes::npos)
      << refused.error().describe();
  EXPECT_NE(refused.error().describe().find(":2: others[1].high: expected at least 'low'"),
            Bytes::npos)
      << refused.error().describe();
  write("band: {low: 3, high: 4}\n");
  auto config = Config<Radio>::load(sources);
  ASSERT_TRUE(config) << config.error().describe();
  write("band: {low: 2, high: 2}\n");  // fits alone, but `low` stays 3
  const auto reloaded = config->reload();
  ASSERT_FALSE(reloaded);
  EXPECT_NE(reloaded.error().describe().find(":1: band.high: expected at least 'low', with"),
            Bytes::npos)
      << reloaded.error().describe();
  EXPECT_EQ(config->get()->band.high, 4);
  write("band: {low: 2, high: 3}\n");
  EXPECT_TRUE(config->reload());
}

TEST_F(ReloadTest, a_rule_across_the_members_at_the_top_is_applied) {
  write("low: 6\n");
  const auto refused = Config<Band>::load(sources);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().describe().find("high: expected at least 'low'"), Bytes::npos)
      << refused.error().describe();
}

TEST_F(ReloadTest, what_has_not_changed_is_not_reported_though_its_line_has) {
  auto config = loaded("log: {json: true}\n");
  write("# one line more\nlog: {json: true}\n");
  const auto reloaded = config.reload();
  ASSERT_TRUE(reloaded);
  EXPECT_TRUE(reloaded->applied.empty());
  EXPECT_TRUE(reloaded->needs_restart.empty());
  EXPECT_NE(without_folder(config.print()).find("# katana.yaml:2"), std::string::npos);
}

TEST_F(ReloadTest, variables_and_flags_still_win) {
  sources.sets = {"log.sample=0.5"};
  auto config = loaded("log: {sample: 1}\n");
  write("log: {sample: 0.75}\n");
  ASSERT_TRUE(config.reload());
  EXPECT_EQ(config.get()->log.sample, 0.5);
}

TEST_F(ReloadTest, secrets_that_change_are_reported_without_their_values) {
  auto config = loaded("database: {password: first}\n");
  write("database: {password: second}\n");
  const auto reloaded = config.reload();
  ASSERT_TRUE(reloaded);
  ASSERT_EQ(reloaded->needs_restart.size(), 1u);
  EXPECT_EQ(without_folder(reloaded->needs_restart[0]),
            "database.password: *** → *** (katana.yaml:1)");
  EXPECT_EQ(config.get()->database.password, "first");
}

TEST_F(ReloadTest, a_group_that_appears_or_goes_needs_a_restart) {
  auto config = loaded("network: {admin: {port: 5}}\n");
  write("");
  const auto reloaded = config.reload();
  ASSERT_TRUE(reloaded);
  EXPECT_EQ(reloaded->needs_restart.size(), 1u);
  EXPECT_EQ(config.get()->network.admin->port, 5);
  EXPECT_NE(
      without_folder(config.print()).find("port: 5                             # katana.yaml:1"),
      std::string::npos)
      << config.print();
}

TEST_F(ReloadTest, readers_on_other_threads_always_see_values_that_belong_together) {
  auto config = loaded("log: {sample: 0, levels: {at: \"0\"}}\n");
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done.load()) {
      const auto value = config.get();
      const bool low = value->log.sample == 0;
      if ((value->log.levels.at("at") == "0") != low) std::abort();
    }
  });
  for (int count = 0; count < 50; ++count) {
    write(count % 2 == 0 ? "log: {sample: 1, levels: {at: \"1\"}}\n"
                         : "log: {sample: 0, levels: {at: \"0\"}}\n");
    ASSERT_TRUE(config.reload());
  }
  done.store(true);
  reader.join();
}

}  // namespace
}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
