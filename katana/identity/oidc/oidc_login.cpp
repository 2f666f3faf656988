#include "katana/identity/oidc/oidc_login.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "katana/base/crypto/digest.hpp"
#include "katana/base/text/format.hpp"
#include "katana/base/values/base64.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/http/client/url.hpp"
#include "katana/http/handlers/cookies.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/identity/oidc/id_token.hpp"
#include "katana/identity/oidc/login_state.hpp"
#include "katana/identity/oidc/provider.hpp"
#include "katana/identity/sessions/user_session.hpp"

namespace katana::oidc {
namespace {

using sessions::UserSession;

constexpr std::size_t random_bytes = 32;  // 43 characters of base64url (RFC 7636 §4.1)
constexpr std::size_t code_bytes_max = 4096;

struct BeginQuery {
  std::optional<std::string> return_to;
};
KATANA_DESCRIBE(BeginQuery, (return_to, help("A path of this program, where the login ends.")))

struct CallbackQuery {
  std::optional<std::string> code;
  std::optional<std::string> state;
  std::optional<std::string> iss;
  std::optional<std::string> error;
  std::optional<std::string> error_description;
};
KATANA_DESCRIBE(CallbackQuery, (code, secret), (state, secret), iss, error, error_description)

struct TokenReply {
  std::string id_token;
  std::optional<std::string> access_token;
};
KATANA_DESCRIBE(TokenReply, (id_token, secret), (access_token, secret))

std::string random_text() { return encode_base64url(random_octets(random_bytes)); }

std::string hash_text(Bytes text) { return encode_base64url(crypto::sha256(text).bytes()); }

std::int64_t now_s() noexcept {
  return std::chrono::floor<std::chrono::seconds>(current_time()).time_since_epoch().count();
}

// Encodes for application/x-www-form-urlencoded, and for a query.
void append_parameter(std::string& to, Bytes name, Bytes value) {
  if (!to.empty() && to.back() != '?' && to.back() != '&') to += '&';
  to.append(name).append("=");
  for (const char c : value) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || Bytes("-._~").find(c) != Bytes::npos;
    if (is_plain) {
      to += c;
    } else {
      fmt::format_to(std::back_inserter(to), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
}
std::string encoded(Bytes value) {
  std::string text;
  append_parameter(text, "", value);
  return text.substr(1);
}
std::string with_query(const std::string& url) {
  return url + (url.find('?') == std::string::npos ? '?' : '&');
}

// A reply with one sentence for the browser. The cause is recorded if the provider is at fault.
Reply refused(Code code, const char* sentence, const Error& cause) {
  return problem(Error(code, std::string(cause.describe())).within(sentence));
}
Reply refused(Code code, const char* sentence, std::string cause) {
  return problem(Error(code, std::move(cause)).within(sentence));
}
constexpr const char* no_login = "This login was not begun here, or too long ago: begin again.";
constexpr const char* no_provider = "Logging in is not possible at the moment.";

Result<std::vector<jose::Algorithm>> algorithms_of(const std::vector<std::string>& names) {
  if (names.empty()) {
    return fail(Code::invalid_argument, "algorithms is empty: name those of the provider's keys");
  }
  std::vector<jose::Algorithm> algorithms;
  for (const std::string& name : names) {
    const auto algorithm = jose::algorithm_from(name);
    if (!algorithm || jose::family_of(*algorithm) == jose::Family::hmac) {
      return fail(
          Code::invalid_argument,
          fmt::format("algorithms: '{}' is none that a provider has a public key of: RS256, "
                      "PS256, ES256 and their kin, or EdDSA",
                      name));
    }
    algorithms.push_back(*algorithm);
  }
  return algorithms;
}

}  // namespace

class OidcLogin::Core {
 public:
  Core(OidcOptions options, client::HttpClient http, std::vector<jose::Algorithm> algorithms,
       StateSealer sealer, std::string callback_path)
      : options_(std::move(options)),
        http_(std::move(http)),
        sealer_(std::move(sealer)),
        provider_(options_, std::move(algorithms), http_),
        callback_path_(std::move(callback_path)),
        cookie_name_(options_.secure ? "__Host-login" : "login") {}

  const OidcOptions& options() const noexcept { return options_; }
  const std::string& callback_path() const noexcept { return callback_path_; }

  // The handlers of the routes. Each holds the Core, and the session, while it waits.
  static Task<Reply> begin(std::shared_ptr<const Core> core, Request request, BeginQuery query);
  static Task<Reply> finish(std::shared_ptr<const Core> core, Request request, CallbackQuery query,
                            FromContext<UserSession> session);
  static Task<Reply> answer_callback(std::shared_ptr<const Core> core, Request request,
                                     CallbackQuery query, FromContext<UserSession> session);
  static Task<Reply> end(std::shared_ptr<const Core> core, FromContext<UserSession> session);

 private:
  using Checked = std::expected<LoginState, Reply>;

  Checked opened(const Request& request, const CallbackQuery& query) const;
  std::optional<Reply> refuse_answer(const CallbackQuery& query,
                                     const ProviderMetadata& provider) const;
  std::string authorization_url(const ProviderMetadata& provider, const LoginState& state) const;
  client::Request token_request(const ProviderMetadata& provider, const std::string& code,
                                const LoginState& state) const;
  Task<Result<TokenReply>> redeem(const ProviderMetadata& provider, std::string code,
                                  LoginState state) const;
  Task<Result<jose::Token>> believe(std::shared_ptr<auth::RemoteKeys> keys, TokenReply said,
                                    std::string nonce) const;

  const OidcOptions options_;
  const client::HttpClient http_;
  const StateSealer sealer_;
  const ProviderCache provider_;
  const std::string callback_path_;
  const std::string cookie_name_;
};

// A browser keeps the cookie of its first login. Several logins can then be under way.
Task<Reply> OidcLogin::Core::begin(std::shared_ptr<const Core> core, Request request,
                                   BeginQuery query) {
  std::string return_to = query.return_to.value_or(core->options_.after_login);
  if (!is_local_path(return_to)) {
    co_return problem(problem_types::invalid_parameter,
                      "return_to is not a path of this program, such as /orders.");
  }
  const auto provider = co_await core->provider_.get();
  if (!provider) co_return refused(Code::unavailable, no_provider, provider.error());
  const Bytes known = cookie(request, core->cookie_name_).value_or("");
  const bool is_known = decode_base64url(known).value_or("").size() == random_bytes;
  const std::string browser = is_known ? std::string(known) : random_text();
  const LoginState state = {.browser = hash_text(browser),
                            .nonce = random_text(),
                            .verifier = random_text(),
                            .return_to = std::move(return_to),
                            .expires_s = now_s() + core->options_.login_max.ns / 1'000'000'000};
  Reply reply = Reply::redirect(core->authorization_url((*provider)->metadata, state));
  reply.add_field("Cache-Control", "no-store");
  const auto set = set_cookie(reply, {.name = core->cookie_name_,
                                      .value = browser,
                                      .max_age = core->options_.login_max,
                                      .secure = core->options_.secure});
  if (!set) co_return problem(set.error());
  co_return reply;
}

std::string OidcLogin::Core::authorization_url(const ProviderMetadata& provider,
                                               const LoginState& state) const {
  std::string scopes;
  for (const std::string& scope : options_.scopes) scopes += (scopes.empty() ? "" : " ") + scope;
  std::string url = with_query(provider.authorization_endpoint);
  append_parameter(url, "response_type", "code");
  append_parameter(url, "client_id", options_.client_id);
  append_parameter(url, "redirect_uri", options_.redirect_uri);
  append_parameter(url, "scope", scopes);
  append_parameter(url, "state", sealer_.seal(state));
  append_parameter(url, "nonce", state.nonce);
  append_parameter(url, "code_challenge", hash_text(state.verifier));
  append_parameter(url, "code_challenge_method", "S256");
  return url;
}

Task<Reply> OidcLogin::Core::finish(std::shared_ptr<const Core> core, Request request,
                                    CallbackQuery query, FromContext<UserSession> session) {
  Checked state = core->opened(request, query);
  if (!state) co_return std::move(state.error());
  const auto provider = co_await core->provider_.get();
  if (!provider) co_return refused(Code::unavailable, no_provider, provider.error());
  if (auto refusal = core->refuse_answer(query, (*provider)->metadata)) {
    co_return *std::move(refusal);
  }
  auto said = co_await core->redeem((*provider)->metadata, *query.code, *state);
  if (!said) co_return problem(said.error());
  const auto token =
      co_await core->believe((*provider)->keys, *std::move(said), std::move(state->nonce));
  if (!token) co_return refused(Code::unavailable, no_provider, token.error());
  auth::PrincipalFacts facts = facts_of(*token, core->options_.roles_claim);
  const auto kept = co_await session->log_in(facts);
  if (!kept) co_return problem(kept.error());
  Reply reply = Reply::redirect(state->return_to);
  reply.add_field("Cache-Control", "no-store");
  (void)remove_cookie(reply,
                      {.name = core->cookie_name_, .value = {}, .secure = core->options_.secure});
  co_return reply;
}

// The URL contains the code. A page that is shown here must not send it as its Referer.
Task<Reply> OidcLogin::Core::answer_callback(std::shared_ptr<const Core> core, Request request,
                                             CallbackQuery query,
                                             FromContext<UserSession> session) {
  Task<Reply> finished =
      finish(std::move(core), std::move(request), std::move(query), std::move(session));
  Reply reply = co_await std::move(finished);
  reply.add_field("Referrer-Policy", "no-referrer");
  co_return reply;
}

// The login that this browser began.
OidcLogin::Core::Checked OidcLogin::Core::opened(const Request& request,
                                                 const CallbackQuery& query) const {
  auto state = sealer_.open(query.state.value_or(""), now_s());
  const Bytes browser = cookie(request, cookie_name_).value_or("");
  if (!state || !equal_in_constant_time(state->browser, hash_text(browser))) {
    return std::unexpected(problem(problem_types::login_expired, no_login));
  }
  return *std::move(state);
}

// Checks the answer by RFC 6749 §4.1.2.1 and RFC 9207 §2.4.
std::optional<Reply> OidcLogin::Core::refuse_answer(const CallbackQuery& query,
                                                    const ProviderMetadata& provider) const {
  const bool has_to_say = provider.authorization_response_iss_parameter_supported.value_or(false);
  if (query.iss ? *query.iss != options_.issuer : has_to_say) {
    return refused(Code::invalid_argument, no_login,
                   "iss is " + jose::shown(query.iss.value_or("missing")));
  }
  if (query.error) {
    const bool is_users = *query.error == "access_denied" || *query.error == "login_required" ||
                          *query.error == "consent_required" ||
                          *query.error == "interaction_required";
    if (is_users) {
      return refused(Code::permission_denied, "The provider has not logged you in.", *query.error);
    }
    return refused(
        Code::unavailable, no_provider,
        fmt::format("{} answered with the error {}: {}", options_.issuer, jose::shown(*query.error),
                    jose::shown(query.error_description.value_or(""))));
  }
  if (!query.code || query.code->empty() || query.code->size() > code_bytes_max) {
    return problem(problem_types::login_expired, no_login);
  }
  return std::nullopt;
}

// Uses client_secret_basic, the default (OpenID Connect Discovery 1.0 §3). If the provider lists
// methods without it, client_secret_post is used. A public client sends only its id.
client::Request OidcLogin::Core::token_request(const ProviderMetadata& provider,
                                               const std::string& code,
                                               const LoginState& state) const {
  const auto& methods = provider.token_endpoint_auth_methods_supported;
  const bool is_public = options_.client_secret.empty();
  const bool by_post =
      methods && std::ranges::find(*methods, "client_secret_basic") == methods->end();
  std::string form;
  append_parameter(form, "grant_type", "authorization_code");
  append_parameter(form, "code", code);
  append_parameter(form, "redirect_uri", options_.redirect_uri);
  append_parameter(form, "code_verifier", state.verifier);
  if (is_public || by_post) append_parameter(form, "client_id", options_.client_id);
  if (!is_public && by_post) append_parameter(form, "client_secret", options_.client_secret);
  client::Request request("POST", provider.token_endpoint);
  request.content(std::move(form), "application/x-www-form-urlencoded")
      .field("Accept", "application/json")
      .redirects(0)
      .timeout(options_.timeout);
  if (!is_public && !by_post) {  // RFC 6749 §2.3.1: each is form-encoded first
    const std::string pair = encoded(options_.client_id) + ":" + encoded(options_.client_secret);
    request.field("Authorization", "Basic " + encode_base64(pair));
  }
  return request;
}

// No retry: a code is valid only once (RFC 6749 §4.1.2).
Task<Result<TokenReply>> OidcLogin::Core::redeem(const ProviderMetadata& provider, std::string code,
                                                 LoginState state) const {
  const auto response = co_await http_.fetch(token_request(provider, code, state));
  if (!response) {
    co_return std::unexpected(
        Error(Code::unavailable, response.error().describe()).within(no_provider));
  }
  if (response->status() == 400 && response->content().find("invalid_grant") != Bytes::npos) {
    co_return std::unexpected(
        Error(Code::invalid_argument, "the provider does not know the code").within(no_login));
  }
  if (response->status() != 200) {
    co_return std::unexpected(
        Error(Code::unavailable, fmt::format("POST {}: status {}: {}", provider.token_endpoint,
                                             response->status(), jose::shown(response->content())))
            .within(no_provider));
  }
  auto said = container::read_json<TokenReply>(response->content());
  if (!said) {
    co_return std::unexpected(
        Error(Code::unavailable, said.error().within("POST " + provider.token_endpoint).describe())
            .within(no_provider));
  }
  co_return *std::move(said);
}

// An unknown key may be a new one. The keys of the provider are then fetched once more.
Task<Result<jose::Token>> OidcLogin::Core::believe(std::shared_ptr<auth::RemoteKeys> keys,
                                                   TokenReply said, std::string nonce) const {
  using Want = auth::TokenKeys::Want;
  const std::string access_token = said.access_token.value_or("");
  jose::Verified<jose::Token> token = jose::refuse(jose::Reason::unknown_key);
  for (const Want want : {Want::any, Want::newer}) {
    if (auto fetch = keys->refresh(want)) co_await *std::move(fetch);
    const auto set = keys->keys();
    if (set == nullptr) {
      const auto health = keys->health();
      co_return fail(Code::unavailable,
                     health ? "the provider has no keys at present" : health.error().describe());
    }
    token = verify_id_token(said.id_token, *set,
                            {.options = options_, .nonce = nonce, .access_token = access_token},
                            current_time());
    if (token || token.error().reason != jose::Reason::unknown_key) break;
  }
  if (!token) {
    co_return fail(Code::unavailable, fmt::format("the ID token of {}: {}", options_.issuer,
                                                  token.error().describe()));
  }
  co_return *std::move(token);
}

// Logs out by OpenID Connect RP-Initiated Logout 1.0 §2, if the provider supports it.
Task<Reply> OidcLogin::Core::end(std::shared_ptr<const Core> core,
                                 FromContext<UserSession> session) {
  const auto ended = co_await session->end();
  if (!ended) co_return problem(ended.error());
  const auto provider = co_await core->provider_.get();
  if (!provider || !(*provider)->metadata.end_session_endpoint) {
    co_return Reply::redirect(core->options_.after_logout);
  }
  std::string url = with_query(*(*provider)->metadata.end_session_endpoint);
  append_parameter(url, "client_id", core->options_.client_id);
  const std::string& own = core->options_.redirect_uri;
  append_parameter(
      url, "post_logout_redirect_uri",
      own.substr(0, own.size() - core->callback_path_.size()) + core->options_.after_logout);
  co_return Reply::redirect(url);
}

OidcLogin::OidcLogin(std::shared_ptr<const Core> core) noexcept : core_(std::move(core)) {}

Result<OidcLogin> OidcLogin::make(OidcOptions options, client::HttpClient http) {
  if (const auto good = check_provider_url("issuer", options.issuer); !good) {
    return std::unexpected(good.error());
  }
  if (options.client_id.empty()) {
    return fail(Code::invalid_argument, "client_id is empty: the provider gives it");
  }
  const auto redirect = client::parse_url(options.redirect_uri);
  if (!redirect) return std::unexpected(redirect.error().within("redirect_uri"));
  const std::string& path = redirect->target;
  if (!is_local_path(path) || path.find('?') != std::string::npos ||
      !options.redirect_uri.ends_with(path)) {
    return fail(Code::invalid_argument,
                fmt::format("redirect_uri: '{}' needs a path, and no query: "
                            "https://app.example.org/login/callback",
                            options.redirect_uri));
  }
  for (const auto& [name, value] : {std::pair{"login_path", &options.login_path},
                                    std::pair{"logout_path", &options.logout_path},
                                    std::pair{"after_login", &options.after_login},
                                    std::pair{"after_logout", &options.after_logout}}) {
    if (is_local_path(*value)) continue;
    return fail(
        Code::invalid_argument,
        fmt::format("{}: '{}' is not a path of this program, such as /login", name, *value));
  }
  auto algorithms = algorithms_of(options.algorithms);
  if (!algorithms) return std::unexpected(algorithms.error());
  if (std::ranges::find(options.scopes, "openid") == options.scopes.end()) {
    options.scopes.insert(options.scopes.begin(), "openid");
  }
  auto sealer = StateSealer::make(options.secrets, options.issuer + " " + options.client_id);
  if (!sealer) return std::unexpected(sealer.error());
  return OidcLogin(std::make_shared<const Core>(std::move(options), std::move(http),
                                                *std::move(algorithms), *std::move(sealer), path));
}

void OidcLogin::add_to(Group routes) const {
  const auto core = core_;
  routes.get(core->options().login_path, [core](Request request, Query<BeginQuery> query) {
    return Core::begin(core, std::move(request), *std::move(query));
  });
  routes.get(core->callback_path(), [core](Request request, Query<CallbackQuery> query,
                                           FromContext<UserSession> session) {
    return Core::answer_callback(core, std::move(request), *std::move(query), std::move(session));
  });
  routes.post(core->options().logout_path, [core](FromContext<UserSession> session) {
    return Core::end(core, std::move(session));
  });
}

}  // namespace katana::oidc

// SPDX-License-Identifier: Apache-2.0
