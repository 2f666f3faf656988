#include "katana/identity/oidc/oidc_login.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "katana/base/crypto/digest.hpp"
#include "katana/base/values/base64.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/identity/jose/jwk.hpp"
#include "katana/identity/jose/jwt.hpp"
#include "katana/identity/oidc/login_state.hpp"
#include "katana/identity/oidc/provider.hpp"
#include "katana/identity/sessions/memory_store.hpp"
#include "katana/identity/sessions/sessions.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/testing/fake_upstream.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::oidc {
namespace {

using container::Object;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Bytes private_key =
    R"({"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qY)"
    R"(AYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"one"})";

OidcOptions options() {
  OidcOptions options;
  options.issuer = "https://id.example";
  options.client_id = "shop";
  options.client_secret = "p@ss word";
  options.redirect_uri = "https://app.example/login/callback";
  options.secrets = {"0123456789abcdef0123456789abcdef"};
  return options;
}

client::HttpClient http_client() {
  client::HttpClientOptions how;
  how.tls.system_authorities = false;
  how.seed = 1;
  return *client::HttpClient::make(how);
}

std::map<std::string, std::string> parameters_of(const std::string& url) {
  std::map<std::string, std::string> found;
  std::size_t at = url.find('?');
  while (at != std::string::npos) {
    const std::size_t end = url.find('&', at + 1);
    const std::string pair = url.substr(at + 1, end == std::string::npos ? end : end - at - 1);
    const std::size_t equals = pair.find('=');
    std::string value;
    for (std::size_t index = equals + 1; index < pair.size(); ++index) {
      if (pair[index] == '%') {
        value += static_cast<char>(std::stoi(pair.substr(index + 1, 2), nullptr, 16));
        index += 2;
      } else {
        value += pair[index];
      }
    }
    found[pair.substr(0, equals)] = value;
    at = end;
  }
  return found;
}

// A provider that accepts every code, and answers as the test requires.
struct Provider {
  std::string metadata =
      R"({"issuer":"https://id.example","authorization_endpoint":"https://id.example/authorize",)"
      R"("token_endpoint":"https://id.example/token","jwks_uri":"https://id.example/keys",)"
      R"("end_session_endpoint":"https://id.example/end","scopes_supported":["openid"]})";
  jose::SigningKey key = *jose::read_private_jwk(private_key, {jose::Algorithm::eddsa});
  jose::SigningKey published = key;
  jose::Claims claims;
  std::optional<std::chrono::minutes> issued_ago = std::chrono::minutes(0);
  std::chrono::minutes good_for = std::chrono::minutes(5);
  std::string access_token;
  unsigned token_status = 200, metadata_status = 200, keys_status = 200;
  std::string token_error = "invalid_grant";
  Duration metadata_takes = {};

  std::string keys() const { return R"({"keys":[)" + published.verification_key().jwk() + "]}"; }
  std::string token() const {
    jose::Claims said = claims;
    if (issued_ago) said.issued_at = current_time() - *issued_ago;
    said.expires_at = current_time() + good_for;
    std::string reply = R"({"token_type":"Bearer","id_token":")" + *jose::sign_jwt(key, said) + '"';
    if (!access_token.empty()) reply += R"(,"access_token":")" + access_token + '"';
    return reply + "}";
  }
  void add_to(Router& router) {
    router.get("/.well-known/openid-configuration", [this](Request) -> Task<Reply> {
      if (metadata_takes > Duration{}) co_await net::sleep_for(metadata_takes);
      Reply reply = Reply::json(Text(metadata));
      reply.set_status(metadata_status);
      co_return reply;
    });
    router.get("/keys", [this] {
      Reply reply = Reply::json(Text(keys()));
      reply.set_status(keys_status);
      return reply;
    });
    router.post("/token", [this](Request) -> Task<Reply> {
      Reply reply =
          Reply::json(Text(token_status == 200 ? token() : R"({"error":")" + token_error + "\"}"));
      reply.set_status(token_status);
      co_return reply;
    });
  }
};

class OidcLoginTest : public ::testing::Test {
 protected:
  OidcLoginTest() {
    provider_.claims = {.issuer = "https://id.example", .subject = "user-7", .audiences = {"shop"}};
    provider_.claims.others.add("name", "Ada Lovelace");
    provider_.claims.others.add("roles", container::List{"editor"});
    start(options());
  }

  void start(const OidcOptions& how) {
    upstream_.reset();
    server_ = std::make_unique<testing::TestServer>(service(how));
    upstream_ = std::make_unique<testing::FakeUpstream>(
        *server_, "https://id.example", [this](Router& router) { provider_.add_to(router); });
    cookies_.clear();
  }

  Result<Service> service(const OidcOptions& how) {
    const auto login = OidcLogin::make(how, http_client());
    if (!login) return std::unexpected(login.error());
    const auto sessions = sessions::Sessions::in_store(
        session_options_, std::make_shared<sessions::MemorySessionStore>());
    Router router;
    router.use(sessions->middleware());
    login->add_to(router.group(""));
    Group account = router.group("/me");
    account.use(sessions::session_principal);
    account.get("", [](FromContext<auth::Principal> who) {
      return Reply::text(format_text("{} {} {} {}", who->id(), who->issuer(), who->name(),
                                     who->has_role("editor") ? "edits" : "reads"));
    });
    return std::move(router).build();
  }

  testing::TestReply send(std::string_view method, const std::string& target) {
    testing::TestFields fields;
    std::string all;
    for (const auto& [name, value] : cookies_)
      all += (all.empty() ? "" : "; ") + name + "=" + value;
    if (!all.empty()) fields.emplace_back("Cookie", all);
    testing::TestReply reply = server_->send(method, target, {}, fields);
    for (const auto& [name, value] : reply.headers()) {
      if (name != "Set-Cookie") continue;
      const std::string text(value);
      const std::size_t equals = text.find('=');
      const std::string cookie = text.substr(0, equals);
      cookies_[cookie] = text.substr(equals + 1, text.find(';') - equals - 1);
      if (text.find("Max-Age=0") != std::string::npos) cookies_.erase(cookie);
    }
    return reply;
  }
  testing::TestReply get(const std::string& target) { return send("GET", target); }

  // Begins a login, and returns the parameters of the redirect to the provider.
  std::map<std::string, std::string> begin(const std::string& target = "/login") {
    const testing::TestReply reply = get(target);
    EXPECT_EQ(reply.status(), 303u) << reply;
    const std::string location(reply.header("Location").value_or(""));
    EXPECT_THAT(location, StartsWith("https://id.example/authorize?"));
    auto sent = parameters_of(location);
    provider_.claims.others.set("nonce", sent["nonce"]);
    return sent;
  }
  testing::TestReply come_back(const std::string& state, const std::string& more = "&code=c1") {
    return get("/login/callback?state=" + state + more);
  }

  std::ptrdiff_t times_asked(
      const std::string& target = "/.well-known/openid-configuration") const {
    return std::ranges::count(upstream_->requests(), target, &testing::UpstreamRequest::target);
  }
  // Logs in with these options, and returns the request for a token.
  testing::UpstreamRequest token_request(const OidcOptions& how) {
    start(how);
    EXPECT_EQ(come_back(begin()["state"]).status(), 303u);
    const auto found = std::ranges::find(upstream_->requests(), std::string("/token"),
                                         &testing::UpstreamRequest::target);
    return found == upstream_->requests().end() ? testing::UpstreamRequest{} : *found;
  }

  sessions::SessionOptions session_options_;
  Provider provider_;
  std::unique_ptr<testing::TestServer> server_;
  std::unique_ptr<testing::FakeUpstream> upstream_;
  std::map<std::string, std::string> cookies_;
};

TEST_F(OidcLoginTest, a_user_logs_in_and_out) {
  EXPECT_EQ(get("/me").status(), 401u);
  auto sent = begin("/login?return_to=/me");
  EXPECT_EQ(sent["response_type"], "code");
  EXPECT_EQ(sent["client_id"], "shop");
  EXPECT_EQ(sent["redirect_uri"], "https://app.example/login/callback");
  EXPECT_EQ(sent["scope"], "openid profile email");
  EXPECT_EQ(sent["code_challenge_method"], "S256");
  const testing::TestReply back = come_back(sent["state"]);
  EXPECT_EQ(back.status(), 303u) << back;
  EXPECT_EQ(back.header("Location"), "/me");
  EXPECT_EQ(get("/me").content(), "user-7 https://id.example Ada Lovelace edits");
  EXPECT_FALSE(cookies_.contains("__Host-login"));

  const auto found = std::ranges::find(upstream_->requests(), std::string("/token"),
                                       &testing::UpstreamRequest::target);
  ASSERT_NE(found, upstream_->requests().end());
  const testing::UpstreamRequest& request = *found;
  EXPECT_EQ(request.field("authorization"), "Basic " + encode_base64("shop:p%40ss%20word"));
  auto form = parameters_of("?" + request.content);
  EXPECT_EQ(form["grant_type"], "authorization_code");
  EXPECT_EQ(form["code"], "c1");
  EXPECT_EQ(form["redirect_uri"], "https://app.example/login/callback");
  EXPECT_EQ(encode_base64url(crypto::sha256(form["code_verifier"]).bytes()),
            sent["code_challenge"]);

  const testing::TestReply out = send("POST", "/logout");
  EXPECT_EQ(out.status(), 303u) << out;
  auto end = parameters_of(std::string(out.header("Location").value_or("")));
  EXPECT_EQ(end["client_id"], "shop");
  EXPECT_EQ(end["post_logout_redirect_uri"], "https://app.example/");
  EXPECT_EQ(get("/me").status(), 401u);
}

TEST_F(OidcLoginTest, several_logins_of_a_browser_are_under_way_at_a_time) {
  auto first = begin("/login?return_to=/one");
  const std::string first_nonce = first["nonce"];
  auto second = begin("/login?return_to=/two");
  EXPECT_NE(first["state"], second["state"]);
  EXPECT_EQ(come_back(second["state"]).header("Location"), "/two");
  // The state of the first login is still valid, but the second login replaced its cookie.
  EXPECT_EQ(come_back(first["state"]).status(), 400u);
}

TEST_F(OidcLoginTest, a_login_ends_in_the_browser_that_began_it) {
  auto sent = begin();
  const auto kept = std::exchange(cookies_, {});
  EXPECT_EQ(come_back(sent["state"]).status(), 400u);
  cookies_["__Host-login"] = encode_base64url(std::string(32, 'x'));
  EXPECT_EQ(come_back(sent["state"]).status(), 400u);
  cookies_ = kept;
  EXPECT_EQ(come_back(sent["state"]).status(), 303u);
}

TEST_F(OidcLoginTest, a_state_that_was_not_sealed_here_is_refused_and_no_code_is_redeemed) {
  auto sent = begin();
  upstream_->forget_requests();
  std::string changed = sent["state"];
  changed[40] = changed[40] == 'A' ? 'B' : 'A';
  for (const std::string& state : {changed, std::string("x"), std::string()}) {
    const testing::TestReply reply = come_back(state);
    EXPECT_EQ(reply.status(), 400u) << reply;
    EXPECT_THAT(std::string(reply.content()), HasSubstr("begin again"));
  }
  EXPECT_EQ(come_back(sent["state"], "").status(), 400u);
  EXPECT_EQ(upstream_->requests().size(), 0u);
}

TEST_F(OidcLoginTest, an_id_token_is_believed_for_this_login_alone) {
  const auto refuses = [&](const char* what, const std::function<void(Provider&)>& change) {
    start(options());
    const Provider right = provider_;
    auto sent = begin();
    change(provider_);
    const testing::TestReply reply = come_back(sent["state"]);
    EXPECT_EQ(reply.status(), 503u) << what << reply;
    EXPECT_THAT(std::string(reply.content()), Not(HasSubstr("token"))) << what;
    EXPECT_EQ(get("/me").status(), 401u) << what;
    provider_ = right;
  };
  refuses("nonce", [](Provider& provider) { provider.claims.others.set("nonce", "other"); });
  refuses("no nonce", [](Provider& provider) { provider.claims.others.erase("nonce"); });
  refuses("issuer", [](Provider& provider) { provider.claims.issuer = "https://id.example/"; });
  refuses("audience", [](Provider& provider) { provider.claims.audiences = {"other"}; });
  refuses("two audiences, no azp",
          [](Provider& provider) { provider.claims.audiences = {"shop", "other"}; });
  refuses("azp", [](Provider& provider) { provider.claims.others.set("azp", "other"); });
  refuses("no iat", [](Provider& provider) { provider.issued_ago.reset(); });
  refuses("expired", [](Provider& provider) { provider.good_for = std::chrono::minutes(-5); });
}

TEST_F(OidcLoginTest, an_access_token_has_to_be_the_one_of_the_id_token) {
  provider_.access_token = "access";
  const std::string half = encode_base64url(crypto::sha512("access").bytes().substr(0, 32));
  auto sent = begin();
  provider_.claims.others.set("at_hash", half);
  EXPECT_EQ(come_back(sent["state"]).status(), 303u);
  sent = begin();
  provider_.claims.others.set("at_hash", "other");
  EXPECT_EQ(come_back(sent["state"]).status(), 503u);
}

TEST_F(OidcLoginTest, the_answer_of_another_provider_is_refused) {
  auto sent = begin();
  EXPECT_EQ(come_back(sent["state"], "&code=c1&iss=https://evil.example").status(), 400u);
  EXPECT_EQ(come_back(sent["state"], "&code=c1&iss=https://id.example").status(), 303u);
}

TEST_F(OidcLoginTest, a_provider_that_names_itself_in_answers_has_to_do_so) {
  provider_.metadata.insert(1, R"("authorization_response_iss_parameter_supported":true,)");
  start(options());
  auto sent = begin();
  upstream_->forget_requests();
  for (const char* const answer : {"&code=c1", "&code=c1&iss=", "&code=c1&iss=https://id.example/",
                                   "&code=c1&iss=https://ID.example", "&error=access_denied",
                                   "&error=access_denied&iss=https://evil.example"}) {
    EXPECT_EQ(come_back(sent["state"], answer).status(), 400u) << answer;
  }
  EXPECT_EQ(upstream_->requests().size(), 0u) << "no code was redeemed";
  EXPECT_EQ(come_back(sent["state"], "&code=c1&iss=https%3A%2F%2Fid.example").status(), 303u);
}

TEST_F(OidcLoginTest, what_the_provider_refused_is_told_apart) {
  auto sent = begin();
  EXPECT_EQ(come_back(sent["state"], "&error=access_denied").status(), 403u);
  EXPECT_EQ(come_back(sent["state"], "&error=invalid_scope&error_description=x").status(), 503u);
  provider_.token_status = 400;
  EXPECT_EQ(come_back(sent["state"]).status(), 400u);
}

TEST_F(OidcLoginTest, an_error_that_the_user_can_mend_is_403_and_a_code_that_is_unknown_400) {
  auto sent = begin();
  for (const char* const error :
       {"access_denied", "login_required", "consent_required", "interaction_required"}) {
    EXPECT_EQ(come_back(sent["state"], std::string("&error=") + error).status(), 403u) << error;
  }
  provider_.token_status = 400;
  provider_.token_error = "invalid_request";
  EXPECT_EQ(come_back(sent["state"]).status(), 503u);
  provider_.token_status = 401;
  provider_.token_error = "invalid_grant";
  EXPECT_EQ(come_back(sent["state"]).status(), 503u);
  upstream_->forget_requests();
  EXPECT_EQ(come_back(sent["state"], "&code=").status(), 400u);
  EXPECT_EQ(upstream_->requests().size(), 0u) << "no code to redeem";
}

TEST_F(OidcLoginTest, a_reply_that_has_no_token_and_none_at_all_are_503) {
  auto sent = begin();
  provider_.token_status = 201;
  EXPECT_EQ(come_back(sent["state"]).status(), 503u);
  provider_.token_status = 200;
  provider_.access_token = "\"";  // no JSON
  EXPECT_EQ(come_back(sent["state"]).status(), 503u);
  upstream_->go_down();
  EXPECT_EQ(come_back(sent["state"]).status(), 503u);
}

TEST_F(OidcLoginTest, a_program_that_has_begun_anew_asks_the_provider_before_it_ends_a_login) {
  auto sent = begin();
  const auto kept = cookies_;
  start(options());
  cookies_ = kept;
  upstream_->go_down();
  EXPECT_EQ(come_back(sent["state"]).status(), 503u);
}

TEST_F(OidcLoginTest, a_user_that_no_session_can_keep_is_not_logged_in) {
  session_options_.stored_bytes_max = 200;
  start(options());
  provider_.claims.subject = std::string(300, 's');
  EXPECT_EQ(come_back(begin()["state"]).status(), 400u);
  EXPECT_EQ(get("/me").status(), 401u);
}

// RFC 6749 §2.3.1, OpenID Connect Discovery 1.0 §3.
TEST_F(OidcLoginTest, a_client_shows_its_secret_as_the_provider_takes_it) {
  const testing::UpstreamRequest by_default = token_request(options());
  EXPECT_NE(by_default.field("authorization"), "");
  auto form = parameters_of("?" + by_default.content);
  EXPECT_FALSE(form.contains("client_id") || form.contains("client_secret"));
  OidcOptions open = options();
  open.client_secret.clear();
  const testing::UpstreamRequest by_none = token_request(open);
  EXPECT_EQ(by_none.field("authorization"), "");
  form = parameters_of("?" + by_none.content);
  EXPECT_EQ(form["client_id"], "shop");
  EXPECT_FALSE(form.contains("client_secret"));
  const std::string metadata = provider_.metadata;
  const std::string methods = R"("token_endpoint_auth_methods_supported":["client_secret_post")";
  provider_.metadata = "{" + methods + "]," + metadata.substr(1);
  const testing::UpstreamRequest by_post = token_request(options());
  EXPECT_EQ(by_post.field("authorization"), "");
  form = parameters_of("?" + by_post.content);
  EXPECT_EQ(form["client_id"], "shop");
  EXPECT_EQ(form["client_secret"], "p@ss word");
  provider_.metadata = "{" + methods + R"(,"client_secret_basic"],)" + metadata.substr(1);
  EXPECT_NE(token_request(options()).field("authorization"), "");
}

TEST_F(OidcLoginTest, all_but_letters_digits_and_four_signs_are_escaped) {
  OidcOptions how = options();
  how.client_secret.clear();
  std::string expected;
  for (char c = 0x20; c < 0x7f; ++c) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || Bytes("-._~").contains(c);
    how.client_secret += c;
    expected += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<int>(c));
  }
  EXPECT_EQ(token_request(how).field("authorization"),
            "Basic " + encode_base64("shop:" + expected));
}

TEST_F(OidcLoginTest, the_query_of_an_endpoint_is_kept) {
  const auto location = [&] { return std::string(get("/login").header("Location").value_or("")); };
  EXPECT_THAT(location(), StartsWith("https://id.example/authorize?response_type=code&client_id="));
  provider_.metadata.replace(provider_.metadata.find("/authorize"), 10, "/authorize?a=1");
  start(options());
  EXPECT_THAT(location(), StartsWith("https://id.example/authorize?a=1&response_type=code&client"));
}

TEST_F(OidcLoginTest, without_an_end_of_sessions_a_logout_is_of_this_program_alone) {
  provider_.metadata.replace(provider_.metadata.find("end_session"), 11, "x");
  start(options());
  EXPECT_EQ(come_back(begin()["state"]).status(), 303u);
  EXPECT_EQ(send("POST", "/logout").header("Location"), "/");
  EXPECT_EQ(get("/me").status(), 401u);
  start(options());
  upstream_->go_down();
  EXPECT_EQ(send("POST", "/logout").header("Location"), "/");
}

TEST_F(OidcLoginTest, the_scope_openid_is_asked_for_in_any_case) {
  OidcOptions how = options();
  how.scopes = {"email"};
  start(how);
  EXPECT_EQ(begin()["scope"], "openid email");
}

TEST_F(OidcLoginTest, metadata_of_another_status_are_none) {
  provider_.metadata_status = 404;
  EXPECT_EQ(get("/login").status(), 503u);
  ASSERT_EQ(upstream_->requests().size(), 1u);
  EXPECT_EQ(upstream_->requests().front().field("accept"), "application/json");
}

TEST_F(OidcLoginTest, new_metadata_leave_the_keys_that_are_known) {
  (void)token_request(options());
  ASSERT_EQ(times_asked("/keys"), 1);
  provider_.keys_status = 500;
  server_->advance(seconds(3700));
  (void)begin();  // asks for metadata in the background
  server_->advance(seconds(1));
  EXPECT_EQ(times_asked(), 2);
  EXPECT_EQ(come_back(begin()["state"]).status(), 303u);
}

TEST_F(OidcLoginTest, a_token_of_a_known_key_asks_for_no_newer_keys) {
  (void)token_request(options());
  for (const auto good_for : {std::chrono::minutes(5), std::chrono::minutes(-5)}) {
    server_->advance(seconds(60));
    provider_.good_for = good_for;
    (void)come_back(begin()["state"]);
    EXPECT_EQ(times_asked("/keys"), 1);
  }
}

TEST_F(OidcLoginTest, metadata_of_twice_their_age_are_asked_for_before_they_are_used) {
  (void)begin();
  provider_.metadata_takes = seconds(5);
  server_->advance(seconds(2 * 3600 + 1));
  auto waiting = server_->begin("GET", "/login");
  server_->advance(seconds(4));
  EXPECT_FALSE(waiting.is_done());
  server_->advance(seconds(2));
  EXPECT_EQ(waiting.reply().status(), 303u);
  // A provider that fails is asked in the background, and what is known of it is used.
  upstream_->go_down();
  server_->advance(seconds(2 * 3600 + 1));
  (void)begin();
  upstream_->come_back();
  server_->advance(seconds(6));
  waiting = server_->begin("GET", "/login");
  server_->advance(milliseconds(10));
  EXPECT_TRUE(waiting.is_done());
}

TEST_F(OidcLoginTest, a_browser_is_sent_to_no_other_site) {
  for (const char* const target : {"//evil.example", "https://evil.example", "/%5Cevil.example",
                                   "/%09/evil.example", "x", "/%0D%0ASet-Cookie:x"}) {
    EXPECT_EQ(get(std::string("/login?return_to=") + target).status(), 400u) << target;
  }
}

TEST_F(OidcLoginTest, a_new_key_of_the_provider_is_fetched_when_a_token_names_it) {
  auto sent = begin();
  provider_.key = *jose::read_private_jwk(
      R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu)"
      R"(9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",)"
      R"("kid":"two"})",
      {jose::Algorithm::es256});
  // The key is not published yet. The login is refused, and there is a pause before the next fetch.
  EXPECT_EQ(come_back(sent["state"]).status(), 503u);
  provider_.published = provider_.key;
  EXPECT_EQ(come_back(sent["state"]).status(), 503u);
  server_->advance(seconds(31));
  EXPECT_EQ(come_back(sent["state"]).status(), 303u);
}

TEST_F(OidcLoginTest, an_outage_of_the_provider_is_answered_with_503_and_ends) {
  upstream_->go_down();
  EXPECT_EQ(get("/login").status(), 503u);
  upstream_->come_back();
  EXPECT_EQ(get("/login").status(), 503u);  // asked again after 5 s
  server_->advance(seconds(6));
  (void)begin();
  // While the provider does not answer, the known metadata is used for a day.
  upstream_->go_down();
  server_->advance(seconds(2 * 3600));
  (void)begin();
  server_->advance(seconds(24 * 3600));
  EXPECT_EQ(get("/login").status(), 503u);
}

TEST_F(OidcLoginTest, many_logins_before_its_first_answer_ask_the_provider_once) {
  provider_.metadata_takes = seconds(2);
  std::vector<testing::PendingReply> waiting;
  for (int count = 0; count < 50; ++count) waiting.push_back(server_->begin("GET", "/login"));
  server_->advance(seconds(1));
  for (int count = 0; count < 50; ++count) waiting.push_back(server_->begin("GET", "/login"));
  server_->advance(seconds(2));
  for (testing::PendingReply& each : waiting) EXPECT_EQ(each.reply().status(), 303u);
  EXPECT_EQ(times_asked(), 1);
}

TEST_F(OidcLoginTest, many_logins_ask_a_provider_that_fails_once_in_five_seconds) {
  provider_.metadata = "{}";
  provider_.metadata_takes = seconds(1);
  std::vector<testing::PendingReply> waiting;
  for (int count = 0; count < 50; ++count) waiting.push_back(server_->begin("GET", "/login"));
  server_->advance(seconds(1));
  for (testing::PendingReply& each : waiting) EXPECT_EQ(each.reply().status(), 503u);
  EXPECT_EQ(get("/login").status(), 503u);
  EXPECT_EQ(times_asked(), 1);
  server_->advance(seconds(6));
  EXPECT_EQ(get("/login").status(), 503u);
  EXPECT_EQ(times_asked(), 2);
}

TEST_F(OidcLoginTest, what_is_known_of_a_slow_provider_serves_while_it_is_asked_again) {
  (void)begin();
  provider_.metadata_takes = seconds(5);
  server_->advance(seconds(3700));
  auto waiting = server_->begin("GET", "/login");
  server_->advance(milliseconds(10));
  EXPECT_TRUE(waiting.is_done());
  EXPECT_EQ(waiting.reply().status(), 303u);
  server_->advance(seconds(6));
  EXPECT_EQ(times_asked(), 2);
  (void)begin();
  EXPECT_EQ(times_asked(), 2);
}

TEST_F(OidcLoginTest, the_page_that_has_the_code_in_its_url_is_no_referer) {
  auto sent = begin();
  EXPECT_EQ(come_back("unknown").header("Referrer-Policy"), "no-referrer");
  EXPECT_EQ(come_back(sent["state"]).header("Referrer-Policy"), "no-referrer");
}

TEST_F(OidcLoginTest, a_provider_that_is_not_the_one_asked_for_is_not_believed) {
  provider_.metadata =
      R"({"issuer":"https://evil.example","authorization_endpoint":"https://id.example/a",)"
      R"("token_endpoint":"https://id.example/t","jwks_uri":"https://id.example/k"})";
  EXPECT_EQ(get("/login").status(), 503u);
}

TEST(Provider, metadata_with_plain_http_is_refused) {
  const auto read = [](const char* token_endpoint) {
    return read_metadata(std::string(R"({"issuer":"i","authorization_endpoint":"https://i/a",)") +
                             R"("jwks_uri":"http://127.0.0.1/k","token_endpoint":")" +
                             token_endpoint + "\"}",
                         "i");
  };
  EXPECT_TRUE(read("https://i/t"));
  EXPECT_THAT(read("http://i/t").error().describe(), HasSubstr("'http://i/t' is not https"));
  EXPECT_FALSE(read("http://127.0.0.1.evil.example/t"));
  EXPECT_FALSE(read("https://i/t#f"));
}

TEST(OidcOptions, what_is_wrong_is_named) {
  const auto mistake = [](const std::function<void(OidcOptions&)>& change) {
    OidcOptions changed = options();
    change(changed);
    const auto made = OidcLogin::make(changed, http_client());
    return made ? std::string() : made.error().describe();
  };
  EXPECT_EQ(mistake([](OidcOptions&) {}), "");
  EXPECT_THAT(mistake([](OidcOptions& o) { o.issuer = "http://id.example"; }),
              HasSubstr("issuer: 'http://id.example' is not https"));
  EXPECT_THAT(mistake([](OidcOptions& o) { o.client_id.clear(); }), HasSubstr("client_id"));
  EXPECT_THAT(mistake([](OidcOptions& o) { o.redirect_uri = "/callback"; }),
              HasSubstr("redirect_uri"));
  EXPECT_THAT(mistake([](OidcOptions& o) { o.secrets = {"short"}; }),
              HasSubstr("secrets: one has 5 bytes"));
  EXPECT_THAT(mistake([](OidcOptions& o) { o.secrets.clear(); }), HasSubstr("secrets"));
  EXPECT_THAT(mistake([](OidcOptions& o) { o.after_login = "//evil"; }),
              HasSubstr("after_login: '//evil'"));
  EXPECT_THAT(mistake([](OidcOptions& o) { o.algorithms = {"HS256"}; }), HasSubstr("HS256"));
  EXPECT_THAT(mistake([](OidcOptions& o) { o.algorithms.clear(); }),
              HasSubstr("algorithms is empty"));
  EXPECT_THAT(mistake([](OidcOptions& o) { o.redirect_uri += "?x=1"; }), HasSubstr("no query"));
}

TEST(LoginState, opens_by_any_secret_of_the_ring_until_it_is_too_old) {
  const std::vector<std::string> old_ring = {std::string(32, 'a')};
  const std::vector<std::string> new_ring = {std::string(32, 'b'), std::string(32, 'a')};
  const auto before = StateSealer::make(old_ring, "client");
  const auto now = StateSealer::make(new_ring, "client");
  const auto other = StateSealer::make(old_ring, "other client");
  const std::string sealed = before->seal({.return_to = "/x", .expires_s = 100});
  EXPECT_EQ(now->open(sealed, 100)->return_to, "/x");
  EXPECT_FALSE(now->open(sealed, 101));
  EXPECT_FALSE(other->open(sealed, 100));
  EXPECT_FALSE(before->open(now->seal({.expires_s = 100}), 100));
}

}  // namespace
}  // namespace katana::oidc

// SPDX-License-Identifier: Apache-2.0
