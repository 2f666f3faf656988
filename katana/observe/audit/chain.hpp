// The chain of an audit log: each line has a digest of itself and of the digest of the line before,
// so that none can be changed, left out, added or moved without all behind it.
//
//   {"seq":17,"at":"2026-11-25T07:00:00.000000Z","action":"user.delete",…,"chain":"…"}
//
// With a key the digest is HMAC-SHA-256, and only a holder of the key can write a chain. Without
// a key it is SHA-256, which shows accidents and changes after which the rest was not rewritten.
// Only an anchor shows a cut at the end: the head of the chain, kept elsewhere.
//
// Owns       AuditChain its key, as what HMAC makes of it.
// Thread     any; an AuditChain does not change.
// Allocates  lines and texts.
// Fails      parse functions give nothing for what has another form.
// Invariant  a line is a whole JSON object, and ends with its chain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/crypto/digest.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::audit {

// Where a chain has come to: the next line's number, and the digest that it goes on from.
struct AuditHead {
  std::uint64_t next = 0;     // the number of the next line
  crypto::Sha256 chain = {};  // of the last one; zeros: there is none

  friend bool operator==(const AuditHead&, const AuditHead&) = default;
};
// "17:CHAIN", with the number of the last line; empty: there is none.
std::string write_head(const AuditHead& head);
std::optional<AuditHead> parse_head(Bytes text);

// Of a line, without its end: the text that its digest is made of, its number, and its digest.
struct AuditLine {
  Bytes text;                // a view into the line, up to its chain
  std::uint64_t number = 0;  // "seq"
  crypto::Sha256 chain;      // "chain"
};
// Nothing: it is no line of an audit log.
std::optional<AuditLine> parse_line(Bytes line);
// As a digest stands in a line.
std::string write_digest(const crypto::Sha256& digest);
std::optional<crypto::Sha256> parse_digest(Bytes text);

// The digests of one log: what of two lines makes a chain.
class AuditChain {
 public:
  // Empty: without a key.
  explicit AuditChain(Bytes key);

  // The digest of a line with this text, behind a line with the digest `before`.
  crypto::Sha256 link(const crypto::Sha256& before, Bytes text) const;
  // Appends the line with these members, as `"at":…,"action":…`, and moves the head behind it.
  void append_line(std::string& to, Bytes members, AuditHead& head) const;

 private:
  std::optional<crypto::Hmac> hmac_;
};

}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
