// LockFile: sql.lock holds the databases' descriptions of a program's statements. A build can then
// check the statements without a database.
//
//   katana sql.lock 1
//   migrations sqlite 8f3a…              checksum of all of them
//
//   statement sqlite SELECT id FROM notes WHERE id = $1
//   column never integer integer - id    null, storage, the database's type, why null, the name
//   parameter used integer integer id    used, not-null or unused, …, the column that it goes to
//
// Statements are in the order of their texts, and each line says one thing. The file does not
// depend on the place of a statement: a small change of the program is a small change of the file.
//
// Owns       the facts that it read.
// Thread     any.
// Allocates  yes.
// Fails      parse() with the line that it does not understand.
// Invariant  parse(write()) is the same; write() depends on nothing but its content.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana_tool/sql/description.hpp"

namespace katana::tool::sql {

struct LockFile {
  std::map<std::string, std::string> migrations;  // by dialect: their checksum
  // The descriptions, by text and dialect.
  std::map<std::pair<std::string, std::string>, Description> statements;

  std::string write() const;
  static Result<LockFile> parse(std::string_view text, const std::string& path);

  friend bool operator==(const LockFile&, const LockFile&) = default;
};

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
