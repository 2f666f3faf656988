// Coverage: which keywords of which schemas the generated types check, and a warning for each that
// they do not.
//
//   coverage.visit(pointer);                    a type is made of that schema
//   coverage.cover(pointer, "maxItems");        … and checks this
//   coverage.miss(pointer, "maxItems", "…");    … but not in this place
//   coverage.report(api, problems);
//
// A keyword is reported when no code covered it: the report needs no list of such keywords.
//
// Owns       the pointers.
// Thread     one.
// Allocates  freely.
// Fails      never.
// Invariant  a keyword of a visited schema is covered, has no effect by the table of keywords
//            (openapi/model/keywords.hpp) or by its value, or gets a warning.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi::generate {

// A keyword, and the schema that it is of.
using KeywordAt = std::pair<std::string, std::string>;

class Coverage {
 public:
  // The schema at `pointer` was made into a type.
  void visit(Bytes pointer) { visited_.emplace(pointer); }
  // The type, or a rule, checks the keyword of that schema.
  void cover(Bytes pointer, Bytes keyword) {
    visit(pointer);
    covered_.emplace(pointer, keyword);
  }
  // The same for several.
  void cover(const std::vector<KeywordAt>& all) {
    for (const auto& [pointer, keyword] : all) cover(pointer, keyword);
  }
  // `where` ends the sentence "is not checked by its type …".
  void miss(const std::vector<KeywordAt>& all, Bytes where) {
    for (const KeywordAt& each : all) {
      cover(each.first, each.second);
      missed_.try_emplace(each, where);
    }
  }
  // Forgets a schema that no type of the code has in the end.
  void forget(Bytes pointer) { visited_.erase(std::string(pointer)); }
  void report(const Description& api, model::Problems& problems) const;

 private:
  std::set<std::string, std::less<>> visited_;
  std::set<KeywordAt> covered_;
  std::map<KeywordAt, std::string> missed_;
};

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
