// Digest authentication (RFC 7616) of requests to known origins: MD5, SHA-256 and SHA-512-256,
// their -sess variants, qop=auth, user names as hashes.
//
// Owns       the accounts, and for each the latest challenge of its server.
// Thread     any; a lock is held for each request to an origin that has an account.
// Allocates  for each answer.
// Fails      make() names the invalid option. A challenge that cannot be answered is ignored: the
//            caller gets the 401.
// Invariant  a password is used only for the origin of its account, and is never sent. Each count
//            is used once with a nonce.
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

// The strongest Digest challenge of all WWW-Authenticate fields that the client can answer.
std::optional<DigestChallenge> find_digest_challenge(const Response& response);
// All Digest challenges of one field.
std::vector<DigestChallenge> parse_digest_challenges(Bytes value);

// The inputs of an answer, in addition to its challenge (RFC 7616 §3.4).
struct DigestAnswer {
  Bytes user;               // UTF-8
  Bytes password;           // is hashed, never sent
  Bytes method;             // of the request
  Bytes target;             // of the request line: path and query
  Bytes client_nonce;       // random, new for each answer
  std::uint32_t count = 1;  // of requests with this nonce
};
// Returns the value of Authorization. Empty: OpenSSL does not have the hash.
std::string answer_digest(const DigestChallenge& challenge, const DigestAnswer& answer);

// The accounts of a client by origin, each with the latest challenge of its server.
class DigestAccounts {
 public:
  // invalid_argument: an origin is not the URL of one or is listed twice, or a user name has a
  // colon.
  static Result<DigestAccounts> make(const std::vector<DigestOptions>& accounts);
  DigestAccounts(DigestAccounts&& other) noexcept : accounts_(std::move(other.accounts_)) {}

  // Returns whether there is an account for `origin`.
  bool has(const Origin& origin) const { return accounts_.contains(origin.text()); }
  // Adds Authorization if the server's challenge is known. Returns the nonce; empty if nothing was
  // added.
  std::string authorize(Outgoing& outgoing);
  // Stores the challenge and the next nonce of a reply. Returns true for a 401 with a challenge
  // that the request, sent with `nonce`, has not answered yet. `is_fresh`: the nonce came with the
  // reply before, and another 401 then means that the password is wrong.
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
