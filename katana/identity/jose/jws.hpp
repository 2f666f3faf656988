// JWS: signed content in its compact form (RFC 7515 §3.1), verified and signed.
//
//   Verified<SignedContent> content = verify_jws(token, keys);
//   Result<std::string> token = sign_jws(key, payload, "JWT");
//
// The token picks a key by its id among those that the caller gave, and has to be signed by the
// algorithm of that key. `jwk`, `jku`, `x5c` and `x5u` of a header are never used, and an extension
// that `crit` names is never understood, so refused (RFC 7515 §4.1.11).
//
// Borrows    token, payload and keys, for the call.
// Thread     any.
// Allocates  header, payload and a buffer for the signature.
// Fails      a Refusal.
// Invariant  nothing of the payload is looked at before the signature is known to be right. At most
//            keys_tried_max signatures are computed for a token.
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

// Of a token, in bytes.
inline constexpr std::size_t token_bytes_max = 16 * 1024;
// Of lists and objects in one another, in header and claims.
inline constexpr std::size_t token_depth_max = 16;
// Keys of one id and algorithm, as there are while an issuer that gives no ids changes its key.
inline constexpr std::size_t keys_tried_max = 4;

// What a token says of itself, once its signature is right.
struct Header {
  // That of the key.
  Algorithm algorithm = Algorithm::hs256;
  std::string key_id;        // `kid`; empty: none
  std::string type;          // `typ`
  std::string content_type;  // `cty`
};

// A token that verified.
struct SignedContent {
  // As it was signed.
  Header header;
  // The bytes that were signed.
  std::string payload;
};

// The content, when one of the keys has signed it.
Verified<SignedContent> verify_jws(Bytes token, std::span<const VerificationKey> keys);

// Signs the bytes; the header has `alg`, and `kid` and `typ` where they are not empty.
Result<std::string> sign_jws(const SigningKey& key, Bytes payload, Bytes type = {});

}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
