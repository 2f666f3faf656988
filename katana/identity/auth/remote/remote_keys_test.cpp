#include "katana/identity/auth/remote/remote_keys.hpp"

#include <gtest/gtest.h>

#include <string>

#include "katana/http/handlers/router.hpp"
#include "katana/identity/auth/bearer.hpp"
#include "katana/identity/jose/jwt.hpp"
#include "katana/testing/fake_upstream.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::auth {
namespace {

constexpr Bytes url = "https://id.example/jwks.json";

jose::SigningKey new_key(std::string id) {
  static constexpr Bytes jwks[] = {
      R"({"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"})",
      R"({"kty":"OKP","crv":"Ed25519","d":"TM0Imyj_ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U-4pvs"})"};
  std::string jwk(jwks[id == "1" ? 0 : 1]);
  jwk.insert(1, R"("kid":")" + id + R"(",)");
  return *jose::read_private_jwk(jwk, {jose::Algorithm::eddsa});
}

class RemoteKeysTest : public ::testing::Test {
 protected:
  RemoteKeysTest()
      : keys(*RemoteKeys::make(http_client(), options())),
        server(service()),
        issuer(server, "https://id.example", [this](Router& router) {
          router.get("/jwks.json", [this] {
            Reply reply = Reply::json(Text(content));
            if (!cache_control.empty()) reply.add_field("Cache-Control", cache_control);
            return reply;
          });
        }) {
    publish({&first});
  }

  static client::HttpClient http_client() {
    client::HttpClientOptions options;
    options.tls.system_authorities = false;
    options.seed = 1;
    options.retries_max = 0;
    return *client::HttpClient::make(options);
  }
  RemoteKeysOptions options() {
    return {.url = std::string(url), .kept_max = seconds(3600), .on_failure = [this](Bytes words) {
              log.emplace_back(words);
            }};
  }
  Result<Service> service() {
    Router router;
    router.use(bearer({.keys = keys, .rules = {.issuers = {"i"}}}));
    router.get("/", [](FromContext<Principal> who) { return Reply::text(Text(who->id())); });
    router.anonymous().get("/load", [this]() -> Task<Result<Reply>> {
      auto loaded = co_await keys->load();
      if (!loaded) co_return std::unexpected(loaded.error());
      co_return Reply::no_content();
    });
    return std::move(router).build();
  }
  void publish(std::vector<const jose::SigningKey*> published) {
    content = R"({"keys":[)";
    for (const jose::SigningKey* each : published) {
      if (each != published.front()) content += ",";
      content += each->verification_key().jwk();
    }
    content += "]}";
  }
  std::string token_of(const jose::SigningKey& key) {
    return *jose::sign_jwt(key, {.issuer = "i",
                                 .subject = "ann",
                                 .expires_at = server.loop().wall_time() + std::chrono::hours(72)});
  }
  unsigned status_of(const std::string& token) {
    return server.get("/", {{"Authorization", "Bearer " + token}}).status();
  }
  std::size_t fetches() { return issuer.requests().size(); }

  const jose::SigningKey first = new_key("1");
  const jose::SigningKey second = new_key("2");
  std::string content;
  std::string cache_control;
  std::vector<std::string> log;
  std::shared_ptr<RemoteKeys> keys;
  testing::TestServer server;
  testing::FakeUpstream issuer;
};

TEST_F(RemoteKeysTest, the_first_request_waits_for_the_keys_and_others_use_them) {
  EXPECT_FALSE(keys->health());
  const std::string token = token_of(first);
  EXPECT_EQ(status_of(token), 200U);
  EXPECT_TRUE(keys->health());
  EXPECT_EQ(status_of(token), 200U);
  EXPECT_EQ(status_of(token_of(first)), 200U);
  EXPECT_EQ(fetches(), 1U);
}

TEST_F(RemoteKeysTest, requests_that_wait_at_a_time_wait_for_one_fetch) {
  issuer.delay(seconds(1));
  const std::string token = token_of(first);
  std::vector<testing::PendingReply> pending;
  for (int count = 0; count < 10; ++count) {
    pending.push_back(server.begin("GET", "/", "", {{"Authorization", "Bearer " + token}}));
  }
  for (auto& each : pending) EXPECT_EQ(each.reply().status(), 200U);
  EXPECT_EQ(fetches(), 1U);
}

TEST_F(RemoteKeysTest, requests_that_wait_while_the_issuer_hangs_wake_nobody) {
  issuer.delay(seconds(60));
  const std::string token = token_of(first);
  std::vector<testing::PendingReply> pending;
  for (int count = 0; count < 10; ++count) {
    pending.push_back(server.begin("GET", "/", "", {{"Authorization", "Bearer " + token}}));
  }
  server.advance(milliseconds(100));
  const std::uint64_t before = server.reactor().counters().turns;
  const std::uint64_t timers = server.reactor().timers().operations();
  server.advance(seconds(4));
  // A timer moves down the levels of the wheel. A caller that polls would arm thousands.
  EXPECT_LE(server.reactor().timers().operations() - timers, 10U);
  EXPECT_LE(server.reactor().counters().turns - before, 10U);
  server.advance(seconds(2));  // the fetch is late, and ends
  for (auto& each : pending) EXPECT_EQ(each.status(), 503U);
}

TEST_F(RemoteKeysTest, they_are_fetched_ahead_of_the_end_of_max_age) {
  cache_control = "public, max-age=1000";
  EXPECT_EQ(server.get("/load").status(), 204U);
  server.advance(seconds(799));
  EXPECT_EQ(fetches(), 1U);
  const auto generation = keys->generation();
  server.advance(seconds(2));
  EXPECT_EQ(fetches(), 2U);
  EXPECT_EQ(keys->generation(), generation);  // the same set
}

TEST_F(RemoteKeysTest, max_age_counts_within_bounds) {
  cache_control = "max-age=0";
  EXPECT_EQ(server.get("/load").status(), 204U);
  server.advance(seconds(47));
  EXPECT_EQ(fetches(), 1U);
  server.advance(seconds(2));
  EXPECT_EQ(fetches(), 2U);
}

TEST_F(RemoteKeysTest, an_unknown_key_has_them_fetched_once_and_then_not_for_a_while) {
  EXPECT_EQ(status_of(token_of(first)), 200U);
  server.advance(seconds(31));
  publish({&first, &second});
  EXPECT_EQ(status_of(token_of(second)), 200U);
  EXPECT_EQ(fetches(), 2U);
  EXPECT_EQ(status_of(token_of(first)), 200U);
  // Invented tokens cannot cause more requests for keys.
  const auto third = new_key("3");
  for (int count = 0; count < 20; ++count) EXPECT_EQ(status_of(token_of(third)), 401U);
  EXPECT_EQ(fetches(), 2U);
  server.advance(seconds(31));
  for (int count = 0; count < 20; ++count) EXPECT_EQ(status_of(token_of(third)), 401U);
  EXPECT_EQ(fetches(), 3U);
}

TEST_F(RemoteKeysTest, a_key_that_is_not_published_any_more_ends) {
  const std::string token = token_of(first);
  EXPECT_EQ(status_of(token), 200U);
  publish({&second});
  server.advance(seconds(481));
  EXPECT_EQ(status_of(token), 401U);
  EXPECT_EQ(status_of(token_of(second)), 200U);
}

TEST_F(RemoteKeysTest, while_the_issuer_is_down_the_last_keys_serve_up_to_their_age) {
  const std::string token = token_of(first);
  EXPECT_EQ(status_of(token), 200U);
  issuer.go_down();
  server.advance(seconds(3500));
  EXPECT_EQ(status_of(token), 200U);
  EXPECT_EQ(status_of(token_of(first)), 200U);
  EXPECT_TRUE(keys->health());
  EXPECT_FALSE(log.empty());
  EXPECT_LT(log.size(), 80U);  // once a minute, after the first tries
  server.advance(seconds(200));
  EXPECT_EQ(status_of(token), 503U);
  EXPECT_EQ(keys->health().error().code(), Code::unavailable);
  issuer.come_back();
  server.advance(seconds(61));
  EXPECT_EQ(status_of(token), 200U);
  EXPECT_TRUE(keys->health());
}

TEST_F(RemoteKeysTest, an_issuer_that_is_down_from_the_beginning_is_503_and_said) {
  issuer.go_down();
  EXPECT_EQ(status_of(token_of(first)), 503U);
  EXPECT_TRUE(keys->health().error().describe().contains("https://id.example/jwks.json"))
      << keys->health().error().describe();
  EXPECT_EQ(server.get("/load").status(), 503U);
  issuer.come_back();
  server.advance(seconds(5));
  EXPECT_EQ(status_of(token_of(first)), 200U);
}

TEST_F(RemoteKeysTest, what_is_no_set_of_keys_replaces_nothing) {
  const std::string token = token_of(first);
  EXPECT_EQ(status_of(token), 200U);
  for (const std::string& other :
       {std::string("<html>"), std::string(R"({"keys":[]})"), std::string(300'000, ' ')}) {
    content = other;
    server.advance(seconds(500));
    EXPECT_EQ(status_of(token), 200U);
  }
  EXPECT_GE(log.size(), 3U);
}

TEST_F(RemoteKeysTest, an_answer_that_is_not_200_replaces_nothing) {
  issuer.fail_next(1, 302);
  EXPECT_EQ(server.get("/load").status(), 503U);
  EXPECT_TRUE(keys->health().error().describe().contains("answered 302"))
      << keys->health().error().describe();
}

TEST(RemoteKeysOptions, what_anybody_could_change_on_its_way_is_refused) {
  client::HttpClientOptions plain;
  plain.tls.system_authorities = false;
  const auto make = [&](std::string address) {
    return RemoteKeys::make(*client::HttpClient::make(plain), {.url = std::move(address)})
        .has_value();
  };
  EXPECT_FALSE(make("http://id.example/"));
  EXPECT_FALSE(make("http://localhost.example/"));
  EXPECT_FALSE(make(""));
  EXPECT_TRUE(make("https://id.example/"));
  EXPECT_TRUE(make("http://localhost:8080/x"));
  EXPECT_TRUE(make("http://[::1]/x"));
}

TEST(RemoteKeysOptions, max_age_is_read_as_a_number) {
  EXPECT_EQ(detail::max_age_of("public, Max-Age=60")->ns, seconds(60).ns);
  EXPECT_EQ(detail::max_age_of("max-age=60, s-maxage=1")->ns, seconds(60).ns);
  for (const Bytes other : {"", "no-store", "max-age", "max-age=", "max-age=x", "max-age=-1",
                            "max-age=60x", "max-age=99999999999", "xmax-age=1"}) {
    EXPECT_FALSE(detail::max_age_of(other)) << other;
  }
}

}  // namespace
}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
