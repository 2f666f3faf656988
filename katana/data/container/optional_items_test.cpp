// Lists and dictionaries with some null items.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/values/described.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/container/message_pack_read.hpp"
#include "katana/data/container/message_pack_write.hpp"

namespace katana::container {
namespace {

struct Point {
  int x = 0;
  bool operator==(const Point&) const = default;
};
KATANA_DESCRIBE(Point, x)

struct Gaps {
  std::vector<std::optional<Point>> points;
  std::vector<std::optional<std::string>> words;
  std::vector<std::optional<std::vector<std::optional<double>>>> rows;
  std::map<std::string, std::optional<bool>> flags;
  bool operator==(const Gaps&) const = default;
};
KATANA_DESCRIBE(Gaps, points, (words, each(length(1, 3))), rows, flags)

Gaps some_gaps() {
  return {.points = {Point{1}, std::nullopt},
          .words = {std::nullopt, "a"},
          .rows = {std::vector<std::optional<double>>{0.5, std::nullopt}, std::nullopt},
          .flags = {{"a", std::nullopt}, {"b", true}}};
}

TEST(OptionalItems, are_null_in_json) {
  const std::string text = to_json(some_gaps());
  EXPECT_EQ(text, R"({"points":[{"x":1},null],"words":[null,"a"],"rows":[[0.5,null],null],)"
                  R"("flags":{"a":null,"b":true}})");
  const auto read = read_json<Gaps>(text);
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(*read, some_gaps());
}

TEST(OptionalItems, are_nil_in_message_pack) {
  const auto read = read_message_pack<Gaps>(to_message_pack(some_gaps()));
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(*read, some_gaps());
}

TEST(OptionalItems, that_are_there_obey_the_rules_of_each) {
  Gaps gaps;
  Findings findings;
  EXPECT_FALSE(read_json(R"({"points":[{"x":"1"}],"words":[null,"four"],"rows":[],"flags":{}})",
                         gaps, findings));
  ASSERT_EQ(findings.list().size(), 2u);
  EXPECT_EQ(findings.list()[0].pointer, "/points/0/x");
  EXPECT_EQ(findings.list()[1].pointer, "/words/1");
  std::vector<std::string> places;
  gaps.words = {std::nullopt, "four"};
  check(gaps, [&](Bytes pointer, const std::string&) { places.emplace_back(pointer); });
  EXPECT_EQ(places, std::vector<std::string>{"/words/1"});
}

TEST(OptionalItems, a_list_that_may_be_null_is_read_alone) {
  using List = std::optional<std::vector<std::optional<int>>>;
  const auto null = read_json<List>("null");
  ASSERT_TRUE(null) << null.error().describe();
  EXPECT_EQ(*null, std::nullopt);
  const auto list = read_json<List>("[1,null]");
  ASSERT_TRUE(list) << list.error().describe();
  EXPECT_EQ(*list, (std::vector<std::optional<int>>{1, std::nullopt}));
  EXPECT_EQ(to_json(*list), "[1,null]");
  EXPECT_EQ(*read_message_pack<List>(to_message_pack(*list)), *list);
  using Dictionary = std::optional<std::map<std::string, Point>>;
  EXPECT_EQ(*read_json<Dictionary>(R"({"a":{"x":2}})"), (std::map<std::string, Point>{{"a", {2}}}));
}

}  // namespace
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
