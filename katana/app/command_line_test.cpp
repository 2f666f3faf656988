#include "katana/app/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "katana/base/text/columns.hpp"

namespace katana::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<CommandLine> parse(std::initializer_list<const char*> arguments) {
  return CommandLine::parse({arguments.begin(), arguments.size()});
}

TEST(CommandLine, values_stand_behind_their_flag_or_behind_an_equals_sign) {
  const auto line = parse(
      {"--config", "a.yaml", "--set=log.levels=warn", "--port", "0", "--set", "http.reactors=2"});
  ASSERT_TRUE(line);
  EXPECT_EQ(line->config, "a.yaml");
  EXPECT_THAT(line->sets, ElementsAre("log.levels=warn", "http.port=0", "http.reactors=2"));
  EXPECT_FALSE(line->print_config || line->help || line->version);
}

TEST(CommandLine, only_a_program_with_a_database_has_a_flag_for_it) {
  const char* const arguments[] = {"--database", "sqlite:a.db"};
  const auto line = CommandLine::parse(arguments, true);
  ASSERT_TRUE(line);
  EXPECT_THAT(line->sets, ElementsAre("database.url=sqlite:a.db"));
  EXPECT_THAT(CommandLine::usage("users", "", "", true), HasSubstr("--database URL"));
  EXPECT_THAT(CommandLine::parse(arguments).error().describe(),
              HasSubstr("unknown flag '--database'"));
  EXPECT_THAT(CommandLine::usage("users", ""), testing::Not(HasSubstr("--database")));
}

TEST(CommandLine, nothing_is_a_command_line) {
  const auto line = parse({});
  ASSERT_TRUE(line);
  EXPECT_FALSE(line->config);
}

TEST(CommandLine, what_is_wrong_is_named) {
  EXPECT_THAT(parse({"--prot=1"}).error().describe(),
              HasSubstr("unknown flag '--prot=1'; did you mean '--port'?"));
  EXPECT_THAT(parse({"--verbose"}).error().describe(),
              HasSubstr("unknown flag '--verbose' (see --help)"));
  EXPECT_THAT(parse({"surplus"}).error().describe(), HasSubstr("unexpected argument 'surplus'"));
  EXPECT_THAT(parse({"--config"}).error().describe(), HasSubstr("--config needs a value"));
  EXPECT_THAT(parse({"--help=yes"}).error().describe(), HasSubstr("--help takes no value"));
}

TEST(CommandLine, a_flag_that_stands_for_a_key_keeps_its_name_for_messages) {
  const auto line = parse({"--set", "http.port=1", "--port", "2"});
  ASSERT_TRUE(line);
  EXPECT_THAT(line->set_flags, ElementsAre("", "--port"));
}

TEST(CommandLine, no_line_of_the_help_is_wider_than_a_terminal) {
  const std::string about(30, 'a');
  const std::string text =
      CommandLine::usage("users", about + " " + about + " " + about, "KATANA_", true);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    EXPECT_LE(columns_of(Bytes(text).substr(begin, end - begin)), terminal_columns)
        << text.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(CommandLine, the_help_names_every_flag) {
  const std::string text = CommandLine::usage("users", "Serves users.");
  for (const char* flag :
       {"--config FILE", "--set KEY=VALUE", "--port PORT", "--print-config", "--print-defaults",
        "--health-check", "--list-engines", "--version", "--help", "KATANA_PORT"}) {
    EXPECT_THAT(text, HasSubstr(flag));
  }
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
