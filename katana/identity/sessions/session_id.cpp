#include "katana/identity/sessions/session_id.hpp"

#include "katana/base/values/base64.hpp"
#include "katana/base/values/secrets.hpp"

namespace katana::sessions {
namespace {

// Each use has its own digests. A digest therefore reveals nothing about that of another use.
crypto::Sha256 digest_of(Bytes use, Bytes part) {
  std::string text(use);
  text.append(part);
  return crypto::sha256(text);
}

}  // namespace

SessionId SessionId::make_visitor() {
  SessionId id;
  id.visitor_ = random_octets(part_bytes);
  return id;
}

std::optional<SessionId> SessionId::parse(Bytes text) {
  constexpr std::size_t visitor_bytes = (part_bytes * 4 + 2) / 3;
  constexpr std::size_t whole_bytes = part_bytes * 4;
  if (text.size() != visitor_bytes && text.size() != whole_bytes) return std::nullopt;
  const auto octets = decode_base64url(text);
  if (!octets) return std::nullopt;
  SessionId id;
  id.visitor_ = octets->substr(0, part_bytes);
  if (text.size() == visitor_bytes) return id;
  id.session_ = octets->substr(part_bytes, part_bytes);
  id.secret_ = octets->substr(2 * part_bytes);
  return id;
}

std::string SessionId::text() const { return encode_base64url(visitor_ + session_ + secret_); }

void SessionId::begin_session() {
  session_ = random_octets(part_bytes);
  secret_ = random_octets(part_bytes);
}

void SessionId::renew() {
  visitor_ = random_octets(part_bytes);
  if (has_session()) secret_ = random_octets(part_bytes);
}

void SessionId::forget_session() noexcept {
  session_.clear();
  secret_.clear();
}

SessionKey SessionId::key() const noexcept { return crypto::sha256(session_); }

std::string SessionId::secret_hash() const {
  return std::string(digest_of("katana session secret ", visitor_ + secret_).bytes());
}

bool SessionId::is_secret_of(Bytes hash) const noexcept {
  return equal_in_constant_time(secret_hash(), hash);
}

std::string SessionId::form_secret() const {
  return encode_base64url(digest_of("katana form secret ", visitor_).bytes().substr(0, part_bytes));
}

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
