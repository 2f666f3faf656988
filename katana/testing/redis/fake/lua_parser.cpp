// The grammar of lua_tree.hpp, by recursive descent:
//
//   block       {statement [";"]} ["return" [expressions] | "break"]
//   expression  operand {operator operand}, by precedence
//   operand     unary operand | primary {"." name | "[" expression "]" | "(" expressions ")"}
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "katana/testing/redis/fake/lua_tree.hpp"

namespace katana::testing::lua {
namespace {

enum class TokenKind : std::uint8_t { end, name, number, text, sign };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;
  int line = 1;
};

constexpr std::array reserved = {"and", "break",    "do",   "else", "elseif", "end",    "false",
                                 "for", "function", "if",   "in",   "local",  "nil",    "not",
                                 "or",  "return",   "then", "true", "while",  "repeat", "until"};

[[noreturn]] void refuse(int line, const std::string& what) {
  throw LuaProblem("ERR Error compiling script (new function): user_script:" +
                   std::to_string(line) + ": " + what);
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) noexcept : text_(text) {}

  std::vector<Token> tokens() {
    std::vector<Token> made;
    do made.push_back(next());
    while (made.back().kind != TokenKind::end);
    return made;
  }

 private:
  char at(std::size_t ahead = 0) const noexcept {
    return place_ + ahead < text_.size() ? text_[place_ + ahead] : '\0';
  }
  void skip_space() {
    while (place_ < text_.size()) {
      if (at() == '-' && at(1) == '-') {
        while (place_ < text_.size() && at() != '\n') ++place_;
      } else if (std::isspace(static_cast<unsigned char>(at())) != 0) {
        line_ += at() == '\n' ? 1 : 0;
        ++place_;
      } else {
        return;
      }
    }
  }
  Token next() {
    skip_space();
    if (place_ == text_.size()) return {TokenKind::end, "<eof>", line_};
    const char first = at();
    if (std::isalpha(static_cast<unsigned char>(first)) != 0 || first == '_') return word();
    const bool is_fraction = first == '.' && std::isdigit(static_cast<unsigned char>(at(1))) != 0;
    if (std::isdigit(static_cast<unsigned char>(first)) != 0 || is_fraction) return number();
    if (first == '"' || first == '\'') return text();
    for (const std::string_view two : {"==", "~=", "<=", ">=", ".."}) {
      if (text_.substr(place_, 2) != two) continue;
      place_ += 2;
      return {TokenKind::sign, std::string(two), line_};
    }
    if (std::string_view("+-*/%^#<>=(){}[];:,.").find(first) == std::string_view::npos) {
      refuse(line_, std::string("unexpected symbol near '") + first + "'");
    }
    ++place_;
    return {TokenKind::sign, std::string(1, first), line_};
  }
  Token word() {
    const std::size_t begin = place_;
    while (std::isalnum(static_cast<unsigned char>(at())) != 0 || at() == '_') ++place_;
    std::string name(text_.substr(begin, place_ - begin));
    const bool is_reserved = std::ranges::find(reserved, name) != reserved.end();
    return {is_reserved ? TokenKind::sign : TokenKind::name, std::move(name), line_};
  }
  Token number() {
    const std::size_t begin = place_;
    double unused = 0;
    const auto read = std::from_chars(text_.data() + begin, text_.data() + text_.size(), unused);
    place_ = static_cast<std::size_t>(read.ptr - text_.data());
    if (read.ec != std::errc()) refuse(line_, "malformed number");
    return {TokenKind::number, std::string(text_.substr(begin, place_ - begin)), line_};
  }
  Token text() {
    const char quote = at();
    std::string content;
    for (++place_; at() != quote; ++place_) {
      if (place_ >= text_.size() || at() == '\n') refuse(line_, "unfinished string");
      if (at() != '\\') {
        content += at();
        continue;
      }
      ++place_;
      content += at() == 'n' ? '\n' : at() == 'r' ? '\r' : at() == 't' ? '\t' : at();
    }
    ++place_;
    return {TokenKind::text, std::move(content), line_};
  }

  std::string_view text_;
  std::size_t place_ = 0;
  int line_ = 1;
};

// A larger number binds closer. ".." and "^" are right-associative.
int precedence(const Token& token) {
  if (token.kind != TokenKind::sign) return 0;
  const std::string& sign = token.text;
  if (sign == "or") return 1;
  if (sign == "and") return 2;
  if (sign == "<" || sign == ">" || sign == "<=" || sign == ">=" || sign == "~=" || sign == "==") {
    return 3;
  }
  if (sign == "..") return 4;
  if (sign == "+" || sign == "-") return 5;
  if (sign == "*" || sign == "/" || sign == "%") return 6;
  return sign == "^" ? 8 : 0;
}
constexpr int unary_precedence = 7;
constexpr int depth_max = 100;

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(Lexer(text).tokens()) {}

  Block script() {
    Block made = block();
    if (now().kind != TokenKind::end) unexpected();
    return made;
  }

 private:
  const Token& now() const noexcept { return tokens_[place_]; }
  Token take() { return tokens_[now().kind == TokenKind::end ? place_ : place_++]; }
  [[noreturn]] void unexpected() const {
    refuse(now().line, "unexpected symbol near '" + now().text + "'");
  }
  bool is(std::string_view sign) const noexcept {
    return now().kind == TokenKind::sign && now().text == sign;
  }
  bool accept(std::string_view sign) {
    if (!is(sign)) return false;
    ++place_;
    return true;
  }
  void expect(std::string_view sign) {
    if (!accept(sign)) {
      refuse(now().line, "'" + std::string(sign) + "' expected near '" + now().text + "'");
    }
  }
  std::string name() {
    if (now().kind != TokenKind::name) unexpected();
    return take().text;
  }
  std::vector<std::string> names() {
    std::vector<std::string> made = {name()};
    while (accept(",")) made.push_back(name());
    return made;
  }

  // ---- statements

  bool ends_block() const noexcept {
    return now().kind == TokenKind::end || is("end") || is("else") || is("elseif") || is("until");
  }
  Block block() {
    Block made;
    while (!ends_block()) {
      if (accept(";")) continue;
      const bool is_last = is("return") || is("break");
      made.push_back(statement());
      if (is_last && !ends_block()) unexpected();
    }
    return made;
  }
  Block body() {
    Block made = block();
    expect("end");
    return made;
  }
  static std::unique_ptr<Stmt> of(StmtKind kind) {
    auto made = std::make_unique<Stmt>();
    made->kind = kind;
    return made;
  }
  std::unique_ptr<Stmt> statement() {
    if (accept("local")) return local();
    if (accept("if")) return branch();
    if (accept("for")) return loop();
    if (accept("return")) {
      auto made = of(StmtKind::result);
      if (!ends_block() && !is(";")) made->values = expressions();
      (void)accept(";");
      return made;
    }
    if (accept("break")) return of(StmtKind::leave);
    if (accept("do")) {
      auto made = of(StmtKind::block);
      made->blocks.push_back(body());
      return made;
    }
    if (accept("while")) {
      auto made = of(StmtKind::while_loop);
      made->values.push_back(expression());
      expect("do");
      made->blocks.push_back(body());
      return made;
    }
    return assignment();
  }
  std::unique_ptr<Stmt> local() {
    if (accept("function")) {
      auto made = of(StmtKind::function);
      made->names.push_back(name());
      made->values.push_back(function());
      return made;
    }
    auto made = of(StmtKind::local);
    made->names = names();
    if (accept("=")) made->values = expressions();
    return made;
  }
  std::unique_ptr<Stmt> branch() {
    auto made = of(StmtKind::branch);
    do {
      made->values.push_back(expression());
      expect("then");
      made->blocks.push_back(block());
    } while (accept("elseif"));
    if (accept("else")) made->blocks.push_back(block());
    expect("end");
    return made;
  }
  std::unique_ptr<Stmt> loop() {
    auto made = of(StmtKind::each_loop);
    made->names = names();
    if (made->names.size() == 1 && accept("=")) {
      made->kind = StmtKind::count_loop;
    } else {
      expect("in");
    }
    made->values = expressions();
    expect("do");
    made->blocks.push_back(body());
    return made;
  }
  std::unique_ptr<Stmt> assignment() {
    auto made = of(StmtKind::assign);
    made->targets.push_back(suffixed());
    if (made->targets[0]->kind == ExprKind::call && !is("=") && !is(",")) {
      made->kind = StmtKind::call;
      made->values = std::move(made->targets);
      return made;
    }
    while (accept(",")) made->targets.push_back(suffixed());
    expect("=");
    for (const ExprPtr& each : made->targets) {
      if (each->kind != ExprKind::name && each->kind != ExprKind::index) unexpected();
    }
    made->values = expressions();
    return made;
  }

  // ---- expressions

  static ExprPtr of(ExprKind kind) {
    auto made = std::make_unique<Expr>();
    made->kind = kind;
    return made;
  }
  static ExprPtr text_of(std::string text) {
    auto made = of(ExprKind::text);
    made->text = std::move(text);
    return made;
  }
  std::vector<ExprPtr> expressions() {
    std::vector<ExprPtr> made;
    do made.push_back(expression());
    while (accept(","));
    return made;
  }
  ExprPtr expression(int above = 0) {
    if (++depth_ > depth_max) refuse(now().line, "chunk has too many syntax levels");
    ExprPtr left = operand();
    while (precedence(now()) > above) {
      auto made = of(ExprKind::binary);
      const int own = precedence(now());
      made->text = take().text;
      const bool is_right = made->text == ".." || made->text == "^";
      made->parts.push_back(std::move(left));
      made->parts.push_back(expression(is_right ? own - 1 : own));
      left = std::move(made);
    }
    --depth_;
    return left;
  }
  ExprPtr operand() {
    if (!is("not") && !is("-") && !is("#")) return simple();
    auto made = of(ExprKind::unary);
    made->text = take().text;
    made->parts.push_back(expression(unary_precedence));
    return made;
  }
  ExprPtr simple() {
    if (now().kind == TokenKind::text) return text_of(take().text);
    if (now().kind == TokenKind::number) {
      auto made = of(ExprKind::number);
      const std::string digits = take().text;
      std::from_chars(digits.data(), digits.data() + digits.size(), made->number);
      return made;
    }
    if (accept("nil")) return of(ExprKind::nil);
    if (is("true") || is("false")) {
      auto made = of(ExprKind::truth);
      made->number = take().text == "true" ? 1 : 0;
      return made;
    }
    if (accept("function")) return function();
    if (is("{")) return table();
    return suffixed();
  }
  ExprPtr suffixed() {
    ExprPtr made;
    if (accept("(")) {
      made = expression();
      expect(")");
    } else {
      made = of(ExprKind::name);
      made->text = name();
    }
    while (true) {
      if (accept(".")) {
        made = indexed(std::move(made), text_of(name()));
      } else if (accept("[")) {
        made = indexed(std::move(made), expression());
        expect("]");
      } else if (is("(")) {
        made = called(std::move(made));
      } else {
        return made;
      }
    }
  }
  static ExprPtr indexed(ExprPtr table, ExprPtr key) {
    auto made = of(ExprKind::index);
    made->parts.push_back(std::move(table));
    made->parts.push_back(std::move(key));
    return made;
  }
  ExprPtr called(ExprPtr function) {
    auto made = of(ExprKind::call);
    made->parts.push_back(std::move(function));
    expect("(");
    if (accept(")")) return made;
    for (ExprPtr& each : expressions()) made->parts.push_back(std::move(each));
    expect(")");
    return made;
  }
  ExprPtr function() {
    auto made = of(ExprKind::function);
    expect("(");
    if (!is(")")) made->names = names();
    expect(")");
    made->body = body();
    return made;
  }
  ExprPtr table() {
    auto made = of(ExprKind::table);
    expect("{");
    while (!accept("}")) {
      ExprPtr key = of(ExprKind::nil);
      const bool is_named = now().kind == TokenKind::name && tokens_[place_ + 1].text == "=" &&
                            tokens_[place_ + 1].kind == TokenKind::sign;
      if (is_named) {
        key = text_of(name());
        expect("=");
      } else if (accept("[")) {
        key = expression();
        expect("]");
        expect("=");
      }
      made->parts.push_back(std::move(key));
      made->parts.push_back(expression());
      if (!accept(",") && !accept(";") && !is("}")) unexpected();
    }
    return made;
  }

  std::vector<Token> tokens_;
  std::size_t place_ = 0;
  int depth_ = 0;
};

}  // namespace

Block parse_lua(std::string_view text) { return Parser(text).script(); }

}  // namespace katana::testing::lua

// SPDX-License-Identifier: Apache-2.0
