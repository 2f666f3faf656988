#include "katana/http/middleware/csrf.hpp"

#include <gtest/gtest.h>

#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

class CsrfTest : public ::testing::Test {
 protected:
  explicit CsrfTest(CsrfOptions options = {.origins = {"https://app.example"}}) {
    const auto own = csrf(std::move(options));
    Router router;
    router.use(*own).any("/x", [] { return Reply::text("x"); });
    server_.emplace(std::move(router).build());
  }
  unsigned status(std::string_view method, testing::TestFields fields) {
    fields.emplace_back("Host", "shop.example");
    return server_->send(method, "/x", {}, fields).status();
  }
  unsigned post(testing::TestFields fields) { return status("POST", std::move(fields)); }

  std::optional<testing::TestServer> server_;
};

TEST_F(CsrfTest, what_a_browser_says_of_the_site_decides) {
  EXPECT_EQ(post({{"Sec-Fetch-Site", "same-origin"}}), 200u);
  EXPECT_EQ(post({{"Sec-Fetch-Site", "none"}}), 200u);
  EXPECT_EQ(post({{"Sec-Fetch-Site", "cross-site"}}), 403u);
  EXPECT_EQ(post({{"Sec-Fetch-Site", "same-site"}}), 403u);
  EXPECT_EQ(post({{"Sec-Fetch-Site", ""}}), 403u);
  EXPECT_EQ(post({{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://app.example"}}), 200u);
  EXPECT_EQ(post({{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://shop.example"}}), 403u);
}

TEST_F(CsrfTest, without_it_the_origin_decides) {
  EXPECT_EQ(post({{"Origin", "https://shop.example"}}), 200u);
  EXPECT_EQ(post({{"Origin", "https://shop.example:443"}}), 200u);
  EXPECT_EQ(post({{"Origin", "https://app.example"}}), 200u);
  for (const char* origin :
       {"https://evil.example", "https://shop.example.evil", "https://shop.example:8443", "null",
        "", "https://", "shop.example", "https://app.example.evil"}) {
    EXPECT_EQ(post({{"Origin", origin}}), 403u) << origin;
  }
}

TEST_F(CsrfTest, an_origin_that_is_named_may_say_its_default_port) {
  EXPECT_EQ(post({{"Origin", "https://app.example:443"}}), 200u);
  EXPECT_EQ(post({{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://app.example:443"}}), 200u);
  EXPECT_EQ(post({{"Origin", "http://app.example"}}), 403u);
}

// If this server or a trusted proxy got the request by TLS, a page without TLS cannot make it.
TEST(CsrfBehindAProxy, a_page_without_tls_changes_nothing_of_a_server_with_it) {
  const auto own = csrf();
  Router router;
  router.use(*own).any("/x", [] { return Reply::text("x"); });
  testing::TestOptions options;
  options.http.trusted_proxies = {*Network::parse("0.0.0.0/0"), *Network::parse("::/0")};
  options.http.forwarded = http::ForwardedFields::x_forwarded;
  options.http.forwarded_parts = {http::ForwardedPart::proto, http::ForwardedPart::host};
  testing::TestServer server(std::move(router).build(), options);
  const auto status = [&](std::string_view origin, std::string_view scheme) {
    return server
        .send("POST", "/x", {},
              {{"Host", "inside.example"},
               {"X-Forwarded-Host", "shop.example"},
               {"X-Forwarded-Proto", std::string(scheme)},
               {"Origin", std::string(origin)}})
        .status();
  };
  EXPECT_EQ(status("https://shop.example", "https"), 200u);
  EXPECT_EQ(status("http://shop.example", "https"), 403u);
  EXPECT_EQ(status("http://shop.example", "http"), 200u);
  EXPECT_EQ(status("https://inside.example", "https"), 403u);
}

TEST_F(CsrfTest, without_both_a_request_with_cookies_is_refused) {
  EXPECT_EQ(post({}), 200u);
  EXPECT_EQ(post({{"Cookie", "a=b"}}), 403u);
}

TEST_F(CsrfTest, methods_that_change_nothing_go_on_and_handshakes_do_not) {
  for (const char* method : {"GET", "HEAD", "OPTIONS"}) {
    EXPECT_NE(status(method, {{"Sec-Fetch-Site", "cross-site"}}), 403u) << method;
  }
  for (const char* method : {"PUT", "DELETE", "PATCH", "PURGE"}) {
    EXPECT_EQ(status(method, {{"Sec-Fetch-Site", "cross-site"}}), 403u) << method;
  }
  EXPECT_EQ(status("GET", {{"Origin", "https://evil.example"},
                           {"Connection", "Upgrade"},
                           {"Upgrade", "websocket"}}),
            403u);
  EXPECT_EQ(status("GET", {{"Origin", "https://shop.example"},
                           {"Connection", "Upgrade"},
                           {"Upgrade", "websocket"}}),
            200u);
}

TEST(CsrfOf, what_is_no_origin_is_refused) {
  for (const char* origin : {"app.example", "https://app.example/", "https://App.example", "*"}) {
    const auto refused = csrf({.origins = {origin}});
    ASSERT_FALSE(refused) << origin;
    EXPECT_NE(refused.error().describe().find(origin), std::string::npos);
  }
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
