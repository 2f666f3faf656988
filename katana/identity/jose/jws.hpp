// JWS: signed content in its compact form (RFC 7515 §3.1), verified and signed.
//
//   Verified<SignedContent> content = verify_jws(token, keys);
//   Result<std::string> token = sign_jws(key, payload, "JWT");
//
// The key id of a token selects a key of the caller. The token must be signed by the algorithm of
// that key. `jwk`, `jku`, `x5c` and `x5u` of a header are never used. Extensions that `crit` names
// are not supported, and refused (RFC 7515 §4.1.11).
//
// Borrows    token, payload and keys, for the call.
// Thread     any.
// Allocates  header, payload and a buffer for the signature.
// Fails      a Refusal.
// Invariant  the payload is not read before the signature is verified. At most keys_tried_max
//            signatures are computed for a token.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/data/container/value.hpp"
#include "katana/identity/jose/key.hpp"
#include "katana/identity/jose/refusal.hpp"

namespace katana::jose {

// The largest size of a token, in bytes.
inline constexpr std::size_t token_bytes_max = 16 * 1024;
// The largest number of levels of lists and objects in header and claims.
inline constexpr std::size_t token_depth_max = 16;
// The largest number of tried keys of one id and algorithm. An issuer that gives no ids has several
// while it changes its key.
inline constexpr std::size_t keys_tried_max = 4;

// The header of a token with a verified signature.
struct Header {
  // The algorithm of the key.
  Algorithm algorithm = Algorithm::hs256;
  std::string key_id;        // `kid`; empty: none
  std::string type;          // `typ`
  std::string content_type;  // `cty`
};

// The content of a verified token.
struct SignedContent {
  // The signed header.
  Header header;
  // The bytes that were signed.
  std::string payload;
};

// Returns the content if one of the keys has signed it.
Verified<SignedContent> verify_jws(Bytes token, std::span<const VerificationKey> keys);

// Signs the bytes; the header has `alg`, and `kid` and `typ` where they are not empty.
Result<std::string> sign_jws(const SigningKey& key, Bytes payload, Bytes type = {});

}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
