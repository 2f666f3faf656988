// Base64 as RFC 4648 has it: §4 with padding, and §5 (base64url), which tokens use without.
//
// Owns       nothing.
// Thread     any.
// Allocates  what is returned.
// Fails      decoding is nothing for text that no encoder makes: other characters, white space,
//            missing or needless padding, bits that no byte keeps.
// Invariant  bytes have one text in each form, so equal bytes are equal texts (RFC 4648 §3.5).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana {

// §4, padded.
std::string encode_base64(Bytes octets);
std::optional<std::string> decode_base64(Bytes text);

// §5, without padding (RFC 7515 §2).
std::string encode_base64url(Bytes octets);
std::optional<std::string> decode_base64url(Bytes text);

// How many bytes a base64url text stands for, at most.
constexpr std::size_t base64url_decoded_bytes_max(std::size_t text_bytes) noexcept {
  return text_bytes / 4 * 3 + text_bytes % 4;
}
// The same into memory of the caller's, which must have base64url_decoded_bytes_max() of room;
// nothing is allocated. The part that was written.
std::optional<Bytes> decode_base64url(Bytes text, std::span<char> to) noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
