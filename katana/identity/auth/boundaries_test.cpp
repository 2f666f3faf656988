// The limits of credentials: the microsecond, byte and character at which a verdict changes.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/base64.hpp"
#include "katana/http/handlers/exchange_fixture_test.hpp"
#include "katana/identity/auth/api_key.hpp"
#include "katana/identity/auth/basic.hpp"
#include "katana/identity/auth/bearer.hpp"
#include "katana/identity/auth/certificate.hpp"
#include "katana/identity/auth/policy.hpp"
#include "katana/identity/auth/revocations.hpp"

namespace katana::auth {
namespace {

using std::chrono::microseconds;

constexpr Timestamp at_second(std::int64_t seconds) {
  return Timestamp(std::chrono::seconds(1'800'000'000 + seconds));
}

// current_time() is `now`, which a test sets, forwards and backwards.
class SetClock final : private VirtualWallClock {
 public:
  SetClock() : before_(enter(this)) {}
  ~SetClock() { enter(before_); }
  Timestamp now = at_second(0);

 private:
  Timestamp current_time() const noexcept override { return now; }
  const VirtualWallClock* const before_;
};

// Counts the uses of the keys: a kept token needs none.
class CountedKeys final : public TokenKeys {
 public:
  using TokenKeys::TokenKeys;
  std::optional<Task<void>> refresh(Want want) override {
    if (want == Want::any) ++uses;
    return std::nullopt;
  }
  int uses = 0;
};

class AuthBoundaries : public ServiceTest {
 protected:
  // Each request is answered with the name, the id and the issuer of its principal.
  void serve(Middleware middleware) {
    add_routes([&](Router& router) {
      router.use(std::move(middleware));
      router.get("/", [](FromContext<Principal> who) {
        seen() = who->facts();
        return Reply::text("x");
      });
    });
  }
  static PrincipalFacts& seen() {
    static PrincipalFacts facts;
    return facts;
  }
  unsigned status(const std::string& fields) {
    return send("GET", "/", "Host: example\n" + fields).status;
  }
  unsigned with_authorization(const std::string& value) {
    return status("Authorization: " + value + "\n");
  }

  SetClock clock_;
  std::vector<std::string> reasons_;
};

class ApiKeyBoundaries : public AuthBoundaries {
 protected:
  void serve_keys(std::string issuer = "api_key") {
    serve(api_key({.find = [this](std::string prefix) { return find(std::move(prefix)); },
                   .issuer = std::move(issuer),
                   .on_refused = [this](Bytes reason) { reasons_.emplace_back(reason); }}));
  }
  Task<Result<std::optional<ApiKeyRecord>>> find(std::string prefix) {
    asked_.push_back(prefix);
    const auto found = records_.find(prefix);
    if (found == records_.end()) co_return std::nullopt;
    co_return found->second;
  }
  unsigned with_key(const std::string& text) { return status("X-API-Key: " + text + "\n"); }

  std::map<std::string, ApiKeyRecord> records_;
  std::vector<std::string> asked_;
};

TEST_F(ApiKeyBoundaries, a_key_is_refused_from_the_microsecond_at_which_it_expires) {
  records_["a"] = {.hash = hash_api_key("a_1"), .expires_at = at_second(10)};
  serve_keys();
  clock_.now = at_second(10) - microseconds(1);
  EXPECT_EQ(with_key("a_1"), 200U);
  clock_.now = at_second(10);
  EXPECT_EQ(with_key("a_1"), 401U);
  EXPECT_EQ(reasons_, std::vector<std::string>{"the API key has expired"});
}

TEST_F(ApiKeyBoundaries, a_record_whose_hash_is_empty_cut_or_longer_is_met_by_no_key) {
  const std::string hash = hash_api_key("a_1");
  serve_keys();
  for (const std::string& stored : {std::string(), hash.substr(0, 1), hash.substr(0, 63),
                                    hash + "0", hash.substr(1), std::string(64, '0')}) {
    records_["a"] = {.hash = stored};
    EXPECT_EQ(with_key("a_1"), 401U) << stored;
  }
  records_["a"] = {.hash = hash};
  EXPECT_EQ(with_key("a_1"), 200U);
}

TEST_F(ApiKeyBoundaries, a_wrong_key_of_an_expired_record_is_wrong_and_not_expired) {
  records_["a"] = {.hash = hash_api_key("a_1"), .expires_at = at_second(-1)};
  serve_keys();
  EXPECT_EQ(with_key("a_2"), 401U);
  EXPECT_EQ(reasons_, std::vector<std::string>{"the API key is unknown or wrong"});
}

TEST_F(ApiKeyBoundaries, a_key_of_256_bytes_is_looked_up_and_a_longer_one_is_malformed) {
  serve_keys();
  const std::string longest = "a_" + std::string(254, '1');
  records_["a"] = {.hash = hash_api_key(longest)};
  EXPECT_EQ(with_key(longest), 200U);
  EXPECT_EQ(with_key(longest + "1"), 401U);
  EXPECT_EQ(with_key("a-b_1"), 401U);
  EXPECT_EQ(with_key("_1"), 401U);
  EXPECT_EQ(with_key("1"), 401U);
  EXPECT_EQ(reasons_, std::vector<std::string>(4, "the API key is malformed"));
  EXPECT_EQ(asked_, std::vector<std::string>{"a"}) << "only a well-formed key is looked up";
}

TEST_F(ApiKeyBoundaries, a_key_has_letters_digits_and_underscores_alone) {
  serve_keys();
  const Bytes allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz0123456789";
  for (int code = 0x21; code < 0x7f; ++code) {
    const auto character = static_cast<char>(code);
    reasons_.clear();
    EXPECT_EQ(with_key(std::string("a_") + character + "1"), 401U);
    EXPECT_EQ(reasons_, std::vector<std::string>{allowed.contains(character)
                                                     ? "the API key is unknown or wrong"
                                                     : "the API key is malformed"})
        << character;
  }
}

TEST_F(ApiKeyBoundaries, the_prefix_ends_at_the_last_underscore) {
  records_["a_b"] = {.hash = hash_api_key("a_b_1")};
  serve_keys();
  EXPECT_EQ(with_key("a_b_1"), 200U);
  EXPECT_EQ(asked_, std::vector<std::string>{"a_b"});
  EXPECT_EQ(seen().id, "a_b");
}

TEST_F(ApiKeyBoundaries, two_keys_in_one_request_are_refused) {
  records_["a"] = {.hash = hash_api_key("a_1")};
  serve_keys();
  EXPECT_EQ(status("X-API-Key: a_1\nx-api-key: a_1\n"), 400U);
  EXPECT_TRUE(asked_.empty());
}

TEST_F(ApiKeyBoundaries, the_principal_is_what_the_record_says) {
  records_["a"] = {.hash = hash_api_key("a_1"),
                   .id = "robot",
                   .name = "The robot",
                   .roles = {"staff"},
                   .scopes = {"read"},
                   .expires_at = at_second(10)};
  serve_keys("shop");
  EXPECT_EQ(with_key("a_1"), 200U);
  EXPECT_EQ(seen().id, "robot");
  EXPECT_EQ(seen().name, "The robot");
  EXPECT_EQ(seen().issuer, "shop");
  EXPECT_EQ(seen().method, Method::api_key);
  EXPECT_EQ(seen().roles, std::vector<std::string>{"staff"});
  EXPECT_EQ(seen().scopes, std::vector<std::string>{"read"});
  EXPECT_EQ(seen().expires_at, at_second(10));
}

TEST(AuthChallenge, quotes_and_backslashes_of_a_parameter_are_escaped) {
  EXPECT_EQ(quoted_parameter(R"(a"b\c)"), R"("a\"b\\c")");
}

// `verify` accepts every user, so that only the reading of the credentials can refuse.
class BasicBoundaries : public AuthBoundaries {
 protected:
  void serve_users(PrincipalFacts facts = {}) {
    serve(basic(
        {.realm = "shop",
         .verify = [facts](std::string user, SecretText) { return accept(facts, std::move(user)); },
         .on_refused = [this](Bytes reason) { reasons_.emplace_back(reason); }}));
  }
  static Task<Result<std::optional<PrincipalFacts>>> accept(PrincipalFacts facts,
                                                            std::string user) {
    facts.id = std::move(user);
    co_return facts;
  }
  unsigned with_password(Bytes text) { return with_authorization("Basic " + encode_base64(text)); }
};

TEST_F(BasicBoundaries, a_control_character_in_user_or_password_is_malformed) {
  serve_users();
  for (int code = 0; code < 0x80; ++code) {
    const std::string character(1, static_cast<char>(code));
    const unsigned expected = code < 0x20 || code == 0x7f ? 401U : 200U;
    EXPECT_EQ(with_password("a:b" + character), expected) << code;
    EXPECT_EQ(with_password("a" + character + "b:c"), expected) << code;
  }
  EXPECT_EQ(reasons_, std::vector<std::string>(2 * 33, "user and password are malformed"));
}

TEST_F(BasicBoundaries, what_is_no_UTF_8_has_no_colon_or_no_user_is_malformed) {
  serve_users();
  EXPECT_EQ(with_password("änne:wörd"), 200U);
  EXPECT_EQ(with_password("ann:"), 200U) << "an empty password is for `verify` to judge";
  for (const Bytes wrong : {Bytes("a:\xff"), Bytes("\xc3:a"), Bytes("a"), Bytes(":a"), Bytes("")}) {
    EXPECT_EQ(with_password(wrong), 401U) << wrong;
  }
  EXPECT_EQ(reasons_, std::vector<std::string>(5, "user and password are malformed"));
}

TEST_F(BasicBoundaries, credentials_of_1024_characters_are_read_and_longer_ones_are_malformed) {
  serve_users();
  EXPECT_EQ(with_password("a:" + std::string(766, 'b')), 200U);
  EXPECT_EQ(with_password("a:" + std::string(767, 'b')), 401U);
  EXPECT_EQ(reasons_, std::vector<std::string>{"user and password are malformed"});
}

TEST_F(BasicBoundaries, the_first_colon_ends_the_user) {
  serve_users();
  EXPECT_EQ(with_password("ann:b:c"), 200U);
  EXPECT_EQ(seen().id, "ann");
}

TEST_F(BasicBoundaries, the_issuer_is_the_realm_unless_verify_names_one) {
  serve_users({.method = Method::session});
  EXPECT_EQ(with_password("ann:b"), 200U);
  EXPECT_EQ(seen().issuer, "shop");
  EXPECT_EQ(seen().method, Method::basic) << "whatever `verify` says";
  serve_users({.issuer = "ldap"});
  EXPECT_EQ(with_password("ann:b"), 200U);
  EXPECT_EQ(seen().issuer, "ldap");
}

TEST_F(BasicBoundaries, two_fields_of_credentials_are_refused) {
  serve_users();
  EXPECT_EQ(status("Authorization: Basic YTpi\nAuthorization: Basic YTpi\n"), 400U);
}

class BearerBoundaries : public AuthBoundaries {
 protected:
  BearerOptions options() {
    return {.keys = keys_,
            .rules = {.leeway = seconds(30)},
            .on_refused = [this](const jose::Refusal& each) { refusals_.push_back(each.reason); }};
  }
  static jose::Claims claims() {
    return {.subject = "ann", .expires_at = at_second(600), .issued_at = at_second(0)};
  }
  std::string token(const jose::Claims& claims) const { return *jose::sign_jwt(key_, claims); }
  unsigned with_token(const std::string& token) { return with_authorization("Bearer " + token); }

  const jose::SigningKey key_ =
      *jose::SigningKey::from_secret(jose::Algorithm::hs256, "4f8a61c0d97be2350a6f18c4e7d29b53");
  const std::shared_ptr<CountedKeys> keys_ =
      std::make_shared<CountedKeys>(TokenKeys::Set{key_.verification_key()});
  std::vector<jose::Reason> refusals_;
};

TEST_F(BearerBoundaries, a_token_without_a_subject_is_refused_whatever_the_rules_say) {
  auto given = options();
  given.rules.is_subject_required = false;
  serve(bearer(std::move(given)));
  auto nobody = claims();
  nobody.subject.clear();
  EXPECT_EQ(with_token(token(nobody)), 401U);
  EXPECT_EQ(refusals_, std::vector{jose::Reason::missing_claim});
}

TEST_F(BearerBoundaries, a_kept_token_is_verified_once) {
  serve(bearer(options()));
  const std::string good = token(claims());
  EXPECT_EQ(with_token(good), 200U);
  EXPECT_EQ(with_token(good), 200U);
  EXPECT_EQ(keys_->uses, 1);
}

TEST_F(BearerBoundaries, with_cached_tokens_max_0_each_request_verifies_its_token) {
  auto given = options();
  given.cached_tokens_max = 0;
  serve(bearer(std::move(given)));
  const std::string good = token(claims());
  EXPECT_EQ(with_token(good), 200U);
  EXPECT_EQ(with_token(good), 200U);
  EXPECT_EQ(keys_->uses, 2);
}

TEST_F(BearerBoundaries, a_kept_token_ends_in_the_microsecond_of_its_expiry_and_the_leeway) {
  serve(bearer(options()));
  const std::string good = token(claims());
  EXPECT_EQ(with_token(good), 200U);
  clock_.now = at_second(630) - microseconds(1);
  EXPECT_EQ(with_token(good), 200U);
  EXPECT_EQ(keys_->uses, 1) << "within the leeway it is still kept";
  clock_.now = at_second(630);
  EXPECT_EQ(with_token(good), 401U);
  EXPECT_EQ(refusals_, std::vector{jose::Reason::expired});
}

TEST_F(BearerBoundaries, a_token_of_the_near_future_is_kept_within_the_leeway_and_not_before_it) {
  serve(bearer(options()));
  auto early = claims();
  early.not_before = at_second(20);
  const std::string good = token(early);
  EXPECT_EQ(with_token(good), 200U);
  EXPECT_EQ(with_token(good), 200U);
  EXPECT_EQ(keys_->uses, 1) << "nbf is 20 s ahead, and the leeway is 30 s";
  clock_.now = at_second(-10);
  EXPECT_EQ(with_token(good), 200U);
  EXPECT_EQ(keys_->uses, 1);
  // The clock was set back: a kept token is not valid before its time either.
  clock_.now = at_second(-10) - microseconds(1);
  EXPECT_EQ(with_token(good), 401U);
  EXPECT_EQ(refusals_, std::vector{jose::Reason::not_yet_valid});
}

TEST_F(BearerBoundaries, a_kept_token_is_not_valid_before_it_was_issued) {
  serve(bearer(options()));
  const std::string good = token(claims());
  EXPECT_EQ(with_token(good), 200U);
  clock_.now = at_second(-30) - microseconds(1);
  EXPECT_EQ(with_token(good), 401U);
  EXPECT_EQ(refusals_, std::vector{jose::Reason::issued_in_the_future});
}

TEST_F(BearerBoundaries, a_kept_token_does_not_outlive_age_max_and_the_leeway) {
  auto given = options();
  given.rules.age_max = seconds(60);
  serve(bearer(std::move(given)));
  const std::string good = token(claims());
  EXPECT_EQ(with_token(good), 200U);
  clock_.now = at_second(90) - microseconds(1);
  EXPECT_EQ(with_token(good), 200U);
  EXPECT_EQ(keys_->uses, 1);
  clock_.now = at_second(90) + microseconds(1);
  EXPECT_EQ(with_token(good), 401U);
  EXPECT_EQ(refusals_, std::vector{jose::Reason::too_old});
}

TEST_F(BearerBoundaries, a_kept_token_expires_although_it_may_be_older) {
  auto given = options();
  given.rules.age_max = seconds(6000);
  serve(bearer(std::move(given)));
  const std::string good = token(claims());
  EXPECT_EQ(with_token(good), 200U);
  clock_.now = at_second(630);
  EXPECT_EQ(with_token(good), 401U);
  EXPECT_EQ(refusals_, std::vector{jose::Reason::expired});
}

TEST_F(BearerBoundaries, a_token_that_says_no_time_of_issue_is_revoked_with_its_subject) {
  const auto revocations = std::make_shared<Revocations>();
  auto given = options();
  given.revocations = revocations;
  serve(bearer(std::move(given)));
  auto undated = claims();
  undated.issued_at.reset();
  const std::string good = token(undated);
  EXPECT_EQ(with_token(good), 200U);
  ASSERT_TRUE(revocations->revoke_subject("", "ann", at_second(-1000), at_second(1000)));
  EXPECT_EQ(with_token(good), 401U);
  EXPECT_EQ(refusals_, std::vector{jose::Reason::revoked});
}

TEST_F(BearerBoundaries, a_kept_token_that_another_revocation_does_not_cover_stays_kept) {
  const auto revocations = std::make_shared<Revocations>();
  auto given = options();
  given.revocations = revocations;
  serve(bearer(std::move(given)));
  const std::string good = token(claims());
  EXPECT_EQ(with_token(good), 200U);
  ASSERT_TRUE(revocations->revoke_subject("", "bob", at_second(1000), at_second(1000)));
  EXPECT_EQ(with_token(good), 200U);
  EXPECT_EQ(keys_->uses, 1);
}

TEST_F(BearerBoundaries, only_the_characters_of_a_token_reach_its_verification) {
  serve(bearer(options()));
  for (const Bytes wrong : {"=", "a=b", "a,b", "a b", "a\"", "\xc3\xa4"}) {
    EXPECT_EQ(with_token(std::string(wrong)), 401U) << wrong;
  }
  EXPECT_EQ(keys_->uses, 0);
  EXPECT_EQ(with_token("aZ09-._~+/=="), 401U);
  EXPECT_EQ(keys_->uses, 1);
}

TEST_F(BearerBoundaries, a_token_in_any_parameter_of_the_query_is_a_second_one) {
  serve(bearer(options()));
  const std::string good = "Host: example\nAuthorization: Bearer " + token(claims()) + "\n";
  for (const Bytes target : {"/?access_token=x", "/?a=1&access_token=x", "/?access_token"}) {
    EXPECT_EQ(send("GET", target, good).status, 400U) << target;
  }
  for (const Bytes target : {"/?access_tokens=x", "/?a=access_token", "/?a=1&b=2"}) {
    EXPECT_EQ(send("GET", target, good).status, 200U) << target;
  }
}

TEST_F(BearerBoundaries, roles_and_scopes_that_are_neither_text_nor_a_list_are_none) {
  serve(bearer(options()));
  for (const container::Value& each : {container::Value(7), container::Value(true),
                                       container::Value(container::Object{{"admin", true}})}) {
    auto odd = claims();
    odd.others = {{"roles", each}, {"scope", each}};
    EXPECT_EQ(with_token(token(odd)), 200U);
    EXPECT_TRUE(seen().roles.empty());
    EXPECT_TRUE(seen().scopes.empty());
  }
}

TEST_F(BearerBoundaries, the_name_is_that_of_the_token_then_the_preferred_one_then_the_subject) {
  serve(bearer(options()));
  auto named = claims();
  EXPECT_EQ(with_token(token(named)), 200U);
  EXPECT_EQ(seen().name, "ann");
  named.others = {{"preferred_username", "ann83"}};
  EXPECT_EQ(with_token(token(named)), 200U);
  EXPECT_EQ(seen().name, "ann83");
  named.others = {{"preferred_username", "ann83"}, {"name", "Ann"}};
  EXPECT_EQ(with_token(token(named)), 200U);
  EXPECT_EQ(seen().name, "Ann");
}

// Fetches a set of keys when it is asked for what `wanted` says; nothing: the fetch fails.
class FetchedKeys final : public TokenKeys {
 public:
  FetchedKeys(Want wanted, std::optional<Set> fetched)
      : wanted_(wanted), fetched_(std::move(fetched)) {}
  std::optional<Task<void>> refresh(Want want) override {
    if (want != wanted_) return std::nullopt;
    ++fetches;
    return fetch();
  }
  int fetches = 0;

 private:
  Task<void> fetch() {
    if (fetched_) replace(*fetched_);
    co_return;
  }
  const Want wanted_;
  const std::optional<Set> fetched_;
};

TEST_F(BearerBoundaries, only_a_token_of_an_unknown_key_asks_for_newer_keys) {
  const auto old_key = *jose::SigningKey::from_secret(jose::Algorithm::hs256,
                                                      "0f8a61c0d97be2350a6f18c4e7d29b53", "1");
  const auto new_key = *jose::SigningKey::from_secret(jose::Algorithm::hs256,
                                                      "9f8a61c0d97be2350a6f18c4e7d29b53", "2");
  const auto keys = std::make_shared<FetchedKeys>(TokenKeys::Want::newer,
                                                  TokenKeys::Set{new_key.verification_key()});
  keys->replace({old_key.verification_key()});
  auto given = options();
  given.keys = keys;
  serve(bearer(std::move(given)));
  EXPECT_EQ(with_token(*jose::sign_jwt(old_key, claims())), 200U);
  auto expired = claims();
  expired.expires_at = at_second(-100);
  EXPECT_EQ(with_token(*jose::sign_jwt(old_key, expired)), 401U);
  EXPECT_EQ(keys->fetches, 0);
  EXPECT_EQ(with_token(*jose::sign_jwt(new_key, claims())), 200U);
  EXPECT_EQ(keys->fetches, 1);
}

TEST_F(BearerBoundaries, without_keys_after_a_fetch_a_token_is_503_and_not_refused) {
  auto given = options();
  const auto keys = std::make_shared<FetchedKeys>(TokenKeys::Want::any, std::nullopt);
  given.keys = keys;
  serve(bearer(std::move(given)));
  EXPECT_EQ(with_token(token(claims())), 503U);
  EXPECT_EQ(keys->fetches, 1);
  EXPECT_TRUE(refusals_.empty());
}

class RevocationBoundaries : public ::testing::Test {
 protected:
  SetClock clock_;
};

TEST_F(RevocationBoundaries, a_second_revocation_of_a_token_does_not_shorten_the_first) {
  Revocations revocations(1);
  ASSERT_TRUE(revocations.revoke_token("a", "1", at_second(20)));
  ASSERT_TRUE(revocations.revoke_token("a", "1", at_second(10)));
  clock_.now = at_second(15);
  EXPECT_FALSE(revocations.revoke_token("a", "2", at_second(30)));
  EXPECT_TRUE(revocations.covers("a", "1", "ann", at_second(0)));
  ASSERT_TRUE(revocations.revoke_token("a", "1", at_second(40))) << "a later one lengthens it";
  clock_.now = at_second(25);
  EXPECT_FALSE(revocations.revoke_token("a", "2", at_second(30)));
}

TEST_F(RevocationBoundaries, a_second_revocation_of_a_subject_does_not_shorten_the_first) {
  Revocations revocations(1);
  ASSERT_TRUE(revocations.revoke_subject("a", "ann", at_second(5), at_second(20)));
  ASSERT_TRUE(revocations.revoke_subject("a", "ann", at_second(4), at_second(10)));
  clock_.now = at_second(15);
  EXPECT_FALSE(revocations.revoke_subject("a", "bob", at_second(5), at_second(30)));
  EXPECT_TRUE(revocations.covers("a", "1", "ann", at_second(5) - microseconds(1)));
  EXPECT_FALSE(revocations.covers("a", "1", "ann", at_second(5)));
  ASSERT_TRUE(revocations.revoke_subject("a", "ann", at_second(8), at_second(40)));
  clock_.now = at_second(25);
  EXPECT_FALSE(revocations.revoke_subject("a", "bob", at_second(5), at_second(30)));
  EXPECT_TRUE(revocations.covers("a", "1", "ann", at_second(7)));
}

TEST_F(RevocationBoundaries, a_revocation_makes_room_from_the_microsecond_at_which_it_ends) {
  Revocations revocations(2);
  ASSERT_TRUE(revocations.revoke_token("a", "1", at_second(10)));
  ASSERT_TRUE(revocations.revoke_subject("a", "ann", at_second(0), at_second(20)));
  clock_.now = at_second(10) - microseconds(1);
  EXPECT_FALSE(revocations.revoke_token("a", "2", at_second(30)));
  clock_.now = at_second(10);
  EXPECT_TRUE(revocations.revoke_token("a", "2", at_second(30)));
  EXPECT_FALSE(revocations.covers("a", "1", "bob", at_second(0)));
  clock_.now = at_second(20) - microseconds(1);
  EXPECT_FALSE(revocations.revoke_subject("a", "bob", at_second(0), at_second(30)));
  clock_.now = at_second(20);
  EXPECT_TRUE(revocations.revoke_subject("a", "bob", at_second(0), at_second(30)));
  EXPECT_TRUE(revocations.revoke_subject("a", "bob", at_second(5), at_second(30)))
      << "one that is there already needs no room";
  EXPECT_EQ(revocations.count(), 2U);
}

TEST_F(RevocationBoundaries, each_revocation_changes_the_generation) {
  Revocations revocations(1);
  const auto first = revocations.generation();
  ASSERT_TRUE(revocations.revoke_subject("a", "ann", at_second(0), at_second(10)));
  EXPECT_NE(revocations.generation(), first);
  const auto second = revocations.generation();
  ASSERT_TRUE(revocations.revoke_subject("a", "ann", at_second(1), at_second(10)));
  EXPECT_NE(revocations.generation(), second);
}

TEST_F(RevocationBoundaries, issuer_and_name_are_compared_apart) {
  Revocations revocations;
  ASSERT_TRUE(revocations.revoke_token("ab", "c", at_second(10)));
  ASSERT_TRUE(revocations.revoke_subject("ab", "c", at_second(10), at_second(10)));
  EXPECT_FALSE(revocations.covers("a", "bc", "bc", at_second(0)));
}

TEST_F(RevocationBoundaries, a_token_without_an_id_is_not_revoked_by_it) {
  Revocations revocations;
  const auto revoked = revocations.revoke_token("a", "", at_second(10));
  ASSERT_FALSE(revoked) << "a success would promise what nothing keeps";
  EXPECT_EQ(revoked.error().code(), Code::invalid_argument);
  EXPECT_EQ(revocations.count(), 0U);
  EXPECT_FALSE(revocations.covers("a", "", "ann", at_second(0)));
}

class PolicyBoundaries : public BearerBoundaries {
 protected:
  bool is_told_a_scope() const { return exchange_->fields_sent.contains("insufficient_scope"); }
};

TEST_F(PolicyBoundaries, only_a_token_that_lacks_a_scope_is_told_of_scopes) {
  add_routes([&](Router& router) {
    router.use(bearer(options()));
    router.use(require(all_of({scope("read"), role("admin")})));
    router.get("/", [] { return Reply(204); });
  });
  EXPECT_EQ(with_token(token(claims())), 403U);
  EXPECT_TRUE(is_told_a_scope());
  auto reader = claims();
  reader.others = {{"scope", "read"}};
  EXPECT_EQ(with_token(token(reader)), 403U);
  EXPECT_FALSE(is_told_a_scope()) << "the role is missing, not the scope";
}

TEST_F(PolicyBoundaries, a_principal_without_a_token_is_not_told_of_scopes) {
  const Principal robot({.id = "robot", .method = Method::api_key});
  const Reply reply = forbidden(robot, scope("read"));
  EXPECT_EQ(reply.status(), 403U);
  EXPECT_FALSE(Bytes(reply.fields()).contains("WWW-Authenticate"));
}

TEST_F(AuthBoundaries, a_certificate_is_known_by_its_first_mail_address_and_never_by_no_id) {
  const net::PeerCertificate shown = {.subject = "CN=robot",
                                      .issuer = "CN=authority",
                                      .emails = {"robot@example", "other@example"}};
  const auto ask = [&](CertificateOptions options) {
    serve(certificate(std::move(options)));
    exchange_ = std::make_unique<FakeExchange>("GET", "/", "Host: example\n");
    exchange_->certificate = &shown;
    exchange_->serve(dispatcher());
    return exchange_->status;
  };
  EXPECT_EQ(ask({.by = CertificateName::email}), 200U);
  EXPECT_EQ(seen().id, "robot@example");
  EXPECT_EQ(ask({.find = [](const net::PeerCertificate&) { return PrincipalFacts{}; }}), 401U);
}

}  // namespace
}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
