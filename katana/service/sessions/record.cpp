#include "katana/service/sessions/record.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "katana/container/binary_read.hpp"
#include "katana/container/binary_write.hpp"

namespace katana::sessions {

std::int64_t expires_s(const SessionRecord& record, const Lifetimes& lifetimes) noexcept {
  return std::min(record.seen_s + lifetimes.idle_s, record.began_s + lifetimes.absolute_s);
}

bool is_expired(const SessionRecord& record, const Lifetimes& lifetimes,
                std::int64_t now_s) noexcept {
  return now_s >= expires_s(record, lifetimes);
}

std::string encode_session(const SessionRecord& record) { return container::to_binary(record); }

std::optional<SessionRecord> decode_session(Bytes octets) {
  auto record = container::read_binary<SessionRecord>(octets);
  if (!record) return std::nullopt;
  return *std::move(record);
}

std::size_t bytes_of(const SessionRecord& record) noexcept {
  std::size_t bytes = sizeof(SessionRecord) + record.principal.size() + record.issuer.size() +
                      record.name.size() + record.form_secret.size() + record.content.size();
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
