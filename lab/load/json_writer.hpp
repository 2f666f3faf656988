// JsonWriter: JSON text in order, with commas and indentation where they belong.
//
// Owns: the text. Fails: never; REQUIRES that what is begun is ended, in reverse order.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <string>
#include <string_view>

namespace katana::load {

class JsonWriter {
 public:
  void begin_object(std::string_view key = {}) { begin(key, '{'); }
  void end_object() { end('}'); }
  void begin_array(std::string_view key = {}) { begin(key, '['); }
  void end_array() { end(']'); }

  void text(std::string_view key, std::string_view value) {
    next(key);
    quote(value);
  }
  void boolean(std::string_view key, bool value) {
    next(key);
    text_ += value ? "true" : "false";
  }
  void integer(std::string_view key, std::integral auto value) {
    next(key);
    fmt::format_to(std::back_inserter(text_), "{}", value);
  }
  // With `digits` behind the point; JSON has no infinity, that is null.
  void number(std::string_view key, double value, int digits = 3) {
    next(key);
    if (std::isfinite(value)) {
      fmt::format_to(std::back_inserter(text_), "{:.{}f}", value, digits);
    } else {
      text_ += "null";
    }
  }
  std::string take() { return std::move(text_) + "\n"; }

 private:
  void begin(std::string_view key, char bracket) {
    next(key);
    text_ += bracket;
    is_first_ = true;
    ++depth_;
  }
  void end(char bracket) {
    --depth_;
    if (!is_first_) new_line();
    text_ += bracket;
    is_first_ = false;
  }
  void next(std::string_view key) {
    if (!is_first_) text_ += ',';
    if (depth_ > 0) new_line();
    is_first_ = false;
    if (key.empty()) return;
    quote(key);
    text_ += ": ";
  }
  void new_line() { text_.append("\n").append(depth_, ' '); }
  void quote(std::string_view value) {
    text_ += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') {
        text_ += '\\';
        text_ += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        fmt::format_to(std::back_inserter(text_), "\\u{:04x}", static_cast<unsigned>(c));
      } else {
        text_ += c;
      }
    }
    text_ += '"';
  }

  std::string text_;
  std::size_t depth_ = 0;
  bool is_first_ = true;
};

}  // namespace katana::load
