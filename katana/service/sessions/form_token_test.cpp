#include "katana/service/sessions/form_token.hpp"

#include <gtest/gtest.h>

#include <string>

#include "katana/service/sessions/sessions_fixture_test.hpp"

namespace katana::sessions {
namespace {

Task<Reply> page(FromContext<UserSession> session) {
  const Result<std::string> token = co_await form_token(session);
  if (!token) co_return problem(token.error());
  co_return html("<form>{}</form>", form_token_field(*token));
}

Result<Service> service() {
  const auto sessions = Sessions::in_store({}, std::make_shared<MemorySessionStore>());
  Router router;
  router.use(sessions->middleware()).use(require_form_token);
  router.get("/form", page);
  router.post("/form", [](const RequestView& request) {
    return Reply::text(format_text("{} bytes", request.content().size()));
  });
  return std::move(router).build();
}

class FormTokens : public ::testing::Test {
 protected:
  FormTokens() : server_(service()) {
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

  testing::TestServer server_;
  testing::TestReply page_{""};
  std::string cookie_;
  std::string token_;
  const std::pair<std::string, std::string> form_type_{"Content-Type",
                                                       "application/x-www-form-urlencoded"};
};

TEST_F(FormTokens, of_the_session_are_taken_from_forms_and_fields) {
  EXPECT_EQ(token_.size(), 59u) << page_;
  EXPECT_EQ(status_with("csrf_token=" + token_ + "&a=b", {form_type_}), 200u);
  EXPECT_EQ(status_with("{}", {{"X-CSRF-Token", token_}}), 200u);
  EXPECT_EQ(status_with("--b\r\nContent-Disposition: form-data; name=\"csrf_token\"\r\n\r\n" +
                            token_ + "\r\n--b--\r\n",
                        {{"Content-Type", "multipart/form-data; boundary=b"}}),
            200u);
}

TEST_F(FormTokens, that_are_missing_changed_or_of_another_session_are_403) {
  EXPECT_EQ(status_with("a=b", {form_type_}), 403u);
  EXPECT_EQ(status_with("{}", {}), 403u);
  EXPECT_EQ(status_with("{}", {{"X-CSRF-Token", ""}}), 403u);
  std::string changed = token_;
  changed[30] = changed[30] == 'A' ? 'B' : 'A';
  EXPECT_EQ(status_with("{}", {{"X-CSRF-Token", changed}}), 403u);
  EXPECT_EQ(status_with("{}", {{"X-CSRF-Token", token_of(server_.get("/form"))}}), 403u);
  // Without a session there is nothing that a token could be of.
  EXPECT_EQ(server_.post("/form", "{}", {{"X-CSRF-Token", token_}}).status(), 403u);
}

TEST_F(FormTokens, differ_from_page_to_page) {
  const auto again = server_.get("/form", {{"Cookie", cookie_}});
  EXPECT_FALSE(again.header("Set-Cookie"));
  EXPECT_NE(token_of(again), token_);
  EXPECT_EQ(status_with("{}", {{"X-CSRF-Token", token_of(again)}}), 200u);
}

}  // namespace
}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
