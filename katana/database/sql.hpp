// Sql: the text of a statement, known when the program is compiled.
//
//   database.query<User>("SELECT id, name FROM users WHERE id = $1", id)
//
// Owns       nothing: it refers to a literal, which lives as long as the program.
// Thread     a value.
// Allocates  never.
// Fails      text that is made at run time does not compile, and neither does a parameter that has
//            no number ($1, $2, …, each as often as wanted) or a call with more or fewer arguments
//            than the statement has parameters. So a statement cannot be put together from input.
//
// The name of the function in the compiler's message says what is wrong.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "katana/base/bytes.hpp"
#include "katana/database/value.hpp"
#ifdef KATANA_SQL_RECORDS
#include "katana/database/sql_record.hpp"
#endif

namespace katana::database {

inline void parameters_are_numbered_as_in_dollar_1_and_dollar_2() {}
inline void the_statement_has_more_or_fewer_parameters_than_the_call_has_arguments() {}
inline void a_statement_has_text() {}

namespace detail {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Just behind the string, quoted name or comment that begins at `at`; `at` when none does.
constexpr std::size_t behind_quoted(Bytes text, std::size_t at) {
  const Bytes rest = text.substr(at);
  const char first = rest[0];
  const auto behind = [&](Bytes end, std::size_t skip) {
    const std::size_t found = rest.find(end, skip);
    return found == Bytes::npos ? text.size() : at + found + end.size();
  };
  if (first == '\'' || first == '"' || first == '`') return behind(rest.substr(0, 1), 1);
  if (rest.starts_with("--")) return behind("\n", 2);
  if (rest.starts_with("/*")) return behind("*/", 2);
  return at;
}

// The highest number of a parameter; what is in strings and comments is none.
consteval std::size_t count_parameters(Bytes text) {
  std::size_t highest = 0;
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
    } else if (c == '?' || ((c == '@' || c == '$') && is_letter(next))) {
      parameters_are_numbered_as_in_dollar_1_and_dollar_2();
    } else if (c == ':' && next == ':') {
      ++at;  // a cast of PostgreSQL
    } else if (c == ':' && is_letter(next)) {
      parameters_are_numbered_as_in_dollar_1_and_dollar_2();
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

  constexpr Bytes text() const noexcept { return text_; }
  constexpr std::uint64_t hash() const noexcept { return hash_; }
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

// What SqlFor does once it knows whose statement it is.
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

// The same as the parameter of a call, whose rows are read into R.
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
