#include "katana/data/container/value_rules.hpp"

#include <gtest/gtest.h>

#include "katana/data/container/json_read.hpp"

namespace katana::container {
namespace {

Value json(Bytes text) { return read_json<Value>(text).value(); }

TEST(ValueRulesTest, values_are_equal_as_json_has_them) {
  EXPECT_EQ(compare_json(json("1"), json("1.0")), std::weak_ordering::equivalent);
  EXPECT_EQ(compare_json(json("9007199254740993"), json("9007199254740992.0")),
            std::weak_ordering::greater);
  EXPECT_EQ(compare_json(json("18446744073709551615"), json("-1")), std::weak_ordering::greater);
  EXPECT_EQ(compare_json(json(R"({"a":1,"b":[2]})"), json(R"({"b":[2.0],"a":1})")),
            std::weak_ordering::equivalent);
  EXPECT_NE(compare_json(json(R"({"a":1})"), json(R"({"b":1})")), std::weak_ordering::equivalent);
  EXPECT_NE(compare_json(json(R"({"a":1})"), json(R"({"a":2})")), std::weak_ordering::equivalent);
  EXPECT_NE(compare_json(json("false"), json("0")), std::weak_ordering::equivalent);
  EXPECT_NE(compare_json(json("[]"), json("[null]")), std::weak_ordering::equivalent);
  EXPECT_NE(compare_json(json("true"), json("false")), std::weak_ordering::equivalent);
}

TEST(ValueRulesTest, a_whole_number_is_an_integer_and_a_number) {
  EXPECT_TRUE(has_type(json("1.0"), "integer"));
  EXPECT_TRUE(has_type(json("1"), "null number"));
  EXPECT_FALSE(has_type(json("1.5"), "integer null"));
  EXPECT_TRUE(has_type(json("{}"), "array object"));
  EXPECT_FALSE(has_type(json("null"), "array object"));
}

TEST(ValueRulesTest, equal_items_are_found_in_lists_of_all_types) {
  EXPECT_TRUE(is_unique(std::vector<std::string>{"a", "b", ""}));
  EXPECT_FALSE(is_unique(std::vector<std::string>{"a", "b", "a"}));
  EXPECT_FALSE(is_unique(std::vector<bool>{true, false, true}));
  EXPECT_TRUE(is_unique(std::vector<std::optional<int>>{1, std::nullopt}));
  EXPECT_FALSE(is_unique(std::vector<std::optional<int>>{std::nullopt, 1, std::nullopt}));
  EXPECT_FALSE(is_unique(std::vector<std::vector<double>>{{1}, {2}, {1}}));
  EXPECT_FALSE(is_unique(json(R"([1, {"a": 1}, 1.0])").as_list()));
  EXPECT_TRUE(is_unique(json(R"([1, true, "1", [1], null])").as_list()));
}

TEST(ValueRulesTest, a_value_is_one_of_choices) {
  EXPECT_TRUE(is_one_of(std::string("b"), {"a", "b"}));
  EXPECT_FALSE(is_one_of(1.5, {1, 2}));
  EXPECT_TRUE(JsonChoices(R"([null, {"a": 1}])").contains(json(R"({"a": 1.0})")));
  EXPECT_FALSE(JsonChoices("[0]").contains(json("false")));
}

}  // namespace
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
