// SessionId: what the cookie of a session in a store says, in three parts of random bytes.
//
//   visitor    what form tokens are made of. A visitor of whom nothing is kept has this part alone,
//              and takes no place in a store.
//   session    names the session in the store, from its beginning to its end.
//   secret     proves, with the visitor, that the cookie is the one of now: login and renewal
//              change both.
//
// Owns       its bytes.
// Thread     a value.
// Allocates  what is returned.
// Fails      parse() is nothing for a text that text() does not write.
// Invariant  session and secret are made here, never by a client. A login and a renewal are one
//            write of one session, so that no two ids of it are good at a time.
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
  static constexpr std::size_t part_bytes = 16;         // of each part
  static constexpr std::size_t form_secret_bytes = 22;  // as text

  // Of a visitor of whom nothing is kept.
  static SessionId make_visitor();
  static std::optional<SessionId> parse(Bytes text);
  // As base64url.
  std::string text() const;

  // Whether it names a session.
  bool has_session() const noexcept { return !session_.empty(); }
  // Names a new session from now on; the visitor stays, and with it what forms were given.
  void begin_session();
  // The same session under another secret, and another visitor. Without a session: the visitor.
  void renew();
  // Names none any more; the visitor stays.
  void forget_session() noexcept;

  // What the store has of it. REQUIRES has_session(), as is_secret_of() does.
  SessionKey key() const noexcept;
  std::string secret_hash() const;
  // In constant time.
  bool is_secret_of(Bytes hash) const noexcept;
  // form_secret_bytes of ASCII.
  std::string form_secret() const;

 private:
  SessionId() = default;

  std::string visitor_;
  std::string session_;  // empty, as the secret: there is none
  std::string secret_;
};

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
