#include "katana/app/database_driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace katana::app {
namespace {

using testing::HasSubstr;
using testing::Not;

Result<void> check_memory(std::string_view rest) {
  if (rest == "ok") return {};
  return fail(Code::invalid_argument, "memory: " + std::string(rest));
}
Result<database::Database> open_memory(std::string_view rest, const DatabaseSettings& settings,
                                       std::vector<database::Migration> migrations,
                                       const database::Opening&) {
  return fail(Code::unavailable, std::string(rest) + " of " + settings.url + " with " +
                                     std::to_string(migrations.size()));
}
constexpr DatabaseDriver memory{"memory", "memory:NAME", check_memory, open_memory};
constexpr DatabaseDriver other{"other", "other://HOST", check_memory, open_memory};

std::string error_of(const DatabaseDrivers& drivers, const char* url) {
  const auto checked = drivers.check(url);
  return checked ? "" : checked.error().describe();
}

TEST(DatabaseDrivers, the_scheme_of_the_url_picks_the_driver) {
  const DatabaseDrivers drivers{other, memory};
  EXPECT_EQ(error_of(drivers, "memory:ok"), "");
  EXPECT_THAT(error_of(drivers, "memory:x"), HasSubstr("memory: x"));
  DatabaseSettings settings;
  settings.url = "memory:ok";
  EXPECT_THAT(drivers.open(settings, {{}, {}}).error().describe(),
              HasSubstr("ok of memory:ok with 2"));
}

TEST(DatabaseDrivers, a_url_that_no_driver_takes_is_not_opened) {
  const DatabaseDrivers drivers = memory;
  DatabaseSettings settings;
  settings.url = "memory:wrong";
  EXPECT_THAT(drivers.open(settings, {}).error().describe(), HasSubstr("memory: wrong"));
  settings.url = "other://h";
  EXPECT_EQ(drivers.open(settings, {}).error().code(), Code::invalid_argument);
}

TEST(DatabaseDrivers, an_unknown_scheme_names_those_of_the_program_and_never_the_password) {
  const std::string text =
      error_of(DatabaseDrivers{memory, other}, "postgresql://ada:secret@db.example/users");
  EXPECT_THAT(text, HasSubstr("'postgresql'"));
  EXPECT_THAT(text, HasSubstr("give memory:NAME or other://HOST"));
  EXPECT_THAT(text, Not(HasSubstr("secret")));
}

TEST(DatabaseDrivers, a_path_without_a_scheme_is_refused_with_the_form_to_give) {
  EXPECT_THAT(error_of(memory, "var/katana.db"),
              HasSubstr("'var/katana.db' has no scheme: give memory:NAME"));
}

TEST(DatabaseDrivers, without_drivers_every_url_is_refused) {
  EXPECT_TRUE(DatabaseDrivers().empty());
  EXPECT_THAT(error_of({}, "memory:ok"), HasSubstr("built without a database"));
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
