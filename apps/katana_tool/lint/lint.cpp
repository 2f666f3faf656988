#include "katana_tool/lint/lint.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>

#include "katana_tool/sql/cpp_tokens.hpp"

namespace katana::tool::lint {
namespace {

using sql::CppToken;
using Kind = CppToken::Kind;

constexpr std::size_t none = static_cast<std::size_t>(-1);

// Calls whose results have nothing to destroy.
constexpr std::string_view plain_calls[] = {
    "size",     "empty",        "count",        "length",      "has_value", "status",
    "contains", "starts_with",  "ends_with",    "seconds",     "minutes",   "hours",
    "data",     "milliseconds", "microseconds", "static_cast", "move"};

// Calls that keep a function, and call it when the scope around them has ended.
constexpr std::string_view keeping_calls[] = {"any",   "delete_", "get",  "head",
                                              "job",   "patch",   "post", "put",
                                              "queue", "spawn",   "use",  "websocket"};

class Source {
 public:
  Source(std::string_view text, const std::string& file)
      : read_(sql::tokens_of(text)), tokens_(read_.tokens), file_(file) {
    match_brackets();
  }

  std::vector<Finding> lint() {
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (is_word(at, "co_await")) check_operand(at);
      if (tokens_[at].is("?")) check_conditional(at);
      if (is_word(at, "Task") && symbol(at + 1, "<")) check_parameters(at);
      if (begins_lambda(at)) check_coroutine(at);
    }
    std::erase_if(found_, [&](const Finding& each) { return is_allowed(each); });
    std::ranges::sort(found_, {}, [](const Finding& each) {
      return std::tie(each.line, each.column, each.rule);
    });
    const auto same = std::ranges::unique(found_, [](const Finding& a, const Finding& b) {
      return std::tie(a.line, a.column, a.rule) == std::tie(b.line, b.column, b.rule);
    });
    found_.erase(same.begin(), same.end());
    return std::move(found_);
  }

 private:
  bool symbol(std::size_t at, std::string_view text) const {
    return at < tokens_.size() && tokens_[at].is(text);
  }
  bool is_word(std::size_t at, std::string_view text) const {
    return at < tokens_.size() && tokens_[at].kind == Kind::word && tokens_[at].text == text;
  }
  bool opens(std::size_t at) const { return symbol(at, "(") || symbol(at, "[") || symbol(at, "{"); }
  bool closes(std::size_t at) const {
    return symbol(at, ")") || symbol(at, "]") || symbol(at, "}");
  }

  void match_brackets() {
    partner_.assign(tokens_.size(), none);
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (opens(at)) open.push_back(at);
      if (!closes(at) || open.empty()) continue;
      partner_[at] = open.back();
      partner_[open.back()] = at;
      open.pop_back();
    }
  }

  // The closing bracket of the one at `at`; the last token if none closes it.
  std::size_t end_of(std::size_t at) const {
    return partner_[at] == none ? tokens_.size() - 1 : partner_[at];
  }

  // The `>` of the template arguments that begin with the `<` at `at`; none: it is a comparison.
  std::size_t end_of_arguments(std::size_t at) const {
    std::size_t depth = 0;
    for (std::size_t each = at; each < tokens_.size(); ++each) {
      if (symbol(each, "<")) ++depth;
      if (symbol(each, ">") && --depth == 0) return each;
      if (symbol(each, "(")) each = end_of(each);
      if (symbol(each, ";") || symbol(each, "{") || symbol(each, ")")) return none;
    }
    return none;
  }

  // True if a `[` begins a lambda, not an index or an attribute.
  bool begins_lambda(std::size_t at) const {
    if (!symbol(at, "[") || symbol(at + 1, "[") || (at > 0 && symbol(at - 1, "["))) return false;
    if (at == 0) return true;
    const CppToken& before = tokens_[at - 1];
    const bool ends_value =
        before.is(")") || before.is("]") ||
        (before.kind == Kind::word && before.text != "return" && before.text != "co_return" &&
         before.text != "co_await" && before.text != "co_yield");
    return !ends_value;
  }

  // The last token of the lambda whose `[` is at `at`.
  std::size_t end_of_lambda(std::size_t at) const {
    for (std::size_t each = end_of(at) + 1; each < tokens_.size(); ++each) {
      if (symbol(each, "{")) return end_of(each);
      if (symbol(each, "(")) {
        each = end_of(each);
        continue;
      }
      if (symbol(each, ";") || symbol(each, ",") || symbol(each, ")")) return each - 1;
    }
    return tokens_.size() - 1;
  }

  // Where the expression after the `?` or `:` at `at` ends: at a token that does not belong to it.
  std::size_t end_of_branch(std::size_t at) const {
    std::size_t conditionals = 0;
    for (std::size_t each = at + 1; each < tokens_.size(); ++each) {
      if (begins_lambda(each)) {
        each = end_of_lambda(each);
      } else if (opens(each)) {
        each = end_of(each);
      } else if (closes(each) || symbol(each, ";") || symbol(each, ",")) {
        return each;
      } else if (symbol(each, "?")) {
        ++conditionals;
      } else if (symbol(each, ":") && conditionals-- == 0) {
        return each;
      }
    }
    return tokens_.size();
  }

  bool awaits(std::size_t from, std::size_t end) const {
    for (std::size_t each = from; each < end; ++each) {
      if (begins_lambda(each)) each = end_of_lambda(each);
      if (is_word(each, "co_await")) return true;
    }
    return false;
  }

  void check_conditional(std::size_t at) {
    const std::size_t middle = end_of_branch(at);
    if (!symbol(middle, ":")) return;
    if (!awaits(at + 1, end_of_branch(middle))) return;
    report(
        at, "conditional-await",
        "a conditional expression awaits, and g++ 12 destroys its temporaries twice: write an if");
  }

  // True if a branch has nothing to destroy, as far as tokens tell: a name, a number, a member.
  bool is_plain(std::size_t from, std::size_t end) const {
    bool has_number = false, has_plus = false;
    for (std::size_t each = from; each < end; ++each) {
      const CppToken& token = tokens_[each];
      if (token.kind == Kind::string || token.is("{")) return false;
      if (token.kind == Kind::other) has_number = true;
      if (token.is("+")) has_plus = true;
      if (!token.is("(")) continue;
      std::size_t name = each;
      if (name > from && symbol(name - 1, ">")) {
        while (name > from && !symbol(name, "<")) --name;
      }
      const bool grouped = each == from || (tokens_[each - 1].kind == Kind::symbol && name == each);
      if (!grouped &&
          std::ranges::find(plain_calls, tokens_[name - 1].text) == std::end(plain_calls))
        return false;
    }
    return has_number || !has_plus;
  }

  bool is_text(std::size_t from, std::size_t end) const {
    return end == from + 1 && tokens_[from].kind == Kind::string;
  }

  void check_argument(std::size_t at) {
    const std::size_t middle = end_of_branch(at), end = end_of_branch(middle);
    if (!symbol(middle, ":")) return;
    if (is_text(at + 1, middle) && is_text(middle + 1, end)) return;
    if (is_plain(at + 1, middle) && is_plain(middle + 1, end)) return;
    report(
        at, "conditional-argument",
        "a conditional expression stands in what is awaited, and g++ 12 destroys its temporaries "
        "twice: make it a variable before");
  }

  void check_captures(std::size_t at) {
    const std::size_t end = end_of(at);
    for (std::size_t each = at + 1; each < end; each = end_of_branch(each) + 1) {
      if (symbol(each, "&") || is_word(each, "this")) continue;
      report(
          at, "captured-lambda",
          "a lambda with captures stands in what is awaited, and g++ 12 destroys them twice: make "
          "it a variable before, and give that");
      return;
    }
  }

  // Checks the words between the brackets of an awaited expression. Pool::run() itself refuses
  // captures that have a destructor.
  void check_inside(std::size_t from, std::size_t end) {
    const bool refuses_captures = from >= 2 && is_word(from - 2, "run");
    for (std::size_t each = from; each < end; ++each) {
      if (begins_lambda(each)) {
        if (!refuses_captures) check_captures(each);
        each = end_of_lambda(each);
      } else if (symbol(each, "?")) {
        check_argument(each);
      }
    }
  }

  // The operand of co_await is a chain of names, members and calls.
  void check_operand(std::size_t at) {
    for (std::size_t each = at + 1; each < tokens_.size(); ++each) {
      if (begins_lambda(each)) {
        each = end_of_lambda(each);
      } else if (opens(each)) {
        check_inside(each + 1, end_of(each));
        each = end_of(each);
      } else if (symbol(each, "<")) {
        const std::size_t end = end_of_arguments(each);
        if (end == none) return;
        each = end;
      } else if (tokens_[each].kind == Kind::symbol && !symbol(each, "::") && !symbol(each, ".") &&
                 !symbol(each, "->") && !symbol(each, "*")) {
        return;
      }
    }
  }

  // The `(` of the call that has the token at `at` among its arguments; none: there is no such
  // call, or the call is awaited.
  std::size_t call_around(std::size_t at) const {
    std::size_t call = none;
    for (std::size_t each = at; each-- > 0;) {
      if (symbol(each, ";") || symbol(each, "{") || symbol(each, "}")) return call;
      if (is_word(each, "co_await")) return none;
      if (closes(each) && partner_[each] != none) each = partner_[each];
      if (symbol(each, "(") && call == none && partner_[each] > at) call = each;
    }
    return call;
  }
  bool is_awaited(std::size_t at) const {
    for (std::size_t each = at; each-- > 0;) {
      if (is_word(each, "co_await")) return true;
      if (symbol(each, ";") || symbol(each, "{") || symbol(each, "}")) return false;
    }
    return false;
  }

  // [captures](…) -> Task<…> { … }: its frame refers to the lambda, and to what that refers to.
  void check_coroutine(std::size_t at) {
    const std::size_t captures_end = end_of(at), end = end_of_lambda(at);
    if (captures_end == at + 1) return;
    std::size_t each = captures_end + 1;
    if (symbol(each, "(")) each = end_of(each) + 1;
    while (each < end && !symbol(each, "->") && !symbol(each, "{")) ++each;
    bool is_coroutine = false;
    if (symbol(each, "->")) {
      for (; each < end && !symbol(each, "{"); ++each) is_coroutine |= is_word(each, "Task");
    }
    if (!is_coroutine) return;
    const std::size_t call = call_around(at);
    if (symbol(end + 1, "(")) {
      const bool is_run = call != none && call > 0 && is_word(call - 1, "run");  // it waits
      if (is_run || is_awaited(at)) return;
      report(at, "temporary-lambda",
             "a coroutine refers to the captures of its lambda, which is gone behind this "
             "statement: give them as parameters");
      return;
    }
    const bool takes_all = symbol(at + 1, "&") && (symbol(at + 2, "]") || symbol(at + 2, ","));
    if (!takes_all || call == none || call == 0) return;
    const std::string& name = tokens_[call - 1].text;
    if (std::ranges::find(keeping_calls, name) == std::end(keeping_calls)) return;
    report(at, "kept-reference",
           "this coroutine captures all by reference, and runs when the scope around it has ended: "
           "name the captures, and capture only what lives longer");
  }

  // Task<…> name(…, T x = {}, …): a function that is awaited.
  void check_parameters(std::size_t at) {
    std::size_t each = end_of_arguments(at + 1);
    if (each == none || each + 1 >= tokens_.size() || tokens_[each + 1].kind != Kind::word) return;
    for (++each; each < tokens_.size() && !symbol(each, "("); ++each) {
      if (tokens_[each].kind != Kind::word && !symbol(each, "::")) return;
    }
    if (each == tokens_.size()) return;
    const std::size_t end = end_of(each);
    for (++each; each + 2 < end + 1; ++each) {
      if (symbol(each, "=") && symbol(each + 1, "{") && symbol(each + 2, "}")) {
        report(each, "default-braces",
               "braces are the default argument of what is awaited, and g++ 12 destroys what they "
               "make twice: write T()");
      }
    }
  }

  void report(std::size_t at, std::string rule, std::string message) {
    const sql::Place& place = tokens_[at].place;
    found_.push_back({.file = file_,
                      .line = place.line,
                      .column = place.column,
                      .rule = std::move(rule),
                      .message = std::move(message)});
  }

  bool is_allowed(const Finding& finding) const {
    return std::ranges::any_of(read_.comments, [&](const sql::CppComment& comment) {
      const bool is_near =
          comment.line == finding.line || (comment.alone && comment.last_line + 1 == finding.line);
      const std::size_t words = comment.text.find("katana-lint: allow ");
      return is_near && words != std::string::npos &&
             comment.text.find(finding.rule, words) != std::string::npos;
    });
  }

  sql::CppTokens read_;
  std::span<const CppToken> tokens_;
  std::string file_;
  std::vector<std::size_t> partner_;  // the matching bracket of each
  std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> lint_source(std::string_view source, const std::string& file) {
  return Source(source, file).lint();
}

}  // namespace katana::tool::lint

// SPDX-License-Identifier: Apache-2.0
