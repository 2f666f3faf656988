#include "katana/observe/trace/trace_state.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana::trace {
namespace {

std::string kept(std::initializer_list<Bytes> values) {
  TraceState state;
  for (const Bytes each : values) state.add(each);
  return std::string(state.text());
}

TEST(TraceState, fields_of_one_name_are_one_list_in_their_order) {
  EXPECT_EQ(kept({"rojo=00f067aa0ba902b7", "congo=t61rcWkgMzE"}),
            "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
  EXPECT_EQ(kept({" a=1 ,\tb=2", ",,", "", "c/d@e=x y"}), "a=1,b=2,c/d@e=x y");
  EXPECT_EQ(kept({}), "");
}

TEST(TraceState, a_member_that_breaks_a_rule_takes_the_whole_along) {
  for (const char* wrong :
       {"a", "=1", "a=", "A=1", "-a=1", "a b=1", "a=1=2", "a=\x01", "a=\xc3\xa4", "b=2,b=3"}) {
    EXPECT_EQ(kept({"good=1", wrong, "later=2"}), "") << wrong;
  }
  EXPECT_EQ(kept({std::string(257, 'k') + "=1"}), "");
  EXPECT_EQ(kept({"k=" + std::string(257, 'v')}), "");
  EXPECT_NE(kept({std::string(256, 'k') + "=1"}), "");
}

TEST(TraceState, more_than_32_members_are_refused) {
  std::string list;
  for (int index = 0; index < 32; ++index) list += "k" + std::to_string(index) + "=1,";
  EXPECT_FALSE(kept({list}).empty());
  EXPECT_EQ(kept({list, "one=more"}), "");
}

TEST(TraceState, what_is_too_long_loses_long_members_first_and_then_its_end) {
  const std::string big = "big=" + std::string(200, 'x');
  const std::string small = "small=" + std::string(100, 'y');
  std::string list = big + "," + small;
  for (const char* key : {"a", "b", "c"})
    list += std::string(",") + key + std::string(100, 'z') + "=1";
  TraceState state;
  state.add(list);
  EXPECT_TRUE(state.is_cut());
  EXPECT_FALSE(state.is_malformed());
  EXPECT_EQ(state.text().find("big="), Bytes::npos) << "it is longer than 128 bytes";
  EXPECT_TRUE(state.text().starts_with(small));
  for (const char* key : {"d", "e", "f", "g"}) {
    state.add(std::string(key) + std::string(100, 'z') + "=1");
  }
  EXPECT_LE(state.text().size(), trace_state_bytes_max);
  EXPECT_TRUE(state.text().starts_with(small)) << "its end goes";
}

}  // namespace
}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
