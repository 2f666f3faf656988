#include "katana_tool/sql/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "katana_tool/sql/outline.hpp"
#include "katana_tool/sql/sql_tokens.hpp"

namespace katana::tool::sql {
namespace {

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin));
}

bool is_integer(const CppType& type) {
  static constexpr std::string_view names[] = {"i8", "i16", "i32", "i64",
                                               "u8", "u16", "u32", "bool"};
  return std::ranges::find(names, type.name) != std::end(names);
}
bool is_real(const CppType& type) { return type.name == "f32" || type.name == "f64"; }
bool is_form(const CppType& type) {
  return type.name.starts_with("form ") || type.name.starts_with("number-form ");
}
// Arrays and composites are JSON on their way, which PostgreSQL's driver turns into the server's.
bool is_text(const CppType& type) {
  return type.name == "text" || type.name == "enum" || type.name == "array" ||
         type.name == "composite" || is_form(type);
}

// A type that has one counterpart in the database; empty: none that is known.
std::string_view counterpart(const CppType& type) {
  if (!is_form(type)) return {};
  if (type.name.find("Uuid") != type.name.npos) return "uuid";
  if (type.name.find("Decimal") != type.name.npos) return "number";
  if (type.name.find("time_point") != type.name.npos) return "time";
  if (type.name.find("Date") != type.name.npos) return "time";
  if (type.name.find("duration") != type.name.npos) return "interval";
  return {};
}
std::string_view counterpart(const SqlType& type) {
  if (type.name == "uuid" || type.name == "interval") return type.name;
  if (type.name == "numeric") return "number";
  if (type.name.starts_with("timestamp") || type.name == "date") return "time";
  return {};
}
bool are_different(const CppType& cpp, const SqlType& sql) {
  const std::string_view one = counterpart(cpp), other = counterpart(sql);
  return !one.empty() && !other.empty() && one != other;
}

// katana/stores/database/row.hpp, read_value().
bool reads(const CppType& type, const SqlType& column) {
  switch (column.storage) {
    case Storage::any: return true;
    case Storage::integer:
      return is_integer(type) || is_real(type) || type.name.starts_with("number-form ");
    case Storage::real: return is_real(type);
    case Storage::text: return is_text(type) && !are_different(type, column);
    case Storage::blob: return type.name == "blob";
    case Storage::none: return false;
  }
  return true;
}

// True if the database stores a value of the type in the column without a conversion.
bool takes(const SqlType& column, const CppType& type) {
  if (type.name == "null") return true;
  switch (column.storage) {
    case Storage::any: return true;
    case Storage::integer: return is_integer(type) || type.name.starts_with("number-form ");
    case Storage::real: return is_integer(type) || is_real(type);
    case Storage::text:
      if (column.name == "numeric") return !is_text(type) || type.name.starts_with("number-form ");
      return is_text(type) && !are_different(type, column);
    case Storage::blob: return type.name == "blob";
    case Storage::none: return true;  // its text is sent, and the server reads it
  }
  return true;
}

std::string in_cpp(const CppType& type) {
  std::string name = type.name;
  if (is_form(type)) {
    name = name.substr(name.find(' ') + 1);
    if (name.starts_with("std::chrono::")) name.resize(std::min(name.find('<'), name.size()));
  } else if (name == "text") {
    name = "std::string";
  } else if (name == "array") {
    name = "a std::vector";
  } else if (name == "composite") {
    name = "a described struct";
  } else if (name == "enum") {
    name = "a described enum";
  } else if (name == "blob") {
    name = "a blob";
  } else if (name == "f32" || name == "f64") {
    name = name == "f32" ? "float" : "double";
  } else if (name.size() > 1 && (name[0] == 'i' || name[0] == 'u')) {
    name = fmt::format("std::{}int{}_t", name[0] == 'u' ? "u" : "", name.substr(1));
  } else if (name == "null") {
    name = "nullptr";
  }
  return type.optional ? fmt::format("std::optional<{}>", name) : name;
}

std::string in_sql(const SqlType& type) {
  if (type.name.empty()) return std::string(storage_name(type.storage));
  return type.name;
}

// The C++ type into which a column of this type is read.
std::string_view fitting(const SqlType& type) {
  const std::string_view one = counterpart(type);
  if (one == "uuid") return "katana::Uuid or std::string";
  if (one == "number") return "katana::Decimal or std::string";
  if (one == "time") return "katana::Timestamp, katana::Date or std::string";
  if (type.name.ends_with("[]")) return "a std::vector or std::string";
  switch (type.storage) {
    case Storage::integer: return "an integer, bool or an enumeration";
    case Storage::real: return "double";
    case Storage::text: return "std::string, a described enumeration or a type with a TextForm";
    case Storage::blob: return "std::vector<std::byte> or a span of it";
    case Storage::any:
    case Storage::none: break;
  }
  return "std::string";
}

class Comparison {
 public:
  Comparison(const Statement& statement, const Record& record, const Description& description)
      : statement_(statement),
        record_(record),
        description_(description),
        outline_(statement.text(), no_catalog_),
        allowed_(statement) {}

  std::vector<Finding> run() {
    if (allowed_.has("not checked")) return {};
    compare_rows();
    compare_parameters();
    return std::move(found_);
  }

 private:
  std::string member_name(const Member& member) const {
    if (record_.row == "struct") return fmt::format("{}::{}", record_.row_type, member.name);
    if (record_.row == "value") return "the value that is read";
    return fmt::format("element {} of the tuple", &member - record_.members.data());
  }
  std::string column_name(std::size_t index) const {
    const std::string& name = description_.columns[index].name;
    return name.empty() ? fmt::format("column {}", index + 1) : fmt::format("column '{}'", name);
  }
  void error(std::string rule, std::string message) {
    found_.push_back(statement_.at_call(Severity::error, std::move(rule), std::move(message)));
  }
  void at_column(std::size_t index, Severity severity, std::string rule, std::string message) {
    const auto& results = outline_.results();
    if (results.size() != description_.columns.size()) {
      found_.push_back(statement_.at_call(severity, std::move(rule), std::move(message)));
      return;
    }
    found_.push_back(statement_.at_offset(outline_.tokens()[results[index].begin].offset, severity,
                                          std::move(rule), std::move(message)));
  }

  void compare_rows() {
    if (record_.row.empty()) return;
    const std::size_t count = description_.columns.size();
    if (count == 0) {
      error("no_rows",
            fmt::format("the statement has no result, and {} reads one: call execute, or "
                        "add RETURNING",
                        record_.call));
    } else if (record_.row == "struct") {
      compare_members();
    } else if (count != record_.members.size()) {
      error("column_count",
            record_.row == "value"
                ? fmt::format("one value is read, and the result has {} columns: select one, or "
                              "read a struct or a tuple",
                              count)
                : fmt::format("the tuple has {} elements, and the result has {} columns: they must "
                              "be as many",
                              record_.members.size(), count));
    } else {
      for (std::size_t index = 0; index < count; ++index) {
        compare_column(index, record_.members[index]);
      }
    }
  }

  void compare_members() {
    std::vector<bool> is_read(description_.columns.size());
    for (const Member& member : record_.members) {
      const auto column = std::ranges::find(description_.columns, member.name, &ResultColumn::name);
      if (column == description_.columns.end()) {
        std::vector<std::string> names;
        for (const ResultColumn& each : description_.columns) names.push_back(each.name);
        error("missing_column",
              fmt::format("the result has no column '{}', which {} is read from; it has {}: select "
                          "it, or name one AS {}",
                          member.name, member_name(member), fmt::join(names, ", "), member.name));
        continue;
      }
      const auto index = static_cast<std::size_t>(column - description_.columns.begin());
      is_read[index] = true;
      compare_column(index, member);
    }
    if (allowed_.has("unused column is fine")) return;
    for (std::size_t index = 0; index < is_read.size(); ++index) {
      if (is_read[index]) continue;
      at_column(index, Severity::warning, "unused_column",
                fmt::format("{} is selected, and {} has no such member: leave it out, or say "
                            "'katana: unused column is fine' in a comment",
                            column_name(index), record_.row_type));
    }
  }

  void compare_column(std::size_t index, const Member& member) {
    const ResultColumn& column = description_.columns[index];
    if (!reads(member.type, column.type)) {
      at_column(index, Severity::error, "column_type",
                column.type.storage == Storage::none
                    ? fmt::format("{} is {}, which is not read: cast it, as in {}::text",
                                  column_name(index), in_sql(column.type), column.name)
                    : fmt::format("{} is {}, and {} is {}: make it {}, or cast the column",
                                  column_name(index), in_sql(column.type), member_name(member),
                                  in_cpp(member.type), fitting(column.type)));
    }
    if (member.type.optional || column.null == Null::never || allowed_.not_null(column.name)) {
      return;
    }
    const bool may = column.null == Null::possible;
    at_column(
        index, Severity::error, may ? "null_column" : "unproved_null",
        fmt::format("{} {}{}, and {} is not std::optional: make it so, or say 'katana: {} is "
                    "not null' in a comment",
                    column_name(index), may ? "may be null" : "may be null, for all that is known",
                    column.why.empty() ? "" : fmt::format(" ({})", column.why), member_name(member),
                    column.name.empty() ? "NAME" : column.name));
  }

  void compare_parameters() {
    const std::size_t count = std::min(record_.parameters.size(), description_.parameters.size());
    if (record_.parameters.size() != description_.parameters.size()) {
      error("parameter_count",
            fmt::format("the statement has {} parameters, and the call gives {}",
                        description_.parameters.size(), record_.parameters.size()));
    }
    for (std::size_t index = 0; index < count; ++index) {
      const ParameterUse& use = description_.parameters[index];
      const CppType& given = record_.parameters[index];
      const std::string where =
          use.column.empty() ? std::string() : fmt::format(" for column '{}'", use.column);
      if (!takes(use.type, given)) {
        at_parameter(index + 1, "parameter_type",
                     fmt::format("parameter ${} is {}{}, and the call gives {}: give {}", index + 1,
                                 in_sql(use.type), where, in_cpp(given), fitting(use.type)));
      }
      if (use.not_null && (given.optional || given.name == "null")) {
        at_parameter(
            index + 1, "null_parameter",
            fmt::format("parameter ${} may be null ({}), and column '{}' is NOT NULL: give "
                        "a value, or store coalesce(${}, …)",
                        index + 1, in_cpp(given), use.column, index + 1));
      }
    }
  }
  void at_parameter(std::size_t number, std::string rule, std::string message) {
    const auto& tokens = outline_.tokens();
    const auto found = std::ranges::find(tokens, number, &SqlToken::parameter);
    const std::size_t offset = found == tokens.end() ? 0 : found->offset;
    found_.push_back(
        statement_.at_offset(offset, Severity::error, std::move(rule), std::move(message)));
  }

  const Statement& statement_;
  const Record& record_;
  const Description& description_;
  const Catalog no_catalog_;
  const Outline outline_;
  const Allowances allowed_;
  std::vector<Finding> found_;
};

}  // namespace

Allowances::Allowances(const Statement& statement) {
  add(statement.literal->comments);
  if (statement.constant != nullptr) add(statement.constant->comments);
  add(sql_tokens_of(statement.text()).comments);
}

void Allowances::add(std::string_view comments) {
  static constexpr std::string_view mark = "katana:";
  for (std::size_t at = comments.find(mark); at != comments.npos; at = comments.find(mark, at)) {
    at += mark.size();
    std::string_view line = comments.substr(at, comments.find('\n', at) - at);
    line = line.substr(0, line.find("*/"));
    while (!line.empty()) {
      const std::size_t comma = line.find(',');
      const std::string_view words = line.substr(0, comma);
      allowed_.push_back(trimmed(words.substr(0, words.find('('))));  // a reason may follow
      line.remove_prefix(comma == line.npos ? line.size() : comma + 1);
    }
  }
}

bool Allowances::has(std::string_view words) const {
  return std::ranges::find(allowed_, words) != allowed_.end();
}

bool Allowances::not_null(std::string_view column) const {
  return has(fmt::format("{} is not null", column));
}

Finding Statement::at_call(Severity severity, std::string rule, std::string message) const {
  return {.file = literal->file,
          .line = literal->begin.line,
          .column = literal->begin.column,
          .severity = severity,
          .rule = std::move(rule),
          .dialect = {},
          .message = std::move(message)};
}

Finding Statement::at_offset(std::size_t offset, Severity severity, std::string rule,
                             std::string message) const {
  Finding made = at_call(severity, std::move(rule), std::move(message));
  const Literal& of = constant != nullptr ? *constant : *literal;
  const Place place = of.place_of(offset);
  made.file = of.file;
  made.line = place.line;
  made.column = place.column;
  return made;
}

std::vector<Finding> compare(const Statement& statement, const Record& record,
                             const Description& description) {
  return Comparison(statement, record, description).run();
}

std::vector<Finding> judge(const Statement& statement, const Description& description) {
  const Allowances allowed(statement);
  std::vector<Finding> found;
  if (allowed.has("not checked")) return found;
  const auto warn = [&](std::string rule, std::string message) {
    found.push_back(statement.at_call(Severity::warning, std::move(rule), std::move(message)));
  };
  if (description.star && !allowed.has("select * is fine")) {
    warn("select_star",
         "the result is *: a migration that adds a column changes it; name the columns, or say "
         "'katana: select * is fine' in a comment");
  }
  if (!allowed.has("full scan is fine")) {
    for (const std::string& table : description.scans) {
      warn("full_scan", fmt::format("every row of table '{}' may be read: add an index, or say "
                                    "'katana: full scan is fine' in a comment",
                                    table));
    }
  }
  if (!allowed.has("unused parameter is fine")) {
    for (std::size_t index = 0; index < description.parameters.size(); ++index) {
      if (description.parameters[index].used) continue;
      warn("unused_parameter",
           fmt::format("parameter ${} is not used: leave it out, and number the others anew",
                       index + 1));
    }
  }
  return found;
}

Finding refused(const Statement& statement, const Refusal& refusal) {
  std::string message = refusal.message;
  const std::string& text = statement.text();
  if (!refusal.offset || *refusal.offset > text.size()) {
    return statement.at_call(Severity::error, "refused", std::move(message));
  }
  const std::size_t line_at = text.rfind('\n', *refusal.offset == 0 ? 0 : *refusal.offset - 1);
  const std::size_t begin = line_at == text.npos || *refusal.offset == 0 ? 0 : line_at + 1;
  const std::string line = text.substr(begin, text.find('\n', begin) - begin);
  message += fmt::format("\n    {}\n    {}^", line, std::string(*refusal.offset - begin, ' '));
  return statement.at_offset(*refusal.offset, Severity::error, "refused", std::move(message));
}

std::size_t error_count(const std::vector<Finding>& findings) {
  return static_cast<std::size_t>(
      std::ranges::count(findings, Severity::error, &Finding::severity));
}

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
