#include "katana/openapi/generate/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <vector>

#include "katana/base/text/format.hpp"

namespace katana::openapi::generate {
namespace {

constexpr Bytes reserved[] = {
    "alignas",       "alignof",      "and",
    "and_eq",        "asm",          "assert",
    "auto",          "bitand",       "bitor",
    "bool",          "break",        "case",
    "catch",         "char",         "char16_t",
    "char32_t",      "char8_t",      "class",
    "co_await",      "co_return",    "co_yield",
    "compl",         "concept",      "const",
    "const_cast",    "consteval",    "constexpr",
    "constinit",     "continue",     "decltype",
    "default",       "delete",       "do",
    "double",        "dynamic_cast", "else",
    "enum",          "errno",        "explicit",
    "export",        "extern",       "false",
    "float",         "for",          "friend",
    "goto",          "if",           "inline",
    "int",           "katana",       "linux",
    "long",          "major",        "minor",
    "mutable",       "namespace",    "new",
    "noexcept",      "not",          "not_eq",
    "nullptr",       "operator",     "or",
    "or_eq",         "private",      "protected",
    "public",        "register",     "reinterpret_cast",
    "requires",      "return",       "short",
    "signed",        "sizeof",       "static",
    "static_assert", "static_cast",  "std",
    "stderr",        "stdin",        "stdout",
    "struct",        "switch",       "template",
    "this",          "thread_local", "throw",
    "true",          "try",          "typedef",
    "typeid",        "typename",     "union",
    "unix",          "unsigned",     "using",
    "virtual",       "void",         "volatile",
    "wchar_t",       "while",        "xor",
    "xor_eq",
};
// Rules of base/values/rules.hpp, which the macros look up beside the members.
constexpr Bytes reserved_types[] = {"Value", "Request", "Reply",  "Router", "Task",
                                    "EOF",   "NULL",    "Format", "Bytes"};

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_alnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 && (c & 0x80) == 0;
}
char lower(char c) { return is_upper(c) ? static_cast<char>(c | 0x20) : c; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c & ~0x20) : c; }

std::vector<std::string> words_of(Bytes name) {
  std::vector<std::string> words;
  bool begin = true;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    if (!is_alnum(c)) {
      begin = true;
      continue;
    }
    const bool after_lower =
        at > 0 && is_upper(c) && is_alnum(name[at - 1]) && !is_upper(name[at - 1]);
    const bool before_lower = at > 0 && is_upper(c) && is_upper(name[at - 1]) &&
                              at + 1 < name.size() && std::islower(name[at + 1]) != 0;
    if (begin || after_lower || before_lower) words.emplace_back();
    begin = false;
    words.back() += lower(c);
  }
  if (words.empty()) words.emplace_back("value");
  return words;
}

}  // namespace

std::string type_name(Bytes name) {
  std::string result;
  for (const std::string& word : words_of(name)) {
    if (!result.empty() && std::isdigit(static_cast<unsigned char>(result.back())) != 0 &&
        std::isdigit(static_cast<unsigned char>(word.front())) != 0) {
      result += '_';
    }
    result += upper(word.front());
    result += word.substr(1);
  }
  if (std::isdigit(static_cast<unsigned char>(result.front())) != 0) result.insert(0, "Type");
  const bool taken = std::ranges::find(reserved_types, Bytes(result)) != std::end(reserved_types);
  return taken ? result + "Type" : result;
}

std::string value_name(Bytes name) {
  std::string result;
  for (const std::string& word : words_of(name)) {
    if (!result.empty()) result += '_';
    result += word;
  }
  if (std::isdigit(static_cast<unsigned char>(result.front())) != 0) result.insert(0, "n");
  const bool taken = std::ranges::find(reserved, Bytes(result)) != std::end(reserved);
  return taken ? result + "_" : result;
}

std::string literal(Bytes text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto octet = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '?' && result.ends_with('?')) {
      result += "\\?";
    } else if (octet < 0x20 || octet > 0x7e) {
      fmt::format_to(std::back_inserter(result), "\\{:03o}", octet);
    } else {
      result += c;
    }
  }
  return result += '"';
}

std::string Scope::take(const std::string& wanted) {
  std::string name = wanted;
  for (int number = 2; !taken_.insert(name).second; ++number) {
    name = fmt::format("{}_{}", wanted, number);
  }
  return name;
}

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
