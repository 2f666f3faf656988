// ResultRow: one row of a result of libpq. complaint_of(): the fields of its error. rows_given():
// the number of rows that its end reports.
//
// Owns       nothing.
// Borrows    the result, the prepared statement, types, and a text for each column, while it lives.
// Thread     one.
// Allocates  as decode() does.
// Fails      never.
// Invariant  a column that the description did not have is null.
#pragma once

#include <libpq-fe.h>

#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "katana/stores/database/postgres/errors.hpp"
#include "katana/stores/database/postgres/statements.hpp"
#include "katana/stores/database/postgres/type_table.hpp"

namespace katana::database::postgres {

class ResultRow final : public Row {
 public:
  ResultRow(const PGresult& result, int row, Prepared& prepared, const TypeTable& types,
            std::vector<std::string>& texts) noexcept
      : result_(result), row_(row), prepared_(prepared), types_(types), texts_(texts) {}

  Mapping* mapping() const noexcept override { return &prepared_.mapping; }
  std::size_t columns() const noexcept override {
    return static_cast<std::size_t>(PQnfields(&result_));
  }
  Value value(std::size_t column) const noexcept override {
    const int at = static_cast<int>(column);
    if (column >= prepared_.forms.size() || PQgetisnull(&result_, row_, at) != 0) return {};
    const Bytes octets(PQgetvalue(&result_, row_, at),
                       static_cast<std::size_t>(PQgetlength(&result_, row_, at)));
    return decode(types_, prepared_.column_types[column], prepared_.forms[column], octets,
                  texts_[column]);
  }
  Bytes name(std::size_t column) const noexcept override {
    const char* const name = PQfname(&result_, static_cast<int>(column));
    return name == nullptr ? Bytes() : Bytes(name);
  }

 private:
  const PGresult& result_;
  const int row_;
  Prepared& prepared_;
  const TypeTable& types_;
  std::vector<std::string>& texts_;
};

// The number of rows that a SELECT gave, as the server reports it at the end. No value: the server
// reports none, or the rows went into a table. A smaller number of rows may arrive: libpq drops
// messages that it does not expect, and a row whose type byte was damaged is one.
inline std::optional<std::size_t> rows_given(const PGresult& result) noexcept {
  constexpr Bytes select = "SELECT ";
  if (PQresultStatus(&result) != PGRES_TUPLES_OK) return std::nullopt;
  // libpq asks for a result that can be changed, and does not change it.
  const Bytes tag = PQcmdStatus(const_cast<PGresult*>(&result));
  if (!tag.starts_with(select)) return std::nullopt;
  std::size_t count = 0;
  const auto [behind, failure] =
      std::from_chars(tag.data() + select.size(), tag.data() + tag.size(), count);
  return failure == std::errc() ? std::optional(count) : std::nullopt;
}

// Views into `result`.
inline Complaint complaint_of(const PGresult& result) noexcept {
  const auto field = [&](int code) {
    const char* const text = PQresultErrorField(&result, code);
    return text == nullptr ? Bytes() : Bytes(text);
  };
  return {.state = field(PG_DIAG_SQLSTATE),
          .message = field(PG_DIAG_MESSAGE_PRIMARY),
          .detail = field(PG_DIAG_MESSAGE_DETAIL),
          .table = field(PG_DIAG_TABLE_NAME),
          .column = field(PG_DIAG_COLUMN_NAME),
          .constraint = field(PG_DIAG_CONSTRAINT_NAME),
          .routine = field(PG_DIAG_SOURCE_FUNCTION)};
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
