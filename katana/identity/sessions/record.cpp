#include "katana/identity/sessions/record.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace katana::sessions {
namespace {

constexpr char form_of_cookies = 1;
constexpr char form_of_stores = 2;  // with secret hashes at its end

void put_number(std::string& to, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) to.push_back(static_cast<char>(number | 0x80));
  to.push_back(static_cast<char>(number));
}
void put_text(std::string& to, Bytes text) {
  put_number(to, text.size());
  to += text;
}

// Reads numbers and texts. After a failure it returns 0 and empty texts.
class RecordReader {
 public:
  explicit RecordReader(Bytes octets) noexcept : rest_(octets) {}

  std::uint64_t number() noexcept {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto octet = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      if (shift == 63 && octet > 1) break;  // more than 64 bits
      if (shift != 0 && octet == 0) break;  // an unnecessary group
      number |= std::uint64_t{octet & 0x7fu} << shift;
      if (octet < 0x80) return number;
    }
    fail();
    return 0;
  }
  Bytes text() noexcept {
    const std::uint64_t size = number();
    if (size > rest_.size()) fail();
    const Bytes text = rest_.substr(0, failed_ ? 0 : size);
    rest_.remove_prefix(text.size());
    return text;
  }
  bool failed() const noexcept { return failed_; }
  bool is_at_end() const noexcept { return !failed_ && rest_.empty(); }

 private:
  void fail() noexcept {
    failed_ = true;
    rest_ = {};
  }

  Bytes rest_;
  bool failed_ = false;
};

}  // namespace

std::int64_t expires_s(const SessionRecord& record, const Lifetimes& lifetimes) noexcept {
  return std::min(record.seen_s + lifetimes.idle_s, record.began_s + lifetimes.absolute_s);
}

bool is_expired(const SessionRecord& record, const Lifetimes& lifetimes,
                std::int64_t now_s) noexcept {
  return now_s >= expires_s(record, lifetimes);
}

std::string encode_session(const SessionRecord& record) {
  const bool is_stored = !record.secret_hash.empty();
  std::string to(1, is_stored ? form_of_stores : form_of_cookies);
  to.reserve(bytes_of(record));
  for (const std::int64_t time : {record.began_s, record.authenticated_s, record.seen_s}) {
    put_number(to, static_cast<std::uint64_t>(time));
  }
  for (const std::string* text :
       {&record.principal, &record.issuer, &record.name, &record.form_secret, &record.content}) {
    put_text(to, *text);
  }
  for (const auto* list : {&record.roles, &record.scopes}) {
    put_number(to, list->size());
    for (const std::string& each : *list) put_text(to, each);
  }
  if (!is_stored) return to;
  put_text(to, record.secret_hash);
  put_text(to, record.former_secret_hash);
  put_number(to, static_cast<std::uint64_t>(record.renewed_s));
  return to;
}

std::optional<SessionRecord> decode_session(Bytes octets) {
  const bool is_stored = octets.starts_with(form_of_stores);
  if (!is_stored && !octets.starts_with(form_of_cookies)) return std::nullopt;
  RecordReader from(octets.substr(1));
  SessionRecord record;
  for (std::int64_t* time : {&record.began_s, &record.authenticated_s, &record.seen_s}) {
    *time = static_cast<std::int64_t>(from.number());
  }
  for (std::string* text :
       {&record.principal, &record.issuer, &record.name, &record.form_secret, &record.content}) {
    *text = from.text();
  }
  for (auto* list : {&record.roles, &record.scopes}) {
    for (std::uint64_t left = from.number(); left != 0 && !from.failed(); --left) {
      list->emplace_back(from.text());
    }
  }
  if (is_stored) {
    record.secret_hash = from.text();
    record.former_secret_hash = from.text();
    record.renewed_s = static_cast<std::int64_t>(from.number());
    if (record.secret_hash.empty()) return std::nullopt;  // valid only as form_of_cookies
  }
  if (!from.is_at_end()) return std::nullopt;
  return record;
}

std::size_t bytes_of(const SessionRecord& record) noexcept {
  std::size_t bytes = sizeof(SessionRecord) + record.principal.size() + record.issuer.size() +
                      record.name.size() + record.form_secret.size() + record.content.size() +
                      record.secret_hash.size() + record.former_secret_hash.size();
  for (const auto* list : {&record.roles, &record.scopes}) {
    for (const std::string& each : *list) bytes += sizeof(std::string) + each.size();
  }
  return bytes;
}

std::optional<auth::Principal> principal_of(const SessionRecord& record) {
  if (record.principal.empty()) return std::nullopt;
  auth::PrincipalFacts facts;
  facts.id = record.principal;
  facts.issuer = record.issuer;
  facts.name = record.name;
  facts.method = auth::Method::session;
  facts.roles = record.roles;
  facts.scopes = record.scopes;
  facts.authenticated_at = Timestamp(std::chrono::seconds(record.authenticated_s));
  return auth::Principal(std::move(facts));
}

void set_principal(SessionRecord& record, const auth::PrincipalFacts& facts, std::int64_t now_s) {
  record.principal = facts.id;
  record.issuer = facts.issuer;
  record.name = facts.name;
  record.roles = facts.roles;
  record.scopes = facts.scopes;
  record.began_s = record.authenticated_s = record.seen_s = now_s;
}

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
