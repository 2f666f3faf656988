#include "katana/identity/auth/optional.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "katana/http/middleware/http_cache.hpp"
#include "katana/identity/auth/api_key.hpp"
#include "katana/identity/auth/policy.hpp"
#include "katana/identity/auth/token_fixture_test.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/openapi/document/openapi.hpp"

namespace katana::auth {
namespace {

using FoundOrNot = FromContext<std::optional<Principal>>;

Reply say_who_if_known(FoundOrNot who) { return Reply::text(Text(*who ? (*who)->id() : "nobody")); }

class OptionalTest : public TokenTest {
 protected:
  void serve_who(const Authentication& how) {
    serve([&](Group& api) { api.use(optional(how)).get("/who", &say_who_if_known); });
  }
};

TEST_F(OptionalTest, without_credentials_the_request_goes_on_without_a_principal) {
  serve_who(bearer(options()));
  const auto stranger = server->get("/api/who");
  EXPECT_EQ(stranger.status(), 200U);
  EXPECT_EQ(stranger.content(), "nobody");
  EXPECT_EQ(get("/api/who", token()).content(), "ann");
}

TEST_F(OptionalTest, what_differs_by_who_asks_is_not_for_caches) {
  serve_who(bearer(options()));
  EXPECT_EQ(server->get("/api/who").header("Cache-Control"), "no-store");
  EXPECT_EQ(get("/api/who", token()).header("Cache-Control"), "no-store");
}

TEST_F(OptionalTest, credentials_that_are_not_believed_are_refused_as_where_they_are_required) {
  serve_who(bearer(options()));
  jose::Claims old = claims();
  old.expires_at = now() - std::chrono::minutes(10);
  for (const std::string& text : {token(old), std::string("x"), token() + "x"}) {
    const auto reply = get("/api/who", text);
    EXPECT_EQ(reply.status(), 401U) << text;
    EXPECT_EQ(reply.header("WWW-Authenticate"), R"(Bearer error="invalid_token")");
  }
  const auto twice = server->get(
      "/api/who", {{"Authorization", "Bearer " + token()}, {"Authorization", "Bearer " + token()}});
  EXPECT_EQ(twice.status(), 400U);
  keys->withdraw();
  EXPECT_EQ(get("/api/who", token()).status(), 503U);
  EXPECT_EQ(server->get("/api/who").status(), 200U);
}

TEST_F(OptionalTest, credentials_that_are_looked_up_are_awaited) {
  const NewApiKey given = make_api_key("shop");
  serve_who(api_key({.find = [&](std::string prefix) -> Task<Result<std::optional<ApiKeyRecord>>> {
    co_await net::sleep_for(milliseconds(1));
    if (prefix != given.prefix) co_return std::nullopt;
    co_return ApiKeyRecord{.hash = given.hash, .id = "robot"};
  }}));
  const auto with = [&](std::string text) {
    return server->get("/api/who", {{"X-API-Key", std::move(text)}});
  };
  EXPECT_EQ(with(std::string(given.text.reveal())).content(), "robot");
  EXPECT_EQ(with("shop_1_" + std::string(64, '0')).status(), 401U);
  EXPECT_EQ(server->get("/api/who").content(), "nobody");
}

// Places the cache in front of the middleware or behind it, on the group of the route or around it.
class CachedOptionalTest : public OptionalTest {
 protected:
  enum class Order { cache_first, identity_first, cache_around };

  void serve_cached(Order order, const HttpCache& cache) {
    const NewApiKey* const given[] = {&ann_, &bob_};
    const Authentication how =
        api_key({.find = [given](std::string prefix) -> Task<Result<std::optional<ApiKeyRecord>>> {
          co_await net::sleep_for(milliseconds(1));
          for (const NewApiKey* each : given) {
            if (prefix == each->prefix) co_return ApiKeyRecord{.hash = each->hash, .id = prefix};
          }
          co_return std::nullopt;
        }});
    Router router;
    if (order == Order::cache_around) router.use(cache.middleware());
    Group api = router.group("/api");
    if (order == Order::cache_first) api.use(cache.middleware());
    api.use(optional(how));
    if (order == Order::identity_first) api.use(cache.middleware());
    api.get("/who", [](FoundOrNot who) {
      return Reply::text(Text(*who ? (*who)->id() : "nobody"))
          .with("Cache-Control", "public, s-maxage=60")
          .with("CDN-Cache-Control", "max-age=60");
    });
    router.get("/public", [] { return Reply::text("a").with("Cache-Control", "s-maxage=60"); });
    server = std::make_unique<testing::TestServer>(std::move(router).build());
  }
  testing::TestReply with(const NewApiKey& key, std::string target = "/api/who") {
    return server->get(target, {{"X-API-Key", std::string(key.text.reveal())}});
  }
  std::string anybody() { return std::string(server->get("/api/who").content()); }

  const NewApiKey ann_ = make_api_key("ann");
  const NewApiKey bob_ = make_api_key("bob");
};

TEST_F(CachedOptionalTest, a_cache_shows_no_reply_to_another_user_or_to_a_stranger) {
  for (const Order order : {Order::cache_first, Order::identity_first, Order::cache_around}) {
    // Tests the default, and a cache that also serves requests with credentials.
    for (const bool by_default : {true, false}) {
      HttpCacheOptions options;
      if (!by_default) options.private_fields = {};
      const HttpCache cache(options);
      serve_cached(order, cache);
      for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(with(ann_).content(), ann_.prefix);
        EXPECT_EQ(anybody(), "nobody") << "after a user";
        EXPECT_EQ(with(bob_).content(), bob_.prefix) << "after another and a stranger";
        EXPECT_EQ(with(ann_).content(), ann_.prefix);
      }
      EXPECT_EQ(cache.statistics().kept, 0U);
      EXPECT_EQ(cache.statistics().hits, 0U);
    }
  }
}

TEST_F(CachedOptionalTest, a_cache_shows_no_reply_of_a_stranger_to_a_user) {
  for (const Order order : {Order::cache_first, Order::identity_first, Order::cache_around}) {
    const HttpCache cache({.private_fields = {}});
    serve_cached(order, cache);
    EXPECT_EQ(anybody(), "nobody");
    EXPECT_EQ(anybody(), "nobody");
    EXPECT_EQ(with(ann_).content(), ann_.prefix);
    EXPECT_EQ(server->get("/api/who", {{"X-API-Key", "ann_1_x"}}).status(), 401U);
    EXPECT_EQ(anybody(), "nobody") << "after a refusal";
  }
}

TEST_F(CachedOptionalTest, other_caches_are_told_and_routes_without_it_are_kept) {
  const HttpCache cache;
  serve_cached(Order::cache_around, cache);
  for (const testing::TestReply& reply : {with(ann_), server->get("/api/who")}) {
    EXPECT_EQ(reply.header("CDN-Cache-Control"), std::nullopt);
    const auto& fields = reply.headers();
    EXPECT_TRUE(std::ranges::any_of(fields, [](const auto& each) {
      return each.first == "Cache-Control" && each.second == "private";
    }));
  }
  EXPECT_EQ(server->get("/public").content(), "a");
  EXPECT_EQ(server->get("/public").content(), "a");
  EXPECT_EQ(cache.statistics().hits, 1U);
}

TEST_F(OptionalTest, a_route_that_needs_a_principal_does_not_build_behind_it) {
  Router policy;
  policy.use(optional(bearer(options()))).use(require(authenticated()));
  policy.get("/who", &say_who_if_known);
  EXPECT_FALSE(std::move(policy).build());
  Router handler;
  handler.use(optional(bearer(options()))).get("/who", [](FromContext<Principal> who) {
    return Reply::text(Text(who->id()));
  });
  EXPECT_FALSE(std::move(handler).build());
}

TEST_F(OptionalTest, a_document_says_that_credentials_may_be_left_out) {
  Router router;
  router.use(optional(bearer(options())));
  openapi::Document document({.title = "Shop", .version = "1"});
  document.describe(router).get("/who", &say_who_if_known, {.id = "who"});
  const std::string text = container::to_json(document.to_value());
  EXPECT_NE(text.find(R"("security":[{},{"bearer":[]}])"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("securitySchemes":{"bearer":)"), std::string::npos) << text;
  EXPECT_EQ(text.find(R"("securitySchemes":{"":)"), std::string::npos) << text;
}

}  // namespace
}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
