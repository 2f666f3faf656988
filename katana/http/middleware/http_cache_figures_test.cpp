// Rules of the response cache about its figures, its memory, and replies that differ by what their
// handlers read.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/http/handlers/cookies.hpp"
#include "katana/http/handlers/head_fields.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/middleware/http_cache.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {

struct LanguageFields {
  std::optional<std::string> x_language;
};
KATANA_DESCRIBE(LanguageFields, x_language)

namespace {

class HttpCacheFigures : public ::testing::Test {
 protected:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  Reply page() {
    Reply reply =
        Reply::text(content.empty() ? Text(format_text("page {}", ++calls)) : Text(content));
    reply.set_status(status);
    for (const auto& [name, value] : fields) reply.add_field(name, value);
    return reply;
  }
  testing::TestServer& server() {
    if (server_) return *server_;
    Router router;
    router.use(cache.middleware());
    router.get("/page", [this]() -> Task<Reply> {
      if (takes > Duration{}) co_await net::sleep_for(takes);
      co_return page();
    });
    router.get("/language", [this](Header<LanguageFields>) { return page(); });
    router.get("/basket", [this](const RequestView& request) {
      (void)cookie(request, "basket");
      return page();
    });
    return server_.emplace(std::move(router).build());
  }
  testing::TestReply get(std::string_view target = "/page", const testing::TestFields& with = {}) {
    return server().get(target, with);
  }
  std::string status_of(const testing::TestReply& reply) {
    return std::string(reply.header("cache-status").value_or("-"));
  }

  HttpCache cache;
  int calls = 0;
  unsigned status = 200;
  Duration takes = {};
  std::string content;
  Fields fields = {{"Cache-Control", "max-age=60"}};

 private:
  std::optional<testing::TestServer> server_;
};

// ---- figures

TEST_F(HttpCacheFigures, a_hit_is_counted_as_stale_when_it_was_and_not_otherwise) {
  fields = {{"Cache-Control", "max-age=10, stale-while-revalidate=60, stale-if-error=60"}};
  get();
  get();
  EXPECT_EQ(cache.statistics().hits, 1u);
  EXPECT_EQ(cache.statistics().stale_hits, 0u);
  server().advance(seconds(20));
  takes = seconds(1);
  auto first = server().begin_get("/page");
  auto second = server().begin_get("/page");
  EXPECT_EQ(second.reply().content(), "page 1");
  EXPECT_EQ(first.reply().content(), "page 2");
  EXPECT_EQ(cache.statistics().stale_hits, 1u) << "while another request made a new one";
  server().advance(seconds(20));
  status = 503;
  EXPECT_EQ(get().content(), "page 2");
  EXPECT_EQ(cache.statistics().stale_hits, 2u) << "in place of an error";
}

TEST_F(HttpCacheFigures, its_memory_counts_the_content_and_the_fields_of_a_reply) {
  content = std::string(100'000, 'x');
  get();
  const std::size_t with_content = cache.memory().bytes;
  EXPECT_GE(with_content, 100'000u);
  EXPECT_LT(with_content, 120'000u);
  cache.clear();
  fields.emplace_back("X-Long", std::string(1'000, 'y'));
  EXPECT_EQ(get().content(), content);
  EXPECT_EQ(status_of(get()), "katana; hit");
  EXPECT_GE(cache.memory().bytes, with_content + 1'000);
}

TEST_F(HttpCacheFigures, a_cache_that_cannot_be_made_removes_nothing) {
  const HttpCache none({.name = "a b"});
  EXPECT_EQ(none.invalidate("/page"), 0u);
  none.clear();
}

// ---- times

TEST_F(HttpCacheFigures, a_reply_is_removed_when_its_time_is_over) {
  get();
  server().advance(seconds(60));
  EXPECT_EQ(status_of(get()), "katana; fwd=uri-miss; stored");
}

TEST_F(HttpCacheFigures, an_age_has_all_of_its_digits) {
  for (const char* const age : {"0", "9", "19", "50"}) {
    cache.clear();
    fields = {{"Cache-Control", "max-age=60"}, {"Age", age}};
    EXPECT_EQ(status_of(get()), "katana; fwd=uri-miss; stored") << age;
    EXPECT_EQ(get().header("age"), age);
  }
}

// ---- variants

TEST_F(HttpCacheFigures, a_variant_that_is_kept_for_less_time_ends_no_other) {
  fields = {{"Cache-Control", "max-age=60"}, {"Vary", "X-Language"}};
  const std::string german = get("/page", {{"X-Language", "de"}}).content();
  fields[0].second = "max-age=10";
  get("/page", {{"X-Language", "fr"}});
  server().advance(seconds(15));
  EXPECT_EQ(get("/page", {{"X-Language", "de"}}).content(), german);
}

TEST_F(HttpCacheFigures, a_reply_by_a_field_that_its_handler_takes_is_kept_if_vary_names_it) {
  get("/language");
  EXPECT_EQ(status_of(get("/language")), "katana; fwd=uri-miss") << "it is for this language alone";
  for (const char* const vary : {"X-Language", "Accept, x-language"}) {
    cache.clear();
    fields = {{"Cache-Control", "max-age=60"}, {"Vary", vary}};
    get("/language");
    EXPECT_EQ(status_of(get("/language")), "katana; hit") << vary;
  }
  fields[1].second = "X-Languages";
  cache.clear();
  get("/language");
  EXPECT_EQ(status_of(get("/language")), "katana; fwd=uri-miss") << "another name";
}

TEST_F(HttpCacheFigures, a_reply_for_clients_without_cookies_names_them_in_vary) {
  const auto first = get("/basket");
  EXPECT_EQ(first.header("vary"), "Cookie");
  const auto hit = get("/basket");
  EXPECT_EQ(status_of(hit), "katana; hit");
  EXPECT_EQ(hit.header("vary"), "Cookie");
  EXPECT_FALSE(get().header("vary")) << "no cookie was read";
}

// ---- validators

TEST_F(HttpCacheFigures, a_304_has_the_tag_that_the_handler_gave_also_to_a_weak_one) {
  fields.emplace_back("ETag", "\"a\"");
  for (int round = 0; round < 2; ++round) {  // just kept, and from the cache
    const auto same = get("/page", {{"If-None-Match", "W/\"a\""}});
    EXPECT_EQ(same.status(), 304u) << round;
    EXPECT_EQ(same.header("etag"), "\"a\"") << round;
  }
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
