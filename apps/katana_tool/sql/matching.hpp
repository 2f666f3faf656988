// Matching: which records of objects may be of which literal of the sources.
//
// A record has no text and a literal no types. They have in common the call, the literal's length,
// the number of parameters, and mostly the name of the row's type. Several literals may therefore
// have the same records; then each has to fit one of them, and each of those one literal.
//
// Owns       its lists.
// Borrows    literals and records, while it lives.
// Thread     any.
// Allocates  yes.
// Fails      never.
#pragma once

#include <vector>

#include "katana_tool/sql/findings.hpp"
#include "katana_tool/sql/literals.hpp"
#include "katana_tool/sql/records.hpp"

namespace katana::tool::sql {

struct Match {
  Statement statement;
  std::vector<const Record*> records;
};

struct Matching {
  std::vector<Match> matches;
  std::vector<const Record*> unmatched;
};

Matching match(const std::vector<Literal>& literals, const std::vector<Record>& records);

// The highest number of a parameter.
std::size_t parameter_count(std::string_view text);

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
