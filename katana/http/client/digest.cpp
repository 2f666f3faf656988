//   A1        user ":" realm ":" password; -sess: H(A1) ":" nonce ":" cnonce
//   A2        method ":" target
//   response  H(H(A1) ":" nonce ":" [nc ":" cnonce ":" qop ":"] H(A2))
#include "katana/http/client/digest.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "katana/base/values/base64.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/field_list.hpp"
#include "katana/wire/http/reply_head.hpp"

namespace katana::client {
namespace {

constexpr std::size_t parameter_bytes_max = 1024;

// Lower-case hexadecimal. Empty: OpenSSL does not have the hash (MD5 under FIPS).
std::string hex_digest(DigestHash hash, const std::string& text) {
  static constexpr std::array<const char*, 3> names = {"MD5", "SHA256", "SHA512-256"};
  std::array<unsigned char, EVP_MAX_MD_SIZE> made;
  std::size_t size = 0;
  const char* const name = names[static_cast<std::size_t>(hash)];
  if (EVP_Q_digest(nullptr, name, nullptr, text.data(), text.size(), made.data(), &size) != 1) {
    return {};
  }
  std::string hex;
  for (std::size_t index = 0; index < size; ++index) hex += fmt::format("{:02x}", made[index]);
  return hex;
}

std::string in_quotes(Bytes text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made + '"';
}

std::string without_quotes(Bytes text) {
  if (!text.starts_with('"')) return std::string(text);
  text.remove_prefix(1);
  if (text.ends_with('"')) text.remove_suffix(1);
  std::string made;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    made += text[at];
  }
  return made;
}

// RFC 8187: for a name that does not fit into a quoted-string.
std::string extended_value(Bytes text) {
  std::string made = "UTF-8''";
  for (const char c : text) {
    const bool is_plain = http::is(c, http::token_character) && c != '*' && c != '\'' && c != '%';
    made += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return made;
}

// Returns false if the algorithm is unknown.
bool set_algorithm(DigestChallenge& challenge, Bytes name) {
  challenge.algorithm = std::string(name);
  constexpr Bytes suffix = "-sess";
  if (name.size() > suffix.size() &&
      http::equals_ignoring_case(name.substr(name.size() - suffix.size()), suffix)) {
    challenge.is_session = true;
    name.remove_suffix(suffix.size());
  }
  static constexpr std::array<Bytes, 3> names = {"MD5", "SHA-256", "SHA-512-256"};
  for (std::size_t index = 0; index < names.size(); ++index) {
    if (!http::equals_ignoring_case(name, names[index])) continue;
    challenge.hash = static_cast<DigestHash>(index);
    return true;
  }
  return false;
}

// A challenge that is being read; `usable` while all of its parts can be answered.
struct ReadChallenge {
  DigestChallenge made;
  bool is_digest = false;
  bool usable = true;
  bool has_realm = false;

  void take(Bytes name, const std::string& value) {
    const auto is = [&](Bytes wanted) { return http::equals_ignoring_case(name, wanted); };
    // Some of the values are part of the answer.
    if (value.size() > parameter_bytes_max || !http::all_are(value, http::value_character)) {
      usable = false;
    }
    if (is("realm")) {
      made.realm = value;
      has_realm = true;
    } else if (is("nonce")) {
      made.nonce = value;
    } else if (is("opaque")) {
      made.opaque = value;
    } else if (is("algorithm")) {
      usable = set_algorithm(made, value) && usable;
    } else if (is("stale")) {
      made.stale = http::equals_ignoring_case(value, "true");
    } else if (is("userhash")) {
      made.hashes_user = http::equals_ignoring_case(value, "true");
    } else if (is("qop")) {
      http::ListReader offered(value);
      for (Bytes each; offered.next(each);) {
        made.has_qop = made.has_qop || http::equals_ignoring_case(each, "auth");
      }
      usable = usable && made.has_qop;  // auth-int alone is not supported
    }
  }
};

// name BWS "=" BWS value. Returns false for any other text.
bool split_parameter(Bytes text, Bytes& name, std::string& value) {
  const std::size_t equals = text.find('=');
  if (equals == Bytes::npos) return false;
  name = http::trimmed(text.substr(0, equals));
  if (name.empty() || !http::all_are(name, http::token_character)) return false;
  value = without_quotes(http::trimmed(text.substr(equals + 1)));
  return true;
}

// The value of one parameter of Authentication-Info.
std::string parameter_of(Bytes field, Bytes wanted) {
  http::ListReader elements(field);
  for (Bytes each; elements.next(each);) {
    Bytes name;
    std::string value;
    if (split_parameter(each, name, value) && http::equals_ignoring_case(name, wanted)) {
      return value;
    }
  }
  return {};
}

bool has_authorization(const Outgoing& outgoing) {
  Bytes rest = outgoing.fields;
  while (!rest.empty()) {
    const std::size_t end = rest.find("\r\n");
    const Bytes line = rest.substr(0, end);
    if (http::equals_ignoring_case(line.substr(0, line.find(':')), "Authorization")) return true;
    rest.remove_prefix(end == Bytes::npos ? rest.size() : end + 2);
  }
  return false;
}

}  // namespace

std::vector<DigestChallenge> parse_digest_challenges(Bytes value) {
  std::vector<DigestChallenge> found;
  ReadChallenge reading;
  const auto end = [&] {
    if (reading.is_digest && reading.usable && reading.has_realm && !reading.made.nonce.empty()) {
      found.push_back(reading.made);
    }
  };
  http::ListReader elements(value);
  for (Bytes each; elements.next(each);) {
    Bytes name;
    std::string text;
    // The scheme comes before the first parameter.
    const std::size_t space = each.find_first_of(" \t");
    const Bytes word = each.substr(0, space);
    const bool is_scheme = http::all_are(word, http::token_character) &&
                           (space == Bytes::npos || http::trimmed(each.substr(space))[0] != '=');
    if (is_scheme) {
      end();
      reading = {};
      reading.is_digest = http::equals_ignoring_case(word, "Digest");
      each = space == Bytes::npos ? Bytes() : http::trimmed(each.substr(space));
    }
    if (split_parameter(each, name, text)) reading.take(name, text);
  }
  end();
  return found;
}

std::optional<DigestChallenge> find_digest_challenge(const Response& response) {
  std::optional<DigestChallenge> best;
  for (std::size_t index = 0; index < response.field_count(); ++index) {
    if (!http::equals_ignoring_case(response.name(index), "WWW-Authenticate")) continue;
    for (DigestChallenge& each : parse_digest_challenges(response.value(index))) {
      if (!best || each.hash > best->hash) best = std::move(each);
    }
  }
  return best;
}

std::string answer_digest(const DigestChallenge& challenge, const DigestAnswer& answer) {
  const auto hashed = [&](const std::string& text) { return hex_digest(challenge.hash, text); };
  const std::string nonces = fmt::format("{}:{}", challenge.nonce, answer.client_nonce);
  std::string secret =
      hashed(fmt::format("{}:{}:{}", answer.user, challenge.realm, answer.password));
  if (challenge.is_session) secret = hashed(secret + ":" + nonces);
  const std::string request = hashed(fmt::format("{}:{}", answer.method, answer.target));
  if (secret.empty()) return {};
  const std::string counted =
      challenge.has_qop ? fmt::format("{:08x}:{}:auth:", answer.count, answer.client_nonce) : "";
  const std::string response =
      hashed(fmt::format("{}:{}:{}{}", secret, challenge.nonce, counted, request));

  const bool has_ascii_alone =
      std::ranges::all_of(answer.user, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  std::string user = "username=" + in_quotes(answer.user);
  if (!has_ascii_alone) user = "username*=" + extended_value(answer.user);
  if (challenge.hashes_user) {
    user =
        fmt::format("username=\"{}\"", hashed(fmt::format("{}:{}", answer.user, challenge.realm)));
  }
  std::string made = fmt::format("Digest {}, realm={}, nonce={}, uri={}, response=\"{}\"", user,
                                 in_quotes(challenge.realm), in_quotes(challenge.nonce),
                                 in_quotes(answer.target), response);
  if (!challenge.algorithm.empty()) made += ", algorithm=" + challenge.algorithm;
  if (!challenge.opaque.empty()) made += ", opaque=" + in_quotes(challenge.opaque);
  if (challenge.has_qop || challenge.is_session) {
    made += ", cnonce=" + in_quotes(answer.client_nonce);
  }
  if (challenge.has_qop) made += fmt::format(", qop=auth, nc={:08x}", answer.count);
  if (challenge.hashes_user) made += ", userhash=true";
  return made;
}

Result<DigestAccounts> DigestAccounts::make(const std::vector<DigestOptions>& accounts) {
  DigestAccounts made;
  for (const DigestOptions& each : accounts) {
    auto url = parse_url(each.origin);
    if (!url) return std::unexpected(url.error().within("digest.origin"));
    const auto wrong = [&](const char* what) {
      return fail(Code::invalid_argument,
                  fmt::format("digest for {:?}: {}", shown_url(each.origin, 200), what));
    };
    if (url->target != "/") return wrong("an origin has neither path nor query");
    if (each.user.find(':') != std::string::npos) return wrong("the user has a colon");
    if (each.user.empty() || !http::valid_field("x", each.user)) {
      return wrong("the user is empty, or has a control character or a space at an end");
    }
    if (!made.accounts_.try_emplace(url->origin.text(), Account{each.user, each.password, {}, 0})
             .second) {
      return wrong("the origin has two accounts");
    }
  }
  return made;
}

std::string DigestAccounts::authorize(Outgoing& outgoing) {
  const auto found = accounts_.find(outgoing.origin.text());
  if (found == accounts_.end() || has_authorization(outgoing)) return {};
  Account& account = found->second;
  std::string nonce, value;
  {
    const std::scoped_lock lock(mutex_);
    if (!account.challenge) return {};
    const std::string client_nonce = encode_base64url(random_octets(16));
    value = answer_digest(*account.challenge, {.user = account.user,
                                               .password = account.password,
                                               .method = outgoing.method,
                                               .target = outgoing.target,
                                               .client_nonce = client_nonce,
                                               .count = ++account.count});
    nonce = account.challenge->nonce;
  }
  if (value.empty() || !http::valid_field("Authorization", value)) return {};
  outgoing.fields.append("Authorization: ").append(value).append("\r\n");
  return nonce;
}

bool DigestAccounts::learn(const Origin& origin, const Response& response, Bytes nonce,
                           bool is_fresh) {
  const auto found = accounts_.find(origin.text());
  if (found == accounts_.end()) return false;
  Account& account = found->second;
  const auto keep = [&](DigestChallenge challenge) {
    const std::scoped_lock lock(mutex_);
    if (!account.challenge || account.challenge->nonce != challenge.nonce) account.count = 0;
    account.challenge = std::move(challenge);
  };
  if (response.status() == 401) {
    auto challenge = find_digest_challenge(response);
    if (!challenge) return false;
    const bool is_new =
        nonce.empty() || challenge->stale || (!is_fresh && challenge->nonce != nonce);
    keep(*std::move(challenge));
    return is_new;
  }
  const auto info = response.find("Authentication-Info");
  if (nonce.empty() || !info) return false;
  std::string next = parameter_of(*info, "nextnonce");
  if (next.empty() || next.size() > parameter_bytes_max) return false;
  const std::scoped_lock lock(mutex_);
  // Another request may have received a challenge meanwhile.
  if (!account.challenge || account.challenge->nonce != nonce) return false;
  account.challenge->nonce = std::move(next);
  account.count = 0;
  return false;
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
