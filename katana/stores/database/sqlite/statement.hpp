// Statement: a prepared statement of one connection, and the row that it stands at.
//
// Owns       the sqlite3_stmt.
// Borrows    its connection; values that were bound, until reset(), unless they were to be kept.
// Thread     its connection's.
// Allocates  at construction.
// Fails      by SQLite's result codes.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "katana/stores/database/row.hpp"

namespace katana::database::sqlite {

class Statement final : public Row {
 public:
  Statement(sqlite3_stmt* statement, Bytes text);

  // The statement as the program wrote it.
  Bytes text() const noexcept { return text_; }
  // Sqlite3_stmt_readonly(): the statement does not write to the file.
  bool reads_only() const noexcept { return reads_only_; }
  // SELECT, or a RETURNING clause.
  bool returns_rows() const noexcept { return sqlite3_column_count(handle_.get()) > 0; }

  // `keep`: copies text and blobs, because the rows are read after the values are gone.
  int bind(std::span<const Value> values, bool keep) noexcept;
  int step() noexcept { return sqlite3_step(handle_.get()); }
  void reset() noexcept { sqlite3_reset(handle_.get()); }

  std::size_t columns() const noexcept override {
    return static_cast<std::size_t>(sqlite3_column_count(handle_.get()));
  }
  Value value(std::size_t column) const noexcept override;
  Bytes name(std::size_t column) const noexcept override {
    const char* const name = sqlite3_column_name(handle_.get(), static_cast<int>(column));
    return name != nullptr ? Bytes(name) : Bytes();
  }

  // Forgotten when SQLite has prepared the statement anew, because the schema was changed.
  Mapping* mapping() const noexcept override {
    const int prepared = sqlite3_stmt_status(handle_.get(), SQLITE_STMTSTATUS_REPREPARE, 0);
    if (std::exchange(prepared_anew_, prepared) != prepared) mapping_.of = nullptr;
    return &mapping_;
  }

  std::uint64_t used_at = 0;  // of the connection's cache
  std::uint32_t slow = 0;     // so often it goes to the pool at once

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };
  int bind_one(int place, const Value& value, bool keep) noexcept;

  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  std::string text_;
  std::vector<std::uint16_t> arguments_;  // of SQLite's parameter n + 1: which argument
  bool reads_only_;
  mutable Mapping mapping_;
  mutable int prepared_anew_ = 0;
};

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
