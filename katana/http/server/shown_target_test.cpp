// Targets as logs show them.
#include "katana/http/server/shown_target.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana::server {
namespace {

std::string shown(Bytes target, const TargetRules& rules, std::vector<std::string> of_route = {},
                  std::string pattern = {}) {
  session::RouteMark route;
  route.pattern = std::move(pattern);
  route.secret_parameters = std::move(of_route);
  session::ExchangeRecord record;
  record.route = &route;
  record.target = target;
  Text room;
  return std::string(shown_target(record, rules, room));
}

TEST(ShownTarget, without_a_secret_it_is_what_was_sent) {
  EXPECT_EQ(shown("/a?page=1&b=2", {}), "/a?page=1&b=2");
  EXPECT_EQ(shown("/a", {}), "/a");
}

TEST(ShownTarget, values_of_parameters_with_the_name_of_a_credential_are_masked_without_rules) {
  EXPECT_EQ(shown("/login/callback?code=SplxlOBeZQ&state=af0ifj&iss=https://id.example", {}),
            "/login/callback?code=***&state=***&iss=https://id.example");
  EXPECT_EQ(shown("/a?access_token=1&page=2&apiKey=3", {}),
            "/a?access_token=***&page=2&apiKey=***");
  EXPECT_EQ(shown("/a?c%6fde=1", {}), "/a?c%6fde=***");
  session::ExchangeRecord of_no_route;
  of_no_route.target = "/gone?reset_token=abc";
  Text room;
  EXPECT_EQ(shown_target(of_no_route, {}, room), "/gone?reset_token=***");
}

TEST(ShownTarget, segments_of_a_path_with_the_name_of_a_credential_are_masked) {
  EXPECT_EQ(shown("/reset/abc", {}, {}, "/reset/{token}"), "/reset/***");
  EXPECT_EQ(shown("/u/7/reset/abc?x=1", {}, {}, "/u/{id}/reset/{reset_token}"),
            "/u/7/reset/***?x=1");
  EXPECT_EQ(shown("/reset/abc?x=1", {.queries = false}, {}, "/reset/{token}"), "/reset/***");
  EXPECT_EQ(shown("/in/a/b/c", {}, {}, "/in/{token...}"), "/in/***");
  EXPECT_EQ(shown("/reset-abc/7", {}, {}, "/reset-{token}/{id}"), "/***/7");
  EXPECT_EQ(shown("/v1/abc.json", {}, {}, "/v{major}/{token}.json"), "/v1/***");
  EXPECT_EQ(shown("/users/7", {}, {}, "/users/{id}"), "/users/7");
  EXPECT_EQ(shown("/countries/DE", {}, {}, "/countries/{code}"), "/countries/DE");
  // If the path is in another spelling than the pattern, the pattern is shown.
  for (const char* const sent : {"/./reset/abc", "/r%65set/abc", "http://a/reset/abc",
                                 "/reset//abc", "/x/../reset/abc", "/reset/abc/"}) {
    EXPECT_EQ(shown(sent, {}, {}, "/reset/{token}"), "/reset/{token}") << sent;
  }
}

TEST(ShownTarget, values_of_secret_parameters_are_masked_and_nothing_else) {
  const TargetRules rules{.secret_parameters = {"token", "api key"}};
  EXPECT_EQ(shown("/a?x=1&token=abc&y=2", rules), "/a?x=1&token=***&y=2");
  EXPECT_EQ(shown("/a?token=a&token=b", rules), "/a?token=***&token=***");
  EXPECT_EQ(shown("/a?token=", rules), "/a?token=***");
  EXPECT_EQ(shown("/a?token", rules), "/a?token");
  EXPECT_EQ(shown("/a?api=1&keys=2&toke=3", rules), "/a?api=1&keys=2&toke=3");
  EXPECT_EQ(shown("/a?token=a=b&c", rules), "/a?token=***&c");
  EXPECT_EQ(shown("/a?api+key=1&api%20key=2", rules), "/a?api+key=***&api%20key=***");
  EXPECT_EQ(shown("/token=1", rules), "/token=1");
  EXPECT_EQ(shown("/a?&&token=1&", rules), "/a?&&token=***&");
  EXPECT_EQ(shown("", rules), "");
}

TEST(ShownTarget, a_name_is_compared_decoded_and_one_that_is_malformed_is_masked) {
  const TargetRules rules{.secret_parameters = {"token"}};
  EXPECT_EQ(shown("/a?to%6ben=abc", rules), "/a?to%6ben=***");
  EXPECT_EQ(shown("/a?to%zzen=abc", rules), "/a?to%zzen=***");
}

TEST(ShownTarget, what_is_within_a_secret_parameter_is_masked) {
  const TargetRules rules{.secret_parameters = {"card"}};
  EXPECT_EQ(shown("/a?card[number]=42&card%5Bcvc%5D=7&cards[0]=1", rules),
            "/a?card[number]=***&card%5Bcvc%5D=***&cards[0]=1");
}

TEST(ShownTarget, what_the_routes_query_marks_secret_is_masked) {
  EXPECT_EQ(shown("/a?key=1&b=2", {}, {"key"}), "/a?key=***&b=2");
}

TEST(ShownTarget, a_query_can_be_left_out_altogether) {
  EXPECT_EQ(shown("/a?b=2", {.queries = false}), "/a");
  EXPECT_EQ(shown("/a", {.queries = false}), "/a");
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
