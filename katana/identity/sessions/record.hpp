// SessionRecord: the stored data of a session in every store, and its end.
//
// Owns       its texts.
// Thread     a value.
// Allocates  as strings do.
// Fails      decode_session() returns nothing for bytes that encode_session() does not write.
// Invariant  a session ends at the earlier of two times. The idle time counts from the last time it
//            was seen. The absolute time counts from its begin, or from the login of its user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/identity/auth/principal.hpp"

namespace katana::sessions {

// The data of a session. Times are Unix seconds.
struct SessionRecord {
  std::string principal;             // PrincipalFacts::id; empty: not logged in
  std::string issuer;                // PrincipalFacts::issuer
  std::string name;                  // PrincipalFacts::name
  std::vector<std::string> roles;    // roles at the login
  std::vector<std::string> scopes;   // likewise
  std::int64_t began_s = 0;          // begin of the session, or of the login in it
  std::int64_t authenticated_s = 0;  // time of the authentication; 0: none
  std::int64_t seen_s = 0;           // time it was last seen, exact to touch_after
  std::string form_secret;           // only if the session is a cookie; see form_token.hpp
  std::string content;               // the program's struct, as MessagePack
  std::string secret_hash;           // SessionId::secret_hash(), for a session in a store
  std::string former_secret_hash;    // the same, before the last renewal; empty: there was none
  std::int64_t renewed_s = 0;        // time of the last renewal
};

// The lifetimes of a session, in seconds.
struct Lifetimes {
  std::int64_t idle_s = 30 * 60;           // after it was last seen
  std::int64_t absolute_s = 12 * 60 * 60;  // after it began
};

// The second in which the session ends.
std::int64_t expires_s(const SessionRecord& record, const Lifetimes& lifetimes) noexcept;
// True if the session has ended at `now_s`.
bool is_expired(const SessionRecord& record, const Lifetimes& lifetimes,
                std::int64_t now_s) noexcept;

// Encodes a session. The first byte is the number of the form: 2 with secret hashes, 1 without.
// Then come the times, and then texts and lists, each behind its size or count. Numbers are in
// groups of seven bits, the least significant first, in the shortest form (LEB128).
std::string encode_session(const SessionRecord& record);
std::optional<SessionRecord> decode_session(Bytes octets);
// The approximate size of a record in memory.
std::size_t bytes_of(const SessionRecord& record) noexcept;

// The principal of the session; nothing: no user has logged in.
std::optional<auth::Principal> principal_of(const SessionRecord& record);
void set_principal(SessionRecord& record, const auth::PrincipalFacts& facts, std::int64_t now_s);

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
