#include "katana/service/auth/remote/openid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "katana/base/base64.hpp"
#include "katana/jose/hash.hpp"
#include "katana/jose/jwk.hpp"
#include "katana/service/extract.hpp"
#include "katana/service/json.hpp"
#include "katana/service/router.hpp"
#include "katana/testing/fake_upstream.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::auth {
namespace {

using ::testing::Test;

struct Where {
  std::string to;
};
KATANA_DESCRIBE(Where, to)

// A provider that signs whatever `claims` are, and a program that keeps the last login.
class OpenIdTest : public Test {
 protected:
  OpenIdTest()
      : provider(*OpenIdProvider::make(http_client(), options())),
        server(service()),
        id_server(server, "https://id.example", [this](Router& router) { add_provider(router); }) {}

  static client::HttpClient http_client() {
    client::HttpClientOptions options;
    options.tls.system_authorities = false;
    options.seed = 1;
    options.retries_max = 0;
    return *client::HttpClient::make(options);
  }
  static OpenIdOptions options() {
    return {.issuer = "https://id.example",
            .client_id = "shop",
            .client_secret = "s:cret",
            .redirect_url = "https://shop.example/callback"};
  }
  void add_provider(Router& router) {
    router.get("/.well-known/openid-configuration", [this] { return Reply::json(Text(about)); });
    router.get("/jwks", [this] {
      return Reply::json(Text(R"({"keys":[)" + key.verification_key().jwk() + "]}"));
    });
    router.post("/token", [this](const RequestView&) {
      return Reply::json(Text(R"({"access_token":"x","token_type":"Bearer","id_token":")" +
                              *jose::sign_jwt(key, claims) + "\"}"));
    });
  }
  Result<Service> service() {
    Router router;
    router.get("/login", [this](Query<Where> where) -> Task<Result<Reply>> {
      auto begun = co_await provider->begin(where->to);
      if (!begun) co_return std::unexpected(begun.error());
      last = begun->pending;
      co_return Reply::redirect(begun->url);
    });
    router.get("/callback", [this](Query<OpenIdCallback> callback) -> Task<Result<Reply>> {
      auto login = co_await provider->finish(last, *callback);
      if (!login) co_return std::unexpected(login.error());
      co_return Reply::text(Text(login->principal.id() + " to " + login->return_to));
    });
    router.get("/logout", [this]() -> Task<Result<Reply>> {
      auto url = co_await provider->logout_url("a.b.c", "https://shop.example/");
      if (!url) co_return std::unexpected(url.error());
      co_return Reply::text(Text(url->value_or("")));
    });
    return std::move(router).build();
  }
  // What a browser comes to that logs in, and says yes.
  testing::TestReply log_in() {
    EXPECT_EQ(server.get("/login?to=/orders").status(), 303U);
    claims = {.issuer = "https://id.example",
              .subject = "ann",
              .audiences = {"shop"},
              .expires_at = server.loop().wall_time() + std::chrono::minutes(5)};
    claims.others = {{"nonce", last.nonce}};
    return server.get("/callback?code=c%2Bd&state=" + last.state);
  }
  // Of the reply, after `change` was made to what the provider signs.
  template <class Change>
  testing::TestReply log_in_with(Change change) {
    EXPECT_EQ(log_in().status(), 200U);
    EXPECT_EQ(server.get("/login?to=/orders").status(), 303U);
    claims.others.set("nonce", last.nonce);
    change(claims);
    return server.get("/callback?code=c&state=" + last.state);
  }
  static std::string value_of(Bytes url, const std::string& name) {
    const std::size_t at = url.find("&" + name + "=");
    if (at == Bytes::npos) return {};
    const Bytes rest = url.substr(at + name.size() + 2);
    return std::string(rest.substr(0, rest.find('&')));
  }

  jose::SigningKey key =
      *jose::read_private_jwk(R"({"kty":"OKP","crv":"Ed25519","kid":"1",)"
                              R"("d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"})",
                              {jose::Algorithm::eddsa});
  jose::Claims claims;
  std::string about =
      R"({"issuer":"https://id.example",)"
      R"("authorization_endpoint":"https://id.example/authorize?a=b",)"
      R"("token_endpoint":"https://id.example/token","jwks_uri":"https://id.example/jwks",)"
      R"("end_session_endpoint":"https://id.example/logout","other":[1]})";
  PendingLogin last;
  std::shared_ptr<OpenIdProvider> provider;
  testing::TestServer server;
  testing::FakeUpstream id_server;
};

TEST_F(OpenIdTest, somebody_logs_in_and_comes_back_to_where_they_were) {
  const auto reply = log_in();
  EXPECT_EQ(reply.status(), 200U) << reply;
  EXPECT_EQ(reply.content(), "ann to /orders");
}

TEST_F(OpenIdTest, the_browser_is_sent_with_state_nonce_and_a_challenge) {
  const auto first = server.get("/login?to=/");
  const std::string url(*first.header("Location"));
  EXPECT_TRUE(
      url.starts_with("https://id.example/authorize?a=b&response_type=code&client_id=shop&"))
      << url;
  EXPECT_EQ(value_of(url, "redirect_uri"), "https%3A%2F%2Fshop.example%2Fcallback");
  EXPECT_EQ(value_of(url, "scope"), "openid%20profile%20email");
  EXPECT_EQ(value_of(url, "state"), last.state);
  EXPECT_EQ(value_of(url, "nonce"), last.nonce);
  EXPECT_EQ(value_of(url, "code_challenge"), encode_base64url(jose::sha256(last.verifier)));
  EXPECT_EQ(value_of(url, "code_challenge_method"), "S256");
  EXPECT_EQ(last.verifier.size(), 43U);
  EXPECT_FALSE(url.contains(last.verifier));
  const PendingLogin before = last;
  server.get("/login?to=/");
  EXPECT_NE(last.state, before.state);
  EXPECT_NE(last.nonce, before.nonce);
  EXPECT_NE(last.verifier, before.verifier);
}

TEST_F(OpenIdTest, the_code_is_redeemed_with_the_verifier_and_the_secret) {
  log_in();
  const auto& requests = id_server.requests();
  const auto token = std::ranges::find(requests, "/token", &testing::UpstreamRequest::target);
  ASSERT_NE(token, requests.end());
  EXPECT_EQ(token->content,
            "grant_type=authorization_code&code=c%2Bd&redirect_uri=https%3A%2F%2Fshop.example%2F"
            "callback&code_verifier=" +
                last.verifier);
  EXPECT_EQ(token->field("authorization"), "Basic " + encode_base64("shop:s%3Acret"));
}

TEST_F(OpenIdTest, a_login_of_another_browser_is_not_believed) {
  log_in();
  EXPECT_EQ(server.get("/callback?code=c&state=x").status(), 401U);
  EXPECT_EQ(server.get("/callback?code=c").status(), 401U);
  last = {};
  EXPECT_EQ(server.get("/callback?code=c&state=").status(), 401U);
}

TEST_F(OpenIdTest, a_login_that_took_too_long_is_not_believed) {
  server.get("/login?to=/");
  server.advance(seconds(601));
  EXPECT_EQ(server.get("/callback?code=c&state=" + last.state).status(), 401U);
}

TEST_F(OpenIdTest, the_answer_of_another_issuer_is_not_believed) {
  log_in();
  EXPECT_EQ(
      server.get("/callback?code=c&state=" + last.state + "&iss=https://other.example").status(),
      401U);
  EXPECT_EQ(server.get("/callback?code=c&state=" + last.state + "&iss=https://id.example").status(),
            200U);
}

TEST_F(OpenIdTest, a_login_that_was_refused_says_so) {
  log_in();
  const auto reply = server.get("/callback?error=access_denied&state=" + last.state);
  EXPECT_EQ(reply.status(), 401U);
  EXPECT_TRUE(reply.content().contains("access_denied")) << reply.content();
  EXPECT_EQ(server.get("/callback?state=" + last.state).status(), 401U);  // neither code nor error
}

TEST_F(OpenIdTest, an_ID_token_of_another_login_client_or_issuer_is_not_believed) {
  EXPECT_EQ(log_in_with([](jose::Claims& to) { to.others.set("nonce", "x"); }).status(), 401U);
  EXPECT_EQ(log_in_with([](jose::Claims& to) { to.others.erase("nonce"); }).status(), 401U);
  EXPECT_EQ(log_in_with([](jose::Claims& to) { to.audiences = {"other"}; }).status(), 401U);
  EXPECT_EQ(log_in_with([](jose::Claims& to) { to.audiences = {"shop", "other"}; }).status(), 401U);
  EXPECT_EQ(log_in_with([](jose::Claims& to) { to.others.set("azp", "other"); }).status(), 401U);
  EXPECT_EQ(log_in_with([](jose::Claims& to) { to.issuer = "https://other.example"; }).status(),
            401U);
  EXPECT_EQ(log_in_with([](jose::Claims& to) { to.expires_at = Timestamp(); }).status(), 401U);
  EXPECT_EQ(log_in_with([](jose::Claims& to) {
              to.audiences = {"shop", "other"};
              to.others.set("azp", "shop");
            }).status(),
            200U);
}

TEST_F(OpenIdTest, a_link_cannot_send_people_elsewhere) {
  for (const char* const to : {"https://evil.example/", "//evil.example", "/%5Cevil.example", "",
                               "orders", "/a%0d%0ab", "/a%20b"}) {
    EXPECT_EQ(server.get(std::string("/login?to=") + to).status(), 400U) << to;
  }
  EXPECT_EQ(server.get("/login?to=/a%3Fb=c").status(), 303U);
}

TEST_F(OpenIdTest, a_configuration_of_another_issuer_or_without_TLS_is_not_taken) {
  const std::string right = about;
  about.replace(about.find("https://id.example\""), 18, "https://ev.example");
  EXPECT_EQ(server.get("/login?to=/").status(), 503U);
  about = right;
  about.replace(about.find("https://id.example/token"), 8, "http://");
  EXPECT_EQ(server.get("/login?to=/").status(), 503U);
  about = "{}";
  EXPECT_EQ(server.get("/login?to=/").status(), 503U);
  about = right;
  EXPECT_EQ(server.get("/login?to=/").status(), 303U);
}

TEST_F(OpenIdTest, a_provider_that_is_down_is_unavailable_and_its_configuration_stays) {
  id_server.go_down();
  EXPECT_EQ(server.get("/login?to=/").status(), 503U);
  id_server.come_back();
  EXPECT_EQ(server.get("/login?to=/").status(), 303U);
  id_server.go_down();
  server.advance(seconds(25 * 3600));
  EXPECT_EQ(server.get("/login?to=/").status(), 303U);
  EXPECT_EQ(server.get("/callback?code=c&state=" + last.state).status(), 503U);
}

TEST_F(OpenIdTest, the_session_of_the_provider_ends_where_it_says) {
  EXPECT_EQ(server.get("/logout").content(),
            "https://id.example/logout?id_token_hint=a.b.c&client_id=shop&"
            "post_logout_redirect_uri=https%3A%2F%2Fshop.example%2F");
}

TEST_F(OpenIdTest, options_that_cannot_work_are_named) {
  const auto is_made = [](auto change) {
    OpenIdOptions changed = options();
    change(changed);
    return OpenIdProvider::make(http_client(), changed).has_value();
  };
  EXPECT_TRUE(is_made([](OpenIdOptions&) {}));
  EXPECT_FALSE(is_made([](OpenIdOptions& to) { to.issuer = "http://id.example"; }));
  EXPECT_FALSE(is_made([](OpenIdOptions& to) { to.redirect_url = "/callback"; }));
  EXPECT_FALSE(is_made([](OpenIdOptions& to) { to.client_id.clear(); }));
  EXPECT_FALSE(is_made([](OpenIdOptions& to) { to.scopes = {"email"}; }));
}

}  // namespace
}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
