#include "katana/wire/http/secret_names.hpp"

#include <algorithm>
#include <array>

#include "katana/wire/http/characters.hpp"

namespace katana::http {
namespace {

// A name with one of these endings is a credential whatever stands in front: reset_token,
// client_secret.
constexpr Bytes endings[] = {"token",      "secret",    "password",  "passwd",       "apikey",
                             "privatekey", "signature", "sessionid", "securitytoken"};
constexpr Bytes anywhere[] = {"jwt", "otp", "totp", "passcode", "passphrase", "authorization"};
// Parameters of OAuth 2.0 (RFC 6749, RFC 7636, RFC 7521, RFC 8628), SAML, CAS and signed URLs.
constexpr Bytes of_queries[] = {"code",
                                "state",
                                "codeverifier",
                                "assertion",
                                "clientassertion",
                                "devicecode",
                                "usercode",
                                "authcode",
                                "samlresponse",
                                "samlrequest",
                                "samlart",
                                "relaystate",
                                "ticket",
                                "idtokenhint",
                                "session",
                                "sid",
                                "phpsessid",
                                "auth",
                                "credential",
                                "credentials",
                                "pass",
                                "pwd",
                                "pin",
                                "sig",
                                "hmac",
                                "nonce",
                                "csrf",
                                "xsrf",
                                "xamzcredential",
                                "xgoogcredential"};

// A name in small letters, without the characters that do not count. A longer name is no secret
// one.
class PlainName {
 public:
  explicit PlainName(Bytes name) noexcept {
    name = name.substr(0, name.find('['));
    for (const char c : name) {
      if (c == '_' || c == '-' || c == '.') continue;
      // The end decides: of a long name it is kept.
      if (size_ == text_.size()) {
        std::ranges::copy(text_.begin() + 1, text_.end(), text_.begin());
        --size_;
      }
      text_[size_++] = to_lower(c);
    }
  }
  Bytes text() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, 32> text_{};
  std::size_t size_ = 0;
};

template <std::size_t size>
bool is_among(const Bytes (&names)[size], Bytes text) noexcept {
  return std::ranges::find(names, text) != std::end(names);
}

bool is_secret_anywhere(Bytes text) noexcept {
  return is_among(anywhere, text) ||
         std::ranges::any_of(endings, [text](Bytes each) { return text.ends_with(each); });
}

}  // namespace

bool is_secret_parameter(Bytes name) noexcept {
  const PlainName plain(name);
  return is_secret_anywhere(plain.text()) || is_among(of_queries, plain.text());
}

bool is_secret_segment(Bytes name) noexcept { return is_secret_anywhere(PlainName(name).text()); }

bool is_secret_field(Bytes name) noexcept {
  switch (name.size()) {
    case 6: return equals_ignoring_case(name, "cookie");
    case 9: return equals_ignoring_case(name, "x-api-key");
    case 10: return equals_ignoring_case(name, "set-cookie");
    case 12:
      return equals_ignoring_case(name, "x-auth-token") ||
             equals_ignoring_case(name, "x-csrf-token");
    case 13: return equals_ignoring_case(name, "authorization");
    case 19: return equals_ignoring_case(name, "proxy-authorization");
    default: return false;
  }
}

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
