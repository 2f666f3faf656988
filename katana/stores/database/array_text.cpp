#include "katana/stores/database/array_text.hpp"

#include <charconv>
#include <utility>

#include "katana/base/text/format.hpp"

namespace katana::database {
namespace {

std::optional<std::uint32_t> hex4(Bytes text) noexcept {
  std::uint32_t number = 0;
  const Bytes digits = text.substr(0, 4);
  const char* const end = digits.data() + digits.size();
  const char* const behind = std::from_chars(digits.data(), end, number, 16).ptr;
  if (behind - digits.data() != 4) return std::nullopt;
  return number;
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto add = [&](std::uint32_t octet) { out += static_cast<char>(octet); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | code >> 6);
    add(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  } else {
    add(0xf0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3f));
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  }
}

// Appends the character whose digits follow `\u`, and moves `text` behind them. False: half of
// a surrogate pair, or no digits.
bool append_escaped(std::string& out, Bytes& text) {
  const auto first = hex4(text);
  if (!first || (*first >= 0xdc00 && *first < 0xe000)) return false;
  text.remove_prefix(4);
  if (*first < 0xd800 || *first >= 0xe000) {
    append_utf8(out, *first);
    return true;
  }
  if (!text.starts_with("\\u")) return false;
  const auto second = hex4(text.substr(2));
  if (!second || *second < 0xdc00 || *second >= 0xe000) return false;
  text.remove_prefix(6);
  append_utf8(out, 0x10000 + ((*first & 0x3ff) << 10) + (*second & 0x3ff));
  return true;
}

constexpr Bytes escapes = "\"\\/bfnrt";
constexpr Bytes escaped = "\"\\/\b\f\n\r\t";

}  // namespace

namespace detail {

void append_json_string(std::string& out, Bytes text) {
  out += '"';
  for (const char c : text) {
    const std::size_t index = c == '/' ? Bytes::npos : escaped.find(c);
    if (index != Bytes::npos) {
      out += '\\';
      out += escapes[index];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace detail

void ArrayReader::skip_space() noexcept {
  const std::size_t first = rest_.find_first_not_of(" \t\r\n");
  rest_.remove_prefix(first == Bytes::npos ? rest_.size() : first);
}

ArrayReader::Element ArrayReader::next_between(char first, char last, std::string* name) {
  skip_space();
  const bool begins = !std::exchange(begun_, true);
  char mark = rest_.empty() ? '\0' : rest_[0];
  if (mark == (begins ? first : ',')) {
    rest_.remove_prefix(1);
    skip_space();
    if (!begins || rest_.empty() || rest_[0] != last) {
      if (name != nullptr && !read_name(*name)) return {};
      if (rest_.empty()) return {};
      if (rest_[0] == '"') return read_string();
      return rest_[0] == '[' || rest_[0] == '{' ? read_nested() : read_word();
    }
    mark = last;
  } else if (begins) {
    return {};
  }
  if (mark != last) return {};
  rest_.remove_prefix(1);
  skip_space();
  return {.kind = rest_.empty() ? Kind::end : Kind::broken};
}

bool ArrayReader::read_name(std::string& name) {
  if (!rest_.starts_with('"')) return false;
  const Element read = read_string();
  if (read.kind != Kind::text) return false;
  name = read.text;
  skip_space();
  if (!rest_.starts_with(':')) return false;
  rest_.remove_prefix(1);
  skip_space();
  return true;
}

ArrayReader::Element ArrayReader::read_string() {
  unescaped_.clear();
  rest_.remove_prefix(1);
  while (!rest_.empty()) {
    const char c = rest_[0];
    rest_.remove_prefix(1);
    if (c == '"') return {.kind = Kind::text, .text = unescaped_};
    if (c != '\\') {
      unescaped_ += c;
      continue;
    }
    if (rest_.empty()) break;
    const char escape = rest_[0];
    rest_.remove_prefix(1);
    if (escape == 'u') {
      if (!append_escaped(unescaped_, rest_)) break;
      continue;
    }
    const std::size_t index = escapes.find(escape);
    if (index == Bytes::npos) break;
    unescaped_ += escaped[index];
  }
  return {};
}

// Checks only that brackets are balanced; the reader of the nested text checks its content.
ArrayReader::Element ArrayReader::read_nested() noexcept {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < rest_.size(); ++at) {
    const char c = rest_[at];
    if (quoted) {
      if (c == '\\') ++at;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if ((c == ']' || c == '}') && --depth == 0) {
      const Bytes text = rest_.substr(0, at + 1);
      rest_.remove_prefix(at + 1);
      return {.kind = text[0] == '[' ? Kind::array : Kind::object, .text = text};
    }
  }
  return {};
}

ArrayReader::Element ArrayReader::read_word() noexcept {
  const Bytes word = rest_.substr(0, rest_.find_first_of(",]} \t\r\n"));
  rest_.remove_prefix(word.size());
  if (word == "null") return {.kind = Kind::null};
  if (word == "true" || word == "false") {
    return {.kind = Kind::boolean, .integer = word == "true" ? 1 : 0};
  }
  const char* const end = word.data() + word.size();
  Element element;
  if (const auto [behind, failure] = std::from_chars(word.data(), end, element.integer);
      failure == std::errc() && behind == end) {
    element.kind = Kind::integer;
    return element;
  }
  if (const auto [behind, failure] = std::from_chars(word.data(), end, element.real);
      failure == std::errc() && behind == end) {
    element.kind = Kind::real;
    return element;
  }
  return {};
}

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
