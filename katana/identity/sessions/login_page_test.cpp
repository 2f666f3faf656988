#include "katana/identity/sessions/login_page.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "katana/http/handlers/error_documents.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/identity/sessions/memory_store.hpp"
#include "katana/identity/sessions/sessions.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::sessions {
namespace {

constexpr const char* page_accept = "text/html,application/xhtml+xml,*/*;q=0.8";

class LoginPageTest : public ::testing::Test {
 protected:
  static Result<Service> service() {
    auto sessions = Sessions::in_store({}, std::make_shared<MemorySessionStore>());
    Router router;
    router.error_documents(html_error_pages());
    router.use(sessions->middleware());
    router.post("/enter", [](FromContext<UserSession> session) -> Task<Result<Reply>> {
      const auth::PrincipalFacts facts{.id = "ann"};
      const Result<void> in = co_await session->log_in(facts);
      if (!in) co_return std::unexpected(in.error());
      co_return Reply(204);
    });
    // 401 of a program, without a field for caches.
    router.group("/own")
        .use(login_page({.path = "/login"}))
        .get("/{rest...}", [](Path<std::string>) {
          Reply reply(401);
          reply.add_field("WWW-Authenticate", "Cookie").add_field("X-Trace", "7").close();
          return reply;
        });
    Group account = router.group("/account");
    account.use(sessions->require_login({.path = "/login"}));
    account.any("/{rest...}", [](Path<std::string>) { return Reply::text("account"); });
    return std::move(router).build();
  }
  testing::TestReply open(const std::string& target, const char* accept = page_accept) {
    return server_.get(target, {{"Accept", accept}});
  }

  testing::TestServer server_{service()};
};

TEST_F(LoginPageTest, a_browser_is_sent_to_the_page_with_the_way_back) {
  const testing::TestReply reply = open("/account/orders?page=2&q=a%20b");
  EXPECT_EQ(reply.status(), 303u);
  EXPECT_EQ(reply.header("Location"), "/login?return_to=/account/orders%3Fpage%3D2%26q%3Da%2520b");
  EXPECT_FALSE(reply.header("WWW-Authenticate"));
  EXPECT_NE(reply.header("Vary").value_or("").find("Accept"), std::string::npos);
  EXPECT_NE(reply.header("Cache-Control").value_or("").find("no-store"), std::string::npos);
  EXPECT_EQ(reply.content(), "");
}

TEST_F(LoginPageTest, the_way_keeps_what_the_refusal_had_but_for_the_challenge) {
  const testing::TestReply reply = open("/own/~ann-1_2.x");
  EXPECT_EQ(reply.status(), 303u);
  EXPECT_EQ(reply.header("Location"), "/login?return_to=/own/~ann-1_2.x");
  EXPECT_EQ(reply.header("X-Trace"), "7");
  EXPECT_EQ(reply.header("Cache-Control"), "no-store");
  EXPECT_FALSE(reply.header("WWW-Authenticate"));
  EXPECT_EQ(reply.header("Connection"), "close");
}

TEST_F(LoginPageTest, everything_else_stays_401) {
  EXPECT_EQ(open("/account/a", "application/json").status(), 401u);
  EXPECT_EQ(open("/account/a", "*/*").status(), 401u);
  EXPECT_EQ(open("/account/a", "application/json").header("WWW-Authenticate"), "Cookie");
  EXPECT_EQ(server_.post("/account/a", "", {{"Accept", page_accept}}).status(), 401u);
  EXPECT_EQ(
      server_.get("/account/a", {{"Accept", page_accept}, {"Sec-Fetch-Mode", "cors"}}).status(),
      401u);
  EXPECT_EQ(
      server_.get("/account/a", {{"Accept", page_accept}, {"Sec-Fetch-Mode", "navigate"}}).status(),
      303u);
}

TEST_F(LoginPageTest, a_browser_that_has_logged_in_is_not_sent_away) {
  const testing::TestReply in = server_.post("/enter", "");
  ASSERT_EQ(in.status(), 204u);
  const std::string cookie(in.header("Set-Cookie").value_or(""));
  const testing::TestReply reply = server_.get(
      "/account/a", {{"Accept", page_accept}, {"Cookie", cookie.substr(0, cookie.find(';'))}});
  EXPECT_EQ(reply.content(), "account");
}

TEST_F(LoginPageTest, the_way_back_is_never_another_host) {
  EXPECT_EQ(safe_return_path("/account?x=//y"), "/account?x=//y");
  for (const char* const other : {"//evil.example", "https://evil.example", "/\\evil.example", "",
                                  "/a\r\nb", "/\t/evil.example", "account", "\\/evil.example"}) {
    EXPECT_EQ(safe_return_path(other), "/") << other;
  }
}

TEST_F(LoginPageTest, a_page_without_a_path_does_not_build) {
  for (const char* const path :
       {"", "login", "//evil.example", "http://id.example", "/a\x7f", "/a b"}) {
    Router router;
    router.use(login_page({.path = path}));
    EXPECT_FALSE(std::move(router).build()) << path;
  }
}

}  // namespace
}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
