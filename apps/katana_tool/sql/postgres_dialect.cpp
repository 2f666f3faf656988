#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "katana/base/system/propagate.hpp"
#include "katana/stores/database/postgres/blocking_session.hpp"
#include "katana/stores/database/postgres/migrate.hpp"
#include "katana/stores/database/postgres/statement_text.hpp"
#include "katana/stores/database/postgres/types.hpp"
#include "katana_tool/sql/dialect.hpp"
#include "katana_tool/sql/outline.hpp"
#include "katana_tool/sql/postgres_server.hpp"

namespace katana::tool::sql {
namespace {

using database::postgres::BlockingSession;
using database::postgres::StatementColumn;
using Rows = BlockingSession::Rows;

// The server's own words, and its hint.
std::string message_of(const BlockingSession& session, const Error& error) {
  const database::postgres::Refusal& refusal = session.refusal();
  if (refusal.message.empty()) return std::string(error.message());
  return refusal.hint.empty() ? refusal.message
                              : fmt::format("{} ({})", refusal.message, refusal.hint);
}

// The server counts characters, from 1; 0: it names none.
std::optional<std::size_t> offset_of(std::size_t character, std::string_view text) {
  if (character == 0) return std::nullopt;
  std::size_t at = 0;
  for (--character; at < text.size() && character > 0; --character) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
  }
  return at;
}

unsigned number_of(const std::string& text) {
  return static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, 10));
}

Storage storage_of(unsigned type) {
  using database::postgres::Form;
  switch (database::postgres::form_of(type)) {
    case Form::boolean:
    case Form::int2:
    case Form::int4:
    case Form::int8:
    case Form::oid: return Storage::integer;
    case Form::float4:
    case Form::float8: return Storage::real;
    case Form::bytea: return Storage::blob;
    case Form::nothing: return Storage::any;
    case Form::unknown: return Storage::none;
    default: return Storage::text;
  }
}

class PostgresDialect final : public Dialect {
 public:
  PostgresDialect(std::unique_ptr<PostgresServer> server, BlockingSession session)
      : server_(std::move(server)), session_(std::move(session)) {}

  std::string_view name() const noexcept override { return "postgres"; }

  Result<Rows> ask(const std::string& text) { return session_.ask(text); }
  std::string why(const Error& error) const { return message_of(session_, error); }

  // On the server of somebody: a transaction that nothing commits, with a schema that is the first
  // to be searched.
  Result<void> apply_unseen(const std::vector<database::Migration>& migrations) {
    const auto begun = ask(
        "BEGIN; CREATE SCHEMA katana_sql_check; SET LOCAL search_path = katana_sql_check, public");
    if (!begun) {
      return fail(Code::unavailable,
                  fmt::format("cannot make a schema for the check: {}", why(begun.error())));
    }
    for (const database::Migration& each : migrations) {
      if (const auto applied = ask(each.text); !applied) {
        return fail(Code::invalid_argument,
                    fmt::format("migration '{}' fails in a schema and a transaction of the check: "
                                "{}. Without --database it is applied to a temporary server, as "
                                "the program does",
                                each.file, why(applied.error())));
      }
      if (!session_.in_transaction()) {
        return fail(
            Code::invalid_argument,
            fmt::format("migration '{}' ends the transaction that all are applied in: leave "
                        "COMMIT and ROLLBACK out",
                        each.file));
      }
    }
    return {};
  }

  // Once the migrations are applied, and the first schema has their tables.
  Result<void> prepare_check() {
    const auto planned =
        ask("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan; BEGIN");
    if (!planned) return fail(Code::unavailable, why(planned.error()));
    return read_catalog();
  }

  std::expected<Description, Refusal> describe(const std::string& text,
                                               std::size_t parameters) override {
    if (database::postgres::traits_of(text).refused) {
      return std::unexpected(
          Refusal{"a statement may neither begin or end a transaction nor change the session nor "
                  "copy: call begin(), and see the options of the database",
                  0});
    }
    (void)ask("SAVEPOINT katana_statement");
    auto found = prepare(text, parameters);
    (void)ask("ROLLBACK TO SAVEPOINT katana_statement");
    (void)ask("DEALLOCATE ALL");
    return found;
  }

 private:
  struct Origin {
    std::string table;
    const TableColumn* column = nullptr;
  };

  Result<void> read_catalog() {
    const auto rows =
        ask("SELECT c.oid, c.relname, a.attnum, a.attname, a.atttypid, a.attnotnull, c.relkind "
            "FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
            "WHERE c.relnamespace = current_schema()::regnamespace AND a.attnum > 0 "
            "AND c.relname <> 'katana_migrations' AND NOT a.attisdropped AND c.relkind IN ('r', "
            "'p', 'v', 'm', 'f') "
            "ORDER BY c.relname, a.attnum");
    if (!rows) return fail(Code::unavailable, why(rows.error()));
    catalog_.language = Language::postgres;
    for (const std::vector<std::string>& row : *rows) {
      catalog_.tables[row.at(1)].push_back(
          {row.at(3), type_of(number_of(row.at(4))), row.at(5) == "t", false});
    }
    for (const std::vector<std::string>& row : *rows) {    // now that no column moves any more
      if (row.at(6) == "v" || row.at(6) == "m") continue;  // views: no mark
      origins_[{number_of(row.at(0)), std::atoi(row.at(2).c_str())}] = {
          row.at(1), catalog_.find(row.at(1), row.at(3))};
    }
    return {};
  }

  SqlType type_of(unsigned type) {
    if (type == 0) return {};
    if (const auto known = types_.find(type); known != types_.end()) return known->second;
    const auto rows = ask(
        fmt::format("SELECT format_type(t.oid, NULL), t.typtype, t.typbasetype, CASE WHEN "
                    "t.typcategory = 'A' THEN (SELECT e.typtype FROM pg_type AS e WHERE e.oid = "
                    "t.typelem) END FROM pg_type AS t WHERE t.oid = {}",
                    type));
    SqlType made{"", storage_of(type)};
    if (rows && rows->size() == 1) {
      const std::vector<std::string>& row = rows->front();
      made.name = row.at(0);
      // The type as the backend sees it. Enumerations, composites and arrays of them are text; a
      // domain is its base type.
      for (const std::string& kind : {row.at(1), row.at(3)}) {
        if (kind == "e" || kind == "c") made.storage = Storage::text;
      }
      if (row.at(1) == "d") made = type_of(number_of(row.at(2)));
    }
    const std::pair<std::string_view, std::string_view> shorter[] = {
        {"timestamp with time zone", "timestamptz"}, {"timestamp without time zone", "timestamp"}};
    for (const auto& [longer, name] : shorter) {
      if (made.name == longer) made.name = name;
    }
    return types_[type] = made;
  }

  std::expected<Description, Refusal> prepare(const std::string& text, std::size_t parameters) {
    const auto shape = session_.prepare("katana_statement", text);
    if (!shape) {
      return std::unexpected(
          Refusal{why(shape.error()), offset_of(session_.refusal().character, text)});
    }
    const Outline outline(text, catalog_);
    Description found;
    found.star = outline.has_star();
    found.parameters = outline.parameters(parameters);
    for (std::size_t index = 0; index < shape->parameters.size(); ++index) {
      if (index < found.parameters.size()) {
        found.parameters[index].type = type_of(shape->parameters[index]);
      }
    }
    for (std::size_t index = 0; index < shape->columns.size(); ++index) {
      found.columns.push_back(
          describe_column(shape->columns[index], index, shape->columns.size(), outline));
    }
    find_scans(parameters, outline, found);
    return found;
  }

  ResultColumn describe_column(const StatementColumn& described, std::size_t at, std::size_t count,
                               const Outline& outline) {
    ResultColumn column;
    column.name = described.name;
    column.type = type_of(described.type);
    const auto& results = outline.results();
    const bool listed = results.size() == count;
    const auto range = listed ? results[at] : Outline::Range{};
    const auto origin = origins_.find({described.table, described.column});
    if (outline.is_compound()) return column;
    if (origin == origins_.end() || (listed && !outline.is_column(range))) {
      if (listed && outline.never_null(range)) column.null = Null::never;
      return column;
    }
    const auto& [table, known] = origin->second;
    if (!known->not_null) {
      column.null = Null::possible;
      column.why = fmt::format("{}.{} is not NOT NULL", table, known->name);
      return column;
    }
    const std::string qualifier = range.end - range.begin >= 3
                                      ? in_small_letters(outline.tokens()[range.end - 3].text)
                                      : std::string();
    for (const Outline::Source& source : outline.sources()) {
      if (source.table != table || (!qualifier.empty() && source.alias != qualifier)) continue;
      if (column.null != Null::possible) column.null = source.outer ? Null::possible : Null::never;
    }
    if (column.null == Null::possible) {
      column.why = fmt::format("an outer join leaves {}.{} out", table, known->name);
    }
    return column;
  }

  // With sequential scans as dear as can be, one is in the plan only where no index serves.
  void find_scans(std::size_t parameters, const Outline& outline, Description& found) {
    std::string values;
    for (std::size_t index = 0; index < parameters; ++index) {
      values += index == 0 ? "(NULL" : ", NULL";
    }
    if (parameters > 0) values += ")";
    const auto plan = ask("EXPLAIN EXECUTE katana_statement" + values);
    if (!plan) return;
    const bool limits = std::ranges::any_of(
        outline.tokens(), [](const SqlToken& token) { return token.is("limit"); });
    for (std::size_t line = 0; line < plan->size(); ++line) {
      const std::string_view text = (*plan)[line].at(0);
      const std::string_view next =
          line + 1 < plan->size() ? std::string_view((*plan)[line + 1].at(0)) : "";
      const bool by_index = text.find("Index Scan ") != text.npos ||
                            text.find("Index Only Scan ") != text.npos ||
                            text.find("Index Scan using ") != text.npos;
      const bool whole = by_index && !limits && next.find("Index Cond:") == next.npos &&
                         text.find("Bitmap") == text.npos;
      if (text.find("Seq Scan on ") == text.npos && !whole) continue;
      const std::size_t begin = text.find(" on ") + 4;
      const std::string table(text.substr(begin, text.find(' ', begin) - begin));
      if (catalog_.tables.contains(table) && std::ranges::count(found.scans, table) == 0) {
        found.scans.push_back(table);
      }
    }
  }

  std::unique_ptr<PostgresServer> server_;  // outlives the session
  BlockingSession session_;
  Catalog catalog_;
  std::map<std::pair<unsigned, int>, Origin> origins_;
  std::map<unsigned, SqlType> types_;
};

}  // namespace

Result<std::unique_ptr<Dialect>> open_postgres(const std::vector<database::Migration>& migrations,
                                               const std::string& url) {
  std::unique_ptr<PostgresServer> server;
  database::postgres::Options options;
  if (url.empty()) {
    KATANA_TRY(server, PostgresServer::start());
    options = server->options();
    // As the program applies them: into the schema that they name, each with its commits.
    if (const auto applied = database::postgres::migrate(options, {.bundled = migrations});
        !applied) {
      return fail(Code::invalid_argument,
                  fmt::format("the migrations fail: {}", applied.error().describe()));
    }
  } else {
    KATANA_TRY(options, database::postgres::Options::from_url(url));
  }
  KATANA_TRY(auto session, BlockingSession::connect(options, {}));
  auto made = std::make_unique<PostgresDialect>(std::move(server), std::move(session));
  if (!url.empty()) {
    if (auto applied = made->apply_unseen(migrations); !applied) {
      return std::unexpected(applied.error());
    }
  }
  if (auto done = made->prepare_check(); !done) return std::unexpected(done.error());
  return made;
}

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
