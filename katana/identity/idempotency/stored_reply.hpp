// StoredReply: a reply as stores keep it: bytes of a private form.
//
//   form byte 1 | flags | status u16 | type size u16 | fields size u32 | type | fields | content
//
// Numbers are big-endian.
//
// Owns       its texts.
// Thread     any.
// Allocates  the texts.
// Fails      decode() is nothing for what encode() did not make.
#pragma once

#include <optional>
#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana::idempotency {

struct StoredReply {
  unsigned status = 0;      // of HTTP
  bool is_whole = true;     // false: the request was carried out, and of its reply nothing was kept
  std::string type = {};    // Content-Type; empty: none
  std::string fields = {};  // complete lines
  std::string content = {};  // as the handler gave it
};

// For Store::keep(); never empty.
std::string encode(const StoredReply& reply);
// Nothing: bytes that encode() did not make.
std::optional<StoredReply> decode(Bytes octets);

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
