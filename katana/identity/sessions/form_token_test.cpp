#include "katana/identity/sessions/form_token.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "katana/identity/sessions/sessions_fixture_test.hpp"

namespace katana::sessions {
namespace {

Task<Reply> page(FromContext<UserSession> session) {
  const Result<std::string> token = co_await form_token(session);
  if (!token) co_return problem(token.error());
  co_return html("<form>{}</form>", form_token_field(*token));
}

Result<Service> service(std::shared_ptr<SessionStore> store, bool in_cookies) {
  const std::string secret(32, 's');
  const auto sessions = in_cookies ? Sessions::in_cookies({}, std::array{secret})
                                   : Sessions::in_store({}, std::move(store));
  Router router;
  router.use(sessions->middleware());
  router.get("/form", page);
  router.post("/notes/{text}", add_note).get("/notes", show_notes).post("/login/{user}", log_in);
  router.post("/logout", log_out);
  Group forms = router.group("");
  forms.use(require_form_token);
  forms.any("/form", [](const RequestView& request) {
    return Reply::text(format_text("{} bytes", request.content().size()));
  });
  Group account = router.group("/account");
  account.use(sessions->require_login());
  account.get("", [](FromContext<auth::Principal> who) { return Reply::text(Text(who->id())); });
  return std::move(router).build();
}

class FormTokens : public ::testing::TestWithParam<bool> {
 protected:
  FormTokens() : server_(service(store_, GetParam())) {
    page_ = server_.get("/form");
    cookie_ = page_.header("Set-Cookie").value_or("");
    cookie_.resize(cookie_.find(';'));
    token_ = token_of(page_);
  }
  static std::string token_of(const testing::TestReply& page) {
    const std::string mark = "value=\"";
    const std::size_t from = page.content().find(mark) + mark.size();
    return page.content().substr(from, page.content().find('"', from) - from);
  }
  unsigned status_with(const std::string& content, testing::TestFields fields) {
    fields.emplace_back("Cookie", cookie_);
    return server_.post("/form", content, fields).status();
  }

  const std::shared_ptr<MemorySessionStore> store_ =
      std::make_shared<MemorySessionStore>(MemoryStoreOptions{.sessions_max = 20});
  testing::TestServer server_;
  testing::TestReply page_{""};
  std::string cookie_;
  std::string token_;
  const std::pair<std::string, std::string> form_type_{"Content-Type",
                                                       "application/x-www-form-urlencoded"};
};

INSTANTIATE_TEST_SUITE_P(Ways, FormTokens, ::testing::Bool(),
                         [](const auto& way) { return way.param ? "cookies" : "store"; });

TEST_P(FormTokens, of_the_session_are_taken_from_forms_and_fields) {
  EXPECT_EQ(token_.size(), 59u) << page_;
  EXPECT_EQ(status_with("csrf_token=" + token_ + "&a=b", {form_type_}), 200u);
  EXPECT_EQ(status_with("{}", {{"X-CSRF-Token", token_}}), 200u);
  EXPECT_EQ(status_with("--b\r\nContent-Disposition: form-data; name=\"csrf_token\"\r\n\r\n" +
                            token_ + "\r\n--b--\r\n",
                        {{"Content-Type", "multipart/form-data; boundary=b"}}),
            200u);
}

TEST_P(FormTokens, that_are_missing_changed_or_of_another_session_are_403) {
  EXPECT_EQ(status_with("a=b", {form_type_}), 403u);
  EXPECT_EQ(status_with("{}", {}), 403u);
  EXPECT_EQ(status_with("{}", {{"X-CSRF-Token", ""}}), 403u);
  std::string changed = token_;
  changed[30] = changed[30] == 'A' ? 'B' : 'A';
  EXPECT_EQ(status_with("{}", {{"X-CSRF-Token", changed}}), 403u);
  EXPECT_EQ(status_with("{}", {{"X-CSRF-Token", token_of(server_.get("/form"))}}), 403u);
  EXPECT_EQ(status_with("{}", {{"X-CSRF-Token", token_ + "AAAA"}}), 403u);
  // Without a session no token is valid.
  for (const std::string& token : {token_, std::string()}) {
    EXPECT_EQ(server_.post("/form", "{}", {{"X-CSRF-Token", token}}).status(), 403u) << token;
  }
}

TEST_P(FormTokens, are_asked_for_by_each_method_that_changes_something) {
  for (const char* const method : {"POST", "PUT", "PATCH", "DELETE", "PURGE"}) {
    const auto refused = server_.send(method, "/form", {}, {{"Cookie", cookie_}});
    EXPECT_EQ(refused.status(), 403u) << method;
    EXPECT_EQ(refused.header("Vary"), "Cookie") << method;
    EXPECT_EQ(refused.header("Cache-Control"), "no-store") << method;
  }
  EXPECT_EQ(server_.send("OPTIONS", "/form", {}, {{"Cookie", cookie_}}).status() / 100, 2u);
}

TEST_P(FormTokens, of_before_a_login_are_none_behind_it) {
  Browser browser(server_);
  browser.cookie() = cookie_;
  browser.post("/login/ann");
  cookie_ = browser.cookie();
  EXPECT_EQ(status_with("{}", {{"X-CSRF-Token", token_}}), 403u);
  const auto again = server_.get("/form", {{"Cookie", cookie_}});
  EXPECT_EQ(status_with("{}", {{"X-CSRF-Token", token_of(again)}}), 200u);
}

TEST_P(FormTokens, stay_good_when_a_session_begins_behind_the_page) {
  Browser browser(server_);
  browser.cookie() = cookie_;
  browser.post("/notes/a");
  cookie_ = browser.cookie();
  EXPECT_EQ(status_with("{}", {{"X-CSRF-Token", token_}}), 200u);
}

// The token of a visitor takes no place in a store: no number of visitors can displace it.
TEST_P(FormTokens, of_visitors_and_the_sessions_of_users_outlast_any_number_of_visitors) {
  Browser user(server_), visitor(server_);
  user.post("/login/ann");
  visitor.cookie() = cookie_;
  visitor.post("/notes/a");
  for (int count = 0; count < 500; ++count) {
    ASSERT_EQ(server_.get("/form").status(), 200u);
    if (count % 10 == 0) ASSERT_EQ(Browser(server_).post("/notes/x").status(), 200u);
  }
  EXPECT_LE(store_->statistics().sessions, 20u);
  EXPECT_EQ(user.get("/account").content(), "ann");
  EXPECT_EQ(status_with("{}", {{"X-CSRF-Token", token_}}), 200u);
  // The token of a visitor is valid even after the notes were dropped.
  EXPECT_EQ(visitor.get("/notes").content(), GetParam() ? "a;" : "");
  EXPECT_EQ(status_with("{}", {{"X-CSRF-Token", token_}}), 200u);
}

TEST(FormTokenText, of_another_size_than_the_secret_is_none_though_it_begins_or_ends_with_it) {
  const std::string secret = "0123456789abcdef";
  const auto masked = [](const std::string& text) { return detail::mask_form_secret(text); };
  EXPECT_TRUE(detail::is_token_of(masked(secret), secret));
  for (const std::string& other :
       {secret + "x", "x" + secret, secret + secret, secret.substr(1), secret.substr(0, 15)}) {
    EXPECT_FALSE(detail::is_token_of(masked(other), secret)) << other;
  }
}

TEST(FormTokenText, without_a_secret_or_without_a_text_is_none) {
  EXPECT_FALSE(detail::is_token_of("", ""));
  EXPECT_FALSE(detail::is_token_of("", "0123456789abcdef"));
  EXPECT_FALSE(detail::is_token_of("*", "0123456789abcdef"));
  EXPECT_FALSE(detail::is_token_of("*", ""));
}

TEST_P(FormTokens, are_missing_in_a_form_that_cannot_be_read) {
  EXPECT_EQ(status_with("csrf_token=%zz", {form_type_}), 403u);
  EXPECT_EQ(status_with("csrf_token=" + token_, {{"Content-Type", "text/plain"}}), 403u);
}

TEST(FormTokensInStore, of_visitors_alone_leave_the_store_empty) {
  const auto store = std::make_shared<MemorySessionStore>();
  testing::TestServer server(service(store, false));
  for (int count = 0; count < 100; ++count) ASSERT_EQ(server.get("/form").status(), 200u);
  EXPECT_EQ(store->statistics().sessions, 0u);
}

TEST_P(FormTokens, of_a_page_that_came_with_a_cookie_of_no_session_are_good_with_the_new_one) {
  const auto page = server_.get("/form", {{"Cookie", "__Host-session=x"}});
  const auto set = page.header("Set-Cookie");
  ASSERT_TRUE(set) << page;
  EXPECT_FALSE(set->contains("Max-Age=0")) << *set;
  cookie_ = set->substr(0, set->find(';'));
  EXPECT_EQ(status_with("{}", {{"X-CSRF-Token", token_of(page)}}), 200u);
}

TEST_P(FormTokens, differ_from_page_to_page) {
  const auto again = server_.get("/form", {{"Cookie", cookie_}});
  EXPECT_FALSE(again.header("Set-Cookie"));
  EXPECT_NE(token_of(again), token_);
  EXPECT_EQ(status_with("{}", {{"X-CSRF-Token", token_of(again)}}), 200u);
}

}  // namespace
}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
