// Description: a database's facts about a statement. Catalog: its facts about its tables.
//
// Owns       its facts.
// Thread     any.
// Allocates  its facts.
// Fails      Refusal: the objection of the database, which knows the statement's text.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace katana::tool::sql {

// The kind of a value when the program reads it (katana/stores/database/value.hpp). `any`: not
// known before. `none`: the backend does not read this type.
enum class Storage : unsigned char { any, integer, real, text, blob, none };

std::string_view storage_name(Storage storage) noexcept;
std::optional<Storage> storage_named(std::string_view name) noexcept;

struct SqlType {
  std::string name;  // as the database calls it, in small letters; empty: not known
  Storage storage = Storage::any;

  friend bool operator==(const SqlType&, const SqlType&) = default;
};

enum class Null : unsigned char { never, possible, unproved };  // unproved: of an expression

struct ResultColumn {
  std::string name;
  SqlType type;
  Null null = Null::unproved;
  std::string why;  // it may be null

  friend bool operator==(const ResultColumn&, const ResultColumn&) = default;
};

struct ParameterUse {
  bool used = false;
  SqlType type;
  std::string column;     // the column that it is compared with or stored in; may be empty
  bool not_null = false;  // it is stored there, and the column is NOT NULL

  friend bool operator==(const ParameterUse&, const ParameterUse&) = default;
};

struct Description {
  std::vector<ResultColumn> columns;
  std::vector<ParameterUse> parameters;
  std::vector<std::string> scans;  // tables that may be read whole
  bool star = false;               // a column of the result is "*"

  friend bool operator==(const Description&, const Description&) = default;
};

struct Refusal {
  std::string message;
  std::optional<std::size_t> offset;  // in the text
};

struct TableColumn {
  std::string name;
  SqlType type;
  bool not_null = false;
  bool filled = false;  // null is stored as something else: SQLite's INTEGER PRIMARY KEY
};

// Functions of one name are not the same in both: json_object(NULL).
enum class Language : unsigned char { sqlite, postgres };

struct Catalog {
  Language language = Language::sqlite;
  std::map<std::string, std::vector<TableColumn>> tables;  // names in small letters

  const TableColumn* find(const std::string& table, std::string_view column) const {
    const auto found = tables.find(table);
    if (found == tables.end()) return nullptr;
    for (const TableColumn& each : found->second) {
      if (each.name == column) return &each;
    }
    return nullptr;
  }
};

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
