// Refusal: why a token is not believed, for the log. The client that sent the token is told nothing
// but that it is invalid.
//
// Owns       its detail.
// Thread     a value.
// Allocates  the detail, when a token is refused.
// Fails      never.
// Invariant  the detail is short and printable, whatever the token had: it cannot forge a line of
//            the log. It has nothing of the signature.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

#include "katana/base/text/bytes.hpp"

namespace katana::jose {

// Why, for programs that count or tell apart.
enum class Reason : std::uint8_t {
  too_long,              // more than token_bytes_max
  malformed,             // not three parts, or a part is not base64url
  malformed_header,      // not an object of JSON, a member twice, or of the wrong type
  algorithm_refused,     // none, unknown, or not the one of the key
  critical_extension,    // `crit` names what is not understood here (RFC 7515 §4.1.11)
  wrong_type,            // `typ` or `cty` is that of another kind of token (RFC 8725 §3.11)
  unknown_key,           // no key with this id and algorithm
  wrong_signature,       // it is not of this key and these bytes
  malformed_claims,      // not an object of JSON, a member twice, or of the wrong type
  missing_claim,         // the verifier requires one that is not there
  expired,               // `exp` has passed, beyond the leeway
  not_yet_valid,         // `nbf` has not come, beyond the leeway
  issued_in_the_future,  // `iat` has not come, beyond the leeway
  too_old,               // `iat` is older than the verifier accepts
  wrong_issuer,          // `iss` is another
  wrong_audience,        // `aud` names others only
  revoked,               // the program has revoked it
};

// A sentence for each: "the token has expired".
Bytes sentence_of(Reason reason) noexcept;

struct Refusal {
  // Which of them.
  Reason reason;
  std::string detail = {};

  // "the token is for somebody else: aud is 'files'"
  std::string describe() const;
};

// What was verified, or why it was not.
template <class T>
using Verified = std::expected<T, Refusal>;

// To be returned.
inline std::unexpected<Refusal> refuse(Reason reason) { return std::unexpected(Refusal{reason}); }
// The same with what the token had.
std::unexpected<Refusal> refuse(Reason reason, std::string detail);

// Text of a stranger in quotes, fit for a log: at most 64 bytes, the rest and what is not
// printable replaced.
std::string shown(Bytes text);

}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
