// The values of Lua, and the functions that its libraries have.
#include <fmt/format.h>
#include <fmt/printf.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <limits>

#include "katana/testing/redis/fake/lua_value.hpp"

namespace katana::testing::lua {
namespace {

std::string trimmed(const std::string& text) {
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  const auto first = std::ranges::find_if_not(text, is_space);
  auto last = text.end();
  while (last != first && is_space(*(last - 1))) --last;
  return {first, last};
}

LuaTable& need_table(const LuaValue& value) {
  const auto table = value.table();
  if (table == nullptr) {
    throw LuaProblem(fmt::format("bad argument (table expected, got {})", value.type()));
  }
  return *table;
}

// The place of an index of string.sub(), which counts from 1, or from the end if it is negative.
std::int64_t place_of(double index, std::size_t size) {
  const auto place = static_cast<std::int64_t>(index);
  return place < 0 ? static_cast<std::int64_t>(size) + place + 1 : place;
}

LuaValues sub(const LuaValues& given) {
  const std::string text = at(given, 0).need_text();
  const std::int64_t first =
      std::max<std::int64_t>(place_of(at(given, 1).as_number().value_or(1), text.size()), 1);
  const std::int64_t last =
      std::min<std::int64_t>(place_of(at(given, 2).as_number().value_or(-1), text.size()),
                             static_cast<std::int64_t>(text.size()));
  if (first > last) return {std::string()};
  return {
      text.substr(static_cast<std::size_t>(first - 1), static_cast<std::size_t>(last - first + 1))};
}

// One directive of string.format(), as "%.3f".
std::string formatted(const std::string& directive, const LuaValue& value) {
  switch (directive.back()) {
    case 'd':
    case 'i':
      return fmt::sprintf(directive.substr(0, directive.size() - 1) + "d",
                          static_cast<std::int64_t>(value.need_number()));
    case 'x':
    case 'X':
    case 'o':
    case 'u': return fmt::sprintf(directive, static_cast<std::uint64_t>(value.need_number()));
    case 'e':
    case 'f':
    case 'g':
    case 'G': return fmt::sprintf(directive, value.need_number());
    case 's': return fmt::sprintf(directive, value.need_text());
    default: throw LuaProblem(fmt::format("invalid option '{}' to 'format'", directive));
  }
}

LuaValues format(const LuaValues& given) {
  const std::string pattern = at(given, 0).need_text();
  std::string made;
  std::size_t used = 0;
  for (std::size_t place = 0; place < pattern.size(); ++place) {
    if (pattern[place] != '%') {
      made += pattern[place];
    } else if (pattern.substr(place, 2) == "%%") {
      made += '%';
      ++place;
    } else {
      const std::size_t end = pattern.find_first_of("diouxXeEfgGsqc", place);
      if (end == std::string::npos) throw LuaProblem("invalid option to 'format'");
      made += formatted(pattern.substr(place, end - place + 1), at(given, ++used));
      place = end;
    }
  }
  return {made};
}

LuaValues to_number(const LuaValues& given) {
  const auto number = at(given, 0).as_number();
  return {number ? LuaValue(*number) : LuaValue()};
}

LuaValues to_text(const LuaValues& given) {
  const LuaValue value = at(given, 0);
  if (const auto text = value.as_text()) return {*text};
  if (value.truth() != nullptr) return {std::string(*value.truth() ? "true" : "false")};
  return {std::string(value.type())};
}

LuaValues insert(const LuaValues& given) {
  LuaTable& table = need_table(at(given, 0));
  std::size_t place = table.length() + 1;
  if (given.size() > 2) {
    const auto wanted = static_cast<std::size_t>(at(given, 1).need_number());
    for (; place > wanted; --place) {
      table.parts[static_cast<double>(place)] = table.parts[static_cast<double>(place - 1)];
    }
  }
  table.parts[static_cast<double>(place)] = given.back();
  return {};
}

LuaValues remove(const LuaValues& given) {
  LuaTable& table = need_table(at(given, 0));
  const std::size_t length = table.length();
  if (length == 0) return {LuaValue()};
  auto place =
      static_cast<std::size_t>(at(given, 1).as_number().value_or(static_cast<double>(length)));
  LuaValue gone = table.parts[static_cast<double>(place)];
  for (; place < length; ++place) {
    table.parts[static_cast<double>(place)] = table.parts[static_cast<double>(place + 1)];
  }
  table.parts.erase(static_cast<double>(length));
  return {gone};
}

LuaValues concat(const LuaValues& given) {
  const LuaTable& table = need_table(at(given, 0));
  const std::string between = at(given, 1).is_nil() ? "" : at(given, 1).need_text();
  std::string made;
  for (std::size_t index = 1; index <= table.length(); ++index) {
    made += (index > 1 ? between : "") + table.parts.at(static_cast<double>(index)).need_text();
  }
  return {made};
}

LuaValues unpack(const LuaValues& given) {
  const LuaTable& table = need_table(at(given, 0));
  LuaValues made;
  for (std::size_t index = 1; index <= table.length(); ++index) {
    made.push_back(table.parts.at(static_cast<double>(index)));
  }
  return made;
}

LuaValue table_of(std::vector<std::pair<std::string, LuaFunction>> functions) {
  auto table = std::make_shared<LuaTable>();
  for (auto& [name, function] : functions) table->parts[name] = function_of(std::move(function));
  return table;
}

LuaFunction of_number(double (*f)(double)) {
  return [f](const LuaValues& given) { return LuaValues{f(at(given, 0).need_number())}; };
}

LuaFunction of_text(std::string (*f)(std::string)) {
  return [f](const LuaValues& given) { return LuaValues{f(at(given, 0).need_text())}; };
}

// min or max.
LuaFunction extreme(bool is_max) {
  return [is_max](const LuaValues& given) {
    double found = at(given, 0).need_number();
    for (const LuaValue& each : given) {
      const double number = each.need_number();
      if (is_max ? number > found : number < found) found = number;
    }
    return LuaValues{found};
  };
}

LuaValue strings() {
  return table_of({{"format", format},
                   {"sub", sub},
                   {"len",
                    [](const LuaValues& given) {
                      return LuaValues{static_cast<double>(at(given, 0).need_text().size())};
                    }},
                   {"rep",
                    [](const LuaValues& given) {
                      std::string made;
                      for (double left = at(given, 1).need_number(); left >= 1; --left) {
                        made += at(given, 0).need_text();
                      }
                      return LuaValues{made};
                    }},
                   {"upper", of_text([](std::string text) {
                      for (char& c : text)
                        c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
                      return text;
                    })},
                   {"lower", of_text([](std::string text) {
                      for (char& c : text)
                        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
                      return text;
                    })}});
}

}  // namespace

std::size_t LuaTable::length() const noexcept {
  std::size_t count = 0;
  while (true) {
    const auto found = parts.find(static_cast<double>(count + 1));
    if (found == parts.end() || found->second.is_nil()) return count;
    ++count;
  }
}

const char* LuaValue::type() const noexcept {
  constexpr const char* names[] = {"nil", "boolean", "number", "string", "table", "function"};
  return names[value_.index()];
}

std::optional<double> LuaValue::as_number() const {
  if (const double* const value = number()) return *value;
  if (text() == nullptr) return std::nullopt;
  std::string digits = trimmed(*text());
  if (digits.starts_with('+')) digits.erase(0, 1);
  double value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool is_whole = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
  return is_whole ? std::optional(value) : std::nullopt;
}

std::optional<std::string> LuaValue::as_text() const {
  if (text() != nullptr) return *text();
  if (number() == nullptr) return std::nullopt;
  return fmt::sprintf("%.14g", *number());
}

double LuaValue::need_number() const {
  const auto value = as_number();
  if (!value) throw LuaProblem(fmt::format("attempt to use a {} value as a number", type()));
  return *value;
}

std::string LuaValue::need_text() const {
  auto value = as_text();
  if (!value) throw LuaProblem(fmt::format("attempt to use a {} value as a string", type()));
  return *std::move(value);
}

LuaValue function_of(LuaFunction function) {
  return std::make_shared<const LuaFunction>(std::move(function));
}

std::map<std::string, LuaValue> lua_library() {
  std::map<std::string, LuaValue> made;
  made["tonumber"] = function_of(to_number);
  made["tostring"] = function_of(to_text);
  made["type"] = function_of(
      [](const LuaValues& given) { return LuaValues{std::string(at(given, 0).type())}; });
  made["error"] = function_of([](const LuaValues& given) -> LuaValues {
    throw LuaProblem(at(given, 0).as_text().value_or("error"));
  });
  made["unpack"] = function_of(unpack);
  made["string"] = strings();
  made["math"] = table_of({{"floor", of_number([](double x) { return std::floor(x); })},
                           {"ceil", of_number([](double x) { return std::ceil(x); })},
                           {"abs", of_number([](double x) { return std::abs(x); })},
                           {"min", extreme(false)},
                           {"max", extreme(true)}});
  made["table"] = table_of({{"insert", insert}, {"remove", remove}, {"concat", concat}});
  return made;
}

}  // namespace katana::testing::lua

// SPDX-License-Identifier: Apache-2.0
