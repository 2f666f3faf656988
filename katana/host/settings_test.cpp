#include "katana/host/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "katana/config/printer.hpp"
#include "katana/host/engines.hpp"

namespace katana::host {
namespace {

using testing::HasSubstr;

TEST(Settings, every_value_says_what_it_means) {
  std::istringstream lines(config::print_defaults<ApplicationSettings>());
  for (std::string line; std::getline(lines, line);) {
    const std::string key = line.substr(line.find_first_not_of(" #"));
    const bool has_value = !key.ends_with(':');
    if (has_value) EXPECT_THAT(key, HasSubstr(" # ")) << "give it a help(\"…\")";
  }
}

TEST(Settings, the_engine_is_one_of_those_there_are) {
  constexpr const auto& field = field_of<HttpSettings, 3>;
  ASSERT_EQ(field.name, "engine");
  EXPECT_THAT(std::string(field.rules.help), HasSubstr(engine_names().substr(0, 20)));
  EXPECT_EQ(field.rules.satisfies_words, engine_names());
  EXPECT_TRUE(field.rules.satisfies("auto"));
  EXPECT_FALSE(field.rules.satisfies("kqueue"));
}

}  // namespace
}  // namespace katana::host
