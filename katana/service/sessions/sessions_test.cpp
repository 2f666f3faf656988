#include <gtest/gtest.h>

#include <array>

#include "katana/core/sleep.hpp"
#include "katana/service/sessions/sessions_fixture_test.hpp"

namespace katana::sessions {
namespace {

const std::array<std::string, 1> secrets = {"0123456789abcdef0123456789abcdef"};

Result<Sessions> make(bool in_cookies, SessionOptions options = {},
                      std::shared_ptr<SessionStore> store = nullptr) {
  if (in_cookies) return Sessions::in_cookies(std::move(options), secrets);
  if (store == nullptr) store = std::make_shared<MemorySessionStore>();
  return Sessions::in_store(std::move(options), std::move(store));
}

// Both ways to keep a session.
class EachWay : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Ways, EachWay, ::testing::Bool(),
                         [](const auto& way) { return way.param ? "cookies" : "store"; });

TEST_P(EachWay, what_is_set_is_there_in_the_next_request) {
  testing::TestServer server(service_with(make(GetParam())));
  Browser browser(server), other(server);
  EXPECT_EQ(browser.get("/notes").content(), "");
  EXPECT_EQ(browser.cookie(), "");  // reading makes no session
  EXPECT_EQ(browser.post("/notes/a").content(), "done");
  EXPECT_TRUE(browser.cookie().starts_with("__Host-session=")) << browser.cookie();
  browser.post("/notes/b");
  EXPECT_EQ(browser.get("/notes").content(), "a;b;");
  EXPECT_EQ(other.get("/notes").content(), "");
}

TEST_P(EachWay, the_cookie_is_for_this_host_and_tls_alone_and_hidden_from_scripts) {
  testing::TestServer server(service_with(make(GetParam())));
  const auto reply = Browser(server).post("/notes/a");
  const auto cookie = reply.header("Set-Cookie");
  ASSERT_TRUE(cookie) << reply;
  EXPECT_TRUE(cookie->ends_with("; Path=/; Secure; HttpOnly; SameSite=Lax")) << *cookie;
}

TEST_P(EachWay, a_request_that_does_not_ask_has_no_field_of_it) {
  testing::TestServer server(service_with(make(GetParam())));
  Browser browser(server);
  browser.post("/notes/a");
  const auto untouched = browser.get("/untouched");
  EXPECT_FALSE(untouched.header("Set-Cookie"));
  EXPECT_FALSE(untouched.header("Vary"));
  EXPECT_FALSE(untouched.header("Cache-Control"));
  const auto read = browser.get("/notes");
  EXPECT_FALSE(read.header("Set-Cookie"));
  EXPECT_EQ(read.header("Vary"), "Cookie");
  EXPECT_EQ(read.header("Cache-Control"), "no-store");
}

TEST_P(EachWay, a_login_changes_the_cookie_and_makes_a_principal) {
  testing::TestServer server(service_with(make(GetParam())));
  Browser browser(server);
  const auto before = browser.get("/account");
  EXPECT_EQ(before.status(), 401u);
  EXPECT_EQ(before.header("WWW-Authenticate"), "Cookie");
  browser.post("/notes/kept");
  const std::string anonymous = browser.cookie();
  browser.post("/login/ann");
  EXPECT_NE(browser.cookie(), anonymous);
  EXPECT_EQ(browser.get("/account").content(), "ann by session reads");
  EXPECT_EQ(browser.get("/notes").content(), "kept;");
  Browser thief(server);
  thief.cookie() = anonymous;  // who planted the id before the login is not logged in
  EXPECT_EQ(thief.get("/account").status(), 401u);
  browser.post("/logout");
  EXPECT_EQ(browser.cookie(), "");
  EXPECT_EQ(browser.get("/account").status(), 401u);
}

TEST_P(EachWay, it_ends_when_nobody_comes_and_at_its_age) {
  testing::TestServer server(service_with(make(GetParam())));
  Browser idle(server), busy(server);
  idle.post("/login/ann");
  busy.post("/login/bob");
  for (int minute = 0; minute < 12 * 60 - 20; minute += 20) {
    server.advance(seconds(20 * 60));
    ASSERT_EQ(busy.get("/account").status(), 200u) << minute;
  }
  EXPECT_EQ(idle.get("/account").status(), 401u);
  EXPECT_EQ(idle.cookie(), "");
  server.advance(seconds(21 * 60));
  EXPECT_EQ(busy.get("/account").status(), 401u);
}

TEST_P(EachWay, that_it_was_seen_is_written_once_a_minute) {
  testing::TestServer server(service_with(make(GetParam())));
  Browser browser(server);
  browser.post("/notes/a");
  EXPECT_FALSE(browser.get("/notes").header("Set-Cookie"));
  server.advance(seconds(61));
  EXPECT_EQ(browser.get("/notes").header("Set-Cookie").has_value(), GetParam());
  EXPECT_FALSE(browser.get("/notes").header("Set-Cookie"));
}

TEST_P(EachWay, cookies_that_nobody_gave_are_no_session_and_are_removed) {
  testing::TestServer server(service_with(make(GetParam())));
  Browser browser(server);
  browser.post("/login/ann");
  const std::string good = browser.cookie();
  for (std::size_t index = good.find('=') + 1; index < good.size(); ++index) {
    browser.cookie() = good;
    browser.cookie()[index] = good[index] == 'A' ? 'B' : 'A';
    ASSERT_EQ(browser.get("/account").status(), 401u) << index;
    ASSERT_EQ(browser.cookie(), "");
  }
  browser.cookie() = "__Host-session=" + std::string(43, 'A');
  browser.post("/notes/a");
  EXPECT_NE(browser.cookie(), "__Host-session=" + std::string(43, 'A'));
}

TEST_P(EachWay, more_than_the_options_permit_is_refused_and_what_was_stays) {
  SessionOptions options;
  options.stored_bytes_max = 1000;
  options.cookie_bytes_max = 1000;
  testing::TestServer server(service_with(make(GetParam(), options)));
  Browser browser(server);
  browser.post("/notes/a");
  const auto refused = browser.post("/notes/" + std::string(1200, 'b'));
  EXPECT_EQ(refused.status(), 400u);
  EXPECT_NE(refused.content().find("keep less in it"), std::string::npos) << refused;
  EXPECT_EQ(browser.get("/notes").content(), "a;");
}

TEST(SessionsInStore, are_ended_everywhere_but_here) {
  testing::TestServer server(service_with(make(false)));
  Browser here(server), there(server), elsewhere(server), other(server);
  EXPECT_EQ(here.post("/end_others").status(), 401u);
  for (Browser* each : {&here, &there, &elsewhere}) each->post("/login/ann");
  other.post("/login/bob");
  EXPECT_EQ(here.post("/end_others").content(), "2");
  EXPECT_EQ(here.get("/account").status(), 200u);
  EXPECT_EQ(there.get("/account").status(), 401u);
  EXPECT_EQ(other.get("/account").status(), 200u);
}

TEST(SessionsInStore, of_two_that_change_one_the_second_is_told) {
  auto store = std::make_shared<MemorySessionStore>();
  const auto sessions = make(false, {}, store);
  Router router;
  router.use(sessions->middleware());
  router.post("/slow", [](FromContext<UserSession> session) -> Task<Reply> {
    const auto notes = co_await session->get<Notes>();
    if (!notes) co_return problem(notes.error());
    co_await core::sleep_for(seconds(1));
    Notes changed{{"slow"}};
    const Result<void> kept = co_await session->set(changed);
    co_return answer(kept);
  });
  router.post("/notes/{text}", add_note).get("/notes", show_notes);
  testing::TestServer server(std::move(router).build());
  Browser browser(server);
  browser.post("/notes/a");
  auto slow = server.begin("POST", "/slow", {}, {{"Cookie", browser.cookie()}});
  EXPECT_EQ(browser.post("/notes/b").status(), 200u);
  server.advance(seconds(1));
  EXPECT_EQ(slow.reply().status(), 409u);
  EXPECT_EQ(browser.get("/notes").content(), "a;b;");
}

// A store that fails is never an anonymous visitor.
class BrokenStore final : public SessionStore {
 public:
  Task<Result<std::optional<StoredSession>>> load(SessionKey, std::int64_t) override {
    co_return fail(Code::unavailable, "gone");
  }
  Task<Result<void>> create(SessionKey, StoredSession, std::int64_t) override {
    co_return fail(Code::unavailable, "gone");
  }
  Task<Result<bool>> update(SessionKey, StoredSession, std::int64_t) override {
    co_return fail(Code::unavailable, "gone");
  }
  Task<Result<void>> touch(SessionKey, std::int64_t, std::int64_t) override {
    co_return fail(Code::unavailable, "gone");
  }
  Task<Result<void>> remove(SessionKey) override { co_return fail(Code::unavailable, "gone"); }
  Task<Result<std::int64_t>> remove_all(std::string, std::string,
                                        std::optional<SessionKey>) override {
    co_return fail(Code::unavailable, "gone");
  }
};

TEST(SessionsInStore, a_store_that_fails_is_503_and_the_cookie_stays) {
  testing::TestServer server(service_with(make(false, {}, std::make_shared<BrokenStore>())));
  Browser browser(server);
  EXPECT_EQ(browser.post("/notes/a").status(), 503u);
  EXPECT_EQ(browser.get("/account").status(), 401u);  // without a cookie nobody has to be asked
  browser.cookie() = "__Host-session=" + std::string(43, 'A');
  for (const char* target : {"/notes", "/account"}) {
    const auto reply = browser.get(target);
    EXPECT_EQ(reply.status(), 503u) << reply;
    EXPECT_FALSE(reply.header("Set-Cookie"));
    EXPECT_EQ(reply.content().find("gone"), std::string::npos) << reply;
  }
  EXPECT_EQ(browser.get("/untouched").status(), 200u);
}

TEST(SessionsInCookies, open_with_former_keys_and_are_sealed_with_the_first) {
  const std::string first(32, 'a'), second(32, 'b');
  testing::TestServer before(service_with(Sessions::in_cookies({}, std::array{first})));
  testing::TestServer rotated(service_with(Sessions::in_cookies({}, std::array{second, first})));
  testing::TestServer after(service_with(Sessions::in_cookies({}, std::array{second})));
  Browser browser(before);
  browser.post("/login/ann");
  Browser old(after), kept(rotated), sealed_anew(after);
  old.cookie() = kept.cookie() = browser.cookie();
  EXPECT_EQ(old.get("/account").status(), 401u);
  EXPECT_EQ(kept.get("/account").status(), 200u);
  kept.post("/notes/a");
  sealed_anew.cookie() = kept.cookie();
  EXPECT_EQ(sealed_anew.get("/account").status(), 200u);
}

TEST(SessionsInCookies, cannot_be_ended_from_elsewhere_and_say_so) {
  testing::TestServer server(service_with(make(true)));
  Browser browser(server);
  browser.post("/login/ann");
  EXPECT_EQ(browser.post("/end_others").status(), 501u);
}

TEST(SessionsOf, options_that_no_browser_would_accept_are_refused) {
  const auto refused = [](auto&& change) {
    SessionOptions options;
    change(options);
    const auto made = make(true, options);
    return made ? std::string("made") : made.error().describe();
  };
  EXPECT_EQ(refused([](auto&) {}), "made");
  EXPECT_NE(refused([](auto& o) { o.secure = false; }).find("__Host-"), std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.cookie_name = "a b"; }).find("token"), std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.cookie_bytes_max = 4096; }).find("at most 2560"),
            std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.absolute_lifetime = seconds(60); }).find("not less"),
            std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.touch_after = seconds(3600); }).find("touch_after"),
            std::string::npos);
  const auto short_key = Sessions::in_cookies({}, std::array{std::string("short")});
  ASSERT_FALSE(short_key);
  EXPECT_NE(short_key.error().describe().find("32"), std::string::npos);
}

}  // namespace
}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
