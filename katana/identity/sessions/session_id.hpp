// SessionId: the value of the cookie of a session in a store, in three parts of random bytes.
//
//   visitor    the source of form tokens. A visitor without a stored session has only this part,
//              and takes no place in a store.
//   session    names the session in the store, from its beginning to its end.
//   secret     proves, with the visitor, that the cookie is the present one: login and renewal
//              change both.
//
// Owns       its bytes.
// Thread     a value.
// Allocates  the returned texts.
// Fails      parse() returns nothing for a text that text() does not write.
// Invariant  session and secret are made here, never by a client. A login and a renewal are one
//            write of one session: two ids of a session are never valid at the same time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "katana/base/crypto/digest.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::sessions {

// The digest of the part `session` of an id.
using SessionKey = crypto::Sha256;

class SessionId {
 public:
  static constexpr std::size_t part_bytes = 16;         // size of each part
  static constexpr std::size_t form_secret_bytes = 22;  // size of form_secret(), as text

  // Makes the id of a visitor without a stored session.
  static SessionId make_visitor();
  static std::optional<SessionId> parse(Bytes text);
  // The id as base64url.
  std::string text() const;

  // True if it names a session.
  bool has_session() const noexcept { return !session_.empty(); }
  // Makes a new session part. The visitor stays, and tokens in open forms stay valid.
  void begin_session();
  // Changes the secret and the visitor; without a session only the visitor.
  void renew();
  // Removes the session part; the visitor stays.
  void forget_session() noexcept;

  // The values in the store. These functions and is_secret_of() REQUIRE has_session().
  SessionKey key() const noexcept;
  std::string secret_hash() const;
  // Compares in constant time.
  bool is_secret_of(Bytes hash) const noexcept;
  // The secret for form tokens: form_secret_bytes bytes of ASCII.
  std::string form_secret() const;

 private:
  SessionId() = default;

  std::string visitor_;
  std::string session_;  // empty, like the secret, if there is no session
  std::string secret_;
};

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
