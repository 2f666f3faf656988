#include "katana_tool/sql/sql_tokens.hpp"

#include <algorithm>

namespace katana::tool::sql {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

using Kind = SqlToken::Kind;

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  SqlTokens run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f') {
        ++at_;
      } else if (text_.substr(at_, 2) == "--") {
        comment("\n");
      } else if (text_.substr(at_, 2) == "/*") {
        comment("*/");
      } else {
        token(c);
      }
    }
    return std::move(found_);
  }

 private:
  void comment(std::string_view end) {
    const std::size_t found = text_.find(end, at_ + 2);
    const std::size_t behind = found == text_.npos ? text_.size() : found + end.size();
    found_.comments += std::string(text_.substr(at_, behind - at_)) + "\n";
    at_ = behind;
  }
  void add(Kind kind, std::string text, std::size_t begin, std::size_t parameter = 0) {
    found_.tokens.push_back({kind, std::move(text), begin, parameter});
  }

  void token(char c) {
    const std::size_t begin = at_;
    if (c == '\'' || c == '"' || c == '`') {
      quoted(c);
    } else if ((c == '$' || c == '?') && at_ + 1 < text_.size() && is_digit(text_[at_ + 1])) {
      std::size_t number = 0;
      while (++at_ < text_.size() && is_digit(text_[at_])) {
        number = std::min<std::size_t>(10 * number + static_cast<std::size_t>(text_[at_] - '0'),
                                       1'000'000);
      }
      add(Kind::parameter, std::string(text_.substr(begin, at_ - begin)), begin, number);
    } else if (is_digit(c)) {
      while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.')) ++at_;
      add(Kind::number, std::string(text_.substr(begin, at_ - begin)), begin);
    } else if (is_word(c)) {
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
      add(Kind::word, in_small_letters(text_.substr(begin, at_ - begin)), begin);
    } else {
      symbol();
    }
  }

  void quoted(char quote) {
    const std::size_t begin = at_++;
    std::string text;
    while (at_ < text_.size()) {
      if (text_[at_] == quote && (++at_ == text_.size() || text_[at_] != quote)) break;
      text.push_back(text_[at_++]);
    }
    add(quote == '\'' ? Kind::string : Kind::quoted, std::move(text), begin);
  }

  void symbol() {
    static constexpr std::string_view longer[] = {"->>", "->", "::", "||", "<>",
                                                  "!=",  "<=", ">=", "=="};
    std::size_t size = 1;
    for (const std::string_view each : longer) {
      if (text_.substr(at_, each.size()) == each) size = std::max(size, each.size());
    }
    add(Kind::symbol, std::string(text_.substr(at_, size)), at_);
    at_ += size;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  SqlTokens found_;
};

}  // namespace

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return small;
}

SqlTokens sql_tokens_of(std::string_view text) { return Lexer(text).run(); }

bool begins_as_sql(std::string_view text) {
  static constexpr std::string_view words[] = {"select", "insert", "update", "delete",
                                               "with",   "values", "replace"};
  const std::size_t first = text.find_first_not_of(" \t\r\n(");
  if (first == text.npos) return false;
  if (text.substr(first, 2) == "--" || text.substr(first, 2) == "/*") {
    const SqlTokens all = sql_tokens_of(text);
    return !all.tokens.empty() && std::ranges::find(words, all.tokens[0].text) != std::end(words);
  }
  std::size_t end = first;
  while (end < text.size() && is_word(text[end]) && end - first < 8) ++end;
  const std::string word = in_small_letters(text.substr(first, end - first));
  // "with" and "values" also begin sentences. A text of several words without other signs says
  // little, but a literal without a record is left out in any case.
  return end < text.size() && std::ranges::find(words, word) != std::end(words);
}

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
