// Dialect: a database that prepares statements. SqliteDialect, PostgresDialect.
//
// Owns       its database: for SQLite one in memory, for PostgreSQL a transaction that is undone.
// Thread     one.
// Allocates  yes.
// Fails      open() with the error of the migrations or of the server; describe() with a Refusal,
//            after which it goes on.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/stores/database/migrations.hpp"
#include "katana_tool/sql/description.hpp"

namespace katana::tool::sql {

class Dialect {
 public:
  virtual ~Dialect() = default;
  virtual std::string_view name() const noexcept = 0;
  // `parameters`: the highest number of one.
  virtual std::expected<Description, Refusal> describe(const std::string& text,
                                                       std::size_t parameters) = 0;
};

// The schema of the migrations.
Result<std::unique_ptr<Dialect>> open_sqlite(const std::vector<database::Migration>& migrations);
// The same in a separate schema in the database of `url`, which is otherwise unchanged. Empty: in a
// temporary server of the installed PostgreSQL.
Result<std::unique_ptr<Dialect>> open_postgres(const std::vector<database::Migration>& migrations,
                                               const std::string& url);

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
