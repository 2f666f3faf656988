// Record: the facts in an object file about a call with a statement
// (katana/stores/database/sql_record.hpp).
//
//   Result<std::vector<Record>> records = read_records("CMakeFiles/app.dir/app.cpp.o");
//
// Owns       the facts that it read.
// Thread     any.
// Allocates  the file, and the facts in it.
// Fails      with the path, the mistake in the file, and the remedy.
// Invariant  no byte outside of a file is read, also if the file is damaged.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/system/result.hpp"

namespace katana::tool::sql {

// "?i64" is {"i64", true}. See sql_record.hpp for the names.
struct CppType {
  std::string name;
  bool optional = false;

  friend bool operator==(const CppType&, const CppType&) = default;
};

struct Member {
  CppType type;
  std::string name;  // empty: by position

  friend bool operator==(const Member&, const Member&) = default;
};

struct Record {
  std::string call;  // "query", "query_one", "execute", "stream"; "any": a function of the program
  std::optional<std::size_t> length;  // the literal's length; none: the statement is a constant
  std::size_t arguments = 0;
  std::string row;  // "struct", "tuple", "value"; empty: its rows are not read
  std::string row_type;
  std::vector<Member> members;
  std::vector<CppType> parameters;
  std::vector<std::string> objects;  // the objects that have it

  // Whatever the objects are.
  bool says_as(const Record& other) const {
    return call == other.call && length == other.length && arguments == other.arguments &&
           row == other.row && row_type == other.row_type && members == other.members &&
           parameters == other.parameters;
  }
};

// Reads one text in the form of sql_record.hpp; nothing: it has another form.
std::optional<Record> parse_record(std::string_view text);

// Every record of an ELF object or program; equal ones once.
Result<std::vector<Record>> read_records(const std::string& path);

// The same of a file's content.
Result<std::vector<Record>> records_in(std::string_view content, const std::string& path);

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
