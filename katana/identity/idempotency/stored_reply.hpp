// StoredReply: a reply in the private binary form that stores keep.
//
//   form byte 1 | flags | status u16 | type size u16 | fields size u32 | type | fields | content
//
// Numbers are big-endian.
//
// Owns       its texts.
// Thread     any.
// Allocates  the texts.
// Fails      decode() returns nothing for bytes that encode() did not make.
#pragma once

#include <optional>
#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana::idempotency {

struct StoredReply {
  unsigned status = 0;       // HTTP status code
  bool is_whole = true;      // false: the request was carried out, but its reply was not kept
  std::string type = {};     // Content-Type; empty: none
  std::string fields = {};   // complete header lines
  std::string content = {};  // content as the handler returned it
};

// Encodes a reply for Store::keep(); never empty.
std::string encode(const StoredReply& reply);
// Decodes a reply; nothing: encode() did not make the bytes.
std::optional<StoredReply> decode(Bytes octets);

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
