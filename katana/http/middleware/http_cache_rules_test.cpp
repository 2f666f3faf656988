// Rules of the response cache, each at its limit: the parts of the key, the times, the waiting
// requests, and the effect of a change.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/http/handlers/dispatcher.hpp"
#include "katana/http/handlers/exchange_fixture_test.hpp"
#include "katana/http/middleware/http_cache.hpp"
#include "katana/net/reactor/peer_certificate.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

// Pages with a body that says how often the handler was called.
class HttpCacheRules : public ::testing::Test {
 protected:
  Reply page() {
    called_at = net::Reactor::current()->now();
    Reply reply = Reply::text(format_text("page {}", ++calls));
    reply.set_status(status);
    for (const auto& [name, value] : fields) reply.add_field(name, value);
    return reply;
  }
  Task<Reply> slow_page() {
    if (takes > Duration{}) co_await net::sleep_for(takes);
    co_return page();
  }
  testing::TestServer& server() {
    if (server_) return *server_;
    Router router;
    router.use(cache.middleware());
    router.get("/page", [this] { return slow_page(); });
    router.get("/sized/{n}", [](Path<std::size_t> n) {
      return Reply::text(std::string(*n, 'x')).with("Cache-Control", "max-age=60");
    });
    const auto change = [this](const RequestView&) {
      Reply reply(change_status);
      if (!location.empty()) reply.add_field(location_name, location);
      return reply;
    };
    router.post("/page", change).put("/page", change).patch("/page", change);
    router.delete_("/page", change);
    router.post("/elsewhere", change);
    router.post("/counted", [this] { return page(); });
    router.any("/any", [this](const RequestView&) { return page(); });
    testing::TestOptions options;
    options.http.trusted_proxies = {*Network::parse("0.0.0.0/0"), *Network::parse("::/0")};
    options.http.forwarded = http::ForwardedFields::x_forwarded;
    return server_.emplace(std::move(router).build(), options);
  }
  testing::TestReply get(std::string_view target = "/page", const testing::TestFields& with = {}) {
    return server().get(target, with);
  }
  std::string content(std::string_view target = "/page", const testing::TestFields& with = {}) {
    return get(target, with).content();
  }

  // advance() ends with a millisecond. If a client was silent for a while, two requests that it
  // then sends reach their handlers equally far apart. The tests aim at such an instant.
  Instant begin_after(Duration silent) {
    const auto fields_meant = std::exchange(fields, {{"Cache-Control", "no-store"}});
    get();
    server().advance(silent);
    fields = fields_meant;
    return server().now();
  }
  void advance_to(Instant end) {
    server().advance(nanoseconds((end - server().now()).ns - 1'000'000));
  }

  HttpCache cache;
  int calls = 0;
  Instant called_at = {};  // of the handler, by its reactor
  unsigned status = 200;
  unsigned change_status = 204;
  std::string location_name = "Location";
  std::string location;
  std::vector<std::pair<std::string, std::string>> fields = {{"Cache-Control", "max-age=60"}};
  Duration takes = {};

 private:
  std::optional<testing::TestServer> server_;
};

TEST_F(HttpCacheRules, a_page_by_http_is_not_shown_to_who_asks_by_https) {
  const testing::TestFields plain = {{"X-Forwarded-Proto", "http"}};
  const testing::TestFields secure = {{"X-Forwarded-Proto", "https"}};
  EXPECT_EQ(content("/page", plain), "page 1");
  EXPECT_EQ(content("/page", secure), "page 2");
  EXPECT_EQ(content("/page", plain), "page 1");
  EXPECT_EQ(content("/page", secure), "page 2");
}

TEST_F(HttpCacheRules, values_of_a_field_that_vary_names_are_apart_whatever_they_hold) {
  fields.emplace_back("Vary", "X-A");
  const auto of = [&](std::vector<std::string> values) {
    testing::TestFields sent;
    for (std::string& each : values) sent.emplace_back("X-A", std::move(each));
    return content("/page", sent);
  };
  const std::vector<std::vector<std::string>> all = {
      {"a\tb"}, {"a", "b"}, {"a", "", "b"}, {"a b"}, {"a:b"}, {"1:a"}, {"a1:b"}, {"a,b"}, {}, {""}};
  std::vector<std::string> pages;
  for (const auto& values : all) pages.push_back(of(values));
  for (std::size_t one = 0; one < all.size(); ++one) {
    for (std::size_t other = 0; other < one; ++other) EXPECT_NE(pages[one], pages[other]);
    EXPECT_EQ(of(all[one]), pages[one]);
  }
}

TEST_F(HttpCacheRules, at_the_very_end_of_its_time_a_reply_is_not_fresh) {
  EXPECT_EQ(content(), "page 1");
  server().advance(milliseconds(59'999));
  EXPECT_EQ(content(), "page 1");
  server().advance(milliseconds(1));
  EXPECT_EQ(content(), "page 2");
}

TEST_F(HttpCacheRules, a_reply_that_is_kept_for_longer_is_not_fresh_at_the_end_of_its_time) {
  fields = {{"Cache-Control", "max-age=60, stale-while-revalidate=30"}};
  EXPECT_EQ(content(), "page 1");
  server().advance(milliseconds(59'999));
  EXPECT_EQ(content(), "page 1");
  server().advance(milliseconds(1));
  EXPECT_EQ(content(), "page 2");
}

TEST_F(HttpCacheRules, at_the_instant_at_which_its_time_ends_a_reply_is_stale_and_not_a_hit) {
  fields = {{"Cache-Control", "max-age=60, stale-if-error=30"}};
  const Instant begun = begin_after(seconds(60));
  EXPECT_EQ(content(), "page 2");
  const Instant made = called_at;
  advance_to(begun + seconds(60));
  EXPECT_EQ(get().header("cache-status"), "katana; fwd=stale; stored");
  EXPECT_EQ((called_at - made).ns, seconds(60).ns);
}

TEST_F(HttpCacheRules, at_the_instant_at_which_stale_if_error_ends_an_error_is_not_replaced) {
  fields = {{"Cache-Control", "max-age=60, stale-while-revalidate=600, stale-if-error=30"}};
  const Instant begun = begin_after(seconds(90));
  EXPECT_EQ(content(), "page 2");
  const Instant made = called_at;
  status = 503;
  advance_to(begun + seconds(90));
  EXPECT_EQ(get().status(), 503u);
  EXPECT_EQ((called_at - made).ns, seconds(90).ns);
}

TEST_F(HttpCacheRules, no_store_of_a_request_holds_wherever_it_stands_in_the_list) {
  EXPECT_EQ(content(), "page 1");
  EXPECT_EQ(content("/page", {{"Cache-Control", "max-age=0, no-store"}}), "page 2");
  EXPECT_EQ(content(), "page 1");
}

TEST_F(HttpCacheRules, a_304_of_a_reply_that_is_just_kept_has_its_etag_and_no_content) {
  fields.emplace_back("ETag", "\"a\"");
  const auto fresh = get("/page", {{"If-None-Match", "\"a\""}});
  EXPECT_EQ(fresh.status(), 304u);
  EXPECT_EQ(fresh.header("ETag"), "\"a\"");
  EXPECT_EQ(fresh.content(), "");
  EXPECT_EQ(cache.statistics().kept, 1u);
  EXPECT_EQ(get("/page", {{"If-None-Match", "\"a\""}}).header("ETag"), "\"a\"");
  EXPECT_EQ(cache.statistics().not_modified, 1u);
}

TEST_F(HttpCacheRules, a_place_on_this_server_is_invalidated_with_and_without_its_scheme) {
  for (const char* const place : {"/sized/7", "http://test.example/sized/7?n=1", "/sized/7#top"}) {
    const testing::TestFields host = {{"Host", "test.example"}};
    get("/sized/7", host);
    EXPECT_TRUE(get("/sized/7", host).header("cache-status")->starts_with("katana; hit"));
    location = place;
    EXPECT_EQ(server().post("/elsewhere", "", host).status(), change_status);
    EXPECT_FALSE(get("/sized/7", host).header("cache-status")->starts_with("katana; hit")) << place;
  }
}

TEST_F(HttpCacheRules, a_change_removes_nothing_of_another_origin) {
  const testing::TestFields shop = {{"Host", "shop.example"}, {"X-Forwarded-Proto", "https"}};
  const testing::TestFields plain = {{"Host", "shop.example"}, {"X-Forwarded-Proto", "http"}};
  const testing::TestFields other = {{"Host", "other.example"}, {"X-Forwarded-Proto", "https"}};
  const auto is_kept = [&](const testing::TestFields& origin) {
    return get("/sized/7", origin).header("cache-status")->starts_with("katana; hit");
  };
  for (const testing::TestFields& origin : {shop, plain, other}) get("/sized/7", origin);
  (void)server().post("/page", "", shop);
  EXPECT_TRUE(is_kept(shop)) << "another path";
  for (const char* const place :
       {"http://shop.example/sized/7", "https://other.example/sized/7", "//other.example/sized/7",
        "https://shop.example:8443/sized/7", "https://shop.example.evil/sized/7",
        "ftp://shop.example/sized/7", "/?u=https://shop.example/sized/7"}) {
    location = place;
    (void)server().post("/elsewhere", "", shop);
    EXPECT_TRUE(is_kept(shop) && is_kept(plain) && is_kept(other)) << place;
  }
  for (const char* const place :
       {"/sized/7", "https://shop.example/sized/7", "HTTPS://SHOP.example:443/sized/7?x=1",
        "//shop.example/sized/7", "/sized/7?next=http://other.example/"}) {
    location = place;
    (void)server().post("/elsewhere", "", shop);
    EXPECT_TRUE(is_kept(plain) && is_kept(other)) << place;
    EXPECT_FALSE(is_kept(shop)) << place;
  }
  EXPECT_EQ(cache.invalidate("/sized/7"), 3u) << "what a program asks for is of every origin";
}

TEST_F(HttpCacheRules, a_page_that_was_changed_for_one_origin_is_kept_for_others) {
  const testing::TestFields one = {{"Host", "one.example"}}, two = {{"Host", "two.example"}};
  const std::string first = content("/page", one), second = content("/page", two);
  (void)server().post("/page", "", one);
  EXPECT_NE(content("/page", one), first);
  EXPECT_EQ(content("/page", two), second);
}

TEST_F(HttpCacheRules, a_post_is_never_kept) {
  EXPECT_EQ(server().post("/counted", "").content(), "page 1");
  EXPECT_EQ(server().post("/counted", "").content(), "page 2");
  EXPECT_EQ(server().post("/any", "").content(), "page 3");
  EXPECT_EQ(content("/any"), "page 4");
  EXPECT_EQ(server().post("/any", "").content(), "page 5");
}

TEST_F(HttpCacheRules, a_method_of_unknown_safety_removes_what_is_kept) {
  EXPECT_EQ(content("/any"), "page 1");
  EXPECT_EQ(content("/any"), "page 1");
  EXPECT_EQ(server().send("FROBNICATE", "/any", "").content(), "page 2");
  EXPECT_EQ(content("/any"), "page 3");
}

TEST_F(HttpCacheRules, fields_of_any_name_are_kept) {
  fields.emplace_back("X-Unknown", "one");
  fields.emplace_back("X-Unknown", "two");
  fields.emplace_back("Link", "</a>; rel=next");
  get();
  const testing::TestReply kept = get();
  EXPECT_EQ(kept.header("cache-status"), "katana; hit");
  std::vector<std::string> values;
  for (const auto& [name, value] : kept.headers()) {
    if (name == "x-unknown" || name == "X-Unknown") values.push_back(value);
  }
  EXPECT_EQ(values, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(kept.header("link"), "</a>; rel=next");
}

TEST_F(HttpCacheRules, fields_about_a_proxy_are_not_kept) {
  for (const char* const name :
       {"Proxy-Authenticate", "proxy-authentication-info", "Proxy-Authorization"}) {
    fields = {{"Cache-Control", "max-age=60"}, {name, "Basic realm=\"a\""}};
    cache.clear();
    get();
    const testing::TestReply kept = get();
    EXPECT_EQ(kept.header("cache-status"), "katana; hit") << name;
    EXPECT_FALSE(kept.header(name)) << name;
  }
}

TEST_F(HttpCacheRules, expires_counts_only_without_max_age_and_an_invalid_one_has_ended) {
  struct Case {
    const char* control;
    const char* expires;
    bool is_kept;
  };
  constexpr const char* far = "Thu, 31 Dec 2099 00:00:00 GMT";
  const Case cases[] = {{"public", far, true},
                        {"max-age=60", "0", true},
                        {"s-maxage=60", "Thu, 01 Jan 1970 00:00:00 GMT", true},
                        {"max-age=0", far, false},
                        {"s-maxage=0", far, false},
                        {"public", "0", false},
                        {"public", "", false},
                        {"public", "tomorrow", false},
                        {"public", "Thu, 31 Dec 2099 00:00:00 +0200", false},
                        {"public", "Thu, 31 Dec 2099 00:00:00 CET", false},
                        {"public", "2099-12-31T00:00:00Z", false}};
  for (const Case& each : cases) {
    cache.clear();
    fields = {{"Cache-Control", each.control}, {"Expires", each.expires}};
    const std::string first = content();
    EXPECT_EQ(content() == first, each.is_kept) << each.control << " " << each.expires;
  }
}

TEST_F(HttpCacheRules, a_directive_to_revalidate_forbids_stale_replies) {
  constexpr const char* stale = "stale-while-revalidate=60, stale-if-error=60";
  for (const char* const strict :
       {"max-age=10, must-revalidate, ", "max-age=10, proxy-revalidate, ", "s-maxage=10, "}) {
    cache.clear();
    status = 200;
    fields = {{"Cache-Control", std::string(strict) + stale}};
    EXPECT_EQ(get().status(), 200u);
    server().advance(seconds(15));
    status = 503;
    EXPECT_EQ(get().status(), 503u) << strict;
  }
  status = 200;
  cache.clear();
  fields = {{"Cache-Control", std::string("max-age=10, ") + stale}};
  get();
  server().advance(seconds(15));
  status = 503;
  EXPECT_EQ(get().status(), 200u) << "where none forbids it";
}

TEST_F(HttpCacheRules, a_directive_that_is_not_known_changes_nothing) {
  for (const char* const control :
       {"max-age=60, community=\"UCI, x\"", "frob, max-age=60", "x=private, max-age=60",
        "max-age=60, no-storeage, privately", "max-age=60, y=\"no-store\""}) {
    cache.clear();
    fields = {{"Cache-Control", control}};
    const std::string first = content();
    EXPECT_EQ(content(), first) << control;
  }
}

TEST_F(HttpCacheRules, a_reply_whose_age_is_not_one_whole_number_is_not_kept) {
  for (const char* const wrong : {"", "abc", "-1", "-7200", "+5", "5.0", "7200.0", "5;a=b", "5 s",
                                  "0x5", "5, 7", "0, 0", "7200,0"}) {
    cache.clear();
    fields = {{"Cache-Control", "max-age=60"}, {"Age", wrong}};
    const std::string first = content();
    EXPECT_NE(content(), first) << wrong;
  }
}

TEST_F(HttpCacheRules, an_age_has_as_many_digits_as_it_has) {
  fields = {{"Cache-Control", "max-age=60"}, {"Age", "000000000000000000005"}};
  get();
  EXPECT_EQ(get().header("Age"), "5");
  for (const char* const old :
       {"60", "0000000000060", "2147483648", "4294967296", "99999999999999999999"}) {
    cache.clear();
    fields = {{"Cache-Control", "max-age=60"}, {"Age", old}};
    EXPECT_EQ(get().header("cache-status"), "katana; fwd=uri-miss") << old;
  }
}

TEST_F(HttpCacheRules, a_field_for_shared_caches_counts_in_place_of_cache_control_and_expires) {
  struct Case {
    const char* targeted;
    const char* control;
    const char* expires;
    bool is_kept;
  };
  constexpr const char* far = "Thu, 31 Dec 2099 00:00:00 GMT";
  const Case cases[] = {{"max-age=60", "max-age=0", "0", true},
                        {"max-age=60", "no-store", "0", true},
                        {"max-age=60", "private", far, true},
                        {"s-maxage=60, max-age=0", "no-cache", "0", true},
                        {"max-age=60;x=1, foobar", "no-store", far, true},
                        {"no-store=?0, max-age=60", "no-store", far, true},
                        {"max-age=0, max-age=60", "no-store", far, true},
                        {"max-age=99999999999", "no-store", far, true},
                        {"max-age=0", "max-age=60", far, false},
                        {"max-age=-5", "max-age=60", far, false},
                        {"no-store", "max-age=60", far, false},
                        {"private, max-age=60", "max-age=60", far, false},
                        {"no-cache=(\"a\"), max-age=60", "max-age=60", far, false},
                        {"foobar", "max-age=60", far, false}};
  for (const Case& each : cases) {
    cache.clear();
    fields = {{"CDN-Cache-Control", each.targeted},
              {"Cache-Control", each.control},
              {"Expires", each.expires}};
    const std::string first = content();
    EXPECT_EQ(content() == first, each.is_kept) << each.targeted << " / " << each.control;
  }
}

TEST_F(HttpCacheRules, a_field_for_shared_caches_that_is_no_dictionary_or_empty_is_ignored) {
  for (const char* const ignored : {"", "&&&", "max-age=60, &&&", "Max-Age=60", "max-age =60",
                                    "max-age= 60", "max-age=60,", "no-store,,"}) {
    cache.clear();
    fields = {{"CDN-Cache-Control", ignored}, {"Cache-Control", "no-store"}};
    const std::string refused = content();
    EXPECT_NE(content(), refused) << ignored;
    fields.back().second = "max-age=60";
    const std::string first = content();
    EXPECT_EQ(content(), first) << ignored;
  }
  for (const char* const no_time : {"max-age=\"60\"", "max-age=60.0", "max-age", "max-age=?1"}) {
    cache.clear();
    fields = {{"CDN-Cache-Control", no_time}, {"Cache-Control", "max-age=60"}};
    const std::string first = content();
    EXPECT_NE(content(), first) << no_time;
  }
}

TEST_F(HttpCacheRules, a_field_for_shared_caches_is_passed_on_with_the_reply_and_with_a_304) {
  fields = {{"CDN-Cache-Control", "max-age=60"}, {"Cache-Control", "no-store"}, {"ETag", "\"a\""}};
  for (const char* const from : {"its handler", "the cache"}) {
    EXPECT_EQ(get().header("CDN-Cache-Control"), "max-age=60") << from;
  }
  const testing::TestReply same = get("/page", {{"If-None-Match", "\"a\""}});
  EXPECT_EQ(same.status(), 304u);
  EXPECT_EQ(same.header("CDN-Cache-Control"), "max-age=60");
}

TEST_F(HttpCacheRules, several_lines_of_a_field_for_shared_caches_are_one_dictionary) {
  fields = {{"CDN-Cache-Control", "max-age=60"}, {"CDN-Cache-Control", "no-store"}};
  std::string first = content();
  EXPECT_NE(content(), first);
  fields = {{"CDN-Cache-Control", "max-age=60"},
            {"CDN-Cache-Control", "&"},
            {"Cache-Control", "no-store"}};
  first = content();
  EXPECT_NE(content(), first);
}

TEST_F(HttpCacheRules, a_field_for_shared_caches_says_how_long_an_old_reply_serves) {
  fields = {{"CDN-Cache-Control", "max-age=10, stale-if-error=30"}, {"Cache-Control", "no-store"}};
  EXPECT_EQ(content(), "page 1");
  server().advance(seconds(15));
  status = 503;
  EXPECT_EQ(content(), "page 1");
  status = 200;
  cache.clear();
  fields = {{"CDN-Cache-Control", "max-age=10, must-revalidate"},
            {"Cache-Control", "max-age=10, stale-if-error=30"}};
  get();
  server().advance(seconds(15));
  status = 503;
  EXPECT_EQ(get().status(), 503u);
}

TEST_F(HttpCacheRules, must_understand_overrides_no_store_of_a_status_that_the_cache_knows) {
  fields = {{"Cache-Control", "max-age=60, no-store, must-understand"}};
  for (const auto& [known, is_kept] : {std::pair{200u, true}, {404u, true}, {299u, false}}) {
    cache.clear();
    status = known;
    const std::string first = content();
    EXPECT_EQ(content() == first, is_kept) << known;
  }
  status = 200;
  fields = {{"Cache-Control", "max-age=60, private, must-understand"}};
  const std::string first = content();
  EXPECT_NE(content(), first);
}

TEST_F(HttpCacheRules, a_place_is_resolved_and_normalised_before_what_is_kept_of_it_is_removed) {
  for (const char* name : {"Location", "Content-Location"}) {
    for (const char* place : {"page", "./page", "x/../page", "/x/../page", "/%70age", "../page",
                              "page?x=1", "http:page", "/./page#part"}) {
      const std::string before = content();
      location_name = name;
      location = place;
      (void)server().post("/elsewhere", "");
      EXPECT_NE(content(), before) << name << ": " << place;
    }
    for (const char* place : {"other", "page/", "x/page", "?page", "#page", "", "/%", "%"}) {
      const std::string before = content();
      location = place;
      (void)server().post("/elsewhere", "");
      EXPECT_EQ(content(), before) << name << ": " << place;
    }
  }
}

TEST_F(HttpCacheRules, a_304_has_the_fields_that_the_rfc_names) {
  const std::vector<std::pair<std::string, std::string>> named = {
      {"Cache-Control", "max-age=60"},
      {"Content-Location", "/page.en"},
      {"ETag", "\"a\""},
      {"Expires", "Thu, 31 Dec 2099 00:00:00 GMT"},
      {"Vary", "Accept-Language"}};
  fields = named;
  fields.emplace_back("X-Other", "1");
  for (const char* const from : {"its handler", "the cache"}) {
    const testing::TestReply reply = get("/page", {{"If-None-Match", "\"a\""}});
    EXPECT_EQ(reply.status(), 304u) << from;
    for (const auto& [name, value] : named) EXPECT_EQ(reply.header(name), value) << from;
    EXPECT_EQ(reply.header("X-Other"), std::nullopt) << from;
  }
  EXPECT_EQ(cache.statistics().not_modified, 1u);
}

TEST_F(HttpCacheRules, a_reply_that_is_stale_when_it_is_made_is_not_kept) {
  fields = {{"Cache-Control", "max-age=60, stale-while-revalidate=600"}, {"Age", "60"}};
  EXPECT_EQ(get().header("cache-status"), "katana; fwd=uri-miss");
  EXPECT_EQ(content(), "page 2");
}

TEST_F(HttpCacheRules, content_of_the_largest_size_is_kept_and_one_byte_more_is_not) {
  cache = HttpCache({.reply_bytes_max = 100});
  EXPECT_EQ(get("/sized/100").header("cache-status"), "katana; fwd=uri-miss; stored");
  EXPECT_EQ(get("/sized/101").header("cache-status"), "katana; fwd=uri-miss");
}

TEST_F(HttpCacheRules, a_500_is_replaced_by_an_old_reply_as_any_5xx_is) {
  fields = {{"Cache-Control", "max-age=10, stale-if-error=30"}};
  EXPECT_EQ(content(), "page 1");
  server().advance(seconds(15));
  for (const unsigned failed : {500u, 502u, 599u}) {
    status = failed;
    EXPECT_EQ(get().status(), 200u) << failed;
  }
  status = 499;
  EXPECT_EQ(get().status(), 499u);
}

TEST_F(HttpCacheRules, an_error_is_not_replaced_at_the_end_of_stale_if_error) {
  fields = {{"Cache-Control", "max-age=10, stale-while-revalidate=40, stale-if-error=20"}};
  EXPECT_EQ(content(), "page 1");
  status = 503;
  server().advance(milliseconds(29'999));
  EXPECT_EQ(content(), "page 1");
  server().advance(milliseconds(1));
  EXPECT_EQ(get().status(), 503u);
}

TEST_F(HttpCacheRules, an_old_reply_is_not_shown_at_the_end_of_stale_while_revalidate) {
  fields = {{"Cache-Control", "max-age=10, stale-while-revalidate=20, stale-if-error=40"}};
  EXPECT_EQ(content(), "page 1");
  server().advance(seconds(30));
  takes = seconds(1);
  auto first = server().begin_get("/page");
  auto second = server().begin_get("/page");
  server().advance(seconds(1));
  EXPECT_EQ(first.reply().content(), "page 2");
  EXPECT_EQ(second.reply().content(), "page 2");
}

TEST_F(HttpCacheRules, only_a_200_is_answered_with_304) {
  for (const unsigned kept : {404u, 410u, 301u}) {
    status = kept;
    cache.clear();
    fields = {{"Cache-Control", "max-age=60"}, {"ETag", "\"a\""}};
    EXPECT_EQ(get("/page", {{"If-None-Match", "\"a\""}}).status(), kept);
    const testing::TestReply again = get("/page", {{"If-None-Match", "\"a\""}});
    EXPECT_EQ(again.status(), kept);
    EXPECT_EQ(again.header("cache-status"), "katana; hit");
  }
}

TEST_F(HttpCacheRules, no_more_requests_wait_than_may) {
  cache = HttpCache({.waiting_max = 1});
  takes = seconds(1);
  auto first = server().begin_get("/page");
  auto second = server().begin_get("/page");
  auto third = server().begin_get("/page");
  EXPECT_EQ(cache.statistics().waited, 1u);
  EXPECT_EQ(first.reply().content(), "page 1");
  EXPECT_EQ(third.reply().content(), "page 2");
  EXPECT_EQ(second.reply().status(), 200u);
  EXPECT_EQ(calls, 2);
}

TEST_F(HttpCacheRules, every_unsafe_method_with_2xx_or_3xx_removes_what_is_kept_of_its_path) {
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
    for (const unsigned done : {200u, 204u, 303u, 399u}) {
      const std::string before = content();
      EXPECT_EQ(content(), before);
      change_status = done;
      (void)server().send(method, "/page", "");
      EXPECT_NE(content(), before) << method << " " << done;
    }
    for (const unsigned failed : {400u, 404u, 500u}) {
      const std::string before = content();
      change_status = failed;
      (void)server().send(method, "/page", "");
      EXPECT_EQ(content(), before) << method << " " << failed;
    }
  }
}

TEST_F(HttpCacheRules, a_safe_method_removes_nothing) {
  const std::string before = content();
  (void)server().head("/page");
  (void)server().send("OPTIONS", "/page");
  EXPECT_EQ(content(), before);
}

TEST_F(HttpCacheRules, a_place_with_a_query_or_a_fragment_removes_what_is_kept_of_its_path) {
  for (const char* name : {"Location", "Content-Location"}) {
    for (const char* place : {"/page", "/page?x=1", "/page#part", "/page?x=1#part"}) {
      const std::string before = content();
      location_name = name;
      location = place;
      (void)server().post("/elsewhere", "");
      EXPECT_NE(content(), before) << name << ": " << place;
    }
  }
}

// Without the rule the cache would ask for the time, which this exchange does not have.
TEST_F(HttpCacheRules, a_client_with_a_certificate_passes_by) {
  Router router;
  router.use(cache.middleware());
  router.get("/page", [] { return Reply(200).with("Cache-Control", "max-age=60"); });
  const Result<Service> service = std::move(router).build();
  ASSERT_TRUE(service);
  Dispatcher dispatcher(*service);
  const net::PeerCertificate certificate{.subject = "CN=ann"};
  FakeExchange exchange("GET", "/page");
  exchange.certificate = &certificate;
  exchange.serve(dispatcher);
  EXPECT_EQ(exchange.status, 200u);
  EXPECT_NE(exchange.fields_sent.find("fwd=bypass"), std::string::npos) << exchange.fields_sent;
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
