#include "katana/identity/idempotency/database/key_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "katana/base/values/base64.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/stores/database/make_missing.hpp"

namespace katana::idempotency {

struct KeyRow {
  std::string fingerprint;
  std::string reply;
};
KATANA_DESCRIBE(KeyRow, fingerprint, reply)

namespace {

using database::Queries;
using database::SqlFor;

// $2 is the time in the statements for SQLite. For PostgreSQL it is 0, and the statements add the
// time of the server. statement_timestamp() is stable, and PostgreSQL therefore uses the index.
#define KATANA_IDEMPOTENCY_NOW "($2::bigint + extract(epoch FROM statement_timestamp())::bigint)"

constexpr std::int64_t removal_period_s = 60;
constexpr int removals_max = 4;
// The maximum number of tries, because another request may delete a row between two statements.
constexpr int claims_max = 3;

Error failed(const database::Error& error) { return Error(Code::unavailable, error.describe()); }

// The digest as text, because the databases have different types for bytes.
std::string text_of(const crypto::Sha256& digest) { return encode_base64url(digest.bytes()); }

std::int64_t wall_clock_s() {
  const net::Reactor* const reactor = net::Reactor::current();
  if (reactor != nullptr) return reactor->wall_clock_s();
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}
std::int64_t now_s(bool is_postgres) { return is_postgres ? 0 : wall_clock_s(); }
// Rounds up to whole seconds.
std::int64_t seconds_of(Duration duration) noexcept {
  return (duration.ns + 999'999'999) / 1'000'000'000;
}

// Statements for both dialects.
constexpr SqlFor<> table(
    "CREATE TABLE IF NOT EXISTS katana_idempotency (key_hash TEXT PRIMARY KEY, fingerprint TEXT "
    "NOT NULL, token BIGINT NOT NULL, reply TEXT NOT NULL, until_s BIGINT NOT NULL)");
constexpr SqlFor<> ends_index(
    "CREATE INDEX IF NOT EXISTS katana_idempotency_until ON katana_idempotency (until_s)");

Task<database::Result<bool>> keep_in(Queries in, bool is_postgres, Claim claim, std::string reply,
                                     Duration kept) {
  using Sql = SqlFor<std::string, std::int64_t, std::int64_t, std::string, std::int64_t>;
  static constexpr Sql sqlite(
      "UPDATE katana_idempotency SET reply = $4, until_s = $2 + $5 "
      "WHERE key_hash = $1 AND token = $3 AND reply = ''");
  static constexpr Sql postgres(
      "UPDATE katana_idempotency SET reply = $4, until_s = " KATANA_IDEMPOTENCY_NOW
      " + $5::bigint WHERE key_hash = $1 AND token = $3 AND reply = ''");
  const Sql& sql = is_postgres ? postgres : sqlite;
  const std::string key = text_of(claim.key);
  const std::string text = encode_base64url(reply);
  const database::Result<std::int64_t> changed =
      co_await in.execute(sql, key, now_s(is_postgres), claim.token, text, seconds_of(kept));
  if (!changed) co_return std::unexpected(changed.error());
  co_return *changed == 1;
}

Result<Claimed> claimed_of(const KeyRow& row) {
  Claimed claimed{.state = row.reply.empty() ? ClaimState::in_progress : ClaimState::done};
  const auto fingerprint = decode_base64url(row.fingerprint);
  const auto reply = decode_base64url(row.reply);
  if (!fingerprint || !reply || fingerprint->size() != claimed.fingerprint.octets.size()) {
    return fail(Code::data_loss,
                "a row of katana_idempotency is not as this program writes it; delete the row");
  }
  std::ranges::copy(*fingerprint, claimed.fingerprint.octets.begin());
  claimed.reply = *reply;
  return claimed;
}

}  // namespace

DatabaseStore::DatabaseStore(database::Database& database, bool make_table) noexcept
    : database_(database),
      is_postgres_(database.backend().system() == "postgresql"),
      has_table_(!make_table) {}

database::MigrationFile DatabaseStore::migration(unsigned number) {
  return {fmt::format("{:04}_katana_idempotency.sql", number),
          "CREATE TABLE katana_idempotency (key_hash TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, "
          "token BIGINT NOT NULL, reply TEXT NOT NULL, until_s BIGINT NOT NULL);\n"
          "CREATE INDEX katana_idempotency_until ON katana_idempotency (until_s);\n"};
}

Task<Result<void>> DatabaseStore::make_table() {
  if (has_table_.load(std::memory_order_relaxed)) co_return {};
  const Queries& queries = database_;
  std::vector<SqlFor<>> missing = {table, ends_index};
  const database::Result<void> made = co_await database::make_missing(queries, std::move(missing));
  if (!made) co_return std::unexpected(failed(made.error()));
  has_table_.store(true, std::memory_order_relaxed);
  co_return {};
}

Task<Result<Claimed>> DatabaseStore::claim(Claim claim, Duration lease) {
  using Sql = SqlFor<std::string, std::int64_t, std::int64_t, std::string, std::int64_t>;
  static constexpr Sql sqlite(
      "INSERT INTO katana_idempotency (key_hash, fingerprint, token, reply, until_s) "
      "VALUES ($1, $4, $3, '', $2 + $5) ON CONFLICT (key_hash) DO UPDATE SET fingerprint = $4, "
      "token = $3, reply = '', until_s = $2 + $5 WHERE katana_idempotency.until_s <= $2 "
      "RETURNING token");
  static constexpr Sql postgres(
      "INSERT INTO katana_idempotency (key_hash, fingerprint, token, reply, until_s) "
      "VALUES ($1, $4, $3, '', " KATANA_IDEMPOTENCY_NOW
      " + $5::bigint) ON CONFLICT (key_hash) DO UPDATE SET fingerprint = $4, token = $3, "
      "reply = '', until_s = " KATANA_IDEMPOTENCY_NOW
      " + $5::bigint WHERE katana_idempotency.until_s <= " KATANA_IDEMPOTENCY_NOW
      " RETURNING token");
  const Result<void> has_table = co_await make_table();
  if (!has_table) co_return std::unexpected(has_table.error());
  co_await remove_some_expired();
  const std::string key = text_of(claim.key);
  const std::string fingerprint = text_of(claim.fingerprint);
  const Sql& sql = is_postgres_ ? postgres : sqlite;
  for (int attempt = 0; attempt < claims_max; ++attempt) {
    const database::Result<std::optional<std::int64_t>> made =
        co_await database_.query_one<std::int64_t>(sql, key, now_s(is_postgres_), claim.token,
                                                   fingerprint, seconds_of(lease));
    if (!made) co_return std::unexpected(failed(made.error()));
    if (*made) co_return Claimed{};
    const database::Result<std::optional<KeyRow>> row = co_await database_.query_one<KeyRow>(
        "SELECT fingerprint, reply FROM katana_idempotency WHERE key_hash = $1", key);
    if (!row) co_return std::unexpected(failed(row.error()));
    if (*row) co_return claimed_of(**row);
  }
  co_return fail(Code::unavailable, "the row of a key comes and goes");
}

Task<Result<bool>> DatabaseStore::keep(Claim claim, std::string reply, Duration kept) {
  const Queries& queries = database_;
  const database::Result<bool> done =
      co_await keep_in(queries, is_postgres_, claim, std::move(reply), kept);
  if (!done) co_return std::unexpected(failed(done.error()));
  co_return *done;
}

Task<Result<void>> DatabaseStore::release(Claim claim) {
  const std::string key = text_of(claim.key);
  const database::Result<std::int64_t> gone = co_await database_.execute(
      "DELETE FROM katana_idempotency WHERE key_hash = $1 AND token = $2 AND reply = ''", key,
      claim.token);
  if (!gone) co_return std::unexpected(failed(gone.error()));
  co_return {};
}

Task<Result<std::int64_t>> DatabaseStore::remove_expired() {
  const Result<void> has_table = co_await make_table();
  if (!has_table) co_return std::unexpected(has_table.error());
  using Sql = SqlFor<std::int64_t, std::int64_t>;
  static constexpr Sql sqlite(
      "DELETE FROM katana_idempotency WHERE key_hash IN (SELECT key_hash FROM katana_idempotency "
      "WHERE until_s <= $2 LIMIT $1)");
  static constexpr Sql postgres(
      "DELETE FROM katana_idempotency WHERE key_hash IN (SELECT key_hash FROM katana_idempotency "
      "WHERE until_s <= " KATANA_IDEMPOTENCY_NOW " LIMIT $1::bigint FOR UPDATE SKIP LOCKED)");
  const Sql& sql = is_postgres_ ? postgres : sqlite;
  const database::Result<std::int64_t> gone =
      co_await database_.execute(sql, expired_rows_max, now_s(is_postgres_));
  if (!gone) co_return std::unexpected(failed(gone.error()));
  co_return *gone;
}

// One claim in each minute removes expired rows for all claims. After an error that of the next
// minute tries again.
Task<void> DatabaseStore::remove_some_expired() {
  const std::int64_t now = wall_clock_s();
  std::int64_t before = expired_removed_s_.load(std::memory_order_relaxed);
  if (now - before < removal_period_s ||
      !expired_removed_s_.compare_exchange_strong(before, now, std::memory_order_relaxed)) {
    co_return;
  }
  for (int count = 0; count < removals_max; ++count) {
    const Result<std::int64_t> gone = co_await remove_expired();
    if (!gone || *gone < expired_rows_max) co_return;
  }
}

namespace {

Task<Result<void>> keep_encoded(Queries in, bool is_postgres, IdempotentRequest request,
                                std::string reply) {
  const database::Result<bool> kept =
      co_await keep_in(in, is_postgres, request.claim(), std::move(reply), request.kept());
  if (!kept) co_return std::unexpected(kept.error());
  if (!*kept) {
    co_return fail(Code::already_exists,
                   "the time for this request is over, and another one with its Idempotency-Key "
                   "has begun; nothing was changed");
  }
  request.note_kept();
  co_return {};
}
Task<Result<void>> keep_nothing() { co_return {}; }

}  // namespace

Task<Result<void>> keep(const database::Nestable& transaction, IdempotentRequest request,
                        const Reply& reply) {
  if (!request.has_key()) return keep_nothing();
  // Encodes now, because the reply may be destroyed when the task begins.
  std::string encoded = request.encode(reply);
  const bool is_postgres = transaction.system() == "postgresql";
  return keep_encoded(transaction, is_postgres, std::move(request), std::move(encoded));
}

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
