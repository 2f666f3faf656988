// SessionRecord: what is kept of a session, wherever it is kept, and when that ends.
//
// Owns       its texts.
// Thread     a value.
// Allocates  as strings do.
// Fails      decode_session() is nothing for bytes that encode_session() does not write.
// Invariant  a session ends at the earlier of two times: idle, after it was last seen, and
//            absolute, after it was made or its user logged in.
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

// Times are Unix seconds.
struct SessionRecord {
  std::string principal;             // PrincipalFacts::id; empty: not logged in
  std::string issuer;                // PrincipalFacts::issuer
  std::string name;                  // PrincipalFacts::name
  std::vector<std::string> roles;    // those of the login
  std::vector<std::string> scopes;   // likewise
  std::int64_t began_s = 0;          // the session, or the login in it
  std::int64_t authenticated_s = 0;  // 0: not
  std::int64_t seen_s = 0;           // within touch_after
  std::string form_secret;           // of a session that is a cookie; see form_token.hpp
  std::string content;               // the program's struct, as MessagePack
  std::string secret_hash;           // SessionId::secret_hash(), of a session in a store
  std::string former_secret_hash;    // the same, before the last renewal; empty: there was none
  std::int64_t renewed_s = 0;        // when that was
};

// How long a session may last.
struct Lifetimes {
  std::int64_t idle_s = 30 * 60;           // after it was last seen
  std::int64_t absolute_s = 12 * 60 * 60;  // after it began
};

// The second in which it is over.
std::int64_t expires_s(const SessionRecord& record, const Lifetimes& lifetimes) noexcept;
// It is over at `now_s`.
bool is_expired(const SessionRecord& record, const Lifetimes& lifetimes,
                std::int64_t now_s) noexcept;

// A byte with the form's number, 2 with secret hashes and 1 without; times, then texts and lists,
// each behind its size or count; numbers in groups of seven bits, the least first, without needless
// ones (LEB128).
std::string encode_session(const SessionRecord& record);
std::optional<SessionRecord> decode_session(Bytes octets);
// What it takes in memory, about.
std::size_t bytes_of(const SessionRecord& record) noexcept;

// Not logged in.
std::optional<auth::Principal> principal_of(const SessionRecord& record);
void set_principal(SessionRecord& record, const auth::PrincipalFacts& facts, std::int64_t now_s);

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
