// Refusal: the reason why a token is refused, for the log. The client learns only that its token is
// invalid.
//
// Owns       its detail.
// Thread     a value.
// Allocates  the detail, when a token is refused.
// Fails      never.
// Invariant  the detail is short and printable for any token: it cannot forge a line of the log. It
//            contains nothing of the signature.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

#include "katana/base/text/bytes.hpp"

namespace katana::jose {

// The reason, for programs that count or distinguish refusals.
enum class Reason : std::uint8_t {
  too_long,              // more than token_bytes_max
  malformed,             // not three parts, or a part is not base64url
  malformed_header,      // not an object of JSON, a member twice, or of the wrong type
  algorithm_refused,     // none, unknown, or not the one of the key
  critical_extension,    // `crit` names an unknown extension (RFC 7515 §4.1.11)
  wrong_type,            // `typ` or `cty` is that of another kind of token (RFC 8725 §3.11)
  unknown_key,           // no key with this id and algorithm
  wrong_signature,       // it does not belong to this key and these bytes
  malformed_claims,      // not an object of JSON, a member twice, or of the wrong type
  missing_claim,         // a required claim is missing
  expired,               // `exp` has passed, beyond the leeway
  not_yet_valid,         // `nbf` has not come, beyond the leeway
  issued_in_the_future,  // `iat` has not come, beyond the leeway
  too_old,               // `iat` is older than the verifier accepts
  wrong_issuer,          // `iss` is another issuer
  wrong_audience,        // `aud` names only others
  revoked,               // the program has revoked it
};

// The sentence for a reason: "the token has expired".
Bytes sentence_of(Reason reason) noexcept;

struct Refusal {
  // The reason of the refusal.
  Reason reason;
  std::string detail = {};

  // The sentence with the detail: "the token is for somebody else: aud is 'files'".
  std::string describe() const;
};

// A verified value, or the reason of its refusal.
template <class T>
using Verified = std::expected<T, Refusal>;

// Makes a refusal to be returned.
inline std::unexpected<Refusal> refuse(Reason reason) { return std::unexpected(Refusal{reason}); }
// The same with a detail about the token.
std::unexpected<Refusal> refuse(Reason reason, std::string detail);

// Untrusted text in quotes for a log: at most 64 bytes. The rest and unprintable characters are
// replaced.
std::string shown(Bytes text);

}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
