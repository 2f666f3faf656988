#include "katana/identity/auth/api_key.hpp"

#include <algorithm>
#include <utility>

#include "katana/base/crypto/digest.hpp"
#include "katana/base/system/check.hpp"

namespace katana::auth {
namespace {

constexpr std::size_t key_bytes_max = 256;

std::string hexadecimal(Bytes octets) {
  constexpr Bytes digits = "0123456789abcdef";
  std::string text;
  for (const char octet : octets) {
    const auto value = static_cast<unsigned char>(octet);
    text.push_back(digits[value >> 4]);
    text.push_back(digits[value & 15]);
  }
  return text;
}

bool is_alphanumeric(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

class ApiKeys final : public Authenticator, public std::enable_shared_from_this<ApiKeys> {
 public:
  explicit ApiKeys(ApiKeyOptions options) : options_(std::move(options)) {}

  Attempt attempt(const RequestView& request, session::Exchange&) const override {
    auto field = only_field(request, options_.field);
    if (!field) return Attempt::of(std::unexpected(std::move(field.error())));
    if (!*field) return Attempt::none();
    const Bytes text = **field;
    const std::size_t cut = text.rfind('_');
    const bool is_key =
        cut != Bytes::npos && cut > 0 && text.size() <= key_bytes_max &&
        std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || c == '_'; });
    if (!is_key) return Attempt::of(refused("the API key is malformed"));
    return Attempt::later(
        judge(shared_from_this(), std::string(text.substr(0, cut)), hash_api_key(text)));
  }

  std::string challenge() const override { return "ApiKey"; }
  SecurityScheme scheme() const override {
    return {.name = "api_key", .kind = SecurityScheme::Kind::field, .detail = options_.field};
  }
  std::string mistake() const override {
    if (!options_.find) return "api_key() has no `find`: give it a function that finds a record";
    return {};
  }

 private:
  static Task<Verdict> judge(std::shared_ptr<const ApiKeys> self, std::string prefix,
                             std::string hash) {
    auto task = self->options_.find(prefix);
    auto found = co_await std::move(task);
    if (!found) co_return std::unexpected(problem(found.error()));
    const std::string nobodys(hash.size(), '0');
    const bool is_right = equal_in_constant_time(hash, *found ? (*found)->hash : nobodys);
    if (!is_right || !*found) {
      co_return self->refused("the API key is unknown or wrong");
    }
    ApiKeyRecord record = **std::move(found);
    if (record.expires_at && current_time() >= *record.expires_at) {
      co_return self->refused("the API key has expired");
    }
    PrincipalFacts facts;
    facts.id = record.id.empty() ? std::move(prefix) : std::move(record.id);
    facts.issuer = self->options_.issuer;
    facts.name = std::move(record.name);
    facts.method = Method::api_key;
    facts.roles = std::move(record.roles);
    facts.scopes = std::move(record.scopes);
    facts.expires_at = record.expires_at;
    co_return Principal(std::move(facts));
  }

  std::unexpected<Reply> refused(Bytes reason) const {
    if (options_.on_refused) options_.on_refused(reason);
    return std::unexpected(unauthenticated(challenge(), "The API key is invalid."));
  }

  const ApiKeyOptions options_;
};

}  // namespace

std::string hash_api_key(Bytes text) { return hexadecimal(crypto::sha256(text).bytes()); }

NewApiKey make_api_key(Bytes name) {
  KATANA_REQUIRE(!name.empty() && name.size() <= 32 && std::ranges::all_of(name, is_alphanumeric));
  std::string prefix = std::string(name) + "_" + hexadecimal(random_octets(6));
  std::string secret = random_octets(32);
  std::string text = prefix + "_" + hexadecimal(secret);
  erase_secret(secret);
  NewApiKey made{SecretText(text), std::move(prefix), hash_api_key(text)};
  erase_secret(text);
  return made;
}

Authentication api_key(ApiKeyOptions options) {
  return Authentication(std::make_shared<const ApiKeys>(std::move(options)));
}

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
