#include "katana/identity/auth/basic.hpp"

#include <algorithm>
#include <utility>

#include "katana/base/text/utf8.hpp"
#include "katana/base/values/base64.hpp"

namespace katana::auth {
namespace {

constexpr std::size_t credentials_bytes_max = 1024;

struct UserPass {
  std::string user;
  SecretText password;
};

// RFC 7617 §2: no control characters, and the first colon ends the user.
std::optional<UserPass> read(Bytes text) {
  if (text.size() > credentials_bytes_max) return std::nullopt;
  auto octets = decode_base64(text);
  if (!octets) return std::nullopt;
  std::optional<UserPass> found;
  const std::size_t colon = octets->find(':');
  const bool is_text = is_utf8(*octets) && std::ranges::none_of(*octets, [](char c) {
                         return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                       });
  if (is_text && colon != std::string::npos && colon > 0) {
    found = {octets->substr(0, colon), SecretText(Bytes(*octets).substr(colon + 1))};
  }
  erase_secret(*octets);
  return found;
}

class Basic final : public Authenticator, public std::enable_shared_from_this<Basic> {
 public:
  explicit Basic(BasicOptions options) : options_(std::move(options)) {}

  Attempt attempt(const RequestView& request, session::Exchange&) const override {
    auto field = only_field(request, "Authorization");
    if (!field) return Attempt::of(std::unexpected(std::move(field.error())));
    if (!*field) return Attempt::none();
    const auto credentials = credentials_of(**field, "Basic");
    if (!credentials) return Attempt::none();
    auto read_ones = read(*credentials);
    if (!read_ones) return Attempt::of(refused("user and password are malformed"));
    return Attempt::later(
        judge(shared_from_this(), std::move(read_ones->user), std::move(read_ones->password)));
  }

  std::string challenge() const override {
    return "Basic realm=" + quoted_parameter(options_.realm) + R"(, charset="UTF-8")";
  }
  SecurityScheme scheme() const override { return {.name = "basic", .detail = "basic"}; }
  std::string mistake() const override {
    if (options_.realm.empty()) return "basic() has no realm: give it one (RFC 7617 §2)";
    if (!options_.verify) return "basic() has no `verify`: give it a function that verifies";
    return {};
  }

 private:
  static Task<Verdict> judge(std::shared_ptr<const Basic> self, std::string user,
                             SecretText password) {
    auto task = self->options_.verify(std::move(user), std::move(password));
    auto found = co_await std::move(task);
    if (!found) co_return std::unexpected(problem(found.error()));
    if (!*found) co_return self->refused("the user is unknown, or the password is wrong");
    PrincipalFacts facts = **std::move(found);
    facts.method = Method::basic;
    if (facts.issuer.empty()) facts.issuer = self->options_.realm;
    co_return Principal(std::move(facts));
  }

  std::unexpected<Reply> refused(Bytes reason) const {
    if (options_.on_refused) options_.on_refused(reason);
    return std::unexpected(
        unauthenticated(challenge(), "The user is unknown, or the password is wrong."));
  }

  const BasicOptions options_;
};

}  // namespace

Authentication basic(BasicOptions options) {
  return Authentication(std::make_shared<const Basic>(std::move(options)));
}

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
