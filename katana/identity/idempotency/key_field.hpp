// The field Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07 §2.1): a string of
// structured fields (RFC 9651 §3.3.3).
//
//   Idempotency-Key: "8e03978e-40d5-43dd-bc93-6894a57f9324"
//
// Owns       the key, unescaped.
// Thread     any.
// Allocates  the key.
// Fails      parse_key() returns nothing if the field is no string, or if the key is empty or
//            longer than key_bytes_max.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana::idempotency {

inline constexpr std::size_t key_bytes_max = 255;  // without quotes; longer keys are malformed

// Parses the field. `bare` also accepts a key without quotes, which many clients send: visible
// ASCII except '"', ',', ';' and '\'. Parameters behind the string are ignored.
std::optional<std::string> parse_key(Bytes value, bool bare);

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
