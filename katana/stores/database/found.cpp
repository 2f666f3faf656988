#include "katana/stores/database/found.hpp"

namespace katana::database {
namespace {

// "email, name" of "users.email, users.name".
std::string columns_alone(std::string_view which) {
  std::string columns;
  while (true) {
    const std::size_t comma = which.find(", ");
    std::string_view column = which.substr(0, comma);
    column.remove_prefix(column.rfind('.') + 1);  // npos + 1 is 0
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
