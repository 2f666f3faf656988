#include "katana/http/handlers/error_page.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "katana/http/handlers/dispatcher.hpp"
#include "katana/http/handlers/exchange_fixture_test.hpp"
#include "katana/http/handlers/router.hpp"

namespace katana {
namespace {

class ErrorPageTest : public ::testing::Test {
 protected:
  FakeExchange& ask(std::string_view target, std::string_view fields) {
    Router router;
    router.development(development_);
    router.get("/throws", []() -> Reply { throw std::runtime_error("<b>1 < 2</b>"); });
    router.get("/waits", []() -> Task<Reply> {
      throw std::runtime_error("while it waited");
      co_return Reply(200);
    });
    router.get("/fails", []() -> Result<Reply> {
      return std::unexpected(Error(Code::internal, "users.email").within("find a user"));
    });
    router.get("/users", [] { return Reply(200); });
    router.post("/users", [] { return Reply(201); });
    router.get("/users/{id}/orders", [](Path<int>) { return Reply(200); });
    router.get("/v{major}/file-{id}.json", [](Path<int>, Path<int>) { return Reply(200); });
    service_.emplace(std::move(router).build().value());
    dispatcher_.emplace(*service_);
    exchange_.emplace("GET", target, fields);
    exchange_->serve(*dispatcher_);
    return *exchange_;
  }
  bool development_ = true;
  std::optional<Service> service_;
  std::optional<Dispatcher> dispatcher_;
  std::optional<FakeExchange> exchange_;
};

constexpr std::string_view browser = "accept: text/html,application/xhtml+xml,*/*;q=0.8\n";

TEST_F(ErrorPageTest, a_browser_is_shown_a_page_with_the_cause_escaped) {
  const FakeExchange& shown = ask("/throws?x=<i>", browser);
  EXPECT_EQ(shown.status, 500u);
  EXPECT_EQ(shown.type_sent, "text/html; charset=utf-8");
  EXPECT_NE(shown.content_sent.find("&lt;b&gt;1 &lt; 2&lt;/b&gt;"), std::string::npos);
  EXPECT_NE(shown.content_sent.find("GET /throws?x=&lt;i&gt;"), std::string::npos);
  EXPECT_EQ(shown.content_sent.find("<b>"), std::string::npos);
  EXPECT_EQ(shown.content_sent.find("<i>"), std::string::npos);
  EXPECT_NE(shown.fields_sent.find("Content-Security-Policy: default-src 'none'"),
            std::string::npos);
}

TEST_F(ErrorPageTest, whoever_does_not_name_html_gets_a_problem_document) {
  for (const std::string_view fields : {"", "accept: */*\n", "accept: text/html;q=0\n"}) {
    const FakeExchange& shown = ask("/throws", fields);
    EXPECT_EQ(shown.type_sent, "application/problem+json") << fields;
    EXPECT_NE(shown.content_sent.find("runtime_error"), std::string::npos) << fields;
  }
}

TEST_F(ErrorPageTest, errors_and_coroutines_are_shown_likewise) {
  EXPECT_NE(ask("/fails", browser).content_sent.find("find a user: users.email"),
            std::string::npos);
  EXPECT_NE(ask("/waits", browser).content_sent.find("while it waited"), std::string::npos);
}

TEST_F(ErrorPageTest, a_path_without_a_route_is_told_which_routes_are_near) {
  EXPECT_TRUE(
      ask("/usres", "").content_sent.contains("No route matches GET /usres. Did you mean /users?"));
  EXPECT_TRUE(ask("/users/7/order", "").content_sent.contains("Did you mean /users/{id}/orders?"));
  for (const char* const near : {"/w2/file-77777.json", "/v2/file-77777.jsn", "/v2/flie-7.json"}) {
    EXPECT_TRUE(ask(near, "").content_sent.contains("Did you mean /v{major}/file-{id}.json?"))
        << near;
  }
  EXPECT_TRUE(
      ask("/somewhere/else", "").content_sent.contains("No route matches GET /somewhere/else.\""));
  development_ = false;
  EXPECT_TRUE(ask("/usres", "").content_sent.contains("No route matches GET /usres.\""));
}

TEST_F(ErrorPageTest, nothing_is_shown_outside_of_development) {
  development_ = false;
  for (const std::string_view target : {"/throws", "/waits", "/fails"}) {
    const FakeExchange& shown = ask(target, browser);
    EXPECT_EQ(shown.status, 500u);
    EXPECT_EQ(shown.type_sent, "application/problem+json");
    for (const char* const secret : {"runtime_error", "1 &lt; 2", "waited", "users.email"}) {
      EXPECT_EQ(shown.content_sent.find(secret), std::string::npos) << target;
    }
  }
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
