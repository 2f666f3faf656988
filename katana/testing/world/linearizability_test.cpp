#include "katana/testing/world/linearizability.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "katana/base/values/random.hpp"

namespace katana::testing {
namespace {

RegisterCall call_of(std::int64_t invoked, std::int64_t returned, RegisterCall::Kind kind,
                     std::optional<std::string> value) {
  RegisterCall call;
  call.invoked = {invoked};
  call.returned = {returned};
  call.kind = kind;
  call.value = std::move(value);
  return call;
}
RegisterCall write(std::int64_t invoked, std::int64_t returned, const char* value) {
  return call_of(invoked, returned, RegisterCall::Kind::write, value);
}
RegisterCall read(std::int64_t invoked, std::int64_t returned, const char* value) {
  return call_of(invoked, returned, RegisterCall::Kind::read, value);
}
RegisterCall read_none(std::int64_t invoked, std::int64_t returned) {
  return call_of(invoked, returned, RegisterCall::Kind::read, std::nullopt);
}
RegisterCall open(RegisterCall call) {
  call.is_open = true;
  return call;
}
bool holds(const std::vector<RegisterCall>& calls) {
  const Linearized judged = linearizable(RegisterModel{}, calls);
  EXPECT_FALSE(judged.gave_up);
  return judged.holds;
}

TEST(Linearizability, no_calls_and_one_call_hold) {
  EXPECT_TRUE(holds({}));
  EXPECT_TRUE(holds({write(1, 2, "a")}));
  EXPECT_TRUE(holds({read_none(1, 2)}));
  EXPECT_FALSE(holds({read(1, 2, "a")}));
}

TEST(Linearizability, a_read_after_a_write_sees_it) {
  EXPECT_TRUE(holds({write(1, 2, "a"), read(3, 4, "a")}));
  EXPECT_FALSE(holds({write(1, 2, "a"), read_none(3, 4)}));
}

TEST(Linearizability, a_read_during_a_write_sees_the_old_or_the_new_value) {
  EXPECT_TRUE(holds({write(1, 10, "a"), read_none(2, 3)}));
  EXPECT_TRUE(holds({write(1, 10, "a"), read(2, 3, "a")}));
}

// Herlihy and Wing: once a read saw the new value, no later read sees the old one.
TEST(Linearizability, the_value_does_not_go_back) {
  EXPECT_TRUE(holds({write(1, 10, "a"), read_none(2, 3), read(4, 5, "a")}));
  EXPECT_FALSE(holds({write(1, 10, "a"), read(2, 3, "a"), read_none(4, 5)}));
}

TEST(Linearizability, concurrent_reads_do_not_see_two_writes_in_two_orders) {
  EXPECT_FALSE(holds({write(1, 2, "a"), write(1, 2, "b"), read(3, 4, "a"), read(5, 6, "b")}));
  EXPECT_TRUE(holds({write(1, 2, "a"), write(1, 2, "b"), read(3, 4, "b"), read(5, 6, "b")}));
}

TEST(Linearizability, an_open_write_may_take_effect_late_or_never) {
  EXPECT_TRUE(holds({open(write(1, 2, "a")), read_none(3, 4), read(5, 6, "a")}));
  EXPECT_TRUE(holds({open(write(1, 2, "a")), read_none(3, 4), read_none(5, 6)}));
  EXPECT_FALSE(holds({open(write(1, 2, "a")), read(3, 4, "a"), read_none(5, 6)}));
  // It cannot take effect before it was invoked.
  EXPECT_FALSE(holds({read(1, 2, "a"), open(write(3, 4, "a"))}));
}

TEST(Linearizability, of_two_exchanges_from_one_value_one_fails) {
  const auto exchange = [](std::int64_t invoked, const char* value, bool exchanged) {
    RegisterCall call = call_of(invoked, invoked + 10, RegisterCall::Kind::exchange, value);
    call.exchanged = exchanged;
    return call;
  };
  EXPECT_TRUE(holds({exchange(1, "a", true), exchange(2, "b", false)}));
  EXPECT_TRUE(holds({exchange(1, "a", false), exchange(2, "b", true)}));
  EXPECT_FALSE(holds({exchange(1, "a", true), exchange(2, "b", true)}));
}

TEST(Linearizability, a_map_is_judged_by_key) {
  auto of_key = [](RegisterCall call, const char* key) {
    call.key = key;
    return call;
  };
  std::vector<RegisterCall> calls{of_key(write(1, 2, "a"), "x"), of_key(read_none(3, 4), "y"),
                                  of_key(read(5, 6, "a"), "x")};
  EXPECT_TRUE(linearizable_map(calls).holds);
  EXPECT_FALSE(linearizable_map(calls, {{"y", "b"}}).holds);
  calls.push_back(of_key(read(7, 8, "a"), "y"));
  EXPECT_FALSE(linearizable_map(calls).holds);
}

TEST(Linearizability, the_report_names_the_calls_that_fit_nowhere) {
  RegisterCall late = read_none(3, 4);
  late.text = "bob#1 read nothing";
  const Linearized judged = linearizable(RegisterModel{}, {write(1, 2, "a"), late});
  EXPECT_FALSE(judged.holds);
  EXPECT_NE(judged.describe().find("bob#1 read nothing"), std::string::npos) << judged.describe();
}

TEST(Linearizability, a_search_with_too_many_states_gives_up) {
  std::vector<RegisterCall> calls;
  for (int index = 0; index < 24; ++index) {
    calls.push_back(write(1, 100, std::to_string(index).c_str()));
  }
  calls.push_back(read(200, 201, "none of them"));
  const Linearized judged = linearizable(RegisterModel{}, calls, 1'000);
  EXPECT_TRUE(judged.gave_up);
  EXPECT_FALSE(judged.holds);
}

// Runs of a true register, with each call's effect at a random moment within it: they hold. The
// brute-force answer for small histories is the same as that of the search.
bool brute_force(const std::vector<RegisterCall>& calls) {
  std::vector<std::size_t> order(calls.size());
  for (std::size_t index = 0; index < order.size(); ++index) order[index] = index;
  do {
    std::optional<std::optional<std::string>> state{std::optional<std::string>{}};
    for (std::size_t place = 0; place < order.size() && state; ++place) {
      for (std::size_t later = place + 1; later < order.size(); ++later) {
        if (calls[order[later]].returned < calls[order[place]].invoked) state.reset();
      }
      if (state) state = RegisterModel{}.apply(*state, calls[order[place]]);
    }
    if (state) return true;
  } while (std::ranges::next_permutation(order).found);
  return false;
}

TEST(Linearizability, it_agrees_with_all_orders_of_small_histories) {
  Random random(7);
  unsigned held = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<RegisterCall> calls;
    for (int index = 0; index < 6; ++index) {
      const auto invoked = static_cast<std::int64_t>(random.below(12));
      const auto returned = invoked + 1 + static_cast<std::int64_t>(random.below(8));
      const std::string value = std::to_string(random.below(3));
      calls.push_back(random.chance(512) ? write(invoked, returned, value.c_str())
                                         : read(invoked, returned, value.c_str()));
    }
    const bool expected = brute_force(calls);
    held += expected ? 1 : 0;
    ASSERT_EQ(holds(calls), expected) << "round " << round;
    std::ranges::reverse(calls);
    ASSERT_EQ(holds(calls), expected) << "round " << round << ", in another order";
  }
  EXPECT_GT(held, 20u);
  EXPECT_LT(held, 380u);
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
