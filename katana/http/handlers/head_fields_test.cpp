#include "katana/http/handlers/head_fields.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/uuid.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

struct Conditions {
  std::optional<std::string> if_match;
  std::optional<Uuid> X_Request_Id;
  int depth = 3;
  std::vector<int> only;
};
KATANA_DESCRIBE(Conditions, if_match, X_Request_Id, (depth, range(0, 9)), (only, length(1, 2)))

struct Session {
  std::string session;
  std::optional<int> theme;
};
KATANA_DESCRIBE(Session, (session, required, secret), theme)

std::string get(Router router, const testing::TestFields& fields) {
  testing::TestServer server(std::move(router).build());
  const testing::TestReply reply = server.get("/", fields);
  return std::to_string(reply.status()) + " " + reply.content();
}

std::string answer_to(const testing::TestFields& fields) {
  Router router;
  router.get("/", [](Header<Conditions> conditions) {
    return Reply::text(format_text("{}|{}|{}|{}", conditions->if_match.value_or("-"),
                                   conditions->X_Request_Id.has_value(), conditions->depth,
                                   conditions->only.size()));
  });
  return get(std::move(router), fields);
}

TEST(HeaderFields, are_found_without_regard_to_case_and_with_hyphens) {
  EXPECT_EQ(
      answer_to({{"If-Match", "\"x\""}, {"x-request-id", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"}}),
      "200 \"x\"|true|3|0");
  EXPECT_EQ(answer_to({{"IF-MATCH", "a"}, {"DEPTH", "9"}}), "200 a|false|9|0");
  EXPECT_EQ(answer_to({{"Host", "a"}, {"IfMatch", "a"}, {"if_match", "b"}}), "200 -|false|3|0");
}

TEST(HeaderFields, of_several_lines_the_last_counts_and_a_list_has_all) {
  EXPECT_EQ(answer_to({{"Depth", "1"}, {"Depth", "2"}, {"Only", "1"}, {"Only", "2"}}),
            "200 -|false|2|2");
  EXPECT_TRUE(answer_to({{"Only", "1"}, {"Only", "2"}, {"Only", "3"}}).starts_with("400 "));
}

TEST(HeaderFields, what_does_not_fit_is_400_and_named) {
  EXPECT_NE(answer_to({{"Depth", "many"}}).find("header field 'depth': expected a whole number"),
            std::string::npos);
  EXPECT_NE(answer_to({{"Depth", "12"}}).find("header field 'depth': expected 0 to 9, got 12"),
            std::string::npos);
  EXPECT_NE(answer_to({{"X-Request-Id", "7"}}).find("'X_Request_Id': expected a UUID, got '7'"),
            std::string::npos);
}

std::string cookies_of(const testing::TestFields& fields) {
  Router router;
  router.get("/", [](Cookie<Session> cookies) {
    return Reply::text(format_text("{}|{}", cookies->session, cookies->theme.value_or(0)));
  });
  return get(std::move(router), fields);
}

TEST(Cookies, are_found_in_any_line_by_their_very_name) {
  EXPECT_EQ(cookies_of({{"Cookie", "a=b; session=s1; theme=2"}}), "200 s1|2");
  EXPECT_EQ(cookies_of({{"Cookie", "a=b"}, {"Host", "c"}, {"cookie", "session=s2"}}), "200 s2|0");
  EXPECT_EQ(cookies_of({{"Cookie", "session="}}), "200 |0");
}

TEST(Cookies, one_that_is_required_or_malformed_is_named) {
  EXPECT_NE(cookies_of({{"Cookie", "Session=s"}}).find("cookie 'session': is missing"),
            std::string::npos);
  EXPECT_NE(cookies_of({{"Cookie", "session=s; theme=x"}}).find("cookie 'theme': expected a whole"),
            std::string::npos);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
