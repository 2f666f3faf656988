#include "katana/http/handlers/cookies.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "katana/testing/test_request.hpp"

namespace katana {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs pairs_of(Bytes text) {
  Pairs pairs;
  Bytes name, value;
  for (CookieReader reader(text); reader.next(name, value);) pairs.emplace_back(name, value);
  return pairs;
}

std::string set(const SetCookie& cookie) {
  Reply reply(200);
  const auto done = set_cookie(reply, cookie);
  if (!done) {
    EXPECT_EQ(reply.fields(), "");
    return "refused: " + done.error().describe();
  }
  EXPECT_FALSE(reply.invalid());
  return std::string(reply.fields());
}

TEST(Cookies, pairs_are_read_and_what_is_none_is_passed_over) {
  EXPECT_EQ(pairs_of("a=1; b=2"), (Pairs{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(pairs_of("a=1;b=\"2\" ; c=x=y; d="),
            (Pairs{{"a", "1"}, {"b", "\"2\""}, {"c", "x=y"}, {"d", ""}}));
  EXPECT_EQ(pairs_of(";; ; no; =1;e=5;"), (Pairs{{"e", "5"}}));
  EXPECT_EQ(pairs_of(""), Pairs{});
}

TEST(Cookies, a_cookie_is_found_by_its_exact_name_in_any_field) {
  testing::TestRequest request("GET", "/");
  request.field("Cookie", "a=1; A=2").field("X-Cookie", "b=0").field("cookie", "b=3; a=4");
  const http::Head& head = request.view().head();
  EXPECT_EQ(cookie(head, "a"), "1");
  EXPECT_EQ(cookie(head, "A"), "2");
  EXPECT_EQ(cookie(head, "b"), "3");
  EXPECT_EQ(cookie(head, "c"), std::nullopt);
}

TEST(Cookies, a_cookie_is_set_with_its_attributes_and_safe_ones_by_default) {
  EXPECT_EQ(set({.name = "a", .value = "1"}),
            "Set-Cookie: a=1; Path=/; Secure; HttpOnly; SameSite=Lax\r\n");
  EXPECT_EQ(set({.name = "a",
                 .value = "1",
                 .path = "/x",
                 .domain = "example.org",
                 .max_age = seconds(60),
                 .expires_s = 784'111'777,
                 .secure = false,
                 .http_only = false,
                 .same_site = SameSite::strict}),
            "Set-Cookie: a=1; Path=/x; Domain=example.org; Max-Age=60; "
            "Expires=Sun, 06 Nov 1994 08:49:37 GMT; SameSite=Strict\r\n");
  EXPECT_EQ(set({.name = "a", .value = "", .same_site = SameSite::none, .partitioned = true}),
            "Set-Cookie: a=; Path=/; Secure; HttpOnly; SameSite=None; Partitioned\r\n");
}

TEST(Cookies, several_cookies_are_several_fields_and_one_can_be_removed) {
  Reply reply(200);
  EXPECT_TRUE(set_cookie(reply, {.name = "a", .value = "1"}));
  EXPECT_TRUE(remove_cookie(reply, {.name = "b", .value = "2"}));
  const std::string fields(reply.fields());
  EXPECT_NE(fields.find("Set-Cookie: a=1;"), std::string::npos);
  EXPECT_NE(fields.find("Set-Cookie: b=; Path=/; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT"),
            std::string::npos);
}

TEST(Cookies, what_a_browser_would_refuse_is_an_error_that_names_it) {
  const std::string large(4096, 'x');
  const std::vector<SetCookie> wrong = {
      {.name = "", .value = "1"},
      {.name = "a b", .value = "1"},
      {.name = "a", .value = "1;2"},
      {.name = "a", .value = "x\r\nSet-Cookie: b=1"},
      {.name = "a", .value = "\xc3\xa9"},
      {.name = "a", .value = large},
      {.name = "a", .value = "1", .path = "x"},
      {.name = "a", .value = "1", .path = "/;x"},
      {.name = "a", .value = "1", .domain = "a;b"},
      {.name = "a", .value = "1", .secure = false, .same_site = SameSite::none},
      {.name = "a", .value = "1", .secure = false, .partitioned = true},
      {.name = "__Secure-a", .value = "1", .secure = false},
      {.name = "__Host-a", .value = "1", .secure = false},
      {.name = "__host-a", .value = "1", .path = "/x"},
      {.name = "__Host-a", .value = "1", .domain = "example.org"}};
  for (const SetCookie& each : wrong) {
    EXPECT_TRUE(set(each).starts_with("refused: cookie '" + std::string(each.name) + "': "))
        << each.name << "=" << each.value;
  }
  EXPECT_FALSE(set({.name = "__Host-a", .value = "1"}).starts_with("refused"));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
