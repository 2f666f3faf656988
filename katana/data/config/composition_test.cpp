// Composition: groups that parts of a program bring, by every source and at a reload.
#include "katana/data/config/composition.hpp"

#include <gmock/gmock.h>

#include "katana/data/config/config_fixture_test.hpp"

namespace katana::config {

struct Mail {
  std::string host = "localhost";
  std::uint16_t port = 25;
  Duration timeout = seconds(5);
};
KATANA_DESCRIBE(Mail, host, (port, at_least(1), help("of the server")), (timeout, reloadable))

namespace {

using testing::HasSubstr;
using testing::Not;

class CompositionTest : public ConfigTest {
 protected:
  static Additions additions() {
    return {.groups = {added_group<Mail>("mail", "the mail server")},
            .absent = {{"cache", "add it with use(cache())"},
                       {"network.proxy", "add it with use(proxy())"}}};
  }
  Result<Config<Program>> load(Bytes text) {
    write(text);
    return Config<Program>::load(sources, nullptr, additions());
  }
  std::string refusal_with_mail(Bytes text) {
    const auto config = load(text);
    EXPECT_FALSE(config);
    return config ? std::string() : without_folder(config.error().describe());
  }
};

TEST_F(CompositionTest, a_group_of_a_part_is_read_from_every_source_beside_the_programs_own) {
  sources.environment = {{"KATANA_MAIL__HOST", "mx"}};
  sources.environment_prefix = "KATANA_";
  sources.sets = {"mail.timeout=7s"};
  const auto config = load("mail: {port: 587}\nlog: {sample: 0.5}\n");
  ASSERT_TRUE(config) << config.error().describe();
  const auto mail = config->group<Mail>("mail");
  EXPECT_EQ(mail->host, "mx");
  EXPECT_EQ(mail->port, 587);
  EXPECT_EQ(mail->timeout, seconds(7));
  EXPECT_EQ(config->get()->log.sample, 0.5);
  EXPECT_EQ(config->find_group("male"), nullptr);
  EXPECT_THAT(config->print(), HasSubstr("mail:"));
  EXPECT_THAT(config->print(), HasSubstr("port: 587"));
}

TEST_F(CompositionTest, a_value_of_a_part_that_breaks_a_rule_is_named_with_its_place) {
  EXPECT_EQ(refusal_with_mail("mail: {port: 0}\n"),
            "katana.yaml:1: mail.port: expected at least 1, got 0");
  EXPECT_THAT(refusal_with_mail("mail: {prot: 1}\n"), HasSubstr("did you mean 'port'?"));
}

TEST_F(CompositionTest, a_reload_applies_what_is_reloadable_of_a_part) {
  auto config = load("mail: {port: 1, timeout: 1s}\n");
  ASSERT_TRUE(config);
  const auto before = config->group<Mail>("mail");
  write("mail: {port: 2, timeout: 2s}\n");
  const auto reloaded = config->reload();
  ASSERT_TRUE(reloaded) << reloaded.error().describe();
  ASSERT_EQ(reloaded->applied.size(), 1u);
  EXPECT_THAT(reloaded->applied[0], HasSubstr("mail.timeout: 1s → 2s"));
  ASSERT_EQ(reloaded->needs_restart.size(), 1u);
  EXPECT_THAT(reloaded->needs_restart[0], HasSubstr("mail.port: 1 → 2"));
  EXPECT_EQ(config->group<Mail>("mail")->timeout, seconds(2));
  EXPECT_EQ(config->group<Mail>("mail")->port, 1);
  EXPECT_EQ(before->timeout, seconds(1));
}

TEST_F(CompositionTest, a_key_of_a_part_that_is_not_there_is_refused_with_the_remedy) {
  const std::string of_group =
      "'cache' is of a part that this program does not have: add it with use(cache())";
  EXPECT_EQ(refusal_with_mail("cache: {size: 1}\n"), "katana.yaml:1: cache: " + of_group);
  EXPECT_THAT(refusal_with_mail("network: {proxy: {}}\n"),
              HasSubstr("'network.proxy' is of a part that this program does not have: add it "
                        "with use(proxy())"));
  sources.sets = {"cache.size=1"};
  EXPECT_THAT(refusal_with_mail(""), HasSubstr(of_group));
}

TEST_F(CompositionTest, a_variable_of_a_part_that_is_not_there_is_noted_and_stops_nothing) {
  sources.environment = {{"KATANA_CACHE__SIZE", "1"}};
  sources.environment_prefix = "KATANA_";
  const auto config = load("");
  ASSERT_TRUE(config) << config.error().describe();
  EXPECT_THAT(config->notes(),
              testing::ElementsAre("environment KATANA_CACHE__SIZE: sets nothing: 'cache' is of a "
                                   "part that this program does not have: add it with "
                                   "use(cache())"));
}

TEST_F(CompositionTest, a_group_that_is_there_twice_fails_the_load_and_is_named) {
  Additions twice = additions();
  twice.groups.push_back(added_group<Mail>("log", ""));
  write("");
  const auto config = Config<Program>::load(sources, nullptr, twice);
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().describe(),
              HasSubstr("the group 'log' of the configuration is there"));
}

TEST_F(CompositionTest, defaults_and_schema_have_the_groups_of_parts_behind_the_others) {
  const Composition composition(type_of<Program>(), &make_value<Program>, additions());
  const std::string defaults = composition.print_defaults();
  EXPECT_TRUE(defaults.starts_with(print_defaults<Program>()));
  EXPECT_THAT(defaults, HasSubstr("\nmail:                                   # the mail server\n"));
  EXPECT_THAT(defaults, HasSubstr("of the server"));
  const std::string schema = composition.json_schema("Program");
  EXPECT_THAT(schema, HasSubstr("\"mail\""));
  EXPECT_THAT(schema, Not(HasSubstr("\"cache\"")));
}

}  // namespace
}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
