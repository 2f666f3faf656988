// Target: the facts that katana_check_sql() writes about a target of a build, one on each line:
//
//   name app                       folder /src             source /src/app.cpp
//   object /build/…/app.cpp.o      include /src            dialect sqlite
//   migrations sqlite /src/sql     lock /src/sql.lock      warnings errors
//
// Owns       the facts that it read.
// Thread     any.
// Allocates  yes.
// Fails      with the path and the line.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/stores/database/migrations.hpp"
#include "katana_tool/sql/literals.hpp"
#include "katana_tool/sql/records.hpp"

namespace katana::tool::sql {

struct Target {
  std::string name;
  std::string
      folder;  // of its CMakeLists.txt: sources are relative to it, headers elsewhere not read
  std::vector<std::string> sources;
  std::vector<std::string> includes;
  std::vector<std::string> objects;
  std::vector<std::string> dialects;
  std::map<std::string, std::string> migrations;  // folders by dialect
  std::string lock;                               // empty: there is none
  bool warnings_are_errors = false;

  static Result<Target> parse(std::string_view text, const std::string& path);

  // Every literal of its sources, and of the headers of its folder that they include.
  Result<std::vector<Literal>> literals() const;
  Result<std::vector<Record>> records() const;
  Result<std::vector<database::Migration>> migrations_for(const std::string& dialect) const;
};

// The checksum of all migrations together.
std::string checksum_of(const std::vector<database::Migration>& migrations);

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
