#include "katana/data/yaml/yaml.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace katana::yaml {
namespace {

using testing::ElementsAre;

Parsed read(Bytes text, const Limits& limits = {}) { return yaml::read(text, limits); }

std::vector<std::string> names(const Node& map) {
  std::vector<std::string> all;
  for (const Node::Key& each : map.keys) all.push_back(each.name);
  return all;
}

TEST(YamlTest, a_scalar_keeps_its_text_and_how_it_was_written) {
  const Parsed parsed = read("[1.50, '2', !!str 3, ~, ]\n");
  ASSERT_TRUE(parsed.problems.empty());
  const std::vector<Node>& items = parsed.root.items;
  ASSERT_EQ(items.size(), 4u);
  EXPECT_EQ(items[0].text, "1.50");
  EXPECT_EQ(items[0].style, Node::Style::plain);
  EXPECT_EQ(items[1].style, Node::Style::quoted);
  EXPECT_EQ(items[2].style, Node::Style::tagged);
  EXPECT_EQ(parsed.nodes, 5u);
}

TEST(YamlTest, values_and_keys_have_positions) {
  const Parsed parsed = read("a: 1\nbé:   2\n");
  ASSERT_EQ(names(parsed.root).size(), 2u);
  EXPECT_EQ(parsed.root.keys[1].position.line, 2u);
  EXPECT_EQ(parsed.root.keys[1].position.column, 1u);
  EXPECT_EQ(parsed.root.items[1].position.line, 2u);
  EXPECT_EQ(parsed.root.items[1].position.column, 8u);
}

TEST(YamlTest, a_merge_adds_what_the_group_lacks_and_its_first_source_wins) {
  const Parsed parsed = read(
      "x: &x {a: 1, b: 1}\n"
      "y: &y {b: 2, c: 2}\n"
      "z: {<<: [*x, *y], a: 3}\n");
  ASSERT_TRUE(parsed.problems.empty());
  const Node& merged = parsed.root.items[2];
  EXPECT_THAT(names(merged), ElementsAre("a", "b", "c"));
  EXPECT_EQ(merged.items[0].text, "3");
  EXPECT_EQ(merged.items[1].text, "1");
  EXPECT_EQ(merged.items[2].text, "2");
}

TEST(YamlTest, a_repeated_key_is_reported_once_and_its_first_value_stays) {
  const Parsed parsed = read("g: &g {a: 1, b: 2, a: 3}\nh: *g\nb: 1\n");
  ASSERT_EQ(parsed.problems.size(), 1u);
  EXPECT_EQ(parsed.problems[0].key, "a");
  EXPECT_EQ(parsed.problems[0].first_line, 1u);
  EXPECT_THAT(names(parsed.root.items[0]), ElementsAre("a", "b"));
  EXPECT_EQ(parsed.root.items[0].items[0].text, "1");
  EXPECT_THAT(names(parsed.root), ElementsAre("g", "h", "b"));
}

TEST(YamlTest, the_end_of_the_text_adds_no_line_to_a_block) {
  EXPECT_EQ(read("a: |\n  x").root.items.at(0).text, "x");
  EXPECT_EQ(read("a: |\n  x\n").root.items.at(0).text, "x\n");
}

TEST(YamlTest, an_open_bracket_is_reported_where_it_begins) {
  const Parsed parsed = read("a: 1\nb: [1,\n");
  ASSERT_EQ(parsed.problems.size(), 1u);
  EXPECT_EQ(parsed.problems[0].position.line, 2u);
  EXPECT_EQ(parsed.problems[0].words, "not YAML: '[' is not closed");
}

TEST(YamlTest, limits_count_what_aliases_repeat) {
  EXPECT_EQ(read("a: &a [1, 2, 3]\nb: [*a, *a]\n", {.nodes_max = 20}).problems.size(), 0u);
  EXPECT_EQ(read("a: &a [1, 2, 3]\nb: [*a, *a, *a]\n", {.nodes_max = 20}).problems.size(), 1u);
  EXPECT_EQ(read("[[[]]]\n", {.depth_max = 3}).problems.size(), 0u);
  EXPECT_EQ(read("[[[]]]\n", {.depth_max = 2}).problems.size(), 1u);
}

}  // namespace
}  // namespace katana::yaml

// SPDX-License-Identifier: Apache-2.0
