#include "katana/stores/database/postgres/statement_text.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "katana/stores/database/sql.hpp"

namespace katana::database::postgres {
namespace {

constexpr std::array<std::string_view, 5> reading = {"SELECT", "VALUES", "TABLE", "SHOW",
                                                     "EXPLAIN"};
constexpr std::array<std::string_view, 4> writing = {"INSERT", "UPDATE", "DELETE", "MERGE"};
constexpr std::array<std::string_view, 18> refused = {
    "BEGIN",   "START",      "COMMIT",  "END",   "ROLLBACK", "ABORT",
    "PREPARE", "SAVEPOINT",  "RELEASE", "COPY",  "LISTEN",   "UNLISTEN",
    "DISCARD", "DEALLOCATE", "SET",     "RESET", "DECLARE",  "FETCH"};

// Words that may stand before a parenthesis in a statement that reads plainly: functions that only
// compute, and words that are no functions.
constexpr auto harmless = std::to_array<std::string_view>(
    {"ABS",       "ALL",     "AND",        "ANY",       "ARRAY_AGG",  "AS",      "AVG",
     "BETWEEN",   "BY",      "CASE",       "CAST",      "CEIL",       "CHAR",    "COALESCE",
     "CONCAT",    "COUNT",   "DECIMAL",    "DISTINCT",  "ELSE",       "EXCEPT",  "EXISTS",
     "FILTER",    "FLOOR",   "FROM",       "GREATEST",  "GROUP",      "HAVING",  "IN",
     "INTERSECT", "JOIN",    "JSON_AGG",   "JSONB_AGG", "LATERAL",    "LEAST",   "LENGTH",
     "LIKE",      "LIMIT",   "LOWER",      "MAX",       "MIN",        "MOD",     "NOT",
     "NULLIF",    "NUMERIC", "OFFSET",     "ON",        "OR",         "OVER",    "RANK",
     "ROUND",     "ROW",     "ROW_NUMBER", "SELECT",    "STRING_AGG", "SUM",     "THEN",
     "TRIM",      "UNION",   "UPPER",      "USING",     "VALUES",     "VARCHAR", "WHEN",
     "WHERE"});
constexpr std::array<std::string_view, 4> selecting = {"SELECT", "VALUES", "TABLE", "WITH"};
constexpr std::array<std::string_view, 2> locking = {"FOR", "INTO"};

bool is_word(std::string_view word, std::string_view upper) noexcept {
  return std::ranges::equal(word, upper, [](char left, char right) {
    return (left >= 'a' && left <= 'z' ? static_cast<char>(left - 'a' + 'A') : left) == right;
  });
}
template <std::size_t count>
bool is_one_of(std::string_view word, const std::array<std::string_view, count>& words) noexcept {
  return std::ranges::any_of(words, [&](std::string_view each) { return is_word(word, each); });
}

bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Words outside of strings, quoted names and comments, one after another.
class Words {
 public:
  explicit Words(Bytes text) noexcept : text_(text) {}

  // The next thing behind the last word is a parenthesis.
  bool is_before_parenthesis() const noexcept {
    std::size_t at = at_;
    while (at < text_.size() && is_blank(text_[at])) ++at;
    return at < text_.size() && text_[at] == '(';
  }
  // A quoted name, or a comment, was before a parenthesis: the name may be that of a function.
  bool calls_quoted() const noexcept { return calls_quoted_; }

  // Empty at the end.
  std::string_view next() noexcept {
    while (at_ < text_.size()) {
      if (const std::size_t behind = detail::behind_quoted(text_, at_); behind != at_) {
        at_ = behind;
        calls_quoted_ = calls_quoted_ || is_before_parenthesis();
      } else if (detail::is_letter(text_[at_])) {
        const std::size_t first = at_;
        while (at_ < text_.size() &&
               (detail::is_letter(text_[at_]) || detail::is_digit(text_[at_])))
          ++at_;
        return text_.substr(first, at_ - first);
      } else {
        ++at_;
      }
    }
    return {};
  }

 private:
  Bytes text_;
  std::size_t at_ = 0;
  bool calls_quoted_ = false;
};

}  // namespace

StatementTraits traits_of(Bytes text) noexcept {
  Words words(text);
  const std::string_view first = words.next();
  StatementTraits traits;
  traits.refused = is_one_of(first, refused);
  traits.copies = is_word(first, "COPY");
  traits.may_commit = is_word(first, "CALL") || is_word(first, "DO");
  bool writes = !is_one_of(first, reading) && !is_word(first, "WITH");
  bool returning = false;
  const bool may_hold_writes = is_word(first, "WITH") || is_word(first, "EXPLAIN");
  bool plain = is_one_of(first, selecting);
  std::string_view word = words.next();
  if (is_word(first, "SET") && (is_word(word, "LOCAL") || is_word(word, "TRANSACTION"))) {
    traits.refused = false;
    traits.needs_transaction = true;
  }
  for (; !word.empty(); word = words.next()) {
    writes = writes || (may_hold_writes && is_one_of(word, writing));
    returning = returning || is_word(word, "RETURNING");
    plain = plain && !is_one_of(word, locking) &&
            (!words.is_before_parenthesis() || is_one_of(word, harmless));
  }
  traits.reads = !writes;
  traits.reads_plainly = traits.reads && plain && !words.calls_quoted();
  traits.returning = writes && (returning || is_word(first, "WITH"));
  return traits;
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
