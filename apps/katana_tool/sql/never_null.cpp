// Finds expressions that cannot be null: a walk over the tokens of an expression. Each operand has
// to be proved. An operator that may make null of operands that are not null ends the proof.
#include <algorithm>
#include <initializer_list>

#include "katana_tool/sql/outline.hpp"

namespace katana::tool::sql {
namespace {

using Kind = SqlToken::Kind;
using Range = Outline::Range;

// Give null only for a null argument.
bool keeps_null_out(std::string_view function, Language language) {
  if (is_one_of(function, {"length",         "lower",    "upper",      "abs",
                           "round",          "trim",     "ltrim",      "rtrim",
                           "replace",        "substr",   "substring",  "hex",
                           "instr",          "now",      "random",     "char_length",
                           "strpos",         "position", "date_trunc", "character_length",
                           "octet_length",   "ceil",     "floor",      "greatest",
                           "least",          "ceiling",  "unicode",    "md5",
                           "gen_random_uuid"})) {
    return true;
  }
  return language == Language::sqlite
             ? is_one_of(function, {"json"})
             : is_one_of(function, {"json_object", "to_json", "to_jsonb", "initcap", "reverse",
                                    "lpad", "rpad", "clock_timestamp"});
}

// Whatever their arguments are, also of no rows.
bool is_never_null(std::string_view function, Language language) {
  if (is_one_of(function, {"count", "exists", "row_number", "rank", "dense_rank", "percent_rank",
                           "cume_dist", "concat"})) {
    return true;
  }
  return language == Language::sqlite
             ? is_one_of(function,
                         {"total", "last_insert_rowid", "changes", "quote", "typeof", "json_object",
                          "json_array", "json_quote", "json_group_array", "json_group_object",
                          "jsonb_object", "jsonb_array", "jsonb_group_array", "jsonb_group_object"})
             : is_one_of(function, {"json_build_object", "json_build_array", "jsonb_build_object",
                                    "jsonb_build_array"});
}

// Null of no rows only, as null values are elements.
bool is_collecting(std::string_view function) {
  return is_one_of(function,
                   {"json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg", "array_agg"});
}
// Null of no rows, and of nulls only.
bool is_aggregate(std::string_view function) {
  return is_one_of(function, {"sum", "max", "min", "avg", "group_concat", "string_agg", "bool_and",
                              "bool_or", "every"});
}
bool is_never_null_aggregate(std::string_view function) {
  return is_one_of(function, {"count", "total", "json_group_array", "json_group_object",
                              "jsonb_group_array", "jsonb_group_object"});
}

// Words between the operands of an expression.
bool joins_operands(std::string_view word) {
  return is_one_of(
      word, {"and", "or", "not", "between", "in", "like", "ilike", "glob", "is", "distinct"});
}

class NullProof {
 public:
  explicit NullProof(const Outline& outline) : outline_(outline), tokens_(outline.tokens()) {}

  // The facts at the place of an expression.
  struct Scope {
    bool has_row = true;  // false: an aggregate may have no rows, and its columns are then null
    bool grouped = false;
    int depth = 0;
  };

  bool never_null(Range range, Scope scope) const {
    static constexpr int depth_max = 64;
    if (range.begin >= range.end || ++scope.depth > depth_max) return false;
    if (is_null_test(range)) return true;
    for (std::size_t at = range.begin; at < range.end;) {
      const std::size_t next = behind_proved(at, range.end, scope);
      if (next == unproved) return false;
      at = next;
    }
    return true;
  }

  // An aggregate of the query that `from` are the tables of. Two arguments make max(a, b) another
  // function, and OVER gives a value for each row.
  bool has_aggregate(Range range, Range from) const {
    for (std::size_t at = range.begin; at < range.end; ++at) {
      if (outline_.is(at, "(") && outline_.is(at + 1, "select")) {
        at = outline_.behind_group(at) - 1;
        continue;
      }
      if (tokens_[at].kind != Kind::word || !outline_.is(at + 1, "(")) continue;
      const std::string& name = tokens_[at].text;
      if (!is_aggregate(name) && !is_collecting(name) && !is_never_null_aggregate(name)) continue;
      const std::size_t behind = outline_.behind_group(at + 1);
      const Range arguments = arguments_of(at);
      const bool is_scalar =
          is_one_of(name, {"max", "min"}) &&
          outline_.find_at_depth(arguments.begin, arguments.end, ",") != arguments.end;
      if (!is_scalar && !outline_.is(behind_filter(behind), "over") && is_of(arguments, from)) {
        return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t unproved = 0;  // no token is behind another and has this place

  Range arguments_of(std::size_t call) const {
    const std::size_t behind = outline_.behind_group(call + 1);
    return {call + 2, std::max(call + 2, outline_.is(behind - 1, ")") ? behind - 1 : behind)};
  }
  std::size_t behind_filter(std::size_t at) const {
    return outline_.is(at, "filter") && outline_.is(at + 1, "(") ? outline_.behind_group(at + 1)
                                                                 : at;
  }
  std::size_t behind_window(std::size_t at) const {
    at = behind_filter(at);
    if (!outline_.is(at, "over")) return at;
    return outline_.is(at + 1, "(") ? outline_.behind_group(at + 1) : at + 2;
  }

  // `x IS NULL`, `x IS NOT NULL` as a whole.
  bool is_null_test(Range range) const {
    if (!outline_.is(range.end - 1, "null")) return false;
    const std::size_t is = outline_.is(range.end - 2, "not") ? range.end - 3 : range.end - 2;
    return is > range.begin && is < range.end && outline_.is(is, "is") &&
           outline_.find_at_depth(range.begin, range.end, "and") == range.end &&
           outline_.find_at_depth(range.begin, range.end, "or") == range.end;
  }

  // The place behind what stands at `at` and is never null.
  std::size_t behind_proved(std::size_t at, std::size_t end, Scope scope) const {
    const SqlToken& token = tokens_[at];
    switch (token.kind) {
      case Kind::string:
      case Kind::number: return at + 1;
      case Kind::parameter: return unproved;
      case Kind::symbol: return behind_symbol(at, scope);
      case Kind::quoted: return behind_column(at, end, scope);
      case Kind::word: break;
    }
    if (joins_operands(token.text)) return at + 1;
    if (outline_.is(at + 1, "(")) return behind_call(at, scope);
    return behind_word(at, end, scope);
  }

  std::size_t behind_symbol(std::size_t at, Scope scope) const {
    const std::string& text = tokens_[at].text;
    if (text == "(" && outline_.is(at + 1, "select")) {
      const std::size_t behind = outline_.behind_group(at);
      return is_row_never_null({at + 1, arguments_of(at - 1).end}, scope) ? behind : unproved;
    }
    if (is_one_of(text, {"/", "%", "->", "->>", "[", "]", "#", "@", "?", ":", "$"})) {
      return unproved;
    }
    return text == "::" ? at + 2 : at + 1;  // the name of a type
  }

  std::size_t behind_call(std::size_t at, Scope scope) const {
    const std::string& name = tokens_[at].text;
    const std::size_t behind = outline_.behind_group(at + 1);
    Range arguments = arguments_of(at);
    if (is_never_null(name, outline_.language())) {
      return outline_.is(arguments.begin, "variadic") ? unproved : behind_window(behind);
    }
    if (name == "array" && outline_.is(arguments.begin, "select")) return behind;
    if (name == "coalesce" || name == "ifnull") {
      return has_proved_argument(arguments, scope) ? behind : unproved;
    }
    if (name == "cast") {
      const std::size_t as = outline_.find_at_depth(arguments.begin, arguments.end, "as");
      return never_null({arguments.begin, as}, scope) ? behind : unproved;
    }
    if (is_now(name, arguments)) return behind;
    const bool modified = outline_.is(behind, "filter") || outline_.is(behind, "over");
    if (is_collecting(name)) return scope.grouped && !modified ? behind : unproved;
    if (is_aggregate(name) && !modified && scope.grouped) {
      arguments.end = outline_.find_at_depth(arguments.begin, arguments.end, "order");
    } else if (!keeps_null_out(name, outline_.language())) {
      return unproved;
    }
    const bool none = arguments.begin == arguments.end;
    return none || never_null(arguments, scope) ? behind : unproved;
  }

  bool has_proved_argument(Range arguments, Scope scope) const {
    for (std::size_t at = arguments.begin; at < arguments.end;) {
      const std::size_t comma = outline_.find_at_depth(at, arguments.end, ",");
      if (never_null({at, comma}, scope)) return true;
      at = comma + 1;
    }
    return false;
  }

  // datetime('now'), strftime('%s', 'now', 'utc'): of another text they may be null.
  bool is_now(std::string_view name, Range arguments) const {
    if (!is_one_of(name, {"date", "time", "datetime", "unixepoch", "julianday", "strftime"})) {
      return false;
    }
    if (outline_.language() != Language::sqlite) return false;
    std::size_t at = arguments.begin;
    if (name == "strftime") {
      if (at == arguments.end || tokens_[at].kind != Kind::string) return false;
      ++at;
    }
    for (; at < arguments.end; ++at) {
      const bool known =
          tokens_[at].kind == Kind::string &&
          is_one_of(tokens_[at].text, {"now", "utc", "localtime", "subsec", "subsecond"});
      if (!known && !outline_.is(at, ",")) return false;
    }
    return true;
  }

  std::size_t behind_word(std::size_t at, std::size_t end, Scope scope) const {
    const std::string& text = tokens_[at].text;
    if (text == "case") return behind_case(at, end, scope);
    if (text == "collate" || text == "as") return at + 2;
    if (is_one_of(text, {"true", "false", "current_timestamp", "current_date", "current_time"})) {
      return at + 1;
    }
    if (text == "at" && outline_.is(at + 1, "time") && outline_.is(at + 2, "zone")) return at + 3;
    const bool before_text = at + 1 < end && tokens_[at + 1].kind == Kind::string;
    if (before_text && is_one_of(text, {"interval", "date", "time", "timestamp", "timestamptz",
                                        "json", "jsonb", "uuid"})) {
      return at + 2;
    }
    if (text == "array" && outline_.is(at + 1, "[")) return outline_.behind_group(at + 1);
    if (text == "null" || text == "select") return unproved;
    return behind_column(at, end, scope);
  }

  // The value of a CASE is that of a THEN or of its ELSE: conditions may be null.
  std::size_t behind_case(std::size_t at, std::size_t end, Scope scope) const {
    int depth = 1;
    std::size_t branch = 0;  // where the value of a branch begins
    bool has_else = false;
    for (++at; at < end; ++at) {
      if (outline_.is(at, "(")) {
        at = outline_.behind_group(at) - 1;
        continue;
      }
      if (outline_.is(at, "case")) ++depth;
      const bool is_end = outline_.is(at, "end") && --depth == 0;
      if (!is_end && depth != 1) continue;
      if (branch != 0 && (is_end || outline_.is(at, "when") || outline_.is(at, "else"))) {
        if (!never_null({branch, at}, scope)) return unproved;
        branch = 0;
      }
      if (is_end) return has_else ? at + 1 : unproved;
      has_else = has_else || outline_.is(at, "else");
      if (outline_.is(at, "then") || outline_.is(at, "else")) branch = at + 1;
    }
    return unproved;
  }

  std::size_t behind_column(std::size_t at, std::size_t end, Scope scope) const {
    Range column{at, at + 1};
    while (outline_.is(column.end, ".") && column.end + 1 < end) column.end += 2;
    const std::size_t test = outline_.is(column.end, "is") ? column.end + 1 : end;
    const std::size_t null = outline_.is(test, "not") ? test + 1 : test;
    if (null < end && outline_.is(null, "null")) return null + 1;
    bool outer = false;
    const TableColumn* const found = scope.has_row ? outline_.column_at(column, outer) : nullptr;
    return found != nullptr && found->not_null && !outer ? column.end : unproved;
  }

  // A subquery has one row, whatever is in its tables, if it has no table or is an aggregate.
  bool is_row_never_null(Range range, Scope scope) const {
    for (const std::string_view word :
         {"group", "having", "limit", "offset", "fetch", "union", "intersect", "except"}) {
      if (outline_.find_at_depth(range.begin, range.end, word) != range.end) return false;
    }
    std::size_t begin = range.begin + 1;
    if (outline_.is(begin, "distinct") || outline_.is(begin, "all")) ++begin;
    if (outline_.is(begin, "on")) return false;
    const std::size_t from = outline_.find_at_depth(begin, range.end, "from");
    const std::size_t where = outline_.find_at_depth(begin, range.end, "where");
    const std::size_t order = outline_.find_at_depth(begin, range.end, "order");
    const Range result = outline_.without_name({begin, std::min({from, where, order})});
    scope.grouped = false;
    if (from == range.end && where == range.end) return never_null(result, scope);
    scope.has_row = false;
    return has_aggregate(result, {from, range.end}) && never_null(result, scope);
  }

  // `SELECT x FROM`, `, x FROM`: a column of a subquery.
  bool is_selected(std::size_t at) const {
    const auto follows = [&](std::initializer_list<std::string_view> words, std::size_t place) {
      return std::ranges::any_of(words, [&](auto word) { return outline_.is(place, word); });
    };
    return follows({"select", "distinct", "all", ",", "as", "."}, at - 1) &&
           follows({"from", ","}, at + 1);
  }

  // An aggregate whose columns are all those of an outer query is that query's.
  bool is_of(Range arguments, Range from) const {
    bool has_name = false;
    for (std::size_t at = arguments.begin; at < arguments.end; ++at) {
      const SqlToken& token = tokens_[at];
      const bool is_operand =
          token.kind == Kind::quoted ||
          (token.kind == Kind::word && !outline_.is(at + 1, "(") && !joins_operands(token.text));
      if (!is_operand || outline_.is(at - 1, ".")) continue;
      has_name = true;
      const bool qualified = outline_.is(at + 1, ".");
      bool outer = false;
      const bool is_known = outline_.column_at({at, at + 1}, outer) != nullptr;
      if (!qualified && !is_known) return true;
      const std::string name = in_small_letters(token.text);
      for (std::size_t each = from.begin; each < from.end; ++each) {
        if (!tokens_[each].is_name()) continue;
        const std::string table = in_small_letters(tokens_[each].text);
        if (qualified ? table == name
                      : outline_.catalog().find(table, name) != nullptr ||
                            (table == name && is_selected(each))) {
          return true;
        }
      }
    }
    return !has_name;
  }

  const Outline& outline_;
  const std::vector<SqlToken>& tokens_;
};

}  // namespace

bool Outline::never_null(Range range) const {
  return NullProof(*this).never_null(range, {.has_row = !aggregates_all(), .grouped = grouped_});
}

bool Outline::aggregates_all() const {
  const NullProof proof(*this);
  return !grouped_ && std::ranges::any_of(results_, [&](Range each) {
    return proof.has_aggregate(each, {0, tokens_.size()});
  });
}

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
