// Digest authentication (RFC 7616) of requests to known origins: MD5, SHA-256 and SHA-512-256,
// their -sess variants, qop=auth, user names as hashes.
//
// Owns       the accounts, and for each the challenge that its server gave last.
// Thread     any; a lock is held for each request to an origin that has an account.
// Allocates  for each answer.
// Fails      make() names the option. A challenge that cannot be answered is passed over: the
//            caller gets the 401.
// Invariant  a password answers the origin of its account alone, and is not sent. A nonce is used
//            with each count once.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/http/client/options.hpp"
#include "katana/http/client/outgoing.hpp"
#include "katana/http/client/response.hpp"

namespace katana::client {

// The hash of an algorithm of RFC 7616 §6.1.
enum class DigestHash : std::uint8_t {
  md5,         // 32 hexadecimal digits; for servers that have no other
  sha256,      // 64 digits
  sha512_256,  // 64 digits; the strongest
};

// One challenge of a `WWW-Authenticate: Digest` header (RFC 7616 §3.3).
struct DigestChallenge {
  std::string realm;                  // what the password is for
  std::string nonce;                  // the server's; an answer holds for this one
  std::string opaque;                 // goes back as it came
  std::string algorithm;              // as it was sent; empty: MD5
  DigestHash hash = DigestHash::md5;  // of `algorithm`
  bool is_session = false;            // "-sess"
  bool has_qop = false;               // qop=auth is offered
  bool stale = false;                 // the answer was right, its nonce is too old
  bool hashes_user = false;           // userhash=true: the user's name goes out hashed (§3.4.4)
};

// The strongest Digest challenge that can be answered, of all WWW-Authenticate fields.
std::optional<DigestChallenge> find_digest_challenge(const Response& response);
// For one field.
std::vector<DigestChallenge> parse_digest_challenges(Bytes value);

// What an answer is made of, beside its challenge (RFC 7616 §3.4).
struct DigestAnswer {
  Bytes user;               // UTF-8
  Bytes password;           // is hashed, never sent
  Bytes method;             // of the request
  Bytes target;             // of the request line: path and query
  Bytes client_nonce;       // random, new for each answer
  std::uint32_t count = 1;  // of requests with this nonce
};
// The value of Authorization. Empty: OpenSSL does not have the hash.
std::string answer_digest(const DigestChallenge& challenge, const DigestAnswer& answer);

// The accounts of a client, by origin, and the challenge that each has had last.
class DigestAccounts {
 public:
  // invalid_argument: an origin is no URL of one, stands twice, or a user has a colon.
  static Result<DigestAccounts> make(const std::vector<DigestOptions>& accounts);
  DigestAccounts(DigestAccounts&& other) noexcept : accounts_(std::move(other.accounts_)) {}

  // Whether there is an account for `origin`.
  bool has(const Origin& origin) const { return accounts_.contains(origin.text()); }
  // Adds Authorization if the server's challenge is known. The nonce; empty: nothing was added.
  std::string authorize(Outgoing& outgoing);
  // Keeps what a reply says of the nonces to come. True: it is 401 with a challenge that the
  // request, sent with `nonce`, has not answered yet. `is_fresh`: its nonce came with the reply
  // before, so that another 401 says that the password is wrong.
  bool learn(const Origin& origin, const Response& response, Bytes nonce, bool is_fresh);

 private:
  struct Account {
    std::string user, password;
    std::optional<DigestChallenge> challenge;
    std::uint32_t count = 0;
  };

  DigestAccounts() = default;

  std::mutex mutex_;                         // guards challenges and counts
  std::map<std::string, Account> accounts_;  // by origin
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
