// Sessions that other requests change, again and again, while one request changes them.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "katana/identity/sessions/form_token.hpp"
#include "katana/identity/sessions/sessions_fixture_test.hpp"

namespace katana::sessions {
namespace {

// A store in which another request is faster, so many times.
class BusyStore final : public SessionStore {
 public:
  Task<Result<std::optional<StoredSession>>> load(SessionKey key, std::int64_t now_s) override {
    if (loads_fail) co_return fail(Code::unavailable, "gone");
    co_return co_await memory_.load(key, now_s);
  }
  Task<Result<bool>> compare_and_set(SessionWrite write) override {
    if (conflicts > 0 && write.read_version) {
      --conflicts;
      SessionWrite other;
      other.key = write.key;
      other.read_version = write.read_version;
      other.expires_s = write.expires_s;
      auto found = co_await memory_.load(write.key, 0);
      SessionRecord record = *(*found)->record;
      record.content += change;
      other.record = std::make_shared<const SessionRecord>(std::move(record));
      const auto written = co_await memory_.compare_and_set(std::move(other));
      EXPECT_TRUE(written && *written);
    }
    co_return co_await memory_.compare_and_set(std::move(write));
  }
  Task<Result<void>> touch(SessionKey key, std::int64_t version, std::int64_t seen_s,
                           std::int64_t expires_s) override {
    co_return co_await memory_.touch(key, version, seen_s, expires_s);
  }
  Task<Result<void>> remove(SessionKey key) override { co_return co_await memory_.remove(key); }
  Task<Result<std::int64_t>> remove_all(std::string issuer, std::string principal) override {
    co_return co_await memory_.remove_all(std::move(issuer), std::move(principal));
  }
  Task<Result<std::optional<std::int64_t>>> remove_others(std::string issuer, std::string principal,
                                                          SessionKey kept,
                                                          std::int64_t version) override {
    if (conflicts > 0) {
      --conflicts;
      co_return std::nullopt;
    }
    co_return co_await memory_.remove_others(std::move(issuer), std::move(principal), kept,
                                             version);
  }

  int conflicts = 0;
  std::string change = {};
  bool loads_fail = false;

 private:
  MemorySessionStore memory_;
};

// Changes the session without having read it.
Task<Reply> set_note(FromContext<UserSession> session) {
  Notes changed{{"set"}};
  const Result<void> kept = co_await session->set(changed);
  co_return answer(kept);
}
Task<Reply> show_form(FromContext<UserSession> session) {
  const Result<std::string> token = co_await form_token(session);
  if (!token) co_return problem(token.error());
  co_return Reply::text(*token);
}

class Conflicts : public ::testing::Test {
 protected:
  Result<Service> service() {
    const auto sessions = Sessions::in_store({}, store_);
    Router router;
    router.use(sessions->middleware());
    router.post("/notes/{text}", add_note).get("/notes", show_notes).post("/set", set_note);
    router.post("/login/{user}", log_in).post("/renew", renew).post("/end_others", end_others);
    router.get("/form", show_form);
    router.post("/begun", [this](FromContext<UserSession> session) { return begin(session); });
    router.post("/renewed", [this](FromContext<UserSession> session) { return form_of(session); });
    return std::move(router).build();
  }
  // Begins a session, meets a conflict, and reads what it began with.
  Task<Reply> begin(FromContext<UserSession> session) {
    const Notes first{{"first"}}, second{{"second"}};
    const Result<void> begun = co_await session->set(first);
    store_->conflicts = 1;
    const Result<void> changed = co_await session->set(second);
    if (!begun || changed) co_return Reply(500);
    co_return co_await show_notes(session);
  }
  // Renews the session, meets a conflict, asks for the secret of its forms, and writes again.
  Task<Reply> form_of(FromContext<UserSession> session) {
    const Result<void> renewed = co_await session->renew();
    store_->conflicts = 1;
    const Notes notes{{"a"}};
    const Result<void> changed = co_await session->set(notes);
    const Result<std::string> known = co_await session->known_form_secret();
    if (!renewed || changed || !known) co_return Reply(500);
    const Result<void> again = co_await session->set(notes);
    co_return answer(again);
  }

  const std::shared_ptr<BusyStore> store_ = std::make_shared<BusyStore>();
  testing::TestServer server_{service()};
  Browser browser_{server_};
};

TEST_F(Conflicts, a_login_and_a_renewal_keep_the_content_that_another_request_wrote_meanwhile) {
  browser_.post("/notes/a");
  store_->conflicts = 1;
  EXPECT_EQ(browser_.post("/login/ann").status(), 200u);
  EXPECT_EQ(browser_.get("/notes").content(), "a;");
  store_->conflicts = 1;
  EXPECT_EQ(browser_.post("/renew").status(), 200u);
  EXPECT_EQ(browser_.get("/notes").content(), "a;");
  EXPECT_EQ(store_->conflicts, 0);
}

TEST_F(Conflicts, of_a_session_that_the_request_began_or_renewed_leave_its_new_id) {
  EXPECT_EQ(browser_.post("/begun").content(), "first;");
  EXPECT_EQ(browser_.get("/notes").content(), "first;");
  EXPECT_EQ(browser_.post("/renewed").content(), "done");
  EXPECT_EQ(browser_.get("/notes").content(), "a;");
}

TEST_F(Conflicts, that_do_not_end_are_told_and_not_tried_for_ever) {
  browser_.post("/login/ann");
  store_->conflicts = 1'000'000;
  for (const char* const target : {"/renew", "/login/bob", "/set", "/end_others"}) {
    EXPECT_EQ(browser_.post(target).status(), 409u) << target;
  }
  EXPECT_GT(store_->conflicts, 999'900);
  store_->conflicts = 1;
  EXPECT_EQ(browser_.post("/end_others").content(), "0") << "tried again behind a conflict";
}

TEST_F(Conflicts, a_session_that_cannot_be_read_is_neither_changed_nor_has_it_a_form) {
  browser_.post("/notes/a");
  store_->loads_fail = true;
  EXPECT_EQ(browser_.post("/set").status(), 503u);
  EXPECT_EQ(browser_.get("/form").status(), 503u);
  store_->loads_fail = false;
  EXPECT_EQ(browser_.get("/notes").content(), "a;");
  EXPECT_EQ(browser_.get("/form").status(), 200u);
}

// The page behind a session that has ended gets the id of a visitor, not the one that has ended.
TEST_F(Conflicts, a_form_behind_a_session_that_has_ended_has_the_id_of_a_visitor) {
  browser_.post("/notes/a");
  Browser other(server_);
  other.cookie() = browser_.cookie();
  server_.advance(seconds(40 * 24 * 3600));
  EXPECT_EQ(other.get("/form").status(), 200u);
  const std::string cookie = other.cookie();
  const auto id = SessionId::parse(cookie.substr(cookie.find('=') + 1));
  ASSERT_TRUE(id) << cookie;
  EXPECT_FALSE(id->has_session()) << cookie;
}

TEST(SealedForms, of_a_session_that_fits_no_cookie_are_refused) {
  SessionOptions options;
  options.cookie_bytes_max = 1;
  const auto sessions =
      Sessions::in_cookies(options, std::vector<std::string>{std::string(32, 's')});
  ASSERT_TRUE(sessions) << sessions.error().describe();
  Router router;
  router.use(sessions->middleware()).get("/form", show_form);
  testing::TestServer server(std::move(router).build());
  EXPECT_EQ(server.get("/form").status(), 400u);
}

}  // namespace
}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
