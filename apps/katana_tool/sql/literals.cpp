#include "katana_tool/sql/literals.hpp"

#include <algorithm>
#include <iterator>

#include "katana_tool/sql/cpp_tokens.hpp"
#include "katana_tool/sql/sql_tokens.hpp"

namespace katana::tool::sql {
namespace {

using Kind = CppToken::Kind;

bool is_call_of_ours(std::string_view name) {
  return name == "query" || name == "query_one" || name == "execute" || name == "stream";
}

class Finder {
 public:
  Finder(CppTokens tokens, const std::string& file)
      : all_(std::move(tokens)), tokens_(all_.tokens), file_(file) {}

  std::vector<Literal> run() {
    find_blocks();
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (tokens_[at].kind == Kind::string) {
        const std::size_t begin = at;
        while (at + 1 < tokens_.size() && tokens_[at + 1].kind == Kind::string) ++at;
        add_literal(begin, at);
      } else if (tokens_[at].is("(")) {
        add_constant(at);
      }
    }
    return std::move(found_);
  }

 private:
  bool is(std::size_t at, std::string_view symbol) const {
    return at < tokens_.size() && tokens_[at].is(symbol);
  }
  // The word at a place that may be outside (an index below zero wraps).
  std::string_view word(std::size_t at) const {
    return at < tokens_.size() && tokens_[at].kind == Kind::word
               ? std::string_view(tokens_[at].text)
               : std::string_view();
  }

  // `{ … }`. A namespace or a class has a name, and its declarations are known elsewhere.
  struct Block {
    std::size_t parent = 0;
    std::size_t end = 0;
    std::string name;  // with those around it
    bool local = false;
  };

  void find_blocks() {
    blocks_.push_back({.parent = 0, .end = tokens_.size(), .name = {}, .local = false});
    std::size_t block = 0;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      block_of_.push_back(block);
      if (tokens_[at].is("{")) {
        Block made = block_at(at, block);
        block = blocks_.size();
        blocks_.push_back(std::move(made));
      } else if (tokens_[at].is("}") && block != 0) {
        blocks_[block].end = at;
        block = blocks_[block].parent;
      }
    }
  }

  Block block_at(std::size_t open, std::size_t parent) const {
    Block made = blocks_[parent];
    made.parent = parent;
    made.end = tokens_.size();
    std::string name;
    bool is_named = false, is_function = false;
    std::size_t head = open;
    while (head > 0 && !is(head - 1, ";") && !is(head - 1, "{") && !is(head - 1, "}")) --head;
    for (; head < open; ++head) {
      const std::string_view each = word(head);
      is_function = is_function || is(head, "(") || is(head, "=");
      if (each == "namespace" || each == "class" || each == "struct" || each == "extern") {
        is_named = true;
        name.clear();
      } else if (is_named && is(head, ":")) {
        break;  // bases
      } else if (is_named && !each.empty() && each != "final") {
        name = is(head - 1, "::") && !name.empty() ? name + "::" + std::string(each)
                                                   : std::string(each);
      }
    }
    made.local = made.local || !is_named || is_function;
    if (!name.empty()) made.name += (made.name.empty() ? "" : "::") + name;
    return made;
  }

  void set_scope(Literal& made, std::size_t name) const {
    const Block& block = blocks_[block_of_[name]];
    made.scope = {name, block.end, block.name, block.local};
  }

  void add_literal(std::size_t first, std::size_t last) {
    Literal made;
    made.begin = tokens_[first].place;
    for (std::size_t at = first; at <= last; ++at) {
      for (const Literal::Run& run : tokens_[at].runs) {
        made.runs.push_back({made.text.size() + run.offset, run.place});
      }
      made.text += tokens_[at].text;
    }
    read_context(made, first, last);
    if (made.call != "Sql" && !is_call_of_ours(made.call) && !begins_as_sql(made.text)) return;
    if (made.text.empty()) return;
    // The statement that makes a constant begins before the brace of its initialiser.
    finish(made, made.call == "Sql" && !made.name.empty() ? made.scope.begin : first, last);
  }

  // Finds the use of the literal: an argument, or the value of a constant.
  void read_context(Literal& made, std::size_t first, std::size_t last) {
    if ((is(first - 1, "=") || is(first - 1, "{") || is(first - 1, "(")) &&
        word(first - 3) == "Sql" && !word(first - 2).empty()) {
      made.call = "Sql";
      made.name = word(first - 2);
      set_scope(made, first - 2);
      return;
    }
    if ((is(first - 1, "{") || is(first - 1, "(")) && word(first - 2) == "Sql") {
      std::size_t open = first - 3;  // behind the qualification of Sql
      while (is(open, "::") && !word(open - 1).empty()) open -= 2;
      made.constant = true;
      if (is(open, "(")) read_call(made, open, last + 1);
      if (made.call.empty()) made.call = "Sql";
      return;
    }
    if (is(first - 1, "(")) read_call(made, first - 1, last);
  }

  // `query<Bookmark>(…`: `open` is the parenthesis, `last` the end of its first argument.
  void read_call(Literal& made, std::size_t open, std::size_t last) {
    std::size_t name = open - 1;
    if (is(name, ">")) {
      int depth = 0;
      std::size_t begin = name;
      for (; begin < tokens_.size(); --begin) {
        if (tokens_[begin].is(">")) ++depth;
        if (tokens_[begin].is("<") && --depth == 0) break;
        if (tokens_[begin].is(";") || tokens_[begin].is("{")) return;
      }
      if (begin >= tokens_.size()) return;
      read_row(made, begin + 1, name);
      name = begin - 1;
    }
    made.call = word(name);
    int depth = 0;
    std::size_t begin = 0;  // start of an argument behind the statement
    for (std::size_t at = last + 1; at < tokens_.size() && depth >= 0; ++at) {
      const CppToken& token = tokens_[at];
      if (token.is("(") || token.is("{") || token.is("[")) ++depth;
      if (token.is(")") || token.is("}") || token.is("]")) --depth;
      if (depth == 0 && token.is(".") && is(at + 1, ".")) made.expanded = true;
      if (depth > 0 || (depth == 0 && !token.is(","))) continue;
      if (begin != 0) made.arguments.push_back(argument(begin, at));
      begin = at + 1;
    }
  }

  // `app::User` is User; `std::tuple<int, std::string>` a tuple of int and string.
  void read_row(Literal& made, std::size_t begin, std::size_t end) {
    std::size_t at = begin;
    for (; at < end && !tokens_[at].is("<"); ++at) {
      if (!word(at).empty()) made.row = word(at);
    }
    if (at == end || made.row != "tuple") return;
    int depth = 0;
    made.elements.emplace_back();
    for (++at; at + 1 < end; ++at) {
      if (tokens_[at].is("<")) ++depth;
      if (tokens_[at].is(">")) --depth;
      if (depth > 0) continue;
      if (tokens_[at].is(",")) made.elements.emplace_back();
      if (!word(at).empty()) made.elements.back() = word(at);
    }
  }

  std::string argument(std::size_t begin, std::size_t end) const {
    const CppToken& first = tokens_[begin];
    if (begin + 1 == end) {
      if (first.kind == Kind::string) return "text";
      if (first.kind == Kind::word)
        return first.text == "true" || first.text == "false" ? "bool" : "";
      if (first.kind != Kind::other || first.text.empty()) return "";
      if (first.text.find_first_not_of("0123456789'") == std::string::npos) return "int";
      return first.text.find_first_not_of("0123456789'.") == std::string::npos ? "double" : "";
    }
    std::size_t name = begin;  // ns::Name(…)
    while (is(name + 1, "::")) name += 2;
    if (name >= end || word(name).empty() || !is(end - 1, ")") || !is(name + 1, "(")) return "";
    int depth = 0;
    for (std::size_t at = name + 1; at + 1 < end; ++at) {
      if (tokens_[at].is("(")) ++depth;
      if (tokens_[at].is(")") && --depth == 0) return "";  // f(x) + g(y)
    }
    return std::string(word(name));
  }

  // `query<Bookmark>(all, …)`, where `all` may be the name of an Sql.
  void add_constant(std::size_t open) {
    std::size_t last = open + 1;
    if (word(last).empty()) return;
    while (is(last + 1, "::") && !word(last + 2).empty()) last += 2;
    if (!is(last + 1, ",") && !is(last + 1, ")")) return;
    Literal made;
    made.begin = tokens_[last].place;
    made.constant = true;
    read_call(made, open, last);
    if (!is_call_of_ours(made.call)) return;
    made.name = word(last);
    set_scope(made, last);
    for (std::size_t at = open + 1; at + 1 < last; at += 2) {
      made.qualifier += (made.qualifier.empty() ? "" : "::") + std::string(word(at));
    }
    finish(made, open + 1, last);
  }

  void finish(Literal& made, std::size_t first, std::size_t last) {
    made.file = file_;
    std::size_t begin = first;
    while (begin > 0 && !tokens_[begin - 1].is(";") && !tokens_[begin - 1].is("{") &&
           !tokens_[begin - 1].is("}")) {
      --begin;
    }
    std::size_t end = last;
    for (int depth = 0; end + 1 < tokens_.size() && depth >= 0 && !tokens_[end + 1].is(";");) {
      ++end;
      if (tokens_[end].is("(") || tokens_[end].is("{")) ++depth;
      if (tokens_[end].is(")") || tokens_[end].is("}")) --depth;
    }
    add_comments(made, tokens_[begin].place.line, tokens_[end].last_line);
    found_.push_back(std::move(made));
  }

  void add_comments(Literal& made, std::size_t from, std::size_t to) {
    const auto& comments = all_.comments;
    const auto beyond = std::ranges::upper_bound(comments, to, {}, &CppComment::line);
    for (auto each = std::make_reverse_iterator(beyond); each != comments.rend(); ++each) {
      const bool above = each->last_line + 1 == from && each->alone;
      if (each->last_line < from && !above) break;
      if (above) from = each->line;
      made.comments += each->text + "\n";
    }
  }

  CppTokens all_;
  const std::vector<CppToken>& tokens_;
  const std::string& file_;
  std::vector<Block> blocks_;          // the file's first
  std::vector<std::size_t> block_of_;  // by token
  std::vector<Literal> found_;
};

}  // namespace

Place Literal::place_of(std::size_t offset) const {
  const auto behind = std::ranges::upper_bound(runs, offset, {}, &Run::offset);
  if (behind == runs.begin()) return begin;
  const Run& run = *std::prev(behind);
  return {run.place.line, run.place.column + offset - run.offset};
}

std::vector<Literal> literals_in(std::string_view source, const std::string& file) {
  return Finder(tokens_of(source), file).run();
}

std::vector<std::string> includes_in(std::string_view source) { return tokens_of(source).includes; }

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
