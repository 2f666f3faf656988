#include "katana_tool/sql/cpp_tokens.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace katana::tool::sql {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_of(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void add_utf8(std::string& text, std::uint32_t point) {
  const auto add = [&](std::uint32_t octet) { text.push_back(static_cast<char>(octet)); };
  if (point < 0x80) return add(point);
  if (point < 0x800) {
    add(0xc0 | point >> 6);
  } else if (point < 0x10000) {
    add(0xe0 | point >> 12);
    add(0x80 | (point >> 6 & 0x3f));
  } else {
    add(0xf0 | (point >> 18 & 7));
    add(0x80 | (point >> 12 & 0x3f));
    add(0x80 | (point >> 6 & 0x3f));
  }
  add(0x80 | (point & 0x3f));
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  CppTokens run() {
    while (at_ < source_.size()) {
      const char c = peek();
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        next();
      } else if (c == '/' && (peek(1) == '/' || peek(1) == '*')) {
        comment();
      } else if (c == '#' && line_is_empty_) {
        directive();
      } else {
        token(c);
        line_is_empty_ = false;
      }
    }
    return std::move(found_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  char next() {
    const char c = source_[at_++];
    ++place_.column;
    if (c == '\n') {
      place_ = {place_.line + 1, 1};
      line_is_empty_ = true;
    }
    return c;
  }
  bool more() const { return at_ < source_.size(); }

  void comment() {
    CppComment made{place_.line, place_.line, line_is_empty_, {}};
    const bool is_line = peek(1) == '/';
    next();
    next();
    while (more()) {
      if (is_line && peek() == '\n') break;
      if (!is_line && peek() == '*' && peek(1) == '/') {
        next();
        next();
        break;
      }
      made.text.push_back(next());
    }
    made.last_line = place_.line;
    found_.comments.push_back(std::move(made));
  }

  // `#define NAME "…" "…"`: its strings stand where the name does. Stops before the rest of another
  // directive.
  void definition() {
    const auto skip_blanks = [&] {
      while (peek() == ' ' || peek() == '\t') next();
    };
    std::size_t behind = source_.find_first_not_of(" \t", at_ + 1);
    if (behind == source_.npos || source_.substr(behind, 7) != "define ") return;
    while (at_ < behind + 7) next();
    skip_blanks();
    std::string name;
    while (more() && is_word(peek())) name.push_back(next());
    if (peek() != ' ' && peek() != '\t' && peek() != '\\') return;
    std::vector<CppToken> before = std::exchange(found_.tokens, {});
    while (more() && peek() != '\n') {
      const char c = peek();
      if (c == '/' && (peek(1) == '/' || peek(1) == '*')) {
        comment();
      } else if (c == ' ' || c == '\t' || c == '\r') {
        next();
      } else if (c == '\\') {
        next();  // the line goes on
        if (peek() == '\r') next();
        if (peek() == '\n') next();
      } else {
        token(c);
      }
    }
    std::vector<CppToken> made = std::exchange(found_.tokens, std::move(before));
    const auto is_string = [](const CppToken& each) { return each.kind == CppToken::Kind::string; };
    if (!made.empty() && std::ranges::all_of(made, is_string)) macros_[name] = std::move(made);
  }

  // To the end of its line, or of the lines that "\" continues it by.
  void directive() {
    definition();
    std::string text;
    while (more() && peek() != '\n') {
      if (peek() == '/' && (peek(1) == '/' || peek(1) == '*')) {
        comment();
        continue;
      }
      if (peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
        while (peek() != '\n') next();
        next();
        continue;
      }
      text.push_back(next());
    }
    const std::size_t open = text.find('"');
    const std::size_t word = text.find("include");
    if (open == text.npos || word == text.npos || word > open) return;
    if (text.find_first_not_of("# \t") != word || text.find('<') < open) return;
    const std::size_t close = text.find('"', open + 1);
    if (close != text.npos) found_.includes.push_back(text.substr(open + 1, close - open - 1));
  }

  void token(char c) {
    CppToken made;
    made.place = place_;
    if (c == '"') {
      string(made);
    } else if (c == '\'') {
      character();
    } else if (is_digit(c)) {
      while (more() && (is_word(peek()) || peek() == '.' || (peek() == '\'' && is_word(peek(1))))) {
        made.text.push_back(next());
      }
    } else if (is_word(c)) {
      word(made);
    } else {
      made.kind = CppToken::Kind::symbol;
      made.text = next();
      if ((c == ':' && peek() == ':') || (c == '-' && peek() == '>')) made.text += next();
    }
    made.last_line = place_.line;
    const auto macro = made.kind == CppToken::Kind::word ? macros_.find(made.text) : macros_.end();
    if (macro == macros_.end()) return found_.tokens.push_back(std::move(made));
    for (CppToken each : macro->second) {
      each.place = made.place;
      each.last_line = made.last_line;
      found_.tokens.push_back(std::move(each));
    }
  }

  void character() {
    next();
    while (more() && peek() != '\'' && peek() != '\n') {
      if (next() == '\\' && more()) next();
    }
    if (peek() == '\'') next();
  }

  // A word, or the prefix of a literal.
  void word(CppToken& made) {
    std::string text;
    while (more() && is_word(peek())) text.push_back(next());
    static constexpr std::string_view prefixes[] = {"R", "u8R", "LR", "uR", "UR"};
    if (peek() == '"' && std::ranges::find(prefixes, text) != std::end(prefixes)) {
      raw(made);
      if (text != "R") made.kind = CppToken::Kind::other;
    } else if (peek() == '"' && (text == "u8" || text == "L" || text == "u" || text == "U")) {
      string(made);
      made.kind = CppToken::Kind::other;
    } else {
      made.kind = CppToken::Kind::word;
      made.text = std::move(text);
    }
  }

  void raw(CppToken& made) {
    made.kind = CppToken::Kind::string;
    next();
    std::string end = ")";
    while (more() && peek() != '(' && end.size() < 18) end.push_back(next());
    end.push_back('"');
    if (more()) next();
    made.runs.push_back({0, place_});
    while (more() && source_.substr(at_, end.size()) != end) {
      const bool ends_line = peek() == '\n';
      made.text.push_back(next());
      if (ends_line) made.runs.push_back({made.text.size(), place_});
    }
    for (std::size_t left = end.size(); left > 0 && more(); --left) next();
  }

  void string(CppToken& made) {
    made.kind = CppToken::Kind::string;
    next();
    made.runs.push_back({0, place_});
    while (more() && peek() != '"' && peek() != '\n') {
      if (peek() == '\\') {
        escape(made.text);
        made.runs.push_back({made.text.size(), place_});
      } else {
        made.text.push_back(next());
      }
    }
    if (peek() == '"') next();
  }

  void escape(std::string& text) {
    next();
    if (!more()) return;
    const char c = next();
    static constexpr std::string_view names = "abfnrtv", values = "\a\b\f\n\r\t\v";
    if (const std::size_t at = names.find(c); at != names.npos) {
      text.push_back(values[at]);
    } else if (c >= '0' && c <= '7') {
      int value = c - '0';
      for (int digits = 1; digits < 3 && peek() >= '0' && peek() <= '7'; ++digits) {
        value = 8 * value + (next() - '0');
      }
      text.push_back(static_cast<char>(value));
    } else if (c == 'x') {
      text.push_back(static_cast<char>(hexadecimal(16)));
    } else if (c == 'u' || c == 'U') {
      add_utf8(text, hexadecimal(c == 'u' ? 4 : 8));
    } else if (c != '\n') {  // a backslash and a line end continue the line
      text.push_back(c);
    }
  }
  std::uint32_t hexadecimal(int digits_max) {
    std::uint32_t value = 0;
    for (; digits_max > 0 && hex_of(peek()) >= 0; --digits_max) {
      value = 16 * value + static_cast<std::uint32_t>(hex_of(next()));
    }
    return value;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  Place place_{1, 1};
  bool line_is_empty_ = true;
  std::map<std::string, std::vector<CppToken>, std::less<>> macros_;  // strings by their names
  CppTokens found_;
};

}  // namespace

CppTokens tokens_of(std::string_view source) { return Lexer(source).run(); }

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
