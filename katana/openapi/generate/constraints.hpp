// Constraints: the demands of schemas on one value beyond its type of C++, as rules of a member
// (base/values/rules.hpp). Several schemas may constrain one value: a reference and the keywords
// around it, or the parts of allOf.
//
//   Constraints all(Held::text);
//   all.take("maxLength", value)   true: rules() checks it
//   all.rules()                            {"length(0, 9)", "pattern(\"[a-z]+\")"}
//
// Owns       copies of the values that it took.
// Thread     one.
// Allocates  freely.
// Fails      take() is false for a keyword that no rule can check.
// Invariant  rules() compiles, also where no value can obey it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/data/container/json_number.hpp"
#include "katana/data/container/value.hpp"

namespace katana::openapi::generate {

// How a value is held in C++, as far as rules matter.
enum class Held : std::uint8_t {
  text,           // std::string
  integer,        // std::int64_t
  small_integer,  // std::int32_t
  number,         // double
  boolean,        // bool
  list,           // std::vector
  dictionary,     // std::map
  value,          // container::Value
  other,          // a struct, an enum, bytes, one of several types: there are no rules of it
};

class Constraints {
 public:
  // `comparable`: of a list, whether its items show all that they were in JSON.
  explicit Constraints(Held held, bool comparable = false)
      : held_(held), is_comparable_(comparable) {}

  // False: no rule does the same as the keyword, and a warning is due.
  bool take(Bytes keyword, const container::Value& value);
  // The rules as C++ expressions of katana::rules, such as `length(1, 20)`.
  std::vector<std::string> rules() const;

 private:
  using Number = container::Number;

  bool take_text(Bytes keyword, const container::Value& value);
  bool take_number(Bytes keyword, const container::Value& value);
  bool take_types(const container::Value& value);
  bool take_length(const container::Value& value, bool is_least);
  bool take_choices(const container::Value& value, bool is_list);
  bool is_integer() const noexcept {
    return held_ == Held::integer || held_ == Held::small_integer;
  }
  void add_length(std::vector<std::string>& rules) const;
  void add_range(std::vector<std::string>& rules) const;
  std::string number_text(Number number) const;
  void need(std::string condition, std::string words);

  Held held_;
  bool is_comparable_;
  std::size_t length_min_ = 0;
  std::size_t length_max_ = SIZE_MAX;
  std::optional<Number> least_ = {};
  std::optional<Number> most_ = {};
  std::string format_ = {};
  std::string pattern_ = {};
  bool is_impossible_ = false;
  std::vector<std::string> conditions_ = {};  // of `value`
  std::vector<std::string> words_ = {};       // for each condition
};

// A double as a literal of C++; nothing: the value is no finite number.
std::optional<std::string> real_text(const container::Value* value);

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
