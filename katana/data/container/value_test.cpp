#include "katana/data/container/value.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace katana::container {
namespace {

TEST(Value, is_what_it_was_made_from) {
  EXPECT_EQ(Value().kind(), Kind::null);
  EXPECT_EQ(Value(nullptr).kind(), Kind::null);
  EXPECT_EQ(Value(true).kind(), Kind::boolean);
  EXPECT_EQ(Value(-1).kind(), Kind::integer);
  EXPECT_EQ(Value(1u).kind(), Kind::natural);
  EXPECT_EQ(Value(1.5).kind(), Kind::real);
  EXPECT_EQ(Value("x").kind(), Kind::text);
  EXPECT_EQ(Value(Octets{std::byte{1}}).kind(), Kind::octets);
  EXPECT_EQ(Value(List{1, 2}).kind(), Kind::list);
  EXPECT_EQ(Value(Object{{"a", 1}}).kind(), Kind::object);
}

TEST(Value, integers_are_equal_by_number_and_reals_by_bits) {
  EXPECT_EQ(Value(1), Value(1u));
  EXPECT_NE(Value(-1), Value(UINT64_MAX));
  EXPECT_NE(Value(1), Value(1.0));
  EXPECT_NE(Value(0.0), Value(-0.0));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Value(nan), Value(nan));
  EXPECT_EQ(Value(List{1u, "x"}), Value(List{1, "x"}));
  EXPECT_NE(Value("1"), Value(1));
}

TEST(Value, numbers_are_given_where_they_fit) {
  EXPECT_EQ(Value(5u).get_integer(), 5);
  EXPECT_EQ(Value(UINT64_MAX).get_integer(), std::nullopt);
  EXPECT_EQ(Value(-5).get_natural(), std::nullopt);
  EXPECT_EQ(Value(5).get_natural(), 5u);
  EXPECT_EQ(Value(5).get_real(), 5.0);
  EXPECT_EQ(Value(5.0).get_integer(), std::nullopt);
  EXPECT_EQ(Value("5").get_real(), std::nullopt);
}

TEST(Object, keeps_the_order_of_its_members) {
  Object object;
  object.add("z", 1);
  object.set("a", 2);
  object.set("z", 3);
  ASSERT_EQ(object.size(), 2u);
  EXPECT_EQ(object.begin()->name, "z");
  EXPECT_EQ(object.begin()->value, Value(3));
  EXPECT_EQ(*object.find("a"), Value(2));
  EXPECT_EQ(object.find("b"), nullptr);
  EXPECT_TRUE(object.erase("z"));
  EXPECT_FALSE(object.erase("z"));
  EXPECT_EQ(object, (Object{{"a", 2}}));
  EXPECT_NE((Object{{"a", 1}, {"b", 2}}), (Object{{"b", 2}, {"a", 1}}));
}

TEST(Object, finds_duplicates_among_few_and_many) {
  for (const int count : {2, 16, 17, 1000}) {
    Object object;
    for (int index = 0; index < count; ++index) object.add(std::to_string(index), index);
    EXPECT_FALSE(object.has_duplicates()) << count;
    object.add("1", 0);
    EXPECT_TRUE(object.has_duplicates()) << count;
  }
}

TEST(Value, is_found_by_its_pointer) {
  const Value value(Object{{"items", List{Object{{"e/m~ail", "x"}}, 2}}, {"", 3}});
  EXPECT_EQ(*value.at("/items/0/e~1m~0ail"), Value("x"));
  EXPECT_EQ(*value.at("/items/1"), Value(2));
  EXPECT_EQ(*value.at("/"), Value(3));
  EXPECT_EQ(value.at(""), &value);
  for (const Bytes pointer : {"/items/2", "/items/01", "/items/-", "/items/x", "/none", "items",
                              "/items/1/x", "/items/0/email"}) {
    EXPECT_EQ(value.at(pointer), nullptr) << pointer;
  }
}

TEST(Value, what_is_got_is_null_for_another_kind) {
  const Value text("a");
  ASSERT_NE(text.get_text(), nullptr);
  EXPECT_EQ(*text.get_text(), "a");
  EXPECT_EQ(text.get_octets(), nullptr);
  EXPECT_EQ(text.get_boolean(), std::nullopt);
  EXPECT_EQ(Value(true).get_boolean(), true);
  EXPECT_EQ(Value(1).get_boolean(), std::nullopt);
  EXPECT_EQ(Value(1).get_text(), nullptr);
  EXPECT_EQ(*Value(Octets(2)).get_octets(), Octets(2));
}

TEST(ValueDeath, asking_for_another_kind_is_the_callers_defect) {
  EXPECT_DEATH((void)Value(1).as_text(), "REQUIRE");
  EXPECT_DEATH((Object{{"a", 1}, {"a", 2}}), "REQUIRE");
}

}  // namespace
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
