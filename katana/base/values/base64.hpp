// Base64 of RFC 4648: §4 with padding, and §5 (base64url) without padding, as in tokens.
//
// Owns       nothing.
// Thread     any.
// Allocates  the returned text or bytes.
// Fails      decoding returns nothing for text that no encoder makes: other characters, white
//            space, missing or needless padding, unused bits that are not zero.
// Invariant  the same bytes have only one text in each form (RFC 4648 §3.5).
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

// The number of characters of the padded text of so many bytes.
constexpr std::size_t base64_text_bytes(std::size_t octets) noexcept {
  return (octets + 2) / 3 * 4;
}
// The same in memory of the caller, without an allocation. Each returns the written part. `to` has
// room for base64_text_bytes(), and for three bytes for each four characters of `text`.
Bytes encode_base64(Bytes octets, std::span<char> to) noexcept;
std::optional<Bytes> decode_base64(Bytes text, std::span<char> to) noexcept;

// §5, without padding (RFC 7515 §2).
std::string encode_base64url(Bytes octets);
std::optional<std::string> decode_base64url(Bytes text);

// The largest number of bytes that a base64url text of this size encodes.
constexpr std::size_t base64url_decoded_bytes_max(std::size_t text_bytes) noexcept {
  return text_bytes / 4 * 3 + text_bytes % 4;
}
// Decodes into memory of the caller with room for base64url_decoded_bytes_max() bytes, without an
// allocation. Returns the written part.
std::optional<Bytes> decode_base64url(Bytes text, std::span<char> to) noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
