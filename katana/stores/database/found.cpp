#include "katana/stores/database/found.hpp"

#include <algorithm>

namespace katana::database {
namespace {

// Letters, digits, "_" and what is not ASCII.
bool is_plain(std::string_view name) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  return !name.empty() && std::ranges::all_of(name, is_part);
}

// "email" of "users.email". Empty: it is an expression, or the name of an index or a constraint.
// Databases put the table before a column, and not before such a name.
std::string_view column_of(std::string_view part) {
  const std::size_t dot = part.rfind('.');
  if (dot == part.npos) return {};
  const std::string_view table = part.substr(0, dot);
  if (table.find_first_of("()'\"") != table.npos) return {};
  std::string_view column = part.substr(dot + 1);
  // PostgreSQL quotes a name that has capitals.
  if (column.size() >= 2 && column.starts_with('"') && column.ends_with('"')) {
    column = column.substr(1, column.size() - 2);
  }
  return is_plain(column) ? column : std::string_view();
}

// "email, name" of "users.email, users.name". Empty: `which` has anything but plain columns.
std::string columns_alone(std::string_view which) {
  std::string columns;
  while (true) {
    const std::size_t comma = which.find(", ");
    const std::string_view column = column_of(which.substr(0, comma));
    if (column.empty()) return {};
    columns += column;
    if (comma == which.npos) return columns;
    columns += ", ";
    which.remove_prefix(comma + 2);
  }
}

}  // namespace

katana::Error detail::taken_error(Error error) {
  const Constraint broken = error.constraint();
  if (broken != Constraint::unique && broken != Constraint::primary_key) return error;
  const std::string columns = columns_alone(error.which());
  return error.within((columns.empty() ? "The value" : columns) + " has already been taken.");
}

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
