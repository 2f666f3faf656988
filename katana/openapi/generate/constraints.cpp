#include "katana/openapi/generate/constraints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "katana/base/values/pattern.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/container/value_rules.hpp"
#include "katana/openapi/generate/names.hpp"
#include "katana/openapi/generate/schema_access.hpp"

namespace katana::openapi::generate {
namespace {

using container::Kind;
using container::List;
using container::Number;
using container::Object;
using container::Value;

// The pattern of base/values/pattern.hpp that fits the same text; nothing when there is none.
std::optional<std::string> whole_pattern(Bytes expression) {
  if (!expression.starts_with('^') || !expression.ends_with('$') || expression.ends_with("\\$")) {
    return std::nullopt;
  }
  const Bytes inside = expression.substr(1, expression.size() - 2);
  for (const char c : inside) {
    if (c == '(' || c == ')' || c == '|' || (static_cast<unsigned char>(c) & 0x80) != 0) {
      return std::nullopt;
    }
  }
  if (inside.find('^') != Bytes::npos && inside.find("[^") == Bytes::npos) return std::nullopt;
  if (inside.empty() || !Pattern(inside).valid()) return std::nullopt;
  return std::string(inside);
}

std::optional<Number> number_of(const Value& value) {
  if (const auto integer = value.get_integer()) return static_cast<Number>(*integer);
  if (const auto natural = value.get_natural()) return static_cast<Number>(*natural);
  const auto real = value.get_real();
  if (!real || !std::isfinite(*real)) return std::nullopt;
  return static_cast<Number>(*real);
}

// The beginning of a list of choices, as a message shows it: at most 120 bytes, cut between
// characters.
std::string cut(std::string words) {
  constexpr std::size_t bytes_max = 120;
  if (words.size() <= bytes_max) return words;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(words[end]) & 0xc0) == 0x80) --end;
  return words.substr(0, end) + " …";
}

std::string json_of_value(const Value& value) {
  std::string text;
  container::write_json(value, text);
  return text;
}

}  // namespace

std::optional<std::string> real_text(const Value* value) {
  const auto real = value == nullptr ? std::nullopt : value->get_real();
  if (!real || !std::isfinite(*real)) return std::nullopt;
  std::string text = fmt::format("{}", *real);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// The number as a literal. REQUIRES that the type can hold it, if the type is an integer.
std::string Constraints::number_text(Number number) const {
  if (!is_integer()) {
    const Value value(static_cast<double>(number));
    return real_text(&value).value_or("0.0");
  }
  const auto integer = static_cast<std::int64_t>(number);
  // The literal of the least one would be that of a positive number that does not fit.
  if (integer == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807 - 1)";
  return fmt::format("{}", integer);
}

void Constraints::need(std::string condition, std::string words) {
  conditions_.push_back(std::move(condition));
  words_.push_back(std::move(words));
}

bool Constraints::take_length(const Value& value, bool is_least) {
  const auto number = number_of(value);
  if (!number || *number < 0) return false;
  const bool is_huge = *number >= static_cast<Number>(SIZE_MAX);
  const std::size_t length = is_huge ? SIZE_MAX : static_cast<std::size_t>(*number);
  if (is_least) {
    length_min_ = std::max(length_min_, length);
  } else {
    length_max_ = std::min(length_max_, length);
  }
  return true;
}

bool Constraints::take_text(Bytes keyword, const Value& value) {
  if (keyword == "minLength" || keyword == "maxLength") {
    return take_length(value, keyword == "minLength");
  }
  if (value.kind() != Kind::text) return false;
  if (keyword == "format") {
    std::string name = value.as_text();
    if (name == "date-time") name = "date_time";
    const bool known = name == "email" || name == "uuid" || name == "date" || name == "date_time";
    if (!known || (!format_.empty() && format_ != name)) return false;
    format_ = name;
    return true;
  }
  const auto pattern = keyword == "pattern" ? whole_pattern(value.as_text()) : std::nullopt;
  if (!pattern) return false;
  if (pattern_.empty()) {
    pattern_ = *pattern;
  } else if (pattern_ != *pattern) {
    need(fmt::format("katana::Pattern({}).matches(value)", literal(*pattern)),
         "text of the form " + *pattern);
  }
  return true;
}

bool Constraints::take_number(Bytes keyword, const Value& value) {
  const auto number = number_of(value);
  if (!number) return false;
  const auto raise = [&](Number to) { least_ = std::max(least_.value_or(to), to); };
  const auto lower = [&](Number to) { most_ = std::min(most_.value_or(to), to); };
  if (keyword == "minimum") {
    raise(is_integer() ? std::ceil(*number) : *number);
  } else if (keyword == "maximum") {
    lower(is_integer() ? std::floor(*number) : *number);
  } else if (keyword == "exclusiveMinimum" && is_integer()) {
    raise(std::floor(*number) + 1);
  } else if (keyword == "exclusiveMaximum" && is_integer()) {
    lower(std::ceil(*number) - 1);
  } else if (keyword == "exclusiveMinimum") {
    need("value > " + number_text(*number), "more than " + number_text(*number));
  } else if (keyword == "exclusiveMaximum") {
    need("value < " + number_text(*number), "less than " + number_text(*number));
  } else if (keyword == "multipleOf" && *number > 0) {
    const std::string divisor = real_text(&value).value_or("1.0");
    need(fmt::format("katana::container::is_multiple(static_cast<long double>(value), {})",
                     value.get_integer() ? json_of_value(value) : divisor),
         "a multiple of " + json_of_value(value));
  } else {
    return false;
  }
  return true;
}

bool Constraints::take_types(const Value& value) {
  std::string types;
  const auto add = [&](const Value& each) {
    if (each.kind() == Kind::text) types += (types.empty() ? "" : " ") + each.as_text();
  };
  if (const List* const list = value.get_list()) {
    for (const Value& each : *list) add(each);
  } else {
    add(value);
  }
  std::string words = types;
  for (std::size_t at = 0; (at = words.find(' ', at)) != std::string::npos; at += 4) {
    words.replace(at, 1, " or ");
  }
  need(fmt::format("katana::container::has_type(value, {})", literal(types)), words);
  return true;
}

bool Constraints::take_choices(const Value& value, bool is_list) {
  const List all = is_list ? *value.get_list() : List{value};
  std::string choices;
  std::string words;
  for (const Value& each : all) {
    std::string text;
    if (held_ == Held::text) {
      if (each.kind() != Kind::text) continue;
      text = literal(each.as_text());
    } else if (held_ == Held::boolean) {
      if (each.kind() != Kind::boolean) continue;
      text = each == Value(true) ? "true" : "false";
    } else if (held_ == Held::number || is_integer()) {
      const bool is_number =
          each.kind() == Kind::integer || each.kind() == Kind::natural || each.kind() == Kind::real;
      const auto number = is_number ? number_of(each) : std::nullopt;
      if (!number || (is_integer() && (!container::is_integer(*number) ||
                                       std::fabs(*number) > 9223372036854775807.0L))) {
        continue;
      }
      text = number_text(*number);
    }
    choices += (choices.empty() ? "" : ", ") + text;
    words += (words.empty() ? "" : ", ") + json_of_value(each);
  }
  words = cut("one of " + words);
  if (held_ == Held::value) {
    need(fmt::format("[&] {{ static const katana::container::JsonChoices choices({}); return "
                     "choices.contains(value); }}()",
                     literal(json_of_value(Value(all)))),
         words);
  } else if (choices.empty()) {
    is_impossible_ = true;
  } else {
    need(fmt::format("katana::container::is_one_of(value, {{{}}})", choices), words);
  }
  return true;
}

bool Constraints::take(Bytes keyword, const Value& value) {
  if (keyword == "const" || (keyword == "enum" && value.get_list() != nullptr)) {
    const bool has_choices =
        held_ != Held::list && held_ != Held::dictionary && held_ != Held::other;
    return has_choices && take_choices(value, keyword == "enum");
  }
  switch (held_) {
    case Held::text: return take_text(keyword, value);
    case Held::integer:
    case Held::small_integer:
    case Held::number: return take_number(keyword, value);
    case Held::list:
      if (keyword == "uniqueItems" && value == Value(true) && is_comparable_) {
        need("katana::container::is_unique(value)", "items that differ");
        return true;
      }
      return (keyword == "minItems" || keyword == "maxItems") &&
             take_length(value, keyword == "minItems");
    case Held::dictionary:
      return (keyword == "minProperties" || keyword == "maxProperties") &&
             take_length(value, keyword == "minProperties");
    case Held::value: return keyword == "type" && take_types(value);
    case Held::boolean:
    case Held::other: break;
  }
  return false;
}

void Constraints::add_length(std::vector<std::string>& rules) const {
  if (length_min_ == 0 && length_max_ == SIZE_MAX) return;
  rules.push_back(fmt::format("length({}, {})", length_min_,
                              length_max_ == SIZE_MAX ? "std::numeric_limits<std::size_t>::max()"
                                                      : fmt::format("{}", length_max_)));
}

// Adds the range. A bound that the type has itself is left out.
void Constraints::add_range(std::vector<std::string>& rules) const {
  const bool is_small = held_ == Held::small_integer;
  const Number type_least = is_small
                                ? std::numeric_limits<std::int32_t>::min()
                                : static_cast<Number>(std::numeric_limits<std::int64_t>::min());
  const Number type_most = is_small ? std::numeric_limits<std::int32_t>::max()
                                    : static_cast<Number>(std::numeric_limits<std::int64_t>::max());
  const bool has_least = least_ && !(is_integer() && *least_ <= type_least);
  const bool has_most = most_ && !(is_integer() && *most_ >= type_most);
  if (has_least && has_most) {
    rules.push_back(fmt::format("range({}, {})", number_text(*least_), number_text(*most_)));
  } else if (has_least) {
    rules.push_back(fmt::format("at_least({})", number_text(*least_)));
  } else if (has_most) {
    rules.push_back(fmt::format("at_most({})", number_text(*most_)));
  }
}

std::vector<std::string> Constraints::rules() const {
  const Number type_most =
      held_ == Held::small_integer ? 2147483647.0L : static_cast<Number>(INT64_MAX);
  const bool is_outside =
      is_integer() && ((least_ && *least_ > type_most) || (most_ && *most_ < -type_most - 1));
  if (is_impossible_ || is_outside || length_min_ > length_max_ ||
      (least_ && most_ && *least_ > *most_)) {
    return {"satisfies([](const auto&) -> bool { return false; }, \"nothing: no value fits\")"};
  }
  std::vector<std::string> rules;
  add_length(rules);
  if (!format_.empty()) rules.push_back("format::" + format_);
  if (!pattern_.empty()) rules.push_back("pattern(" + literal(pattern_) + ")");
  add_range(rules);
  if (conditions_.empty()) return rules;
  rules.push_back(fmt::format("satisfies([](const auto& value) -> bool {{ return {}; }}, {})",
                              fmt::join(conditions_, " && "),
                              literal(fmt::format("{}", fmt::join(words_, ", ")))));
  return rules;
}

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
