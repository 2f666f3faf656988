#include <gtest/gtest.h>

#include <array>

#include "katana/identity/sessions/sessions_fixture_test.hpp"
#include "katana/identity/sessions/stored_key.hpp"
#include "katana/net/reactor/sleep.hpp"

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
  thief.cookie() = anonymous;  // the attacker who planted the id is not logged in
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
  browser.cookie() = "__Host-session=" + std::string(64, 'A');
  browser.post("/notes/a");
  EXPECT_EQ(browser.cookie().find(std::string(43, 'A')), std::string::npos) << browser.cookie();
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

TEST_P(EachWay, a_login_takes_over_no_role_of_the_user_before) {
  testing::TestServer server(service_with(make(GetParam())));
  Browser browser(server);
  browser.post("/login/ann");
  browser.post("/guest");
  EXPECT_EQ(browser.get("/account").content(), "guest by session does not read");
}

TEST_P(EachWay, a_reply_with_a_cookie_is_kept_by_no_cache_whatever_its_handler_says) {
  const auto sessions = make(GetParam());
  Router router;
  router.use(sessions->middleware());
  router.post("/notes/{text}", [](Path<std::string> text, FromContext<UserSession> session) {
    return [](std::string text, FromContext<UserSession> session) -> Task<Reply> {
      Notes notes;
      notes.texts.push_back(std::move(text));
      const Result<void> kept = co_await session->set(notes);
      Reply reply = answer(kept);
      reply.add_field("Cache-Control", "public, max-age=60");
      co_return reply;
    }(*text, std::move(session));
  });
  testing::TestServer server(std::move(router).build());
  const auto reply = server.send("POST", "/notes/a");
  ASSERT_TRUE(reply.header("Set-Cookie"));
  bool is_stored = true;
  for (const auto& [name, value] : reply.headers()) {
    if (name == "Cache-Control" && value == "no-store") is_stored = false;
  }
  EXPECT_FALSE(is_stored) << reply;
}

// Lets a request wait between its read and its write.
Task<Reply> renew_late(FromContext<UserSession> session) {
  const auto who = co_await session->principal();
  if (!who || !*who) co_return Reply(401);
  co_await net::sleep_for(seconds(1));
  const Result<void> renewed = co_await session->renew();
  co_return answer(renewed);
}
Result<Service> service_with_late_renewal(const Result<Sessions>& sessions) {
  Router router;
  router.use(sessions->middleware());
  router.post("/renew_late", renew_late).post("/renew", renew);
  router.post("/login/{user}", log_in).post("/logout", log_out).post("/end_others", end_others);
  router.post("/notes/{text}", add_note).get("/notes", show_notes);
  Group account = router.group("/account");
  account.use(sessions->require_login());
  account.get("", [](FromContext<auth::Principal> who) { return Reply::text(Text(who->id())); });
  return std::move(router).build();
}

TEST(SessionsInStore, that_were_ended_are_not_revived_by_a_request_that_had_begun_before) {
  testing::TestServer server(service_with_late_renewal(make(false)));
  for (const char* const end : {"/logout", "/end_others"}) {
    Browser owner(server), thief(server);
    owner.post("/login/ann");
    thief.post("/login/ann");
    auto late = server.begin("POST", "/renew_late", {}, {{"Cookie", thief.cookie()}});
    Browser& ends = std::string_view(end) == "/logout" ? thief : owner;
    const std::string stolen = thief.cookie();
    EXPECT_EQ(ends.post(end).status(), 200u);
    server.advance(seconds(1));
    const testing::TestReply reply = late.reply();
    EXPECT_EQ(reply.status(), 409u) << reply;
    EXPECT_TRUE(reply.header("Set-Cookie")->find("Max-Age=0") != std::string_view::npos) << reply;
    thief.cookie() = stolen;
    EXPECT_EQ(thief.get("/account").status(), 401u);
  }
}

TEST(SessionsInStore, that_a_logout_ends_are_over_under_their_former_cookie) {
  testing::TestServer server(service_with(make(false)));
  Browser browser(server);
  browser.post("/login/ann");
  const std::string former = browser.cookie();
  browser.post("/logout");
  browser.cookie() = former;
  EXPECT_EQ(browser.get("/account").status(), 401u);
}

TEST(SessionsInStore, a_request_that_was_sent_before_a_renewal_leaves_the_new_cookie) {
  testing::TestServer server(service_with(make(false)));
  Browser browser(server), late(server);
  browser.post("/notes/a");
  late.cookie() = browser.cookie();
  browser.post("/login/ann");
  const std::string former = late.cookie();
  EXPECT_EQ(late.get("/account").status(), 401u);
  EXPECT_FALSE(late.get("/notes").header("Set-Cookie"));
  EXPECT_EQ(late.post("/notes/b").status(), 409u);
  EXPECT_EQ(late.post("/renew").status(), 409u);
  EXPECT_EQ(late.cookie(), former);
  EXPECT_EQ(browser.get("/notes").content(), "a;");
  server.advance(seconds(61));  // a lost reply does not bind the browser forever
  late.get("/notes");
  EXPECT_EQ(late.cookie(), "");
}

TEST(SessionsInStore, a_logout_that_was_sent_before_a_renewal_ends_the_renewed_session) {
  testing::TestServer server(service_with(make(false)));
  Browser browser(server), late(server);
  browser.post("/notes/a");
  late.cookie() = browser.cookie();
  browser.post("/login/ann");
  EXPECT_EQ(browser.get("/account").status(), 200u);
  EXPECT_LT(late.post("/logout").status(), 300u);
  EXPECT_EQ(late.cookie(), "");
  EXPECT_EQ(browser.get("/account").status(), 401u);
}

TEST(SessionsInStore, are_over_by_lifetimes_that_were_shortened_since) {
  auto store = std::make_shared<MemorySessionStore>();
  SessionOptions shorter;
  shorter.idle_lifetime = seconds(60);
  testing::TestServer before(service_with(make(false, {}, store)));
  testing::TestServer after(service_with(make(false, shorter, store)));
  Browser browser(before), same(after);
  browser.post("/login/ann");
  same.cookie() = browser.cookie();
  EXPECT_EQ(same.get("/account").status(), 200u);
  after.advance(seconds(61));
  EXPECT_EQ(same.get("/account").status(), 401u);
}

// Counts its calls.
class CountingStore final : public SessionStore {
 public:
  Task<Result<std::optional<StoredSession>>> load(SessionKey key, std::int64_t now_s) override {
    ++loads;
    co_return co_await store_.load(key, now_s);
  }
  Task<Result<bool>> compare_and_set(SessionWrite write) override {
    ++writes;
    last_bytes = encode_session(*write.record).size();
    co_return co_await store_.compare_and_set(std::move(write));
  }
  Task<Result<void>> touch(SessionKey key, std::int64_t version, std::int64_t seen_s,
                           std::int64_t expires_s) override {
    ++touches;
    co_return co_await store_.touch(key, version, seen_s, expires_s);
  }
  Task<Result<void>> remove(SessionKey key) override { co_return co_await store_.remove(key); }
  Task<Result<std::int64_t>> remove_all(std::string issuer, std::string principal) override {
    co_return co_await store_.remove_all(std::move(issuer), std::move(principal));
  }
  Task<Result<std::optional<std::int64_t>>> remove_others(std::string issuer, std::string principal,
                                                          SessionKey kept,
                                                          std::int64_t version) override {
    co_return co_await store_.remove_others(std::move(issuer), std::move(principal), kept, version);
  }

  int loads = 0;
  int writes = 0;
  int touches = 0;
  std::size_t last_bytes = 0;  // size of the last written record

 private:
  MemorySessionStore store_;
};

TEST_P(EachWay, that_it_was_seen_is_written_in_the_second_at_which_it_is_due) {
  auto store = std::make_shared<CountingStore>();
  testing::TestServer server(service_with(make(GetParam(), {}, store)));
  Browser browser(server);
  browser.post("/notes/a");
  const auto is_written = [&] {
    const int before = store->touches;
    const bool has_cookie = browser.get("/notes").header("Set-Cookie").has_value();
    return GetParam() ? has_cookie : store->touches != before;
  };
  server.advance(seconds(59));
  EXPECT_FALSE(is_written());
  server.advance(seconds(1));
  EXPECT_TRUE(is_written());
  EXPECT_FALSE(is_written());
}

Task<Reply> set_same(FromContext<UserSession> session) {
  Notes notes{{"same"}};
  const Result<void> kept = co_await session->set(notes);
  co_return answer(kept);
}
Task<Reply> log_in_badly(Path<std::string> where, FromContext<UserSession> session) {
  auth::PrincipalFacts facts;
  facts.id = "ann";
  const std::string no_text = "\xff";
  if (*where == "id") facts.id = no_text;
  if (*where == "issuer") facts.issuer = no_text;
  if (*where == "name") facts.name = no_text;
  if (*where == "roles") facts.roles = {"reader", no_text};
  if (*where == "scopes") facts.scopes = {no_text};
  const Result<void> kept = co_await session->log_in(facts);
  co_return answer(kept);
}
Task<Reply> read_for_caches(FromContext<UserSession> session) {
  const auto notes = co_await session->get<Notes>();
  co_return Reply::text("x").with("Cache-Control", "private, max-age=60");
}
Result<Service> service_of_rules(const Result<Sessions>& sessions) {
  if (!sessions) return std::unexpected(sessions.error());
  Router router;
  router.use(sessions->middleware());
  router.post("/same", set_same).post("/bad/{where}", log_in_badly);
  router.get("/cached", read_for_caches).get("/notes", show_notes);
  return std::move(router).build();
}

TEST_P(EachWay, what_is_set_again_is_not_written_again) {
  auto store = std::make_shared<CountingStore>();
  testing::TestServer server(service_of_rules(make(GetParam(), {}, store)));
  Browser browser(server);
  EXPECT_TRUE(browser.post("/same").header("Set-Cookie"));
  EXPECT_FALSE(browser.post("/same").header("Set-Cookie"));
  EXPECT_EQ(store->writes, GetParam() ? 0 : 1);
}

TEST_P(EachWay, a_name_that_is_no_UTF_8_does_not_log_in) {
  testing::TestServer server(service_of_rules(make(GetParam())));
  Browser browser(server);
  for (const char* const where : {"id", "issuer", "name", "roles", "scopes"}) {
    EXPECT_EQ(browser.post("/bad/" + std::string(where)).status(), 400u) << where;
    EXPECT_EQ(browser.cookie(), "");
  }
  EXPECT_EQ(browser.post("/bad/nowhere").status(), 200u);
}

TEST_P(EachWay, a_handler_decides_who_keeps_a_reply_that_sets_no_cookie) {
  testing::TestServer server(service_of_rules(make(GetParam())));
  const auto reply = server.get("/cached");
  std::vector<std::string> values;
  for (const auto& [name, value] : reply.headers()) {
    if (name == "Cache-Control") values.push_back(value);
  }
  EXPECT_EQ(values, std::vector<std::string>{"private, max-age=60"});
  EXPECT_EQ(reply.header("Vary"), "Cookie");
}

TEST_P(EachWay, a_persistent_cookie_lasts_as_long_as_its_session_may) {
  for (const bool persistent : {false, true}) {
    SessionOptions options;
    options.persistent = persistent;
    testing::TestServer server(service_of_rules(make(GetParam(), options)));
    const auto reply = server.post("/same", "");
    const auto cookie = reply.header("Set-Cookie");
    ASSERT_TRUE(cookie) << reply;
    EXPECT_EQ(cookie->contains("Max-Age=43200"), persistent) << *cookie;
    EXPECT_EQ(cookie->contains("Max-Age"), persistent) << *cookie;
  }
}

TEST(SessionsInCookies, are_kept_up_to_cookie_bytes_max_and_no_further) {
  std::size_t bytes = 0;
  for (const int less : {0, 0, 1}) {
    SessionOptions options;
    if (bytes != 0) options.cookie_bytes_max = static_cast<std::uint32_t>(bytes) - less;
    testing::TestServer server(service_of_rules(make(true, options)));
    Browser browser(server);
    EXPECT_EQ(browser.post("/same").status(), less == 0 ? 200u : 400u);
    if (bytes == 0) bytes = browser.cookie().size() - Bytes("__Host-session=").size();
  }
}

TEST(SessionsInStore, are_kept_up_to_stored_bytes_max_and_no_further) {
  std::size_t bytes = 0;
  for (const int less : {0, 0, 1}) {
    SessionOptions options;
    if (bytes != 0) options.stored_bytes_max = static_cast<std::uint32_t>(bytes) - less;
    auto store = std::make_shared<CountingStore>();
    testing::TestServer server(service_with(make(false, options, store)));
    Browser browser(server);
    browser.post("/notes/a");
    EXPECT_EQ(browser.post("/notes/b").status(), less == 0 ? 200u : 400u);
    if (bytes == 0) bytes = store->last_bytes;
  }
}

TEST(SessionsInStore, a_former_cookie_is_left_for_a_minute_and_not_a_second_longer) {
  testing::TestServer server(service_with(make(false)));
  Browser browser(server), late(server);
  browser.post("/notes/a");
  late.cookie() = browser.cookie();
  browser.post("/login/ann");
  server.advance(seconds(59));
  EXPECT_FALSE(late.get("/notes").header("Set-Cookie"));
  server.advance(seconds(1));
  late.get("/notes");
  EXPECT_EQ(late.cookie(), "");
}

TEST(SessionsInStore, are_looked_for_by_ids_of_the_right_form_alone) {
  auto store = std::make_shared<CountingStore>();
  testing::TestServer server(service_with(make(false, {}, store)));
  Browser browser(server);
  for (const std::size_t size : {1u, 21u, 22u, 43u, 63u, 65u, 1000u}) {
    browser.cookie() = "__Host-session=" + std::string(size, 'A');
    EXPECT_EQ(browser.get("/account").status(), 401u);
  }
  EXPECT_EQ(store->loads, 0);
  browser.cookie() = "__Host-session=" + std::string(64, 'A');
  browser.get("/account");
  EXPECT_EQ(store->loads, 1);
  browser.post("/renew");
  EXPECT_EQ(store->writes, 0) << "a visitor of whom nothing is kept has no session to renew";
}

TEST(StoredKeys, tell_issuers_and_principals_apart) {
  EXPECT_NE(owner_text("ab", "c"), owner_text("a", "bc"));
  EXPECT_EQ(owner_text("a", ""), "");
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
    co_await net::sleep_for(seconds(1));
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

// A failure of the store never makes the user an anonymous visitor.
class BrokenStore final : public SessionStore {
 public:
  Task<Result<std::optional<StoredSession>>> load(SessionKey, std::int64_t) override {
    co_return fail(Code::unavailable, "gone");
  }
  Task<Result<bool>> compare_and_set(SessionWrite) override {
    co_return fail(Code::unavailable, "gone");
  }
  Task<Result<void>> touch(SessionKey, std::int64_t, std::int64_t, std::int64_t) override {
    co_return fail(Code::unavailable, "gone");
  }
  Task<Result<void>> remove(SessionKey) override { co_return fail(Code::unavailable, "gone"); }
  Task<Result<std::int64_t>> remove_all(std::string, std::string) override {
    co_return fail(Code::unavailable, "gone");
  }
  Task<Result<std::optional<std::int64_t>>> remove_others(std::string, std::string, SessionKey,
                                                          std::int64_t) override {
    co_return fail(Code::unavailable, "gone");
  }
};

TEST(SessionsInStore, a_store_that_fails_is_503_and_the_cookie_stays) {
  testing::TestServer server(service_with(make(false, {}, std::make_shared<BrokenStore>())));
  Browser browser(server);
  EXPECT_EQ(browser.post("/notes/a").status(), 503u);
  EXPECT_EQ(browser.get("/account").status(), 401u);  // without a cookie the store is not asked
  browser.cookie() = "__Host-session=" + std::string(64, 'A');
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
  EXPECT_NE(refused([](auto& o) { o.touch_after = milliseconds(999); }).find("touch_after"),
            std::string::npos);
  const auto short_key = Sessions::in_cookies({}, std::array{std::string("short")});
  ASSERT_FALSE(short_key);
  EXPECT_NE(short_key.error().describe().find("32"), std::string::npos);
}

}  // namespace
}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
