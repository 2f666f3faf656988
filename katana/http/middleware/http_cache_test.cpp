// Tests which replies are kept, which clients get them, and which replies are never shared.
#include "katana/http/middleware/http_cache.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "katana/http/handlers/preconditions.hpp"
#include "katana/http/middleware/cache_control.hpp"
#include "katana/http/middleware/compression.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

class HttpCacheTest : public ::testing::Test {
 protected:
  // The reply of the handler; its body says how often the handler was called.
  Reply page(std::string field, std::string value) {
    ++calls;
    Reply reply = Reply::text(format_text("page {}", calls));
    reply.set_status(status);
    if (!field.empty()) reply.add_field(field, value);
    for (const auto& [name, content] : fields) reply.add_field(name, content);
    if (version != 0) reply.set_version(version);
    return reply;
  }
  Task<Reply> slow_page() {
    if (takes > Duration{}) co_await net::sleep_for(takes);
    co_return page("Cache-Control", control);
  }
  testing::TestServer& server() {
    if (server_) return *server_;
    Router router;
    if (compresses_in_front) router.use(compression({.bytes_min = 1}));
    router.use(cache.middleware());
    if (compresses_behind) router.use(compression({.bytes_min = 1}));
    router.get("/page", [this] { return slow_page(); });
    router.get("/page/{_rest...}",
               [this](const RequestView&) { return page("Cache-Control", control); });
    router.post("/page", [this] { return Reply(write_status); });
    router.post("/pages",
                [this](const RequestView&) { return Reply(201).with("Location", location); });
    router.get("/stream", [](const RequestView&) {
      return Reply::stream("text/plain", 1, [](ContentSink& sink) { return sink.write("x"); })
          .with("Cache-Control", "max-age=60");
    });
    auto built = std::move(router).build();
    EXPECT_TRUE(built) << built.error().describe();
    return server_.emplace(std::move(built));
  }
  std::string get(std::string_view target = "/page", const testing::TestFields& with = {}) {
    return server().get(target, with).content();
  }
  std::string status_of(const testing::TestReply& reply) {
    return std::string(reply.header("cache-status").value_or("-"));
  }
  // Returns whether a second request for the same resource gets the reply of the first.
  bool is_kept(std::string_view target = "/page", const testing::TestFields& with = {}) {
    const std::string first = get(target, with);
    return get(target, with) == first;
  }

  HttpCache cache;
  int calls = 0;
  int version = 0;
  unsigned status = 200;
  unsigned write_status = 204;
  std::string control = "max-age=60";
  std::string location = "/page";
  std::vector<std::pair<std::string, std::string>> fields;
  Duration takes = {};
  bool compresses_in_front = false;
  bool compresses_behind = false;

 private:
  std::optional<testing::TestServer> server_;
};

TEST_F(HttpCacheTest, a_reply_with_a_time_is_kept_for_it_and_says_its_age) {
  const testing::TestReply first = server().get("/page");
  EXPECT_EQ(first.content(), "page 1");
  EXPECT_EQ(status_of(first), "katana; fwd=uri-miss; stored");
  EXPECT_FALSE(first.header("age"));
  server().advance(seconds(59));
  const testing::TestReply second = server().get("/page");
  EXPECT_EQ(second.content(), "page 1");
  EXPECT_EQ(second.header("content-type"), "text/plain");
  EXPECT_EQ(second.header("cache-control"), "max-age=60");
  EXPECT_EQ(second.header("age"), "59");
  EXPECT_EQ(status_of(second), "katana; hit");
  server().advance(seconds(1));
  const testing::TestReply third = server().get("/page");
  EXPECT_EQ(third.content(), "page 2");
  EXPECT_EQ(calls, 2);
}

TEST_F(HttpCacheTest, replies_that_say_nothing_or_no_are_not_kept) {
  for (const char* not_kept :
       {"", "no-store", "private, max-age=60", "no-cache, max-age=60", "max-age=0", "max-age=x",
        "max-age=-1", "public", "s-maxage=0, max-age=60", "max-age=60, max-age=0",
        "PRIVATE, MAX-AGE=60", "private=\"x-user\", max-age=60",
        "no-cache=\"set-cookie\", max-age=60", "max-age=60,,no-store"}) {
    control = not_kept;
    EXPECT_FALSE(is_kept()) << not_kept;
  }
  for (const char* kept : {"max-age=1", "s-maxage=1", "max-age=0, s-maxage=5", "Max-Age=\"60\"",
                           "public,max-age=60", "max-age=99999999999999999999"}) {
    cache.clear();
    control = kept;
    EXPECT_TRUE(is_kept()) << kept;
  }
}

TEST_F(HttpCacheTest, replies_for_one_client_alone_are_not_kept) {
  fields = {{"Set-Cookie", "session=1"}};
  EXPECT_FALSE(is_kept());
  fields = {{"Vary", "*"}};
  EXPECT_FALSE(is_kept());
  fields = {{"Vary", "Accept, *"}};
  EXPECT_FALSE(is_kept());
  fields = {{"Content-Range", "bytes 0-1/2"}};
  EXPECT_FALSE(is_kept());
  fields.clear();
  for (const unsigned not_kept : {201u, 206u, 302u, 303u, 307u, 400u, 401u, 403u, 500u, 503u}) {
    status = not_kept;
    EXPECT_FALSE(is_kept()) << not_kept;
  }
  status = 404;
  EXPECT_TRUE(is_kept());
}

TEST_F(HttpCacheTest, requests_of_somebody_neither_fill_it_nor_are_answered_from_it) {
  for (const char* name :
       {"Authorization", "Cookie", "X-Api-Key", "Proxy-Authorization", "COOKIE"}) {
    control = "public, max-age=60";
    cache.clear();
    const std::string own = get("/page", {{name, "of=me"}});
    EXPECT_NE(get("/page"), own) << "shown to anybody: " << name;
    const std::string anybodys = get("/page");
    EXPECT_NE(get("/page", {{name, "of=me"}}), anybodys) << "shown to somebody: " << name;
    EXPECT_EQ(status_of(server().get("/page", {{name, "of=me"}})), "katana; fwd=bypass");
  }
}

TEST_F(HttpCacheTest, where_credentials_may_be_kept_the_reply_has_to_say_so) {
  cache = HttpCache({.private_fields = {"cookie"}});
  const testing::TestFields with = {{"Authorization", "Bearer a"}};
  control = "max-age=60";
  EXPECT_FALSE(is_kept("/page", with));
  for (const char* said : {"public, max-age=60", "s-maxage=60", "max-age=60, must-revalidate"}) {
    cache.clear();
    control = said;
    EXPECT_TRUE(is_kept("/page", with)) << said;
  }
}

TEST_F(HttpCacheTest, conditions_ranges_contents_and_no_store_pass_by) {
  ASSERT_TRUE(is_kept());
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"Range", "bytes=0-1"},
           {"If-Range", "\"a\""},
           {"If-Match", "\"a\""},
           {"If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"},
           {"Cache-Control", "no-store"}}) {
    EXPECT_NE(get("/page", {{name, value}}), "page 1") << name;
  }
  EXPECT_NE(server().send("GET", "/page", "content of a GET").content(), "page 1");
  EXPECT_EQ(get(), "page 1") << "and what they got was not kept";
  EXPECT_EQ(get("/page", {{"Cache-Control", "no-cache"}}), "page 1") << "no client makes it work";
}

TEST_F(HttpCacheTest, hosts_schemes_and_queries_are_apart) {
  const std::string first = get("/page", {{"Host", "a.example"}});
  EXPECT_NE(get("/page", {{"Host", "b.example"}}), first);
  EXPECT_EQ(get("/page", {{"Host", "A.Example"}}), first);
  EXPECT_NE(get("/page?", {{"Host", "a.example"}}), first);
  EXPECT_NE(get("/page?x=1", {{"Host", "a.example"}}), first);
  EXPECT_NE(get("/page?x=1&utm=2", {{"Host", "a.example"}}),
            get("/page?x=1", {{"Host", "a.example"}}));
}

// Web cache deception and poisoning. A reply to a target in another spelling, or one that depends
// on headers outside of the key, is for no other client.
TEST_F(HttpCacheTest, other_spellings_of_a_path_neither_hit_nor_fill) {
  ASSERT_EQ(get("/page"), "page 1");
  for (const char* target :
       {"/x/../page", "/%70age", "/./page", "/page/../page", "/page/%2e%2e/page"}) {
    EXPECT_NE(get(target), "page 1") << target;
    EXPECT_NE(get(target), get(target)) << target;
  }
  EXPECT_EQ(get("/page"), "page 1");
}

TEST_F(HttpCacheTest, a_name_that_looks_like_a_file_makes_nothing_public) {
  control = "private, max-age=60";
  for (const char* target :
       {"/page/me.css", "/page/me;a.js", "/page/me%2Fa.js", "/page/me.css?v=1"}) {
    EXPECT_FALSE(is_kept(target)) << target;
  }
  control = "max-age=60";
  EXPECT_FALSE(is_kept("/page/me.css", {{"Cookie", "session=1"}}));
}

TEST_F(HttpCacheTest, what_vary_names_is_in_the_key) {
  fields = {{"Vary", "Accept-Language, X-Forwarded-Host"}};
  const std::string german = get("/page", {{"Accept-Language", "de"}});
  EXPECT_NE(get("/page", {{"Accept-Language", "en"}}), german);
  EXPECT_EQ(get("/page", {{"Accept-Language", "de"}}), german);
  EXPECT_NE(get("/page", {{"Accept-Language", "de"}, {"X-Forwarded-Host", "evil.example"}}),
            german);
  EXPECT_NE(get("/page"), german);
  const std::string none = get("/page");
  EXPECT_EQ(get("/page"), none);
  EXPECT_NE(get("/page", {{"Accept-Language", ""}}), none) << "empty is not none";
}

TEST_F(HttpCacheTest, names_that_vary_once_said_are_not_forgotten) {
  fields = {{"Vary", "Accept-Language"}};
  const std::string german = get("/page", {{"Accept-Language", "de"}});
  // A reply without the field, such as an error page, does not replace the others.
  fields.clear();
  const std::string english = get("/page", {{"Accept-Language", "en"}});
  EXPECT_EQ(get("/page", {{"Accept-Language", "de"}}), german);
  fields = {{"Vary", "Accept"}};
  const std::string json =
      get("/page", {{"Accept-Language", "fr"}, {"Accept", "application/json"}});
  EXPECT_NE(get("/page", {{"Accept-Language", "fr"}, {"Accept", "text/html"}}), json);
  EXPECT_NE(get("/page", {{"Accept-Language", "it"}, {"Accept", "application/json"}}), json);
}

TEST_F(HttpCacheTest, a_client_that_has_it_is_told_so) {
  const testing::TestReply first = server().get("/page");
  const std::string tag(first.header("etag").value_or(""));
  EXPECT_TRUE(tag.starts_with("W/\"")) << tag;
  const testing::TestReply second = server().get("/page", {{"If-None-Match", tag}});
  EXPECT_EQ(second.status(), 304u);
  EXPECT_EQ(second.header("etag"), tag);
  EXPECT_EQ(second.header("cache-control"), "max-age=60");
  EXPECT_EQ(second.header("age"), "0");
  EXPECT_FALSE(second.header("content-type"));
  EXPECT_EQ(server().get("/page", {{"If-None-Match", "\"other\""}}).status(), 200u);
  cache.clear();
  calls = 0;  // the body is then the same as before
  const testing::TestReply third = server().get("/page", {{"If-None-Match", tag}});
  EXPECT_EQ(third.status(), 304u) << "also when the handler had to run";
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(get(), "page 1");
  fields = {{"ETag", "\"v7\""}};
  cache.clear();
  EXPECT_EQ(server().get("/page").header("etag"), "\"v7\"");
  EXPECT_EQ(server().get("/page", {{"If-None-Match", "\"v7\""}}).status(), 304u);
}

TEST_F(HttpCacheTest, a_version_that_was_compressed_on_the_way_is_known_again) {
  compresses_in_front = true;
  version = 7;
  const testing::TestFields gzip{{"Accept-Encoding", "gzip"}};
  for (int round = 0; round < 2; ++round) {  // the handler's reply, then the kept one
    EXPECT_EQ(server().get("/page", gzip).header("etag"), "\"7+gzip\"");
    const testing::TestReply same =
        server().get("/page", {{"Accept-Encoding", "gzip"}, {"If-None-Match", "\"7+gzip\""}});
    EXPECT_EQ(same.status(), 304u);
    EXPECT_EQ(same.header("etag"), "\"7+gzip\"");
  }
  EXPECT_EQ(calls, 1);
  cache.clear();
  const testing::TestReply first =
      server().get("/page", {{"Accept-Encoding", "gzip"}, {"If-None-Match", "\"7+gzip\""}});
  EXPECT_EQ(first.status(), 304u) << "also when the handler had to run";
  EXPECT_EQ(first.header("etag"), "\"7+gzip\"");
}

TEST_F(HttpCacheTest, a_page_without_a_date_is_sent_whatever_date_a_client_names) {
  const auto status_since = [&](const char* date) {
    return server().get("/page", {{"If-Modified-Since", date}}).status();
  };
  EXPECT_EQ(status_since("Fri, 31 Dec 2100 23:59:59 GMT"), 200u);
  EXPECT_EQ(status_since("Fri, 31 Dec 2100 23:59:59 GMT"), 200u);
  fields = {{"Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"}};
  cache.clear();
  EXPECT_EQ(status_since("Sun, 06 Nov 1994 08:49:37 GMT"), 304u);
  EXPECT_EQ(status_since("Sun, 06 Nov 1994 08:49:37 GMT"), 304u);
  EXPECT_EQ(status_since("Sun, 06 Nov 1994 08:49:36 GMT"), 200u);
}

TEST_F(HttpCacheTest, a_head_is_answered_from_a_get_and_fills_nothing) {
  EXPECT_EQ(server().head("/page").status(), 200u);
  EXPECT_EQ(get(), "page 2");
  const testing::TestReply head = server().head("/page");
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(head.header("content-length"), "6");
  EXPECT_EQ(head.content(), "");
  EXPECT_EQ(status_of(head), "katana; hit");
}

TEST_F(HttpCacheTest, streams_are_not_kept) {
  const testing::TestReply reply = server().get("/stream");
  EXPECT_EQ(reply.content(), "x");
  EXPECT_EQ(status_of(server().get("/stream")), "katana; fwd=uri-miss");
}

TEST_F(HttpCacheTest, one_handler_runs_for_all_who_ask_at_the_same_time) {
  takes = milliseconds(100);
  auto first = server().begin_get("/page");
  auto second = server().begin_get("/page");
  auto third = server().begin_get("/page");
  EXPECT_EQ(first.reply().content(), "page 1");
  EXPECT_EQ(second.reply().content(), "page 1");
  EXPECT_EQ(third.reply().content(), "page 1");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(cache.statistics().waited, 2u);
}

TEST_F(HttpCacheTest, those_who_wait_go_on_when_there_is_nothing_for_them) {
  takes = milliseconds(100);
  control = "private";
  auto first = server().begin_get("/page");
  auto second = server().begin_get("/page");
  EXPECT_EQ(first.reply().content(), "page 1");
  EXPECT_EQ(second.reply().content(), "page 2");
  // And for a while no request waits for such a reply.
  auto third = server().begin_get("/page");
  auto fourth = server().begin_get("/page");
  server().advance(milliseconds(100));
  EXPECT_EQ(calls, 4);
  third.reply();
  fourth.reply();
}

TEST_F(HttpCacheTest, a_client_that_leaves_holds_nobody_up) {
  takes = milliseconds(100);
  {
    auto first = server().begin_get("/page");
    auto second = server().begin_get("/page");
    first.reset();
    EXPECT_EQ(second.reply().content(), "page 1");
  }
  EXPECT_EQ(get(), "page 1");
}

TEST_F(HttpCacheTest, nobody_waits_for_longer_than_he_may) {
  takes = seconds(20);
  auto first = server().begin_get("/page");
  auto second = server().begin_get("/page");
  server().advance(seconds(5));
  takes = {};
  server().advance(seconds(20));
  EXPECT_EQ(second.reply().status(), 200u);
  EXPECT_EQ(calls, 2);
  first.reply();
}

TEST_F(HttpCacheTest, an_old_reply_serves_while_one_request_makes_a_new_one) {
  control = "max-age=10, stale-while-revalidate=30";
  EXPECT_EQ(get(), "page 1");
  server().advance(seconds(15));
  takes = milliseconds(100);
  auto first = server().begin_get("/page");
  const testing::TestReply second = server().get("/page");
  EXPECT_EQ(second.content(), "page 1");
  EXPECT_EQ(status_of(second), "katana; hit; detail=stale");
  EXPECT_EQ(second.header("age"), "15");
  EXPECT_EQ(first.reply().content(), "page 2");
  EXPECT_EQ(get(), "page 2");
  for (const char* strict : {"max-age=10, stale-while-revalidate=30, must-revalidate",
                             "s-maxage=10, stale-while-revalidate=30"}) {
    control = strict;
    cache.clear();
    get();
    const int before = calls;
    server().advance(seconds(15));
    auto third = server().begin_get("/page");
    auto fourth = server().begin_get("/page");
    EXPECT_EQ(third.reply().content(), fourth.reply().content());
    EXPECT_EQ(calls, before + 1) << strict;
    EXPECT_EQ(status_of(server().get("/page")), "katana; hit");
  }
}

TEST_F(HttpCacheTest, an_old_reply_serves_in_place_of_an_error_for_as_long_as_it_may) {
  control = "max-age=10, stale-if-error=30";
  EXPECT_EQ(get(), "page 1");
  server().advance(seconds(15));
  status = 503;
  const testing::TestReply reply = server().get("/page");
  EXPECT_EQ(reply.status(), 200u);
  EXPECT_EQ(reply.content(), "page 1");
  EXPECT_EQ(status_of(reply), "katana; hit; fwd-status=503; detail=stale");
  server().advance(seconds(25));
  EXPECT_EQ(server().get("/page").status(), 503u);
}

TEST_F(HttpCacheTest, an_unsafe_method_removes_what_is_kept_of_its_path) {
  get();
  get("/page?x=1");
  write_status = 500;
  (void)server().post("/page", "");
  EXPECT_EQ(get(), "page 1") << "it failed";
  write_status = 204;
  (void)server().post("/page?y=2", "");
  EXPECT_EQ(get(), "page 3");
  EXPECT_EQ(get("/page?x=1"), "page 4");
  (void)server().post("/pages", "");  // 201 with Location: /page
  EXPECT_EQ(get(), "page 5");
  location = "http://elsewhere.example/page";
  (void)server().post("/pages", "");
  EXPECT_EQ(get(), "page 5") << "of another host";
  EXPECT_EQ(cache.invalidate("/page"), 1u);
  EXPECT_EQ(get(), "page 6");
}

TEST_F(HttpCacheTest, a_reply_that_was_begun_before_the_change_is_not_kept) {
  takes = milliseconds(100);
  auto old = server().begin_get("/page");
  server().advance(milliseconds(50));
  (void)server().post("/page", "");
  EXPECT_EQ(old.reply().content(), "page 1");
  EXPECT_EQ(get(), "page 2");
  EXPECT_EQ(get(), "page 2");
}

TEST_F(HttpCacheTest, with_compression_in_front_one_reply_serves_every_coding) {
  compresses_in_front = true;
  const testing::TestReply first = server().get("/page", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(first.header("content-encoding"), "gzip");
  const testing::TestReply second = server().get("/page");
  EXPECT_EQ(second.content(), "page 1");
  EXPECT_FALSE(second.header("content-encoding"));
  EXPECT_EQ(server().get("/page", {{"Accept-Encoding", "gzip"}}).content(), first.content());
  EXPECT_EQ(calls, 1);
}

TEST_F(HttpCacheTest, with_compression_behind_each_coding_is_kept) {
  compresses_behind = true;
  const testing::TestReply first = server().get("/page", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(first.header("content-encoding"), "gzip");
  EXPECT_EQ(server().get("/page").content(), "page 2");
  EXPECT_EQ(server().get("/page", {{"Accept-Encoding", "gzip"}}).content(), first.content());
  EXPECT_EQ(server().get("/page").content(), "page 2");
  EXPECT_EQ(calls, 2);
}

TEST_F(HttpCacheTest, expires_counts_where_there_is_no_max_age) {
  control = "public";
  fields = {{"Expires", "Thu, 31 Dec 2099 00:00:00 GMT"}};
  EXPECT_TRUE(is_kept());
  cache.clear();
  for (const char* over : {"0", "Thu, 01 Jan 1970 00:00:00 GMT", "tomorrow"}) {
    fields = {{"Expires", over}};
    EXPECT_FALSE(is_kept()) << over;
  }
}

TEST_F(HttpCacheTest, an_age_that_the_handler_gives_counts) {
  fields = {{"Age", "50"}};
  get();
  server().advance(seconds(9));
  EXPECT_EQ(server().get("/page").header("age"), "59");
  server().advance(seconds(1));
  EXPECT_EQ(get(), "page 2");
}

TEST_F(HttpCacheTest, it_is_bounded) {
  cache = HttpCache({.bytes_max = std::size_t{128} << 10, .reply_bytes_max = 1000});
  for (int index = 0; index < 2000; ++index) get("/page/" + std::to_string(index));
  EXPECT_LE(cache.memory().bytes, std::size_t{128} << 10);
  EXPECT_GT(cache.memory().evictions, 500u);
}

TEST(HttpCache, options_that_are_wrong_are_said_when_the_service_is_built) {
  Router router;
  router.use(http_cache({.name = "a b"}));
  router.get("/", [](const RequestView&) { return Reply(204); });
  const auto built = std::move(router).build();
  ASSERT_FALSE(built);
  EXPECT_NE(built.error().describe().find("http_cache()"), std::string::npos);
}

TEST(CacheControl, is_written_in_tokens_of_seconds) {
  const CacheControl control{.max_age = seconds(60),
                             .s_maxage = seconds(0),
                             .stale_while_revalidate = milliseconds(1'999)};
  EXPECT_EQ(control.text(), "max-age=60, s-maxage=0, stale-while-revalidate=1");
}

TEST(CacheControl, a_time_is_a_whole_number_and_any_other_text_is_no_time) {
  const auto max_age = [](const std::string& text) {
    return CacheControl::of_fields("Cache-Control: max-age=" + text + "\r\n").max_age;
  };
  EXPECT_EQ(max_age("12"), seconds(12));
  EXPECT_EQ(max_age("\"12\""), seconds(12));
  for (const char* const wrong :
       {"12abc", "12s", "-12", "-12abc", "+12", "1.5", "0x10", "", "\"\"", "\"12"}) {
    EXPECT_EQ(max_age(wrong), Duration{}) << wrong;
  }
}

TEST(CacheControl, is_written_as_it_is_read) {
  const CacheControl control{.max_age = seconds(60),
                             .stale_if_error = seconds(5),
                             .is_public = true,
                             .must_revalidate = true};
  EXPECT_EQ(control.text(), "public, max-age=60, stale-if-error=5, must-revalidate");
  const auto read = CacheControl::of_fields("X: y\r\ncache-control: " + control.text() + "\r\n");
  EXPECT_EQ(read.text(), control.text());
  EXPECT_EQ(
      CacheControl::of_fields("Cache-Control: max-age=9\r\nCache-Control: max-age=5\r\n").max_age,
      seconds(5));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
