// Requests during an outage of the store, and sessions with the response cache.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "katana/http/middleware/http_cache.hpp"
#include "katana/identity/sessions/sessions_fixture_test.hpp"

namespace katana::sessions {
namespace {

// A store with calls that fail while their flag is set.
class FlakyStore final : public SessionStore {
 public:
  Task<Result<std::optional<StoredSession>>> load(SessionKey key, std::int64_t now_s) override {
    if (loads_fail) co_return fail(Code::unavailable, "gone");
    co_return co_await memory_.load(key, now_s);
  }
  Task<Result<bool>> compare_and_set(SessionWrite write) override {
    if (writes_fail) co_return fail(Code::unavailable, "gone");
    co_return co_await memory_.compare_and_set(std::move(write));
  }
  Task<Result<void>> touch(SessionKey key, std::int64_t version, std::int64_t seen_s,
                           std::int64_t expires_s) override {
    if (writes_fail) co_return fail(Code::unavailable, "gone");
    co_return co_await memory_.touch(key, version, seen_s, expires_s);
  }
  Task<Result<void>> remove(SessionKey key) override {
    if (removes_fail) co_return fail(Code::unavailable, "gone");
    co_return co_await memory_.remove(key);
  }
  Task<Result<std::int64_t>> remove_all(std::string issuer, std::string principal) override {
    co_return co_await memory_.remove_all(std::move(issuer), std::move(principal));
  }
  Task<Result<std::optional<std::int64_t>>> remove_others(std::string issuer, std::string principal,
                                                          SessionKey kept,
                                                          std::int64_t version) override {
    if (removes_fail) co_return fail(Code::unavailable, "gone");
    co_return co_await memory_.remove_others(std::move(issuer), std::move(principal), kept,
                                             version);
  }

  bool loads_fail = false, writes_fail = false, removes_fail = false;

 private:
  MemorySessionStore memory_;
};

class SessionOutage : public ::testing::Test {
 protected:
  SessionOutage() : server_(service_with(Sessions::in_store({}, store_))), browser_(server_) {
    browser_.post("/login/ann");
    browser_.post("/notes/a");
  }
  void expect_told(std::initializer_list<const char*> targets) {
    for (const char* const target : targets) {
      const auto reply = browser_.post(target);
      EXPECT_EQ(reply.status(), 503u) << target << "\n" << reply;
      EXPECT_FALSE(reply.header("Set-Cookie")) << target << "\n" << reply;
    }
  }
  void expect_as_before() {
    EXPECT_EQ(browser_.get("/account").content(), "ann by session reads");
    EXPECT_EQ(browser_.get("/notes").content(), "a;");
  }

  const std::shared_ptr<FlakyStore> store_ = std::make_shared<FlakyStore>();
  testing::TestServer server_;
  Browser browser_;
};

TEST_F(SessionOutage, a_session_that_cannot_be_read_is_not_begun_renewed_changed_or_ended) {
  store_->loads_fail = true;
  expect_told({"/notes/b", "/login/bob", "/renew", "/logout", "/end_others"});
  store_->loads_fail = false;
  expect_as_before();
}

TEST_F(SessionOutage, a_session_that_cannot_be_written_stays_as_it_was_and_the_client_is_told) {
  store_->writes_fail = true;
  expect_told({"/notes/b", "/login/bob", "/renew"});
  store_->writes_fail = false;
  expect_as_before();
}

TEST_F(SessionOutage, a_logout_that_the_store_did_not_take_is_none_and_the_cookie_stays) {
  store_->removes_fail = true;
  expect_told({"/logout", "/end_others"});
  store_->removes_fail = false;
  expect_as_before();
}

TEST(SessionsInStore, are_changed_twice_by_one_request_that_began_them) {
  const auto sessions = Sessions::in_store({}, std::make_shared<MemorySessionStore>());
  Router router;
  router.use(sessions->middleware());
  router.post("/both", [](FromContext<UserSession> session) -> Task<Reply> {
    Notes notes;
    for (const char* const text : {"a", "b"}) {
      notes.texts.emplace_back(text);
      const Result<void> kept = co_await session->set(notes);
      if (!kept) co_return problem(kept.error());
    }
    co_return Reply::text("done");
  });
  router.get("/notes", show_notes);
  testing::TestServer server(std::move(router).build());
  Browser browser(server);
  EXPECT_EQ(browser.post("/both").status(), 200u);
  EXPECT_EQ(browser.get("/notes").content(), "a;b;");
}

TEST(SessionsInStore, of_a_visitor_without_any_get_another_id_when_they_are_renewed) {
  testing::TestServer server(
      service_with(Sessions::in_store({}, std::make_shared<MemorySessionStore>())));
  Browser browser(server);
  EXPECT_TRUE(browser.post("/renew").header("Set-Cookie"));
  const std::string first = browser.cookie();
  EXPECT_TRUE(browser.post("/renew").header("Set-Cookie"));
  EXPECT_NE(browser.cookie(), first);
}

TEST(SessionsInStore, of_a_visitor_have_no_others_to_end) {
  testing::TestServer server(
      service_with(Sessions::in_store({}, std::make_shared<MemorySessionStore>())));
  Browser browser(server);
  browser.post("/notes/a");
  EXPECT_EQ(browser.post("/end_others").status(), 401u);
  EXPECT_EQ(browser.get("/notes").content(), "a;");
}

// The handler mistakenly sends `public`, although it uses the session.
TEST(SessionsAndTheCache, a_page_that_looked_at_a_session_is_shown_to_no_other_browser) {
  const auto sessions = Sessions::in_store({}, std::make_shared<MemorySessionStore>());
  const HttpCache cache({.private_fields = {}});
  Router router;
  router.use(cache.middleware());
  router.use(sessions->middleware());
  int calls = 0;
  router.get("/page", [&calls](FromContext<UserSession> session) -> Task<Reply> {
    const auto who = co_await session->principal();
    Reply reply = Reply::text(format_text("page {}", ++calls));
    reply.add_field("Cache-Control", "public, max-age=60");
    co_return reply;
  });
  router.get("/for-all", [&calls](FromContext<UserSession>) {
    Reply reply = Reply::text(format_text("page {}", ++calls));
    reply.add_field("Cache-Control", "public, max-age=60");
    return reply;
  });
  testing::TestServer server(std::move(router).build());
  EXPECT_EQ(server.get("/page").content(), "page 1");
  EXPECT_EQ(server.get("/page").content(), "page 2");
  EXPECT_EQ(server.get("/for-all").content(), "page 3");
  EXPECT_EQ(server.get("/for-all").content(), "page 3") << "it asked the session for nothing";
}

}  // namespace
}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
