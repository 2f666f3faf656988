#include "katana/service/head_fields.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "katana/base/uuid.hpp"
#include "katana/service/exchange_fixture_test.hpp"

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

std::string answer_to(std::string_view fields) {
  const Service service = make_service([](Router& router) {
    router.get("/fields", [](Header<Conditions> conditions) {
      return Reply::text(format_text("{}|{}|{}|{}", conditions->if_match.value_or("-"),
                                     conditions->X_Request_Id.has_value(), conditions->depth,
                                     conditions->only.size()));
    });
  });
  Dispatcher dispatcher(service);
  FakeExchange exchange("GET", "/fields", fields);
  exchange.serve(dispatcher);
  return std::to_string(exchange.status) + " " + exchange.content_sent;
}

TEST(HeaderFields, are_found_without_regard_to_case_and_with_hyphens) {
  EXPECT_EQ(answer_to("If-Match: \"x\"\nx-request-id: 017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n"),
            "200 \"x\"|true|3|0");
  EXPECT_EQ(answer_to("IF-MATCH: a\nDEPTH: 9\n"), "200 a|false|9|0");
  EXPECT_EQ(answer_to("Host: a\nIfMatch: a\nif_match: b\n"), "200 -|false|3|0");
}

TEST(HeaderFields, of_several_lines_the_last_counts_and_a_list_has_all) {
  EXPECT_EQ(answer_to("Depth: 1\nDepth: 2\nOnly: 1\nOnly: 2\n"), "200 -|false|2|2");
  EXPECT_TRUE(answer_to("Only: 1\nOnly: 2\nOnly: 3\n").starts_with("400 "));
}

TEST(HeaderFields, what_does_not_fit_is_400_and_named) {
  EXPECT_NE(answer_to("Depth: many\n").find("header field 'depth': expected a whole number"),
            std::string::npos);
  EXPECT_NE(answer_to("Depth: 12\n").find("header field 'depth': expected 0 to 9, got 12"),
            std::string::npos);
  EXPECT_NE(answer_to("X-Request-Id: 7\n").find("'X_Request_Id': expected a UUID, got '7'"),
            std::string::npos);
}

std::string cookies_of(std::string_view fields) {
  const Service service = make_service([](Router& router) {
    router.get("/cookies", [](Cookie<Session> cookies) {
      return Reply::text(format_text("{}|{}", cookies->session, cookies->theme.value_or(0)));
    });
  });
  Dispatcher dispatcher(service);
  FakeExchange exchange("GET", "/cookies", fields);
  exchange.serve(dispatcher);
  return std::to_string(exchange.status) + " " + exchange.content_sent;
}

TEST(Cookies, are_found_in_any_line_by_their_very_name) {
  EXPECT_EQ(cookies_of("Cookie: a=b; session=s1; theme=2\n"), "200 s1|2");
  EXPECT_EQ(cookies_of("Cookie: a=b\nHost: c\ncookie: session=s2\n"), "200 s2|0");
  EXPECT_EQ(cookies_of("Cookie: session=\n"), "200 |0");
}

TEST(Cookies, one_that_is_required_or_malformed_is_named) {
  EXPECT_NE(cookies_of("Cookie: Session=s\n").find("cookie 'session': is missing"),
            std::string::npos);
  EXPECT_NE(cookies_of("Cookie: session=s; theme=x\n").find("cookie 'theme': expected a whole"),
            std::string::npos);
}

}  // namespace
}  // namespace katana
