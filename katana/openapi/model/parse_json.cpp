#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "katana/base/text/utf8.hpp"
#include "katana/openapi/model/parse.hpp"

namespace katana::openapi::model {
namespace {

// Leaves the first of each name, and reports the others.
void drop_repeated(Node& object, std::vector<ParseProblem>& problems) {
  std::vector<std::size_t> order(object.keys.size());
  for (std::size_t index = 0; index < order.size(); ++index) order[index] = index;
  const auto name = [&](std::size_t index) -> const std::string& {
    return object.keys[index].name;
  };
  std::ranges::sort(order, {}, [&](std::size_t index) {
    return std::pair<Bytes, std::size_t>(name(index), index);
  });
  std::vector<std::size_t> repeated;
  for (std::size_t index = 1; index < order.size(); ++index) {
    if (name(order[index]) == name(order[index - 1])) repeated.push_back(order[index]);
  }
  std::ranges::sort(repeated, std::greater());
  for (const std::size_t index : repeated) {
    problems.push_back({object.keys[index].position, repeated_words(name(index))});
    object.keys.erase(object.keys.begin() + static_cast<std::ptrdiff_t>(index));
    object.items.erase(object.items.begin() + static_cast<std::ptrdiff_t>(index));
  }
}

class JsonParser {
 public:
  JsonParser(Bytes text, std::size_t depth_max, std::size_t nodes_max)
      : text_(text), depth_max_(depth_max), nodes_max_(nodes_max) {}

  Parsed run() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = line_begin_ = 3;
    if (value(result_.root)) {
      skip_space();
      if (at_ != text_.size()) wrong("text behind the end of the value. Remove it");
    }
    return std::move(result_);
  }

 private:
  Position position(std::size_t at) const noexcept {
    return {line_, static_cast<std::uint32_t>(at - line_begin_ + 1)};
  }
  bool wrong(std::string words) {
    result_.problems.push_back({position(at_), std::move(words)});
    return false;
  }
  void skip_space() noexcept {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        line_begin_ = at_ + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }
  bool take(char c) noexcept {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool value(Node& to) {
    skip_space();
    if (++result_.nodes > nodes_max_) {
      return wrong(fmt::format("more than {} values. Split the description", nodes_max_));
    }
    to.position = position(at_);
    if (at_ == text_.size()) return wrong("the text ends where a value was expected");
    const char c = text_[at_];
    if (c == '{' || c == '[') {
      if (depth_ == depth_max_) {
        return wrong(fmt::format("more than {} levels of lists and objects", depth_max_));
      }
      ++at_;
      ++depth_;
      const bool read = c == '{' ? object(to) : list(to);
      --depth_;
      return read;
    }
    if (c == '"') {
      to.kind = Node::Kind::text;
      return string(to.text);
    }
    return word(to);
  }

  bool word(Node& to) {
    std::size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 ||
                                  text_[end] == '-' || text_[end] == '+' || text_[end] == '.')) {
      ++end;
    }
    const Bytes token = text_.substr(at_, end - at_);
    if (token == "true" || token == "false") {
      to.kind = Node::Kind::boolean;
    } else if (token == "null") {
      to.kind = Node::Kind::null;
    } else if (is_number(token)) {
      to.kind = Node::Kind::number;
    } else {
      return wrong(token.empty() ? fmt::format("expected a value, got '{}'", text_[at_])
                                 : fmt::format("expected a value, got '{}'", token.substr(0, 40)));
    }
    to.text = token;
    at_ = end;
    return true;
  }

  static bool is_number(Bytes token) noexcept {
    const auto digits = [&token] {
      const std::size_t count = std::min(token.find_first_not_of("0123456789"), token.size());
      token.remove_prefix(count);
      return count;
    };
    if (token.starts_with('-')) token.remove_prefix(1);
    const bool zero = token.starts_with('0');
    const std::size_t whole = digits();
    if (whole == 0 || (zero && whole > 1)) return false;
    if (token.starts_with('.')) {
      token.remove_prefix(1);
      if (digits() == 0) return false;
    }
    if (token.starts_with('e') || token.starts_with('E')) {
      token.remove_prefix(1);
      if (token.starts_with('-') || token.starts_with('+')) token.remove_prefix(1);
      if (digits() == 0) return false;
    }
    return token.empty();
  }

  bool list(Node& to) {
    to.kind = Node::Kind::list;
    if (take(']')) return true;
    do {
      if (!value(to.items.emplace_back())) return false;
    } while (take(','));
    return take(']') || wrong("expected ',' or ']' in the list");
  }

  bool object(Node& to) {
    to.kind = Node::Kind::object;
    if (take('}')) return true;
    do {
      skip_space();
      Node::Key key{.name = {}, .position = position(at_)};
      if (at_ == text_.size() || text_[at_] != '"') return wrong("expected a name in quotes");
      if (!string(key.name)) return false;
      if (!take(':')) return wrong("expected ':' behind the name");
      to.keys.push_back(std::move(key));
      if (!value(to.items.emplace_back())) return false;
    } while (take(','));
    if (!take('}')) return wrong("expected ',' or '}' in the object");
    drop_repeated(to, result_.problems);
    return true;
  }

  bool string(std::string& to) {
    ++at_;  // the quote
    while (true) {
      std::size_t end = at_;
      while (end < text_.size() && text_[end] != '"' && text_[end] != '\\' &&
             static_cast<unsigned char>(text_[end]) >= 0x20) {
        ++end;
      }
      to.append(text_, at_, end - at_);
      at_ = end;
      if (at_ == text_.size()) return wrong("the text ends within a string");
      if (text_[at_] == '"') {
        ++at_;
        return true;
      }
      if (text_[at_] != '\\') {
        return wrong("a control character in a string. Write it as an escape, such as \\n");
      }
      if (!escape(to)) return false;
    }
  }

  bool escape(std::string& to) {
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    static constexpr Bytes names = "\"\\/bfnrt";
    static constexpr Bytes meanings = "\"\\/\b\f\n\r\t";
    if (const std::size_t index = names.find(c); index != Bytes::npos && c != '\0') {
      to += meanings[index];
      at_ += 2;
      return true;
    }
    auto unit = c == 'u' ? hex(at_ + 2) : std::nullopt;
    if (!unit) return wrong("an escape that JSON does not have");
    std::size_t length = 6;
    if (*unit >= 0xd800 && *unit < 0xdc00) {
      const bool pair = text_.substr(std::min(at_ + 6, text_.size())).starts_with("\\u");
      const auto low = pair ? hex(at_ + 8) : std::nullopt;
      if (!low || *low < 0xdc00 || *low > 0xdfff) return wrong("half of a surrogate pair");
      unit = 0x10000 + ((*unit - 0xd800) << 10) + (*low - 0xdc00);
      length = 12;
    } else if (*unit >= 0xdc00 && *unit < 0xe000) {
      return wrong("half of a surrogate pair");
    }
    append_utf8(to, *unit);
    at_ += length;
    return true;
  }

  std::optional<std::uint32_t> hex(std::size_t at) const noexcept {
    if (at + 4 > text_.size()) return std::nullopt;
    std::uint32_t unit = 0;
    for (const char c : text_.substr(at, 4)) {
      const auto octet = static_cast<unsigned char>(c);
      if (std::isxdigit(octet) == 0) return std::nullopt;
      const int digit = std::isdigit(octet) != 0 ? octet - '0' : (octet | 0x20) - 'a' + 10;
      unit = unit * 16 + static_cast<std::uint32_t>(digit);
    }
    return unit;
  }

  static void append_utf8(std::string& to, std::uint32_t c) {
    const auto tail = [&](unsigned shift) {
      to += static_cast<char>(0x80 | ((c >> shift) & 0x3f));
    };
    if (c < 0x80) {
      to += static_cast<char>(c);
    } else if (c < 0x800) {
      to += static_cast<char>(0xc0 | (c >> 6));
      tail(0);
    } else if (c < 0x10000) {
      to += static_cast<char>(0xe0 | (c >> 12));
      tail(6);
      tail(0);
    } else {
      to += static_cast<char>(0xf0 | (c >> 18));
      tail(12);
      tail(6);
      tail(0);
    }
  }

  Bytes text_;
  std::size_t depth_max_;
  std::size_t nodes_max_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::uint32_t line_ = 1;
  std::size_t line_begin_ = 0;
  Parsed result_;
};

// Where `text` stops to be UTF-8, or holds a NUL.
std::optional<ParseProblem> text_problem(Bytes text) {
  Position position{1, 1};
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return ParseProblem{position, "not UTF-8. Save the file as UTF-8"};
    if (text.front() == '\0') {
      return ParseProblem{position, "a NUL character. Is this a text file in UTF-8?"};
    }
    ++position.column;
    if (text.front() == '\n') position = {position.line + 1, 1};
    text.remove_prefix(length);
  }
  return std::nullopt;
}

}  // namespace

std::string repeated_words(Bytes name) {
  return fmt::format("the name '{}' stands twice in its object. Remove one", name);
}

Parsed parse_json(Bytes text, std::size_t depth_max, std::size_t nodes_max) {
  return JsonParser(text, depth_max, nodes_max).run();
}

Parsed parse(Bytes text, Bytes name, std::size_t depth_max, std::size_t nodes_max) {
  if (auto problem = text_problem(text)) {
    Parsed none;
    none.problems.push_back(*std::move(problem));
    return none;
  }
  const std::size_t first = text.find_first_not_of("\xef\xbb\xbf \t\r\n");
  const bool braced = first != Bytes::npos && (text[first] == '{' || text[first] == '[');
  if (braced || name.ends_with(".json")) {
    Parsed parsed = parse_json(text, depth_max, nodes_max);
    if (parsed.problems.empty() || name.ends_with(".json")) return parsed;
    Parsed yaml = parse_yaml(text, depth_max, nodes_max);
    return yaml.problems.empty() ? yaml : parsed;
  }
  return parse_yaml(text, depth_max, nodes_max);
}

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
