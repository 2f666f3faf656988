// Parameters with text beside them: "/v{major}/orders", "/file-{id}.json".
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "katana/http/routing/route_table_fixture_test.hpp"

namespace katana {
namespace {

using enum http::Method;
using http::Method;

TEST(RouteTableParts, a_parameter_with_text_behind_it_takes_what_stands_in_front) {
  const std::vector<Bytes> patterns = {"/accounts/{Sid}.json",
                                       "/accounts/{Sid}.json/calls/{Id}.xml"};
  EXPECT_EQ(match_get(patterns, "/accounts/AC1.json"), "found /accounts/{Sid}.json Sid=AC1");
  EXPECT_EQ(match_get(patterns, "/accounts/a.json.json"), "found /accounts/{Sid}.json Sid=a.json");
  EXPECT_EQ(match_get(patterns, "/accounts/1.json/calls/2.xml"),
            "found /accounts/{Sid}.json/calls/{Id}.xml Sid=1 Id=2");
  for (const Bytes path : {"/accounts/.json", "/accounts/", "/accounts/AC1", "/accounts/AC1.jso",
                           "/accounts/AC1.json/", "/accounts/a/b.json", "/accounts/json",
                           "/accounts/1.json/calls/2", "/accounts/1.json/calls/.xml"}) {
    EXPECT_EQ(match_get(patterns, path), "not found") << path;
  }
}

TEST(RouteTableParts, the_longest_text_behind_a_parameter_comes_first_and_none_last) {
  const std::vector<Bytes> patterns = {"/{x}",       "/{x}.json", "/{x}.min.json", "/{x}n",
                                       "/{rest...}", "/a.json",   "/{x}.json/b"};
  EXPECT_EQ(match_get(patterns, "/a.json"), "found /a.json");
  EXPECT_EQ(match_get(patterns, "/b.min.json"), "found /{x}.min.json x=b");
  EXPECT_EQ(match_get(patterns, "/min.json"), "found /{x}.json x=min");
  EXPECT_EQ(match_get(patterns, "/b.min.json/b"), "found /{x}.json/b x=b.min");
  EXPECT_EQ(match_get(patterns, "/b.json/c"), "found /{rest...} rest=b.json/c");
  const RouteTable table = table_of({{get, "/{x}"}, {post, "/{x}.json"}});
  EXPECT_EQ(match(table, get, "/a.json"), "found /{x} x=a.json");
}

TEST(RouteTableParts, a_parameter_with_text_before_it_takes_what_stands_behind) {
  const std::vector<Bytes> patterns = {"/v{major}/orders", "/file-{id}.json", "/a/b{x}",
                                       "/seventeen-bytes-{x}/{y}"};
  EXPECT_EQ(match_get(patterns, "/v2/orders"), "found /v{major}/orders major=2");
  EXPECT_EQ(match_get(patterns, "/vv/orders"), "found /v{major}/orders major=v");
  EXPECT_EQ(match_get(patterns, "/file-7.json"), "found /file-{id}.json id=7");
  EXPECT_EQ(match_get(patterns, "/file-a.json.json"), "found /file-{id}.json id=a.json");
  EXPECT_EQ(match_get(patterns, "/a/bc"), "found /a/b{x} x=c");
  EXPECT_EQ(match_get(patterns, "/a/b%2F"), "found /a/b{x} x=%2F");
  EXPECT_EQ(match_get(patterns, "/seventeen-bytes-1/2"), "found /seventeen-bytes-{x}/{y} x=1 y=2");
  for (const Bytes path :
       {"/v/orders", "/orders", "/w2/orders", "/v2", "/v2/", "/v2/order", "/v2/orders/", "/v",
        "/file-.json", "/file-7.jso", "/file.json", "/file-", "/a/b", "/a/b/", "/a/bc/d", "/a/c",
        "/seventeen-bytes-/2", "/seventeen-bytes/2"}) {
    EXPECT_EQ(match_get(patterns, path), "not found") << path;
  }
}

TEST(RouteTableParts, the_longest_text_before_a_parameter_comes_first_then_the_longest_behind_it) {
  const std::vector<Bytes> patterns = {"/{x}",  "/{x}.json",  "/v{x}",      "/ver{x}",
                                       "/ver1", "/v{x}.json", "/{rest...}", "/v{x}/y"};
  EXPECT_EQ(match_get(patterns, "/ver1"), "found /ver1");
  EXPECT_EQ(match_get(patterns, "/ver2.json"), "found /ver{x} x=2.json");
  EXPECT_EQ(match_get(patterns, "/v2.json"), "found /v{x}.json x=2");
  EXPECT_EQ(match_get(patterns, "/v2"), "found /v{x} x=2");
  EXPECT_EQ(match_get(patterns, "/v.json"), "found /v{x} x=.json");
  EXPECT_EQ(match_get(patterns, "/a.json"), "found /{x}.json x=a");
  EXPECT_EQ(match_get(patterns, "/v"), "found /{x} x=v");
  EXPECT_EQ(match_get(patterns, "/ver2/y"), "found /v{x}/y x=er2");
  EXPECT_EQ(match_get(patterns, "/ver2/z"), "found /{rest...} rest=ver2/z");
}

TEST(RouteTableParts, a_method_is_not_allowed_where_only_text_beside_a_parameter_differs) {
  const RouteTable table = table_of(
      {{get, "/v{major}/orders"}, {post, "/{area}/orders"}, {put, "/v1/orders"}, {trace, "/v{x}"}});
  EXPECT_EQ(match(table, get, "/v1/orders"), "found /v{major}/orders major=1");
  EXPECT_EQ(match(table, head, "/v1/orders"), "found /v{major}/orders major=1");
  EXPECT_EQ(match(table, post, "/v1/orders"), "found /{area}/orders area=v1");
  EXPECT_EQ(match(table, delete_, "/v1/orders"), "not allowed GET, HEAD, POST, PUT, OPTIONS");
  EXPECT_EQ(match(table, delete_, "/v2/orders"), "not allowed GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(match(table, delete_, "/w2/orders"), "not allowed POST, OPTIONS");
  EXPECT_EQ(match(table, get, "/v2"), "not allowed OPTIONS, TRACE");
}

TEST(RouteTableParts, text_behind_a_parameter_does_not_cut_an_escape) {
  const std::vector<Bytes> patterns = {"/{x}F", "/a{x}2F", "/{x}5/{y}"};
  EXPECT_EQ(match_get(patterns, "/%2F"), "not found");
  EXPECT_EQ(match_get(patterns, "/b%2F"), "not found");
  EXPECT_EQ(match_get(patterns, "/ab%2F"), "not found");
  EXPECT_EQ(match_get(patterns, "/b%25/y"), "not found");
  EXPECT_EQ(match_get(patterns, "/%2FF"), "found /{x}F x=%2F");
  EXPECT_EQ(match_get(patterns, "/b%255/y"), "found /{x}5/{y} x=b%25 y=y");
}

TEST(RouteTableParts, every_text_beside_a_parameter_at_every_segment_is_tried) {
  std::vector<TestRoute> routes;
  std::string prefix;
  for (std::size_t depth = 0; depth + 1 < route_segments_max; ++depth, prefix += "/aaaaaaaaaaa") {
    for (std::size_t size = 0; size < 10; ++size) {
      routes.push_back({get, prefix + "/" + std::string(size, 'a') + "{x}/z"});
    }
    routes.push_back({get, prefix + "/{x}a/z"});
    routes.push_back({put, prefix + "/{all...}"});
  }
  const RouteTable table = table_of(routes);
  EXPECT_EQ(match(table, patch, prefix + "/y"), "not allowed PUT, OPTIONS");
  EXPECT_EQ(match(table, get, prefix + "/z"),
            "found " + prefix.substr(12) + "/aaaaaaaaa{x}/z x=aa");
  EXPECT_LE(table.node_visits(prefix + "/y"), table.node_visits_max());
  EXPECT_LE(table.node_visits_max(), table.node_count());
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
