#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "katana_tool/sql/dialect.hpp"
#include "katana_tool/sql/outline.hpp"

namespace katana::tool::sql {
namespace {

struct CloseSqlite {
  void operator()(sqlite3* handle) const noexcept { sqlite3_close(handle); }
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using Handle = std::unique_ptr<sqlite3, CloseSqlite>;
using Prepared = std::unique_ptr<sqlite3_stmt, CloseSqlite>;

std::string text_of(const char* text) { return text != nullptr ? text : ""; }
std::string text_of(sqlite3_stmt* statement, int column) {
  return text_of(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)));
}

// https://sqlite.org/datatype3.html §3.1, but what has another type may be anything.
SqlType declared(const std::string& written) {
  const std::string name = in_small_letters(written);
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  if (has("int")) return {name, Storage::integer};
  if (has("char") || has("clob") || has("text")) return {name, Storage::text};
  if (has("blob")) return {name, Storage::blob};
  if (has("real") || has("floa") || has("doub")) return {name, Storage::real};
  return {name, Storage::any};
}

// "no such table: nots" has no offset, and a name.
std::optional<std::size_t> find_name(const std::string& text, std::string_view message) {
  const std::size_t at = message.rfind(' ');
  const std::string name = in_small_letters(message.substr(at == message.npos ? 0 : at + 1));
  for (const SqlToken& token : sql_tokens_of(text).tokens) {
    if (token.is_name() && in_small_letters(token.text) == name) return token.offset;
  }
  return std::nullopt;
}

// Refuses the statements that a connection of a program refuses
// (katana/stores/database/sqlite/connection.hpp).
int refuse_control(void*, int action, const char*, const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
    case SQLITE_ATTACH:
    case SQLITE_DETACH: return SQLITE_DENY;
    case SQLITE_PRAGMA: return second == nullptr ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_OK;
  }
}

class SqliteDialect final : public Dialect {
 public:
  explicit SqliteDialect(Handle handle) : handle_(std::move(handle)) {}

  std::string_view name() const noexcept override { return "sqlite"; }

  void read_catalog() {
    const Prepared tables =
        prepare("SELECT name FROM sqlite_schema WHERE type IN ('table','view')");
    while (sqlite3_step(tables.get()) == SQLITE_ROW) {
      const std::string table = text_of(tables.get(), 0);
      std::vector<TableColumn>& columns = catalog_.tables[in_small_letters(table)];
      const Prepared info = prepare(
          "SELECT name, type, \"notnull\", pk, (SELECT count(*) FROM pragma_table_info(?1) WHERE "
          "pk) "
          "FROM pragma_table_xinfo(?1) WHERE hidden <> 1");
      sqlite3_bind_text(info.get(), 1, table.c_str(), -1, SQLITE_STATIC);
      while (sqlite3_step(info.get()) == SQLITE_ROW) {
        const std::string type = in_small_letters(text_of(info.get(), 1));
        const bool is_rowid = type == "integer" && sqlite3_column_int(info.get(), 3) == 1 &&
                              sqlite3_column_int(info.get(), 4) == 1;
        columns.push_back({in_small_letters(text_of(info.get(), 0)), declared(type),
                           sqlite3_column_int(info.get(), 2) != 0 || is_rowid, is_rowid});
      }
    }
    sqlite3_set_authorizer(handle_.get(), &refuse_control, nullptr);
  }

  std::expected<Description, Refusal> describe(const std::string& text,
                                               std::size_t parameters) override {
    sqlite3_stmt* made = nullptr;
    const char* rest = nullptr;
    const int code = sqlite3_prepare_v2(handle_.get(), text.c_str(), -1, &made, &rest);
    const Prepared statement(made);
    if (code == SQLITE_AUTH) {
      return std::unexpected(
          Refusal{"a statement may neither begin or end a transaction nor attach files nor set a "
                  "pragma: call begin(), and see the options of the database",
                  0});
    }
    if (code != SQLITE_OK) {
      const int offset = sqlite3_error_offset(handle_.get());
      const std::string message = sqlite3_errmsg(handle_.get());
      if (offset < 0) return std::unexpected(Refusal{message, find_name(text, message)});
      return std::unexpected(Refusal{message, static_cast<std::size_t>(offset)});
    }
    if (made == nullptr) return std::unexpected(Refusal{"it is no statement", 0});
    if (!sql_tokens_of(rest).tokens.empty() && !sql_tokens_of(rest).tokens[0].is(";")) {
      return std::unexpected(Refusal{"it is more than one statement: only the first would be run",
                                     static_cast<std::size_t>(rest - text.c_str())});
    }
    const Outline outline(text, catalog_);
    Description found;
    found.star = outline.has_star();
    found.parameters = outline.parameters(parameters);
    const int count = sqlite3_column_count(made);
    for (int column = 0; column < count; ++column) {
      found.columns.push_back(describe_column(made, column, count, outline));
    }
    find_scans(text, outline, found);
    return found;
  }

 private:
  Prepared prepare(const char* text) const {
    sqlite3_stmt* made = nullptr;
    sqlite3_prepare_v2(handle_.get(), text, -1, &made, nullptr);
    return Prepared(made);
  }

  ResultColumn describe_column(sqlite3_stmt* made, int at, int count,
                               const Outline& outline) const {
    ResultColumn column;
    column.name = text_of(sqlite3_column_name(made, at));
    const std::string table = in_small_letters(text_of(sqlite3_column_table_name(made, at)));
    const std::string origin = in_small_letters(text_of(sqlite3_column_origin_name(made, at)));
    const auto& results = outline.results();
    const bool listed = results.size() == static_cast<std::size_t>(count);
    const auto range = listed ? results[static_cast<std::size_t>(at)] : Outline::Range{};
    const TableColumn* const known = catalog_.find(table, origin);
    if (known != nullptr && (!listed || outline.is_column(range)) && !outline.is_compound()) {
      column.type = known->type;
      describe_null(column, table, *known, listed ? range : Outline::Range{}, outline);
      return column;
    }
    const char* const type = sqlite3_column_decltype(made, at);
    if (type != nullptr && !outline.is_compound()) column.type = declared(type);
    if (!listed || outline.is_compound()) return column;
    if (type == nullptr) column.type = outline.type_of(range);
    if (outline.never_null(range)) column.null = Null::never;
    return column;
  }

  // For a column of a table: by its declaration, unless a join fills it with nulls.
  static void describe_null(ResultColumn& column, const std::string& table,
                            const TableColumn& known, Outline::Range range,
                            const Outline& outline) {
    if (!known.not_null) {
      column.null = Null::possible;
      column.why = fmt::format("{}.{} is not NOT NULL", table, known.name);
      return;
    }
    if (outline.aggregates_all()) {
      column.null = Null::possible;
      column.why = fmt::format("an aggregate of no rows leaves {}.{} out", table, known.name);
      return;
    }
    const std::string qualifier = range.end - range.begin >= 3
                                      ? in_small_letters(outline.tokens()[range.end - 3].text)
                                      : std::string();
    bool named = false, outer = false;
    for (const Outline::Source& source : outline.sources()) {
      if (source.table != table || (!qualifier.empty() && source.alias != qualifier)) continue;
      named = true;
      outer = outer || source.outer;
    }
    if (outer) {
      column.null = Null::possible;
      column.why = fmt::format("an outer join leaves {}.{} out", table, known.name);
    } else if (named) {
      column.null = Null::never;
    }  // otherwise it comes through a view or a subquery
  }

  void find_scans(const std::string& text, const Outline& outline, Description& found) const {
    const Prepared plan = prepare(("EXPLAIN QUERY PLAN " + text).c_str());
    if (plan == nullptr) return;
    while (sqlite3_step(plan.get()) == SQLITE_ROW) {
      const std::string detail = text_of(plan.get(), 3);
      if (!detail.starts_with("SCAN ")) continue;
      const std::string alias = in_small_letters(detail.substr(5, detail.find(' ', 5) - 5));
      // An index gives the order of the rows, of which a LIMIT may want few.
      if (detail.find(" USING ") != detail.npos && outline_limits(outline)) continue;
      if (detail.find(" VIRTUAL TABLE ") != detail.npos) continue;
      for (const Outline::Source& source : outline.sources()) {
        if (source.alias != alias || std::ranges::count(found.scans, source.table) != 0) continue;
        found.scans.push_back(source.table);
        break;
      }
    }
  }
  static bool outline_limits(const Outline& outline) {
    return std::ranges::any_of(outline.tokens(),
                               [](const SqlToken& token) { return token.is("limit"); });
  }

  Handle handle_;
  Catalog catalog_;
};

}  // namespace

Result<std::unique_ptr<Dialect>> open_sqlite(const std::vector<database::Migration>& migrations) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open(":memory:", &raw);
  Handle handle(raw);
  if (code != SQLITE_OK) return fail(Code::unavailable, "cannot open SQLite in memory");
  // "name" is a name and no text, as in a program's connections.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  for (const database::Migration& each : migrations) {
    if (sqlite3_exec(raw, each.text.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
      return fail(Code::invalid_argument,
                  fmt::format("migration '{}' fails: {}", each.file, sqlite3_errmsg(raw)));
    }
  }
  auto made = std::make_unique<SqliteDialect>(std::move(handle));
  made->read_catalog();
  return made;
}

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
