#include "katana/stores/database/sqlite/statement.hpp"

#include <charconv>
#include <cstring>

#include "katana/base/system/check.hpp"

namespace katana::database::sqlite {
namespace {

// "$2" and "?2" are argument 1. SQLite itself numbers "$2" by where it stands.
std::uint16_t argument_of(const char* name) noexcept {
  unsigned number = 0;
  if (name != nullptr) std::from_chars(name + 1, name + std::strlen(name), number);
  return static_cast<std::uint16_t>(number > 0 ? number - 1 : 0);
}

}  // namespace

Statement::Statement(sqlite3_stmt* statement, Bytes text)
    : handle_(statement), text_(text), reads_only_(sqlite3_stmt_readonly(statement) != 0) {
  const int count = sqlite3_bind_parameter_count(statement);
  for (int place = 1; place <= count; ++place) {
    arguments_.push_back(argument_of(sqlite3_bind_parameter_name(statement, place)));
  }
}

int Statement::bind(std::span<const database::Value> values, bool keep) noexcept {
  for (std::size_t place = 0; place < arguments_.size(); ++place) {
    KATANA_REQUIRE(arguments_[place] < values.size());
    const int code = bind_one(static_cast<int>(place) + 1, values[arguments_[place]], keep);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

int Statement::bind_one(int place, const database::Value& value, bool keep) noexcept {
  sqlite3_stmt* const statement = handle_.get();
  const auto lifetime = keep ? SQLITE_TRANSIENT : SQLITE_STATIC;
  const char* const octets = value.octets.data() != nullptr ? value.octets.data() : "";
  switch (value.type) {
    case Value::Type::null: return sqlite3_bind_null(statement, place);
    case Value::Type::integer: return sqlite3_bind_int64(statement, place, value.integer);
    case Value::Type::real: return sqlite3_bind_double(statement, place, value.real);
    case Value::Type::text:
      return sqlite3_bind_text64(statement, place, octets, value.octets.size(), lifetime,
                                 SQLITE_UTF8);
    case Value::Type::broken: return SQLITE_MISMATCH;
    case Value::Type::blob:
      return sqlite3_bind_blob64(statement, place, octets, value.octets.size(), lifetime);
  }
  return SQLITE_MISUSE;
}

Value Statement::value(std::size_t column) const noexcept {
  sqlite3_stmt* const statement = handle_.get();
  const int at = static_cast<int>(column);
  const auto octets = [&](const void* begin) {
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, at));
    return Bytes(static_cast<const char*>(begin), begin != nullptr ? size : 0);
  };
  switch (sqlite3_column_type(statement, at)) {
    case SQLITE_INTEGER: return Value::of_integer(sqlite3_column_int64(statement, at));
    case SQLITE_FLOAT: return Value::of_real(sqlite3_column_double(statement, at));
    case SQLITE_TEXT: return Value::of_text(octets(sqlite3_column_text(statement, at)));
    case SQLITE_BLOB: return Value::of_blob(octets(sqlite3_column_blob(statement, at)));
    default: return {};
  }
}

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
