// The chain of an audit log. Each line has a digest of itself and of the previous line's digest. A
// change, a gap, an addition or a move therefore breaks the chain of all later lines.
//
//   {"seq":17,"at":"2026-11-25T07:00:00.000000Z","action":"user.delete",…,"chain":"…"}
//
// With a key the digest is HMAC-SHA-256, and only a holder of the key can write a chain. Without a
// key it is SHA-256. It reveals accidents, and changes after which the rest was not rewritten. Only
// an anchor reveals a cut at the end: the head of the chain, kept elsewhere.
//
// Owns       an AuditChain owns its key, in prepared form for HMAC.
// Thread     any; an AuditChain does not change.
// Allocates  lines and texts.
// Fails      parse functions return nothing for text of another form.
// Invariant  a line is a whole JSON object, and ends with its chain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/crypto/digest.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::audit {

// The head of a chain: the number of the next line, and the digest that it continues.
struct AuditHead {
  std::uint64_t next = 0;     // the number of the next line
  crypto::Sha256 chain = {};  // of the last line; zeros: there is none

  friend bool operator==(const AuditHead&, const AuditHead&) = default;
};
// "17:CHAIN", with the number of the last line; empty: there is no line.
std::string write_head(const AuditHead& head);
std::optional<AuditHead> parse_head(Bytes text);

// The parts of a line: the text under its digest, its number, and its digest.
struct AuditLine {
  Bytes text;                // a view into the line, up to its chain
  std::uint64_t number = 0;  // "seq"
  crypto::Sha256 chain;      // "chain"
};
// Returns nothing for text that is not a line of an audit log.
std::optional<AuditLine> parse_line(Bytes line);
// The form of a digest in a line.
std::string write_digest(const crypto::Sha256& digest);
std::optional<crypto::Sha256> parse_digest(Bytes text);

// Computes the digests that chain the lines of one log.
class AuditChain {
 public:
  // Empty: without a key.
  explicit AuditChain(Bytes key);

  // The digest of a line with this text, behind a line with the digest `before`.
  crypto::Sha256 link(const crypto::Sha256& before, Bytes text) const;
  // Appends the line with these members, as `"at":…,"action":…`, and advances the head.
  void append_line(std::string& to, Bytes members, AuditHead& head) const;

 private:
  std::optional<crypto::Hmac> hmac_;
};

}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
