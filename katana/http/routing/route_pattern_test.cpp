#include "katana/http/routing/route_pattern.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace katana::detail {
namespace {

TEST(RoutePattern, segments_are_taken_one_after_another_and_an_empty_one_counts) {
  Bytes rest = "/users/{id}/{tail...}/";
  std::vector<std::pair<RouteSegmentKind, std::string>> segments;
  while (!rest.empty()) {
    const RouteSegment segment = segment_of(take_segment(rest));
    segments.emplace_back(segment.kind, segment.text);
  }
  const decltype(segments) expected = {{RouteSegmentKind::literal, "users"},
                                       {RouteSegmentKind::parameter, "id"},
                                       {RouteSegmentKind::rest, "tail"},
                                       {RouteSegmentKind::literal, ""}};
  EXPECT_EQ(segments, expected);
}

TEST(RoutePattern, patterns_that_differ_in_names_only_have_one_shape) {
  EXPECT_EQ(shape_of("GET", "/users/{id}/{tail...}").value(), "/users/{}/{...}");
  EXPECT_EQ(shape_of("GET", "/users/{user}/{x...}").value(), "/users/{}/{...}");
  EXPECT_EQ(shape_of("GET", "/users/").value(), "/users/");
  EXPECT_EQ(shape_of("GET", "/users/{id}.json/{x}").value(), "/users/{}.json/{}");
  EXPECT_EQ(shape_of("GET", "/v{major}/file-{id}.json").value(), "/v{}/file-{}.json");
}

TEST(RoutePattern, an_error_names_the_method_as_it_was_given) {
  const auto shape = shape_of("any method", "users");
  ASSERT_FALSE(shape);
  EXPECT_TRUE(shape.error().message().starts_with("route any method \"users\": "))
      << shape.error().message();
}

}  // namespace
}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
