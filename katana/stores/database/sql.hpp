// Sql: the text of a statement, known when the program is compiled.
//
//   database.query<User>("SELECT id, name FROM users WHERE id = $1", id)
//
// Owns       nothing: it refers to a literal, which lives as long as the program.
// Thread     a value.
// Allocates  never.
// Fails      text that is made at run time does not compile. Therefore a statement cannot be put
//            together from input. A parameter without a number does not compile either: write $1,
//            $2, …, each as often as wanted. The call must have as many arguments as the statement
//            has parameters.
//
// The name of the function in the compiler's message names the mistake.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "katana/base/text/bytes.hpp"
#include "katana/stores/database/value.hpp"
#ifdef KATANA_SQL_RECORDS
#include "katana/stores/database/sql_record.hpp"
#endif

namespace katana::database {

// Called only while a statement is compiled: their names are the compiler's error message.
inline void parameters_are_numbered_as_in_dollar_1_and_dollar_2() {}
inline void the_statement_has_more_or_fewer_parameters_than_the_call_has_arguments() {}
inline void a_statement_has_text() {}

namespace detail {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// True for a character that may follow the first one of an unquoted name.
constexpr bool is_in_name(char c) {
  return is_letter(c) || is_digit(c) || c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

// The place behind the string whose quote is at `at`. A backslash in it escapes the next character:
// E'it\'s'.
constexpr std::size_t behind_escaped(Bytes text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '\'') {
      if (at + 1 == text.size() || text[at + 1] != '\'') return at + 1;
      ++at;
    }
  }
  return text.size();
}

// The place behind a comment of PostgreSQL, which may be nested. If the nested ones do not end, it
// is a comment of SQLite, which has no nesting.
constexpr std::size_t behind_comment(Bytes text, std::size_t at) {
  std::size_t depth = 1;
  for (std::size_t look = at + 2; look + 1 < text.size(); ++look) {
    if (text[look] == '/' && text[look + 1] == '*') {
      ++depth, ++look;
    } else if (text[look] == '*' && text[look + 1] == '/') {
      ++look;
      if (--depth == 0) return look + 1;
    }
  }
  const std::size_t found = text.find("*/", at + 2);
  return found == Bytes::npos ? text.size() : found + 2;
}

// The place behind $$…$$ or $tag$…$tag$. Returns `at` where there is none: the $ belongs to a name
// or a parameter.
constexpr std::size_t behind_dollars(Bytes text, std::size_t at) {
  if (at > 0 && is_in_name(text[at - 1])) return at;
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != '$' && is_in_name(text[end])) ++end;
  if (end == text.size() || text[end] != '$' || is_digit(text[at + 1])) return at;
  const Bytes tag = text.substr(at, end + 1 - at);
  const std::size_t found = text.find(tag, end + 1);
  return found == Bytes::npos ? at : found + tag.size();
}

// The place behind the string, quoted name or comment that begins at `at`; `at` when none does.
constexpr std::size_t behind_quoted(Bytes text, std::size_t at) {
  const char first = text[at];
  const auto behind = [&](Bytes end, std::size_t skip) {
    const std::size_t found = text.find(end, at + skip);
    return found == Bytes::npos ? text.size() : found + end.size();
  };
  if (first == '\'' || first == '"' || first == '`') {
    const bool escapes = first == '\'' && at > 0 && (text[at - 1] == 'E' || text[at - 1] == 'e') &&
                         (at == 1 || !is_in_name(text[at - 2]));
    return escapes ? behind_escaped(text, at) : behind(text.substr(at, 1), 1);
  }
  if (first == '$') return behind_dollars(text, at);
  const Bytes two = text.substr(at, 2);
  if (two == "--") return behind("\n", 2);
  if (two == "/*") return behind_comment(text, at);
  return at;
}

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// True for a word that must be followed by an operand.
constexpr bool wants_operand(Bytes word) {
  constexpr Bytes words[] = {
      "ALL",       "AND",    "ANY",       "AS",     "BETWEEN", "BY",      "CASE",   "DISTINCT",
      "ELSE",      "ESCAPE", "EXCEPT",    "FROM",   "GLOB",    "HAVING",  "ILIKE",  "IN",
      "INTERSECT", "IS",     "LIKE",      "LIMIT",  "MATCH",   "NOT",     "OFFSET", "ON",
      "OR",        "REGEXP", "RETURNING", "SELECT", "SET",     "SIMILAR", "SOME",   "THEN",
      "TO",        "UNION",  "USING",     "VALUES", "WHEN",    "WHERE"};
  for (const Bytes each : words) {
    if (each.size() != word.size()) continue;
    bool same = true;
    for (std::size_t index = 0; same && index < word.size(); ++index) {
      const char c = word[index];
      same = each[index] == (c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
    }
    if (same) return true;
  }
  return false;
}

// The question mark at `at` stands between two operands, as the operators ?, ?| and ?& of
// PostgreSQL's jsonb do, or ends one (@?). Where an operand is wanted it would be a parameter.
constexpr bool is_operator(Bytes text, std::size_t at) {
  while (at > 0 && is_blank(text[at - 1])) --at;
  if (at == 0) return false;
  const char before = text[at - 1];
  if (before == '@' || before == ')' || before == ']' || before == '\'' || before == '"')
    return true;
  std::size_t first = at;
  while (first > 0 && is_in_name(text[first - 1])) --first;
  return first < at && !wants_operand(text.substr(first, at - first));
}

// The highest number of a parameter; strings and comments do not count.
consteval std::size_t count_parameters(Bytes text) {
  std::size_t highest = 0, brackets = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t behind = behind_quoted(text, at); behind != at) {
      at = behind;
      continue;
    }
    const char c = text[at++];
    const char next = at < text.size() ? text[at] : ' ';
    if ((c == '$' || c == '?') && is_digit(next)) {
      std::size_t number = 0;
      for (; at < text.size() && is_digit(text[at]); ++at) {
        number = 10 * number + static_cast<std::size_t>(text[at] - '0');
      }
      if (number == 0) parameters_are_numbered_as_in_dollar_1_and_dollar_2();
      highest = std::max(highest, number);
    } else if ((c == '?' && !is_operator(text, at - 1)) ||
               ((c == '@' || c == '$') && is_letter(next))) {
      parameters_are_numbered_as_in_dollar_1_and_dollar_2();
    } else if (c == ':' && next == ':') {
      ++at;  // a cast of PostgreSQL
    } else if (c == ':' && is_letter(next) && brackets == 0) {
      parameters_are_numbered_as_in_dollar_1_and_dollar_2();
    } else if (c == '[') {
      ++brackets;  // a colon in it is that of a slice
    } else if (c == ']' && brackets > 0) {
      --brackets;
    } else if (is_letter(c)) {
      while (at < text.size() && is_in_name(text[at])) ++at;  // a name may have a $ in it
    }
  }
  return highest;
}

constexpr std::uint64_t hash_of(Bytes text) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace detail

class Sql {
 public:
  template <std::size_t Size>
  consteval Sql(const char (&literal)[Size])
      : text_(literal, Size - 1),
        hash_(detail::hash_of(text_)),
        parameters_(detail::count_parameters(text_)) {
    if (text_.empty()) a_statement_has_text();
  }

  constexpr Bytes text() const noexcept { return text_; }  // without the null that ends the literal
  // Computed by the compiler; the key of prepared statements.
  constexpr std::uint64_t hash() const noexcept { return hash_; }
  // The highest N of its $N; 0: none.
  constexpr std::size_t parameters() const noexcept { return parameters_; }

 private:
  Bytes text_;
  std::uint64_t hash_;
  std::size_t parameters_;
};

namespace detail {

// The calls that take a statement; `any`: a function of the program that passes it on.
struct AnyCall {
  static constexpr Bytes name = "any";
};
struct QueryCall {
  static constexpr Bytes name = "query";
};
struct QueryOneCall {
  static constexpr Bytes name = "query_one";
};
struct ExecuteCall {
  static constexpr Bytes name = "execute";
};
struct StreamCall {
  static constexpr Bytes name = "stream";
};

// Leaves a record in the object file for `katana sql check`, if the target is checked; no code.
template <class Call, class R, std::size_t length, class... Arguments>
consteval void record_statement() {
#ifdef KATANA_SQL_RECORDS
  (void)&StatementRecord<Call, R, length, Arguments...>::katana_sql_record;
#endif
}

// The tag of the constructor of SqlFor that records no statement.
struct Unrecorded {};

}  // namespace detail

// A statement for arguments of these types.
template <class... Arguments>
class SqlFor : public Sql {
 public:
  template <std::size_t Size>
  consteval SqlFor(const char (&literal)[Size]) : SqlFor(Sql(literal), detail::Unrecorded()) {
    detail::record_statement<detail::AnyCall, void, Size - 1, Arguments...>();
  }
  consteval SqlFor(const Sql& sql) : SqlFor(sql, detail::Unrecorded()) {
    detail::record_statement<detail::AnyCall, void, 0, Arguments...>();
  }

 protected:
  consteval SqlFor(const Sql& sql, detail::Unrecorded) : Sql(sql) {
    if (parameters() != parameters_of<Arguments...>) {
      the_statement_has_more_or_fewer_parameters_than_the_call_has_arguments();
    }
  }
};

// A statement as the parameter of a call, whose rows are read into R.
template <class Call, class R, class... Arguments>
class Statement : public SqlFor<Arguments...> {
 public:
  template <std::size_t Size>
  consteval Statement(const char (&literal)[Size])
      : SqlFor<Arguments...>(Sql(literal), detail::Unrecorded()) {
    detail::record_statement<Call, R, Size - 1, Arguments...>();
  }
  consteval Statement(const Sql& sql) : SqlFor<Arguments...>(sql, detail::Unrecorded()) {
    detail::record_statement<Call, R, 0, Arguments...>();
  }
  constexpr Statement(const SqlFor<Arguments...>& sql) noexcept : SqlFor<Arguments...>(sql) {}
};

// No arguments are deduced from it.
template <class Call, class R, class... Arguments>
using StatementFor = Statement<Call, R, std::type_identity_t<Arguments>...>;

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
