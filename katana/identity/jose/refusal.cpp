#include "katana/identity/jose/refusal.hpp"

#include <algorithm>

namespace katana::jose {

Bytes sentence_of(Reason reason) noexcept {
  switch (reason) {
    case Reason::too_long: return "the token is longer than is allowed";
    case Reason::malformed: return "the token is not three parts of base64url";
    case Reason::malformed_header: return "the token's header is malformed";
    case Reason::algorithm_refused: return "the token's algorithm is not allowed";
    case Reason::critical_extension:
      return "the token asks for an extension that is not understood";
    case Reason::wrong_type: return "the token is of another type";
    case Reason::unknown_key: return "no key has the token's key id and algorithm";
    case Reason::wrong_signature: return "the token's signature is wrong";
    case Reason::malformed_claims: return "the token's claims are malformed";
    case Reason::missing_claim: return "the token lacks a claim";
    case Reason::expired: return "the token has expired";
    case Reason::not_yet_valid: return "the token is not valid yet";
    case Reason::issued_in_the_future:
      return "the token was issued in the future: compare the clocks";
    case Reason::too_old: return "the token was issued too long ago";
    case Reason::wrong_issuer: return "the token is of another issuer";
    case Reason::wrong_audience: return "the token is for somebody else";
    case Reason::revoked: return "the token was revoked";
  }
  return "the token is invalid";
}

std::string Refusal::describe() const {
  std::string words(sentence_of(reason));
  if (!detail.empty()) words.append(": ").append(detail);
  return words;
}

std::unexpected<Refusal> refuse(Reason reason, std::string detail) {
  return std::unexpected(Refusal{reason, std::move(detail)});
}

std::string shown(Bytes text) {
  constexpr std::size_t shown_bytes_max = 64;
  std::string words = "'";
  for (const char c : text.substr(0, shown_bytes_max)) {
    words.push_back(c >= ' ' && c <= '~' && c != '\'' ? c : '?');
  }
  words.append(text.size() > shown_bytes_max ? "…'" : "'");
  return words;
}

}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
