#include "katana/app/option_tables.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana::app {
namespace {

TEST(OptionDescriptions, every_engine_has_the_name_in_configuration_that_programs_use) {
  for (const server::EngineKind kind : server::engines()) {
    EXPECT_TRUE(enumerator_from<server::EngineName>(server::engine_name(kind)));
  }
  EXPECT_FALSE(enumerator_from<server::EngineName>("kqueue"));
  for_each_enumerator<server::EngineName>([](const auto& each) {
    EXPECT_NE(server::engine_names().find(each.name), std::string::npos) << each.name;
  });
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
