#include "katana/observe/profile/flame_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "katana/observe/profile/call_tree.hpp"
#include "katana/observe/profile/profile_fixture_test.hpp"

namespace katana::profile {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(FlameGraph, has_a_box_for_each_call_with_its_part_of_the_time) {
  const std::string page = flame_graph_page(small_profile());
  EXPECT_THAT(page, HasSubstr("<h1>CPU profile of notes</h1>"));
  EXPECT_THAT(page, HasSubstr("2026-11-30 00:53:20 UTC, 2.00 s long"));
  EXPECT_THAT(page, HasSubstr("60 ms in 6 samples, 3 samples lost"));
  EXPECT_THAT(page, HasSubstr("aria-label=\"GET /notes, 66.67 %, 40 ms\""));
  EXPECT_THAT(page, HasSubstr("aria-label=\"serve, 66.67 %, 40 ms\""));
  EXPECT_THAT(page, HasSubstr("x=\"66.6667%\" y=\"18\" width=\"33.3333%\""));
  EXPECT_THAT(page, HasSubstr("<td>30 ms</td><td>50.00</td><td>parse</td>"));
}

TEST(FlameGraph, makes_no_markup_of_names) {
  Profile profile = small_profile();
  profile.program = "</title><script>alert(1)</script>";
  profile.places[1].lines[0].function = "operator<<\"'><script>";
  profile.found[0].labels.route = "<svg onload=x>";
  const std::string page = flame_graph_page(profile);
  EXPECT_THAT(page, HasSubstr("operator&lt;&lt;&quot;&#39;&gt;&lt;script&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<svg onload")));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
}

TEST(FlameGraph, allows_nothing_but_its_own_style_and_script) {
  const std::string page = flame_graph_page(small_profile());
  EXPECT_THAT(flame_graph_policy(), testing::StartsWith("default-src 'none'; style-src 'sha256-"));
  EXPECT_THAT(flame_graph_policy(), Not(HasSubstr("unsafe")));
  EXPECT_THAT(page, HasSubstr("content=\"" + flame_graph_policy() + "\""));
  for (const char* outside : {"src=", "href=", "url(", "style=\""}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
}

TEST(FlameGraph, of_no_sample_is_a_page) {
  EXPECT_THAT(flame_graph_page(Profile{}), HasSubstr("0 ms in 0 samples"));
}

TEST(FlameGraph, leaves_out_boxes_that_are_too_small_to_see) {
  Profile profile = small_profile();
  profile.found[0].ns = 1'000'000'000'000;
  EXPECT_THAT(flame_graph_page(profile), HasSubstr("2 small boxes left out"));
}

TEST(CallTree, leaves_the_rarest_stacks_out_when_it_is_full) {
  Profile profile;
  for (std::size_t number = 0; number < nodes_max; ++number) {
    profile.places.push_back({number, no_module, {}});
    profile.found.push_back({{number}, {}, 1, 1});
  }
  profile.places.push_back({nodes_max, no_module, {}});
  profile.found.push_back({{nodes_max}, {}, 2, 2});
  const CallTree tree(profile);
  ASSERT_EQ(tree.nodes().size(), nodes_max);
  EXPECT_EQ(tree.nodes()[2].name, "0x186a0");  // 100,000: the most frequent
  EXPECT_EQ(tree.nodes()[0].ns, static_cast<std::int64_t>(nodes_max) + 2);
  EXPECT_EQ(tree.nodes()[1].own_ns, 3) << "of those that found no room";
}

TEST(CallTree, has_in_a_node_the_time_of_its_calls_and_its_own) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    const CallTree tree(random_profile(seed));
    for (const CallTree::Node& node : tree.nodes()) {
      std::int64_t calls = 0;
      for (const std::size_t child : node.children) calls += tree.nodes().at(child).ns;
      ASSERT_EQ(node.ns, node.own_ns + calls) << seed;
    }
    ASSERT_EQ(tree.nodes().front().ns, random_profile(seed).total_ns());
  }
}

TEST(CallTree, has_at_most_the_deepest_calls_that_it_allows) {
  Profile profile = small_profile();
  profile.found[0].places.assign(10'000, 0);
  EXPECT_EQ(CallTree(profile).depth(), depth_max);
  EXPECT_THAT(flame_graph_page(profile), HasSubstr("parse"));
}

}  // namespace
}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
