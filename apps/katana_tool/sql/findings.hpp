// Findings: the mistakes of a statement, and of the call that its program makes.
//
// Owns       its words.
// Thread     any.
// Allocates  its words.
// Fails      never.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/values/described.hpp"
#include "katana_tool/sql/description.hpp"
#include "katana_tool/sql/literals.hpp"
#include "katana_tool/sql/records.hpp"

namespace katana::tool::sql {

enum class Severity { error, warning };
KATANA_DESCRIBE_ENUM(Severity, error, warning)

struct Finding {
  std::string file;
  std::size_t line = 0;  // from 1; 0: of the file as a whole
  std::size_t column = 0;
  Severity severity = Severity::error;
  std::string rule;  // "syntax", "missing_column", …: what guides/checked-sql.md lists
  std::string dialect;
  std::string message;

  auto operator<=>(const Finding&) const = default;
};
KATANA_DESCRIBE(Finding, file, line, column, severity, rule, dialect, message)

struct Statement;

// The permissions that comments give: "katana: full scan is fine, age is not null".
class Allowances {
 public:
  // The permissions at the call, at the constant that it names, and in SQL comments of the text.
  explicit Allowances(const Statement& statement);

  bool has(std::string_view words) const;
  bool not_null(std::string_view column) const;

 private:
  void add(std::string_view comments);

  std::vector<std::string> allowed_;
};

// A statement at a place: `text` is the literal's, or that of the constant that it names.
struct Statement {
  const Literal* literal = nullptr;   // where it is called
  const Literal* constant = nullptr;  // where its text stands, if elsewhere

  const std::string& text() const { return constant != nullptr ? constant->text : literal->text; }
  Finding at_call(Severity severity, std::string rule, std::string message) const;
  Finding at_offset(std::size_t offset, Severity severity, std::string rule,
                    std::string message) const;
};

// The findings about the call of `record`, without the dialect's name.
std::vector<Finding> compare(const Statement& statement, const Record& record,
                             const Description& description);
// For the statement alone.
std::vector<Finding> judge(const Statement& statement, const Description& description);
Finding refused(const Statement& statement, const Refusal& refusal);

std::size_t error_count(const std::vector<Finding>& findings);

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
