#include "katana/base/text/nearest_name.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

namespace katana {
namespace {

constexpr std::array<std::string_view, 4> flag_names = {"port", "print-config", "database", "set"};

TEST(NearestName, is_found_for_each_kind_of_typing_error) {
  EXPECT_EQ(nearest_name("prot", flag_names), "port");           // swapped
  EXPECT_EQ(nearest_name("por", flag_names), "port");            // left out
  EXPECT_EQ(nearest_name("portt", flag_names), "port");          // one too many
  EXPECT_EQ(nearest_name("data_base", flag_names), "database");  // inserted
  EXPECT_EQ(nearest_name("PRINT-config", flag_names), "print-config");
  EXPECT_EQ(nearest_name("print-konfig", flag_names), "print-config");  // replaced
}

TEST(NearestName, is_empty_where_more_than_a_third_differs) {
  EXPECT_EQ(nearest_name("pxxt", flag_names), "");
  EXPECT_EQ(nearest_name("verbose", flag_names), "");
  EXPECT_EQ(nearest_name("", flag_names), "");
  EXPECT_EQ(nearest_name("port", {}), "");
}

TEST(NearestName, is_empty_where_no_character_is_the_same) {
  constexpr std::array<std::string_view, 2> letters = {"a", "b"};
  EXPECT_EQ(nearest_name("c", letters), "");
  EXPECT_EQ(nearest_name("", letters), "");
  EXPECT_EQ(nearest_name("B", letters), "b");
}

TEST(NearestName, is_empty_for_what_is_longer_than_is_compared) {
  EXPECT_EQ(nearest_name(std::string(1000, 'x'), flag_names), "");
}

TEST(NearestName, makes_a_hint_or_nothing) {
  EXPECT_EQ(nearest_hint("prot", flag_names), "; did you mean 'port'?");
  EXPECT_EQ(nearest_hint("verbose", flag_names), "");
}

TEST(NearestName, of_several_at_the_same_distance_is_the_first) {
  constexpr std::array<std::string_view, 3> alike = {"lint", "list", "last"};
  EXPECT_EQ(nearest_name("lizt", alike), "lint");
  EXPECT_EQ(nearest_name("li", alike), "");
  EXPECT_EQ(nearest_name("lit", alike), "lint");
}

TEST(NearestName, compares_names_of_40_bytes_and_no_longer_ones) {
  const std::string fits(40, 'a');
  const std::string longer(41, 'a');
  EXPECT_EQ(edit_distance(fits, fits), 0u);
  EXPECT_EQ(edit_distance(longer, longer), 40u);
  EXPECT_EQ(edit_distance(fits, longer), 40u);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
