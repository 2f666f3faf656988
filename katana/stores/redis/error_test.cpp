// Tests of the errors that are made of what a server says.
#include "katana/stores/redis/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace katana::redis {
namespace {

TEST(RedisErrorTest, a_prefix_is_a_word_of_capitals_and_underscores_and_nothing_else) {
  const auto prefix_of = [](std::string_view line) {
    return std::string(Error::of_server(line, "GET").prefix());
  };
  EXPECT_EQ(prefix_of("WRONGTYPE Operation against a key"), "WRONGTYPE");
  EXPECT_EQ(prefix_of("ERR"), "ERR");
  EXPECT_EQ(prefix_of("A_Z of a module"), "A_Z");
  for (const char* const line :
       {"", " ERR", "value is not an integer", "Err mixed", "ERR: colon", "@AT", "A[", "A9"}) {
    EXPECT_EQ(prefix_of(line), "") << line;
  }
}

}  // namespace
}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
