#include "katana/identity/sessions/database/session_table.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "katana/base/values/base64.hpp"
#include "katana/identity/sessions/stored_key.hpp"
#include "katana/stores/database/make_missing.hpp"

namespace katana::sessions {

struct SessionRow {
  std::string record;
  std::int64_t seen_s = 0;
  std::int64_t version = 0;
};
KATANA_DESCRIBE(SessionRow, record, seen_s, version)

namespace {

using database::SqlFor;

constexpr std::int64_t removal_period_s = 60;
constexpr int removals_max = 4;

constexpr SqlFor<> sessions_table(
    "CREATE TABLE IF NOT EXISTS katana_sessions (id_hash TEXT PRIMARY KEY, principal TEXT NOT "
    "NULL, record TEXT NOT NULL, seen_s BIGINT NOT NULL, expires_s BIGINT NOT NULL, version "
    "BIGINT NOT NULL)");
constexpr SqlFor<> by_principal(
    "CREATE INDEX IF NOT EXISTS katana_sessions_principal ON katana_sessions (principal)");
constexpr SqlFor<> by_end(
    "CREATE INDEX IF NOT EXISTS katana_sessions_expires ON katana_sessions (expires_s)");

Error failed(const database::Error& error) {
  return Error(Code::unavailable, error.describe()).within("the store of sessions failed");
}

// The record as text, because the databases have different types for bytes.
std::string record_text(const SessionRecord& record) {
  return encode_base64url(encode_session(record));
}

}  // namespace

database::MigrationFile DatabaseSessionStore::migration(unsigned number) {
  return {fmt::format("{:04}_katana_sessions.sql", number),
          "CREATE TABLE katana_sessions (id_hash TEXT PRIMARY KEY, principal TEXT NOT NULL, "
          "record TEXT NOT NULL, seen_s BIGINT NOT NULL, expires_s BIGINT NOT NULL, "
          "version BIGINT NOT NULL);\n"
          "CREATE INDEX katana_sessions_principal ON katana_sessions (principal);\n"
          "CREATE INDEX katana_sessions_expires ON katana_sessions (expires_s);\n"};
}

Task<Result<void>> DatabaseSessionStore::make_table() {
  if (has_table_.load(std::memory_order_relaxed)) co_return {};
  const database::Queries& queries = database_;
  std::vector<SqlFor<>> missing = {sessions_table, by_principal, by_end};
  const database::Result<void> made = co_await database::make_missing(queries, std::move(missing));
  if (!made) co_return std::unexpected(failed(made.error()));
  has_table_.store(true, std::memory_order_relaxed);
  co_return {};
}

Task<Result<std::optional<StoredSession>>> DatabaseSessionStore::load(SessionKey key,
                                                                      std::int64_t now_s) {
  const Result<void> table = co_await make_table();
  if (!table) co_return std::unexpected(table.error());
  const std::string id = key_text(key);
  const database::Result<std::optional<SessionRow>> row = co_await database_.query_one<SessionRow>(
      "SELECT record, seen_s, version FROM katana_sessions WHERE id_hash = $1 AND expires_s > $2",
      id, now_s);
  if (!row) co_return std::unexpected(failed(row.error()));
  if (!*row) co_return std::nullopt;
  const auto octets = decode_base64url((*row)->record);
  auto record = octets ? decode_session(*octets) : std::nullopt;
  if (!record) co_return std::nullopt;  // another version of KATANA wrote it
  record->seen_s = (*row)->seen_s;
  StoredSession found{std::make_shared<const SessionRecord>(*std::move(record)), (*row)->version};
  co_return std::optional<StoredSession>(std::move(found));
}

// An expired row counts as missing, and is overwritten.
Task<Result<bool>> DatabaseSessionStore::create(SessionWrite write) {
  const SessionRecord& record = *write.record;
  co_await remove_some_expired(record.seen_s);
  const std::string id = key_text(write.key);
  const std::string principal = owner_text(record.issuer, record.principal);
  const std::string text = record_text(record);
  const database::Result<std::int64_t> made = co_await database_.execute(
      "INSERT INTO katana_sessions (id_hash, principal, record, seen_s, expires_s, version) "
      "VALUES ($1, $2, $3, $4, $5, 0) ON CONFLICT (id_hash) DO UPDATE SET principal = "
      "excluded.principal, record = excluded.record, seen_s = excluded.seen_s, expires_s = "
      "excluded.expires_s, version = 0 WHERE katana_sessions.expires_s <= excluded.seen_s",
      id, principal, text, record.seen_s, write.expires_s);
  if (!made) co_return std::unexpected(failed(made.error()));
  co_return *made == 1;
}

Task<Result<bool>> DatabaseSessionStore::compare_and_set(SessionWrite write) {
  const Result<void> table = co_await make_table();
  if (!table) co_return std::unexpected(table.error());
  if (!write.read_version) co_return co_await create(std::move(write));
  const SessionRecord& record = *write.record;
  const std::string id = key_text(write.key);
  const std::string principal = owner_text(record.issuer, record.principal);
  const std::string text = record_text(record);
  const database::Result<std::int64_t> changed = co_await database_.execute(
      "UPDATE katana_sessions SET principal = $3, record = $4, seen_s = $5, expires_s = $6, "
      "version = version + 1 WHERE id_hash = $1 AND version = $2 AND expires_s > $5",
      id, *write.read_version, principal, text, record.seen_s, write.expires_s);
  if (!changed) co_return std::unexpected(failed(changed.error()));
  co_return *changed == 1;
}

Task<Result<void>> DatabaseSessionStore::touch(SessionKey key, std::int64_t version,
                                               std::int64_t seen_s, std::int64_t expires_s) {
  const Result<void> table = co_await make_table();
  if (!table) co_return std::unexpected(table.error());
  const std::string id = key_text(key);
  const database::Result<std::int64_t> changed = co_await database_.execute(
      "UPDATE katana_sessions SET seen_s = $3, expires_s = $4 WHERE id_hash = $1 AND version = $2 "
      "AND seen_s < $3 AND expires_s > $3",
      id, version, seen_s, expires_s);
  if (!changed) co_return std::unexpected(failed(changed.error()));
  co_return {};
}

Task<Result<void>> DatabaseSessionStore::remove(SessionKey key) {
  const Result<void> table = co_await make_table();
  if (!table) co_return std::unexpected(table.error());
  const std::string id = key_text(key);
  const database::Result<std::int64_t> gone =
      co_await database_.execute("DELETE FROM katana_sessions WHERE id_hash = $1", id);
  if (!gone) co_return std::unexpected(failed(gone.error()));
  co_return {};
}

Task<Result<std::int64_t>> DatabaseSessionStore::remove_all(std::string issuer,
                                                            std::string principal) {
  const Result<void> table = co_await make_table();
  if (!table) co_return std::unexpected(table.error());
  const std::string owner = owner_text(issuer, principal);
  if (owner.empty()) co_return 0;
  const database::Result<std::int64_t> gone =
      co_await database_.execute("DELETE FROM katana_sessions WHERE principal = $1", owner);
  if (!gone) co_return std::unexpected(failed(gone.error()));
  co_return *gone;
}

// One statement checks for the kept session and removes the others. A removed row tells that the
// kept session exists. If no row was removed, a second statement finds the reason.
Task<Result<std::optional<std::int64_t>>> DatabaseSessionStore::remove_others(
    std::string issuer, std::string principal, SessionKey kept, std::int64_t version) {
  const Result<void> table = co_await make_table();
  if (!table) co_return std::unexpected(table.error());
  const std::string owner = owner_text(issuer, principal);
  if (owner.empty()) co_return std::nullopt;
  const std::string but = key_text(kept);
  const database::Result<std::int64_t> gone = co_await database_.execute(
      "DELETE FROM katana_sessions WHERE principal = $1 AND id_hash <> $2 AND EXISTS (SELECT 1 "
      "FROM katana_sessions kept WHERE kept.id_hash = $2 AND kept.version = $3)",
      owner, but, version);
  if (!gone) co_return std::unexpected(failed(gone.error()));
  if (*gone > 0) co_return std::optional(*gone);
  const database::Result<std::optional<std::int64_t>> is_there =
      co_await database_.query_one<std::int64_t>(
          "SELECT version FROM katana_sessions WHERE id_hash = $1 AND version = $2", but, version);
  if (!is_there) co_return std::unexpected(failed(is_there.error()));
  if (!*is_there) co_return std::nullopt;
  co_return std::optional<std::int64_t>(0);
}

Task<Result<std::int64_t>> DatabaseSessionStore::remove_expired(std::int64_t now_s) {
  const Result<void> table = co_await make_table();
  if (!table) co_return std::unexpected(table.error());
  const database::Result<std::int64_t> gone = co_await database_.execute(
      "DELETE FROM katana_sessions WHERE id_hash IN (SELECT id_hash FROM katana_sessions WHERE "
      "expires_s <= $1 LIMIT 500)",
      now_s);
  if (!gone) co_return std::unexpected(failed(gone.error()));
  co_return *gone;
}

// One new session in each minute removes expired rows for all. After an error that of the next
// minute tries again.
Task<void> DatabaseSessionStore::remove_some_expired(std::int64_t now_s) {
  std::int64_t before = expired_removed_s_.load(std::memory_order_relaxed);
  if (now_s - before < removal_period_s ||
      !expired_removed_s_.compare_exchange_strong(before, now_s, std::memory_order_relaxed)) {
    co_return;
  }
  for (int count = 0; count < removals_max; ++count) {
    const Result<std::int64_t> gone = co_await remove_expired(now_s);
    if (!gone || *gone < expired_rows_max) co_return;
  }
}

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
