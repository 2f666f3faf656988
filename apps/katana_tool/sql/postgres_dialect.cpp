#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "katana/stores/database/postgres/statement_text.hpp"
#include "katana/stores/database/postgres/types.hpp"
#include "katana_tool/sql/dialect.hpp"
#include "katana_tool/sql/outline.hpp"
#include "katana_tool/sql/postgres_server.hpp"

namespace katana::tool::sql {
namespace {

struct ClosePostgres {
  void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using Connection = std::unique_ptr<PGconn, ClosePostgres>;
using Answer = std::unique_ptr<PGresult, ClosePostgres>;

bool is_good(const Answer& answer) {
  const ExecStatusType status = PQresultStatus(answer.get());
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY;
}

std::string message_of(const Answer& answer) {
  const char* const primary = PQresultErrorField(answer.get(), PG_DIAG_MESSAGE_PRIMARY);
  const char* const hint = PQresultErrorField(answer.get(), PG_DIAG_MESSAGE_HINT);
  std::string message = primary != nullptr ? primary : PQresultErrorMessage(answer.get());
  if (hint != nullptr) message += fmt::format(" ({})", hint);
  return message;
}

// The server counts characters, from 1.
std::optional<std::size_t> offset_of(const Answer& answer, std::string_view text) {
  const char* const field = PQresultErrorField(answer.get(), PG_DIAG_STATEMENT_POSITION);
  if (field == nullptr) return std::nullopt;
  long characters = std::strtol(field, nullptr, 10) - 1;
  std::size_t at = 0;
  for (; at < text.size() && characters > 0; --characters) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
  }
  return at;
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
  PostgresDialect(std::unique_ptr<PostgresServer> server, Connection connection)
      : server_(std::move(server)), connection_(std::move(connection)) {}

  std::string_view name() const noexcept override { return "postgres"; }

  Answer ask(const std::string& text) const {
    return Answer(PQexec(connection_.get(), text.c_str()));
  }

  // A transaction that nothing commits, with a schema that is the first to be searched.
  Result<void> set_up(const std::vector<database::Migration>& migrations) {
    const Answer begun = ask(
        "BEGIN; CREATE SCHEMA katana_sql_check; SET LOCAL search_path = katana_sql_check, public");
    if (!is_good(begun)) {
      return fail(Code::unavailable,
                  fmt::format("cannot make a schema for the check: {}", message_of(begun)));
    }
    for (const database::Migration& each : migrations) {
      const Answer applied = ask(each.text);
      if (!is_good(applied)) {
        return fail(Code::invalid_argument,
                    fmt::format("migration '{}' fails: {}", each.file, message_of(applied)));
      }
      if (PQtransactionStatus(connection_.get()) != PQTRANS_INTRANS) {
        return fail(
            Code::invalid_argument,
            fmt::format("migration '{}' ends the transaction that all are applied in: leave "
                        "COMMIT and ROLLBACK out",
                        each.file));
      }
    }
    const Answer planned =
        ask("SET LOCAL enable_seqscan = off; SET LOCAL plan_cache_mode = force_generic_plan");
    if (!is_good(planned)) return fail(Code::unavailable, message_of(planned));
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
    const Answer rows =
        ask("SELECT c.oid, c.relname, a.attnum, a.attname, a.atttypid, a.attnotnull, c.relkind "
            "FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
            "WHERE c.relnamespace = 'katana_sql_check'::regnamespace AND a.attnum > 0 "
            "AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') "
            "ORDER BY c.relname, a.attnum");
    if (!is_good(rows)) return fail(Code::unavailable, message_of(rows));
    catalog_.language = Language::postgres;
    const auto field = [&](int row, int column) {
      return std::string(PQgetvalue(rows.get(), row, column));
    };
    const int count = PQntuples(rows.get());
    for (int row = 0; row < count; ++row) {
      catalog_.tables[field(row, 1)].push_back(
          {field(row, 3), type_of(static_cast<unsigned>(std::atoll(field(row, 4).c_str()))),
           field(row, 5) == "t", false});
    }
    for (int row = 0; row < count; ++row) {  // now that no column moves any more
      const unsigned table = static_cast<unsigned>(std::atoll(field(row, 0).c_str()));
      if (field(row, 6) == "v" || field(row, 6) == "m") continue;  // views: no mark
      origins_[{table, std::atoi(field(row, 2).c_str())}] = {
          field(row, 1), catalog_.find(field(row, 1), field(row, 3))};
    }
    return {};
  }

  SqlType type_of(unsigned type) {
    if (type == 0) return {};
    if (const auto known = types_.find(type); known != types_.end()) return known->second;
    const Answer row = ask(
        fmt::format("SELECT format_type(t.oid, NULL), t.typtype, t.typbasetype, CASE WHEN "
                    "t.typcategory = 'A' THEN (SELECT e.typtype FROM pg_type AS e WHERE e.oid = "
                    "t.typelem) END FROM pg_type AS t WHERE t.oid = {}",
                    type));
    SqlType made{"", storage_of(type)};
    if (is_good(row) && PQntuples(row.get()) == 1) {
      made.name = PQgetvalue(row.get(), 0, 0);
      const std::string kind = PQgetvalue(row.get(), 0, 1);
      // The type as the backend sees it. Enumerations, composites and arrays of them are text; a
      // domain is its base type.
      const std::string element = PQgetvalue(row.get(), 0, 3);
      for (const std::string& each : {kind, element}) {
        if (each == "e" || each == "c") made.storage = Storage::text;
      }
      if (kind == "d") {
        made = type_of(static_cast<unsigned>(std::atoll(PQgetvalue(row.get(), 0, 2))));
      }
    }
    const std::pair<std::string_view, std::string_view> shorter[] = {
        {"timestamp with time zone", "timestamptz"}, {"timestamp without time zone", "timestamp"}};
    for (const auto& [longer, name] : shorter) {
      if (made.name == longer) made.name = name;
    }
    return types_[type] = made;
  }

  std::expected<Description, Refusal> prepare(const std::string& text, std::size_t parameters) {
    const Answer prepared(
        PQprepare(connection_.get(), "katana_statement", text.c_str(), 0, nullptr));
    if (!is_good(prepared)) {
      return std::unexpected(Refusal{message_of(prepared), offset_of(prepared, text)});
    }
    const Answer described(PQdescribePrepared(connection_.get(), "katana_statement"));
    if (!is_good(described)) {
      return std::unexpected(Refusal{message_of(described), std::nullopt});
    }
    const Outline outline(text, catalog_);
    Description found;
    found.star = outline.has_star();
    found.parameters = outline.parameters(parameters);
    for (int index = 0; index < PQnparams(described.get()); ++index) {
      const auto at = static_cast<std::size_t>(index);
      if (at < found.parameters.size()) {
        found.parameters[at].type = type_of(PQparamtype(described.get(), index));
      }
    }
    for (int column = 0; column < PQnfields(described.get()); ++column) {
      found.columns.push_back(describe_column(described, column, outline));
    }
    find_scans(parameters, outline, found);
    return found;
  }

  ResultColumn describe_column(const Answer& described, int at, const Outline& outline) {
    ResultColumn column;
    column.name = PQfname(described.get(), at);
    column.type = type_of(PQftype(described.get(), at));
    const auto& results = outline.results();
    const bool listed = results.size() == static_cast<std::size_t>(PQnfields(described.get()));
    const auto range = listed ? results[static_cast<std::size_t>(at)] : Outline::Range{};
    const auto origin =
        origins_.find({PQftable(described.get(), at), PQftablecol(described.get(), at)});
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
  void find_scans(std::size_t parameters, const Outline& outline, Description& found) const {
    std::string values;
    for (std::size_t index = 0; index < parameters; ++index) {
      values += index == 0 ? "(NULL" : ", NULL";
    }
    if (parameters > 0) values += ")";
    const Answer plan = ask("EXPLAIN EXECUTE katana_statement" + values);
    if (!is_good(plan)) return;
    const bool limits = std::ranges::any_of(
        outline.tokens(), [](const SqlToken& token) { return token.is("limit"); });
    const int lines = PQntuples(plan.get());
    for (int line = 0; line < lines; ++line) {
      const std::string_view text = PQgetvalue(plan.get(), line, 0);
      const std::string_view next = line + 1 < lines ? PQgetvalue(plan.get(), line + 1, 0) : "";
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

  std::unique_ptr<PostgresServer> server_;  // outlives the connection
  Connection connection_;
  Catalog catalog_;
  std::map<std::pair<unsigned, int>, Origin> origins_;
  std::map<unsigned, SqlType> types_;
};

}  // namespace

Result<std::unique_ptr<Dialect>> open_postgres(const std::vector<database::Migration>& migrations,
                                               const std::string& url) {
  std::unique_ptr<PostgresServer> server;
  std::string conninfo = url;
  if (url.empty()) {
    auto started = PostgresServer::start();
    if (!started) return std::unexpected(started.error());
    server = *std::move(started);
    conninfo = server->conninfo();
  }
  Connection connection(PQconnectdb(conninfo.c_str()));
  if (PQstatus(connection.get()) != CONNECTION_OK) {
    return fail(Code::unavailable,
                fmt::format("cannot connect to PostgreSQL: {}", PQerrorMessage(connection.get())));
  }
  PQsetNoticeProcessor(connection.get(), [](void*, const char*) {}, nullptr);
  auto made = std::make_unique<PostgresDialect>(std::move(server), std::move(connection));
  if (auto done = made->set_up(migrations); !done) return std::unexpected(done.error());
  return made;
}

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
