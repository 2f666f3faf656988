// Tests that the formats write structs without heap calls.
#include "katana/base/system/heap_calls_test.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "katana/data/container/json_read.hpp"
#include "katana/data/container/shapes_test.hpp"

namespace katana::container {
namespace {

class ContainerHeapCalls : public HeapCallsTest {};

template <class F>
std::uint64_t calls_of(F&& work) {
  std::uint64_t calls = 0;
  for (int round = 0; round < 3; ++round) {  // the last one is warm
    const std::uint64_t before = heap_calls();
    work();
    calls = heap_calls() - before;
  }
  return calls;
}

TEST_F(ContainerHeapCalls, json_into_an_outbox_makes_none) {
  BlockPool pool(4096, 64);
  Outbox outbox(pool);
  const std::vector<User> users(100, some_user());
  EXPECT_EQ(calls_of([&] {
              EXPECT_TRUE(write_json(users, outbox));
              outbox.clear();
            }),
            0u);
}

TEST_F(ContainerHeapCalls, json_into_recycled_text_makes_none) {
  const User user = some_user();
  EXPECT_EQ(calls_of([&] {
              Text text;
              write_json(user, text);
            }),
            0u);
}

TEST_F(ContainerHeapCalls, json_into_a_string_that_is_large_enough_makes_none) {
  const User user = some_user();
  std::string text;
  EXPECT_EQ(calls_of([&] {
              text.clear();
              write_json(user, text);
            }),
            0u);
}

TEST_F(ContainerHeapCalls, reading_a_struct_of_short_text_makes_none) {
  User user;
  const std::string text = to_json(some_user());
  EXPECT_EQ(calls_of([&] {
              Findings findings;
              EXPECT_TRUE(read_json(Bytes(text), user, findings));
            }),
            0u);
}

struct StrictAccount {
  int number = 0;
  std::string token_account;
};
KATANA_DESCRIBE_STRICT(StrictAccount, number, token_account)

// A hint is a text, so each call of nearest_hint() would be seen.
TEST_F(ContainerHeapCalls, unknown_names_beyond_the_limit_have_no_words) {
  const auto calls = [](int count) {
    std::string text = "{";
    for (int number = 0; number < count; ++number) {
      text += fmt::format("\"tken_account{}\":1,", number % 10);
    }
    text += "\"number\":1}";
    return calls_of([&] {
      StrictAccount account;
      Findings findings;
      EXPECT_FALSE(read_json(text, account, findings));
      // token_account is missing, too.
      EXPECT_EQ(findings.left_out(), static_cast<std::size_t>(count) + 1 - 16);
    });
  };
  EXPECT_EQ(calls(100), calls(1000));
}

}  // namespace
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
