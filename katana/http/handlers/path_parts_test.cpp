// Several values in one segment of a path.
#include "katana/http/handlers/path_parts.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "katana/http/handlers/router.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

std::string answer_to(std::string_view target) {
  Router router;
  router.get("/compare/{range}", [](PathParts<"{}...{}", std::string, std::string> range) {
    return Reply::text(format_text("{}|{}", std::get<0>(range.values), std::get<1>(range.values)));
  });
  router.get("/clips/{id}/{file}",
             [](Path<int> id, PathParts<"{}.{}-{}", std::string, int, int> file) {
               const auto& [name, from, to] = file.values;
               return Reply::text(format_text("{}|{}|{}|{}", *id, name, from, to));
             });
  testing::TestServer server(std::move(router).build());
  const testing::TestReply reply = server.get(target);
  return std::to_string(reply.status()) + " " + reply.content();
}

TEST(PathParts, are_the_values_between_the_texts) {
  EXPECT_EQ(answer_to("/compare/v1...main"), "200 v1|main");
  EXPECT_EQ(answer_to("/clips/7/intro.10-20"), "200 7|intro|10|20");
}

TEST(PathParts, the_last_text_counts_and_no_value_is_empty) {
  EXPECT_EQ(answer_to("/compare/a...b...c"), "200 a...b|c");
  EXPECT_EQ(answer_to("/compare/a......c"), "200 a...|c");
  EXPECT_EQ(answer_to("/compare/a...b..."), "200 a|b...");
  EXPECT_EQ(answer_to("/clips/7/a.b.1-2"), "200 7|a.b|1|2");
  for (const char* const target :
       {"/compare/a...", "/compare/...b", "/compare/...", "/compare/ab", "/compare/a..b",
        "/clips/7/1-2", "/clips/7/a.1", "/clips/7/a.-2", "/clips/7/a.1-", "/clips/7/.1-2"}) {
    EXPECT_TRUE(answer_to(target).starts_with("404 ")) << target << " " << answer_to(target);
  }
}

TEST(PathParts, a_segment_of_another_form_names_the_form) {
  EXPECT_NE(answer_to("/compare/main").find("expected a segment of the form '{}...{}', got 'main'"),
            std::string::npos);
}

TEST(PathParts, a_value_that_does_not_fit_its_type_is_a_bad_request) {
  EXPECT_TRUE(answer_to("/clips/7/a.x-2").starts_with("400 "));
  EXPECT_TRUE(answer_to("/clips/x/a.1-2").starts_with("400 "));
  EXPECT_TRUE(answer_to("/clips/7/a.1-99999999999").starts_with("400 "));
}

TEST(PathParts, are_decoded_after_they_are_cut_but_for_unreserved_characters) {
  EXPECT_EQ(answer_to("/compare/a%20b...c%2Fd"), "200 a b|c/d");
  EXPECT_EQ(answer_to("/compare/a%2E%2E%2Eb...c"), "200 a...b|c");
  EXPECT_EQ(answer_to("/compare/a%2E%2E%2Eb"),
            "200 a|b");  // an escaped dot is a dot: RFC 3986 §2.3
  EXPECT_TRUE(answer_to("/compare/%zz...c").starts_with("400 "));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
