#include "katana/base/describe.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace katana {
namespace elsewhere {

struct One {
  int only = 1;
};
KATANA_DESCRIBE(One, only)

struct Two {
  std::string name = "none";
  std::optional<double> weight;
};
KATANA_DESCRIBE(Two, name, weight)

struct Five {
  int a = 1, b = 2, c = 3, d = 4, e = 5;
};
KATANA_DESCRIBE(Five, a, b, c, d, e)

struct ThirtyTwo {
  int m1 = 1, m2 = 2, m3 = 3, m4 = 4, m5 = 5, m6 = 6, m7 = 7, m8 = 8, m9 = 9, m10 = 10, m11 = 11,
      m12 = 12, m13 = 13, m14 = 14, m15 = 15, m16 = 16, m17 = 17, m18 = 18, m19 = 19, m20 = 20,
      m21 = 21, m22 = 22, m23 = 23, m24 = 24, m25 = 25, m26 = 26, m27 = 27, m28 = 28, m29 = 29,
      m30 = 30, m31 = 31, m32 = 32;
};
KATANA_DESCRIBE(ThirtyTwo, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16,
                m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32)

struct Reordered {
  int first = 1;
  int second = 2;
  int unnamed = 3;
};
KATANA_DESCRIBE(Reordered, second, first)

struct Undescribed {};

}  // namespace elsewhere

namespace {

template <class T>
std::vector<std::string> names_of(T& value) {
  std::vector<std::string> names;
  for_each_member(value, [&](std::string_view name, auto&) { names.emplace_back(name); });
  return names;
}

template <class T>
int sum_of(T& value) {
  int sum = 0;
  for_each_member(value, [&](std::string_view, int& member) { sum += member; });
  return sum;
}

TEST(Describe, names_one_member) {
  elsewhere::One one;
  EXPECT_EQ(names_of(one), std::vector<std::string>{"only"});
  EXPECT_EQ(sum_of(one), 1);
}

TEST(Describe, names_two_members_of_different_types) {
  elsewhere::Two two;
  EXPECT_EQ(names_of(two), (std::vector<std::string>{"name", "weight"}));
  for_each_member(two, [](std::string_view, auto& member) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, std::string>) {
      member = "set";
    } else {
      static_assert(std::is_same_v<std::remove_cvref_t<decltype(member)>, std::optional<double>>);
      member = 2.5;
    }
  });
  EXPECT_EQ(two.name, "set");
  EXPECT_EQ(two.weight, 2.5);
}

TEST(Describe, names_five_members) {
  elsewhere::Five five;
  EXPECT_EQ(names_of(five), (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(sum_of(five), 15);
}

TEST(Describe, names_thirty_two_members_in_order) {
  elsewhere::ThirtyTwo many;
  const std::vector<std::string> names = names_of(many);
  ASSERT_EQ(names.size(), 32u);
  for (std::size_t index = 0; index < names.size(); ++index) {
    EXPECT_EQ(names[index], "m" + std::to_string(index + 1));
  }
  EXPECT_EQ(sum_of(many), 32 * 33 / 2);
}

TEST(Describe, visits_in_the_order_of_the_description_and_only_what_it_names) {
  elsewhere::Reordered value;
  EXPECT_EQ(names_of(value), (std::vector<std::string>{"second", "first"}));
  EXPECT_EQ(sum_of(value), 3);
}

TEST(Describe, tells_described_structs_from_others) {
  EXPECT_TRUE(Described<elsewhere::Five>);
  EXPECT_FALSE(Described<elsewhere::Undescribed>);
  EXPECT_FALSE(Described<int>);
}

}  // namespace
}  // namespace katana
