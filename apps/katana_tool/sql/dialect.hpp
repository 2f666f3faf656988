// Dialect: a database that statements are prepared by. SqliteDialect, PostgresDialect.
//
// Owns       its database: of SQLite one in memory, of PostgreSQL a transaction that is undone.
// Thread     one.
// Allocates  yes.
// Fails      open() with what the migrations or the server say; describe() with a Refusal, after
//            which it goes on.
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
// The same in its own schema in the database of `url`, which is left as it was; empty: in a
// server that is started for it, of the PostgreSQL that is installed.
Result<std::unique_ptr<Dialect>> open_postgres(const std::vector<database::Migration>& migrations,
                                               const std::string& url);

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
