// Outline: the facts in a statement's tokens: the expressions of its result, the tables and joins
// that it reads, and the places of its parameters.
//
// Databases do not say whether an expression can be null, and SQLite has no types of parameters.
// The results are sound but not complete: never_null() is true only if that is proved.
//
// Owns       its tokens.
// Borrows    the catalog, while it lives.
// Thread     any.
// Allocates  its results.
// Fails      never: what it does not understand is not known.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana_tool/sql/description.hpp"
#include "katana_tool/sql/sql_tokens.hpp"

namespace katana::tool::sql {

class Outline {
 public:
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  struct Source {
    std::string table;
    std::string alias;   // the table's name, if it has none
    bool outer = false;  // an outer join fills it with nulls
  };

  Outline(std::string_view text, const Catalog& catalog);

  // The expressions of the result, without their names; none: there is a "*", or no result.
  const std::vector<Range>& results() const noexcept { return results_; }
  bool has_star() const noexcept { return star_; }
  bool is_compound() const noexcept { return compound_; }
  const std::vector<Source>& sources() const noexcept { return sources_; }
  const std::vector<SqlToken>& tokens() const noexcept { return tokens_; }

  // A name, or a table's name and a column's.
  bool is_column(Range range) const;
  bool never_null(Range range) const;
  // The result is one row, whatever the tables have: an aggregate without GROUP BY.
  bool aggregates_all() const;
  // The type of an expression that is a call or a literal; for others: not known.
  SqlType type_of(Range range) const;
  // The column with this name in the tables of the statement; null: none, or different ones.
  const TableColumn* column_at(Range range, bool& outer) const;
  // The uses of the parameters by their numbers; there are `count`.
  std::vector<ParameterUse> parameters(std::size_t count) const;

  // For proofs: never_null.cpp.
  bool is(std::size_t at, std::string_view text) const {
    return at < tokens_.size() && tokens_[at].is(text);
  }
  std::size_t behind_group(std::size_t open) const;
  // `to` if the word is not between them, or in parentheses and brackets only.
  std::size_t find_at_depth(std::size_t from, std::size_t to, std::string_view word) const;
  Range without_name(Range range) const;
  const Catalog& catalog() const noexcept { return catalog_; }
  Language language() const noexcept { return catalog_.language; }

 private:
  void find_sources();
  void mark_outer_joins();
  void find_results();
  void add_result(Range range);
  void use_inserted(std::vector<ParameterUse>& uses) const;
  std::size_t use_tuple(std::vector<ParameterUse>& uses, std::size_t open, const std::string& table,
                        const std::vector<std::string>& columns) const;
  void use_compared(std::vector<ParameterUse>& uses, std::size_t at) const;
  Range name_before(std::size_t end) const;
  Range name_after(std::size_t begin) const;
  bool is_assignment(std::size_t at) const;

  const Catalog& catalog_;
  std::vector<SqlToken> tokens_;
  std::vector<Source> sources_;
  std::vector<Range> results_;
  bool star_ = false;
  bool compound_ = false;
  bool grouped_ = false;
};

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
