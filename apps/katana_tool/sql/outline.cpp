#include "katana_tool/sql/outline.hpp"

#include <algorithm>

namespace katana::tool::sql {
namespace {

using Kind = SqlToken::Kind;
using Range = Outline::Range;

// Words that cannot be the name of a table or a column where an alias may stand.
bool is_keyword(const SqlToken& token) {
  return token.kind == Kind::word &&
         is_one_of(token.text,
                   {"as",      "on",     "using",   "where",  "set",       "left",      "right",
                    "full",    "inner",  "cross",   "join",   "natural",   "outer",     "order",
                    "group",   "having", "limit",   "offset", "union",     "intersect", "except",
                    "values",  "select", "default", "for",    "returning", "from",      "window",
                    "indexed", "not",    "do",      "and",    "or",        "when",      "then",
                    "else",    "end",    "asc",     "desc",   "is",        "in",        "collate"});
}

bool is_comparison(const SqlToken& token) {
  return token.kind == Kind::symbol &&
         is_one_of(token.text, {"=", "==", "<>", "!=", "<", ">", "<=", ">="});
}
// True for an operator that makes a new value of its neighbours.
bool is_operator(const SqlToken& token) {
  return token.kind == Kind::symbol &&
         is_one_of(token.text, {"+", "-", "*", "/", "%", "||", "::", "->", "->>", "&", "|"});
}

}  // namespace

Outline::Outline(std::string_view text, const Catalog& catalog)
    : catalog_(catalog), tokens_(sql_tokens_of(text).tokens) {
  find_sources();
  mark_outer_joins();
  find_results();
}

std::size_t Outline::behind_group(std::size_t open) const {
  int depth = 0;
  for (std::size_t at = open; at < tokens_.size(); ++at) {
    if (is(at, "(") || is(at, "[")) ++depth;
    if ((is(at, ")") || is(at, "]")) && --depth == 0) return at + 1;
  }
  return tokens_.size();
}

std::size_t Outline::find_at_depth(std::size_t from, std::size_t to, std::string_view word) const {
  for (std::size_t at = from; at < to; ++at) {
    if (is(at, "(") || is(at, "[")) {
      at = behind_group(at) - 1;
    } else if (is(at, word)) {
      return at;
    }
  }
  return to;
}

void Outline::find_sources() {
  for (std::size_t at = 0; at < tokens_.size(); ++at) {
    if (!tokens_[at].is_name() || is(at + 1, ".") || is_keyword(tokens_[at])) continue;
    const std::string table = in_small_letters(tokens_[at].text);
    if (!catalog_.tables.contains(table)) continue;
    const std::size_t before = is(at - 1, ".") ? at - 3 : at - 1;  // may wrap: is() is false then
    const bool named = is(before, "from") || is(before, "join") || is(before, "into") ||
                       is(before, "update") || is(before, ",") || is(before, "(") ||
                       is(before, "using") || is(before, "only");
    if (!named) continue;
    std::size_t behind = at + 1;
    if (is(behind, "as")) ++behind;
    const bool has_alias =
        behind < tokens_.size() && tokens_[behind].is_name() && !is_keyword(tokens_[behind]);
    sources_.push_back({table, has_alias ? in_small_letters(tokens_[behind].text) : table, false});
  }
}

// LEFT JOIN fills what stands behind it with nulls, RIGHT JOIN what stands before it, FULL both.
void Outline::mark_outer_joins() {
  const auto mark = [&](std::size_t from, std::size_t to) {
    for (std::size_t at = from; at < to && at < tokens_.size(); ++at) {
      if (!tokens_[at].is_name()) continue;
      const std::string name = in_small_letters(tokens_[at].text);
      for (Source& source : sources_) {
        if (source.alias == name) source.outer = true;
      }
    }
  };
  for (std::size_t at = 0; at < tokens_.size(); ++at) {
    if (!is(at, "left") && !is(at, "right") && !is(at, "full")) continue;
    std::size_t join = at + 1;
    if (is(join, "outer")) ++join;
    if (!is(join, "join")) continue;
    if (!is(at, "left")) {
      std::size_t from = at;
      for (int depth = 0; from > 0 && depth >= 0; --from) {
        if (is(from - 1, ")")) ++depth;
        if (is(from - 1, "(")) --depth;
        if (depth == 0 && is(from - 1, "from")) break;
      }
      mark(from, at);
    }
    if (!is(at, "right")) {
      std::size_t end = join + 1;
      while (end < tokens_.size() && !is(end, "on") && !is(end, "using") && !is(end, "where")) {
        end = is(end, "(") ? behind_group(end) : end + 1;
      }
      mark(join + 1, end);
    }
  }
}

void Outline::find_results() {
  std::size_t verb = 0;
  while (verb < tokens_.size() && !is(verb, "select") && !is(verb, "insert") &&
         !is(verb, "update") && !is(verb, "delete") && !is(verb, "replace") &&
         !is(verb, "values")) {
    verb = is(verb, "(") && verb > 0 ? behind_group(verb) : verb + 1;
  }
  std::size_t begin = tokens_.size(), end = tokens_.size();
  if (is(verb, "select")) {
    begin = verb + 1;
    for (const std::string_view word : {"union", "intersect", "except"}) {
      compound_ = compound_ || find_at_depth(begin, end, word) != end;
    }
    grouped_ = find_at_depth(begin, end, "group") != end;
    if (is(begin, "distinct") || is(begin, "all")) ++begin;
    if (is(begin, "on")) begin = behind_group(begin + 1);  // DISTINCT ON (…)
    const std::size_t all = end;
    for (const std::string_view word :
         {"from", "where", "group", "order", "limit", "union", "intersect", "except"}) {
      end = std::min(end, find_at_depth(begin, all, word));
    }
  } else {
    begin = std::min(end, find_at_depth(verb, end, "returning") + 1);
  }
  for (std::size_t at = begin; at < end;) {
    const std::size_t comma = find_at_depth(at, end, ",");
    add_result({at, comma});
    at = comma + 1;
  }
  if (star_) results_.clear();
}

// `expression AS name`, `expression name`.
Range Outline::without_name(Range range) const {
  const std::size_t as = find_at_depth(range.begin, range.end, "as");
  if (as != range.end) return {range.begin, as};
  if (range.end - range.begin < 2) return range;
  const SqlToken& last = tokens_[range.end - 1];
  const SqlToken& before = tokens_[range.end - 2];
  const bool is_operand =
      before.is_name() ? !is_keyword(before) : before.kind != Kind::symbol || before.text == ")";
  if (last.is_name() && !is_keyword(last) && (is_operand || before.is("end")) && !last.is("null")) {
    --range.end;
  }
  return range;
}

void Outline::add_result(Range range) {
  if (range.end - range.begin >= 1 && is(range.end - 1, "*") &&
      (range.end - range.begin == 1 || is(range.end - 2, "."))) {
    star_ = true;
    return;
  }
  results_.push_back(without_name(range));
}

bool Outline::is_column(Range range) const {
  const std::size_t size = range.end - range.begin;
  if (size == 0 || size % 2 == 0 || size > 5) return false;
  for (std::size_t at = range.begin; at < range.end; ++at) {
    if ((at - range.begin) % 2 == 0 ? !tokens_[at].is_name() : !is(at, ".")) return false;
  }
  return !is(range.begin, "null") && !is(range.begin, "true") && !is(range.begin, "false") &&
         !tokens_[range.begin].text.starts_with("current_");
}

const TableColumn* Outline::column_at(Range range, bool& outer) const {
  const std::string name = in_small_letters(tokens_[range.end - 1].text);
  const std::string qualifier =
      range.end - range.begin >= 3 ? in_small_letters(tokens_[range.end - 3].text) : std::string();
  const TableColumn* found = nullptr;
  outer = false;
  for (const Source& source : sources_) {
    if (!qualifier.empty() && source.alias != qualifier && qualifier != "excluded") continue;
    const TableColumn* const here = catalog_.find(source.table, name);
    if (here == nullptr) continue;
    if (found != nullptr && (found->type != here->type || found->not_null != here->not_null)) {
      return nullptr;
    }
    found = here;
    outer = outer || source.outer;
  }
  return found;
}

SqlType Outline::type_of(Range range) const {
  const SqlToken& first = tokens_[range.begin];
  if (range.end - range.begin == 1) {
    if (first.kind == Kind::string) return {"text", Storage::text};
    if (first.kind == Kind::number) {
      const bool is_real = first.text.find_first_of(".eE") != first.text.npos;
      return is_real ? SqlType{"real", Storage::real} : SqlType{"integer", Storage::integer};
    }
  }
  if (first.kind != Kind::word || !is(range.begin + 1, "(") ||
      behind_group(range.begin + 1) != range.end) {
    return {};
  }
  if (is_one_of(first.text, {"count", "length", "instr", "exists", "random", "unixepoch",
                             "row_number", "last_insert_rowid", "changes"})) {
    return {"integer", Storage::integer};
  }
  if (is_one_of(first.text, {"lower",
                             "upper",
                             "trim",
                             "ltrim",
                             "rtrim",
                             "replace",
                             "substr",
                             "substring",
                             "hex",
                             "strftime",
                             "date",
                             "datetime",
                             "typeof",
                             "group_concat",
                             "json_object",
                             "json_array",
                             "json_group_array",
                             "json_group_object",
                             "printf",
                             "format"})) {
    return {"text", Storage::text};
  }
  if (is_one_of(first.text, {"avg", "total", "julianday"})) return {"real", Storage::real};
  return {};
}

Range Outline::name_before(std::size_t end) const {
  if (end == 0 || end > tokens_.size() || !tokens_[end - 1].is_name() ||
      is_keyword(tokens_[end - 1])) {
    return {};
  }
  Range range{end - 1, end};
  while (range.begin >= 2 && is(range.begin - 1, ".") && tokens_[range.begin - 2].is_name()) {
    range.begin -= 2;
  }
  const bool computed = range.begin > 0 && is_operator(tokens_[range.begin - 1]);
  return computed ? Range{} : range;
}

Range Outline::name_after(std::size_t begin) const {
  if (begin >= tokens_.size() || !tokens_[begin].is_name() || is_keyword(tokens_[begin])) return {};
  Range range{begin, begin + 1};
  while (is(range.end, ".") && range.end + 1 < tokens_.size()) range.end += 2;
  const bool computed =
      range.end < tokens_.size() && (is_operator(tokens_[range.end]) || is(range.end, "("));
  return computed ? Range{} : range;
}

// "=" behind SET, and not in an expression: the token to its left is a name behind SET or a comma.
bool Outline::is_assignment(std::size_t at) const {
  if (!is(at, "=")) return false;
  const Range name = name_before(at);
  if (name.end == 0 || name.begin == 0) return false;
  if (is(name.begin - 1, "set")) return true;
  if (!is(name.begin - 1, ",")) return false;
  for (std::size_t back = name.begin - 1; back > 0; --back) {
    if (is(back, "set")) return true;
    if (is(back, "where") || is(back, "select") || is(back, "from")) return false;
  }
  return false;
}

void Outline::use_compared(std::vector<ParameterUse>& uses, std::size_t at) const {
  ParameterUse& use = uses[tokens_[at].parameter - 1];
  if (at > 0 && (is(at - 1, "limit") || is(at - 1, "offset"))) {
    if (use.type.storage == Storage::any) use.type = {"integer", Storage::integer};
    return;
  }
  const bool computed = (at + 1 < tokens_.size() && is_operator(tokens_[at + 1])) ||
                        (at > 0 && is_operator(tokens_[at - 1]));
  if (computed) return;
  Range name{};
  bool assigned = false;
  if (at >= 2 && is_comparison(tokens_[at - 1])) {
    name = name_before(at - 1);
    assigned = is_assignment(at - 1);
  } else if (at + 2 < tokens_.size() && is_comparison(tokens_[at + 1])) {
    name = name_after(at + 2);
  }
  if (name.begin == name.end) return;
  bool outer = false;
  const TableColumn* const column = column_at(name, outer);
  if (column == nullptr || (use.type.storage != Storage::any && !assigned)) return;
  use.type = column->type;
  use.column = column->name;
  use.not_null = use.not_null || (assigned && column->not_null && !column->filled);
}

std::size_t Outline::use_tuple(std::vector<ParameterUse>& uses, std::size_t open,
                               const std::string& table,
                               const std::vector<std::string>& columns) const {
  const std::size_t end = behind_group(open);
  std::size_t place = 0;
  for (std::size_t at = open + 1; at < end; ++place) {
    const std::size_t comma = find_at_depth(at, end - 1, ",");
    const TableColumn* const column =
        place < columns.size() ? catalog_.find(table, columns[place]) : nullptr;
    if (column != nullptr && comma == at + 1 && tokens_[at].kind == Kind::parameter &&
        tokens_[at].parameter <= uses.size() && tokens_[at].parameter > 0) {
      ParameterUse& use = uses[tokens_[at].parameter - 1];
      use.type = column->type;
      use.column = column->name;
      use.not_null = use.not_null || (column->not_null && !column->filled);
    }
    at = comma + 1;
  }
  return end;
}

// INSERT INTO table [(column, …)] VALUES (…), …
void Outline::use_inserted(std::vector<ParameterUse>& uses) const {
  for (std::size_t into = 0; into < tokens_.size(); ++into) {
    if (!is(into, "into") || into + 1 >= tokens_.size()) continue;
    std::size_t at = into + 1;
    while (is(at + 1, ".")) at += 2;
    if (at >= tokens_.size()) return;
    const std::string table = in_small_letters(tokens_[at].text);
    const auto known = catalog_.tables.find(table);
    if (known == catalog_.tables.end()) continue;
    std::vector<std::string> columns;
    if (is(++at, "as")) at += 2;
    if (is(at, "(")) {
      const std::size_t end = behind_group(at);
      for (std::size_t each = at + 1; each + 1 < end; ++each) {
        if (tokens_[each].is_name()) columns.push_back(in_small_letters(tokens_[each].text));
      }
      at = end;
    } else {
      for (const TableColumn& each : known->second) columns.push_back(each.name);
    }
    if (!is(at, "values")) continue;
    for (++at; is(at, "(");) {
      at = use_tuple(uses, at, table, columns);
      if (is(at, ",")) ++at;
    }
  }
}

std::vector<ParameterUse> Outline::parameters(std::size_t count) const {
  std::vector<ParameterUse> uses(count);
  for (std::size_t at = 0; at < tokens_.size(); ++at) {
    const std::size_t number = tokens_[at].parameter;
    if (tokens_[at].kind != Kind::parameter || number == 0 || number > count) continue;
    uses[number - 1].used = true;
    use_compared(uses, at);
  }
  use_inserted(uses);
  return uses;
}

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
