// LuaValue: nothing, a truth, a number, a text, a table or a function, as scripts have them.
//
// Owns       its text; shares its table and its function.
// Thread     one run's.
// Allocates  for texts, tables and functions.
// Fails      conversions by LuaProblem.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "katana/testing/redis/fake/lua_tree.hpp"

namespace katana::testing::lua {

class LuaValue;
// Arguments of a call, or its results.
using LuaValues = std::vector<LuaValue>;
// Called by scripts.
using LuaFunction = std::function<LuaValues(const LuaValues&)>;

// Elements by number, and members by name.
struct LuaTable {
  // A nil counts as absent.
  std::map<std::variant<double, std::string>, LuaValue> parts;

  // The elements 1, 2, … before the first that is not there.
  std::size_t length() const noexcept;
};

class LuaValue {
 public:
  LuaValue() = default;
  LuaValue(bool value) : value_(value) {}                    // NOLINT: as a script writes it
  LuaValue(double value) : value_(value) {}                  // NOLINT
  LuaValue(std::string value) : value_(std::move(value)) {}  // NOLINT
  LuaValue(std::shared_ptr<LuaTable> value) : value_(std::move(value)) {}           // NOLINT
  LuaValue(std::shared_ptr<const LuaFunction> value) : value_(std::move(value)) {}  // NOLINT

  // No value.
  bool is_nil() const noexcept { return std::holds_alternative<std::monostate>(value_); }
  // Everything but nil and false is true.
  bool is_true() const noexcept {
    const bool* const truth = std::get_if<bool>(&value_);
    return truth != nullptr ? *truth : !is_nil();
  }
  // Null: it is no truth.
  const bool* truth() const noexcept { return std::get_if<bool>(&value_); }
  // Null: it is no number.
  const double* number() const noexcept { return std::get_if<double>(&value_); }
  // Null: it is no text.
  const std::string* text() const noexcept { return std::get_if<std::string>(&value_); }
  // Null: it is no table.
  std::shared_ptr<LuaTable> table() const noexcept {
    const auto* const found = std::get_if<std::shared_ptr<LuaTable>>(&value_);
    return found == nullptr ? nullptr : *found;
  }
  // Null: it is no function.
  const LuaFunction* function() const noexcept {
    const auto* const found = std::get_if<std::shared_ptr<const LuaFunction>>(&value_);
    return found == nullptr ? nullptr : found->get();
  }
  // "number", "nil" …
  const char* type() const noexcept;

  // A number, or a text that is one.
  std::optional<double> as_number() const;
  // A text, or the text of a number.
  std::optional<std::string> as_text() const;
  // Throw LuaProblem for another type.
  double need_number() const;
  std::string need_text() const;

  bool operator==(const LuaValue& other) const { return value_ == other.value_; }

 private:
  std::variant<std::monostate, bool, double, std::string, std::shared_ptr<LuaTable>,
               std::shared_ptr<const LuaFunction>>
      value_;
};

// The argument of that index; nil where there is none.
inline LuaValue at(const LuaValues& values, std::size_t index) {
  return index < values.size() ? values[index] : LuaValue();
}
LuaValue function_of(LuaFunction function);
// The functions and tables that every script has, without redis, KEYS and ARGV.
std::map<std::string, LuaValue> lua_library();

}  // namespace katana::testing::lua

// SPDX-License-Identifier: Apache-2.0
