#include "katana/base/system/misuse.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "katana/base/coroutine/activity.hpp"

namespace katana {
namespace {

TEST(MisuseTest, the_sentence_says_what_was_done_where_and_what_to_do) {
  const std::string site = "GET /users/{id}";
  Activity activity;
  activity.site = &site;
  activity.name = "request-1";
  const ActivityScope scope(&activity);
  try {
    throw_misuse("it was called here", "call it there");
    FAIL();
  } catch (const std::logic_error& thrown) {
    const std::string text = thrown.what();
    EXPECT_NE(text.find("it was called here (on route GET /users/{id}, request request-1, thread "),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("): call it there"), std::string::npos) << text;
  }
}

TEST(MisuseDeathTest, where_nobody_can_catch_it_the_process_ends_with_the_sentence) {
  EXPECT_DEATH(die_of_misuse("it was called here", "call it there"),
               "katana: it was called here \\(thread .*\\): call it there");
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
