#include "katana/stores/database/make_missing.hpp"

namespace katana::database {
namespace {

// True for the errors of two sessions that make the same object: unique_violation (23505) of
// a catalog, duplicate_table (42P07), duplicate_object (42710), and a deadlock. The latter two
// SQLSTATEs are of Kind::syntax.
bool may_be_made(const Error& error) noexcept {
  return error.kind() == Kind::constraint_violation || error.kind() == Kind::syntax ||
         error.kind() == Kind::conflict;
}

}  // namespace

Task<Result<void>> make_missing(Queries queries, std::vector<SqlFor<>> statements) {
  for (const SqlFor<>& statement : statements) {
    for (int attempt = 1;; ++attempt) {
      const Result<std::int64_t> made = co_await queries.execute(statement);
      if (made) break;
      if (attempt == make_attempts_max || !may_be_made(made.error())) {
        co_return std::unexpected(made.error());
      }
    }
  }
  co_return {};
}

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
