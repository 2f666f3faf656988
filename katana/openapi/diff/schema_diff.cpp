#include "katana/openapi/diff/schema_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "katana/base/values/described.hpp"
#include "katana/data/container/json_write.hpp"

namespace katana::openapi::detail {
namespace {

using container::Kind;
using container::List;
using container::Member;
using container::Object;
using container::Value;

constexpr std::size_t shown_bytes_max = 120;

const Value* keyword(const Value* schema, Bytes name) {
  const Object* const words = schema == nullptr ? nullptr : schema->get_object();
  return words == nullptr ? nullptr : words->find(name);
}
bool is_true(const Value* value) { return value != nullptr && *value == Value(true); }

std::string shown(const Value* value) {
  if (value == nullptr) return "none";
  std::string text = container::to_json(*value);
  if (text.size() > shown_bytes_max) text.replace(shown_bytes_max, std::string::npos, "…");
  return text;
}

// Without `null`, which has its own rules; empty: any.
struct Types {
  std::set<std::string> names;
  bool has_null = false;
  bool is_any = true;
};
Types types_of(const Value* schema) {
  Types made;
  const Value* const type = keyword(schema, "type");
  if (type == nullptr) return made;
  made.is_any = false;
  const auto add = [&](const Value& each) {
    if (each.kind() != Kind::text) return;
    if (each.as_text() == "null") {
      made.has_null = true;
    } else {
      made.names.insert(each.as_text());
    }
  };
  if (type->get_list() == nullptr) {
    add(*type);
  } else {
    for (const Value& each : *type->get_list()) add(each);
  }
  return made;
}

bool takes(const Types& types, const std::string& name) {
  return types.is_any || types.names.contains(name) ||
         (name == "integer" && types.names.contains("number"));
}
bool takes_all(const Types& wide, const Types& narrow) {
  if (narrow.is_any) return wide.is_any;
  return std::ranges::all_of(narrow.names,
                             [&](const std::string& each) { return takes(wide, each); });
}
std::string shown(const Types& types) {
  if (types.is_any) return "any";
  return fmt::format("{}", fmt::join(types.names, " or "));
}

std::set<std::string> required_of(const Value* schema) {
  std::set<std::string> names;
  const Value* const found = keyword(schema, "required");
  if (found == nullptr || found->get_list() == nullptr) return names;
  for (const Value& each : *found->get_list()) {
    if (each.kind() == Kind::text) names.insert(each.as_text());
  }
  return names;
}

std::vector<std::string> names_of(const Value* schema) {
  std::vector<std::string> names;
  const Value* const found = keyword(schema, "properties");
  if (found == nullptr || found->get_object() == nullptr) return names;
  for (const Member& each : *found->get_object()) names.push_back(each.name);
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

struct Bound {
  Bytes keyword;
  Bytes name;
  bool is_lower;
};
constexpr Bound bounds[] = {{"minimum", "min", true},
                            {"maximum", "max", false},
                            {"exclusiveMinimum", "exclusive-min", true},
                            {"exclusiveMaximum", "exclusive-max", false},
                            {"minLength", "min-length", true},
                            {"maxLength", "max-length", false},
                            {"minItems", "min-items", true},
                            {"maxItems", "max-items", false},
                            {"minProperties", "min-properties", true},
                            {"maxProperties", "max-properties", false},
                            {"minContains", "min-contains", true},
                            {"maxContains", "max-contains", false}};

// The value of a bound. A lower bound of 0 is none where no value is less than 0.
std::optional<double> bound_of(const Value* schema, const Bound& bound) {
  const Value* const found = keyword(schema, bound.keyword);
  const std::optional<double> number = found == nullptr ? std::nullopt : found->get_real();
  const bool counts = bound.keyword != "minimum" && bound.keyword != "exclusiveMinimum" &&
                      bound.keyword != "minContains";
  if (bound.is_lower && counts && number && *number == 0) return std::nullopt;
  return number;
}

}  // namespace

SchemaDiff::Side SchemaDiff::follow(const Description& description, Side side) const {
  for (std::size_t steps = 0; steps < 32 && side.value != nullptr; ++steps) {
    const Value* const reference = keyword(side.value, "$ref");
    // A reference with other keywords around it is one of several.
    if (reference == nullptr || reference->kind() != Kind::text) break;
    if (side.value->get_object()->size() != 1 || !reference->as_text().starts_with('#')) break;
    std::string pointer = reference->as_text().substr(1);
    const Value* const found = description.schemas.at(pointer);
    if (found == nullptr) break;
    side = {std::move(pointer), found};
  }
  return side;
}

SchemaDiff::Side SchemaDiff::child(const Description& description, const Side& side,
                                   Bytes name) const {
  Side made{side.pointer, nullptr};
  append_pointer(made.pointer, name);
  if (side.value != nullptr) made.value = keyword(side.value, name);
  return follow(description, std::move(made));
}

std::string SchemaDiff::subject() const {
  const bool is_inside = !path_.empty();
  switch (of_) {
    case SchemaOf::request_body: return is_inside ? "request-property" : "request-body";
    case SchemaOf::request_parameter:
      return is_inside ? "request-parameter-property" : "request-parameter";
    case SchemaOf::reply_body: return is_inside ? "response-property" : "response-body";
    case SchemaOf::reply_field: return "response-header";
    case SchemaOf::received_parameter:
      return is_inside ? "response-parameter-property" : "response-parameter";
  }
  return {};
}

Level SchemaDiff::level_of(Effect effect) const noexcept {
  switch (effect) {
    case Effect::narrows: return is_request() ? Level::breaking : Level::info;
    case Effect::widens: return is_request() ? Level::info : Level::breaking;
    case Effect::either: return Level::breaking;
    case Effect::neither: break;
  }
  return Level::info;
}

void SchemaDiff::report(Bytes rule, Effect effect, const std::string& words, const Side& at,
                        bool is_of_old) {
  report_as(fmt::format("{}-{}", subject(), rule), level_of(effect), words, at, is_of_old);
}

void SchemaDiff::report_as(std::string rule, Level level, const std::string& words, const Side& at,
                           bool is_of_old) {
  emit_(std::move(rule), level, path_.empty() ? words : fmt::format("{}: {}", path_, words),
        at.pointer, is_of_old);
}

void SchemaDiff::compare(SchemaOf of, const std::string& before, const std::string& after) {
  of_ = of;
  path_.clear();
  seen_.clear();
  compare_pair(follow(before_, {before, before_.schemas.at(before)}),
               follow(after_, {after, after_.schemas.at(after)}));
}

void SchemaDiff::compare_pair(Side before, Side after) {
  if (before.value == nullptr || after.value == nullptr) return;
  if (!seen_.emplace(before.pointer, after.pointer).second) return;
  const bool was_never = *before.value == Value(false);
  const bool is_never = *after.value == Value(false);
  if (was_never != is_never) {
    report(is_never ? "schema-became-false" : "schema-became-not-false",
           is_never ? Effect::narrows : Effect::widens,
           is_never ? "nothing is allowed any more" : "something is allowed", after);
    return;
  }
  const Pair pair{std::move(before), std::move(after)};
  compare_types(pair);
  compare_bounds(pair);
  compare_values(pair);
  compare_enum(pair);
  compare_pattern(pair);
  compare_multiple(pair);
  compare_properties(pair);
  compare_additional(pair);
  compare_items(pair);
  compare_alternatives(pair, "oneOf", "one-of");
  compare_alternatives(pair, "anyOf", "any-of");
  compare_alternatives(pair, "allOf", "all-of");
}

void SchemaDiff::compare_types(const Pair& pair) {
  const Types before = types_of(pair.before.value);
  const Types after = types_of(pair.after.value);
  const bool had_null = before.is_any || before.has_null;
  const bool has_null = after.is_any || after.has_null;
  if (!before.is_any && !after.is_any && had_null != has_null) {
    report(has_null ? "became-nullable" : "became-not-nullable",
           has_null ? Effect::widens : Effect::narrows,
           has_null ? "null is allowed" : "null is not allowed any more", pair.after);
  }
  const bool widens = takes_all(after, before);
  const bool narrows = takes_all(before, after);
  if (widens && narrows) return compare_format(pair);
  const std::string words =
      fmt::format("the type changed from {} to {}", shown(before), shown(after));
  const bool is_list = before.names.size() > 1 || after.names.size() > 1;
  if (!widens && !narrows) {
    report("type-changed", Effect::either, words, pair.after);
  } else if (is_list && !before.is_any && !after.is_any) {
    report(widens ? "list-of-types-widened" : "list-of-types-narrowed",
           widens ? Effect::widens : Effect::narrows, words, pair.after);
  } else if (widens) {
    report("type-generalized", Effect::widens, words, pair.after);
  } else {
    // oasdiff names a narrower type in a request a change.
    const bool is_specialized = !is_request() || subject() == "request-parameter-property";
    report(is_specialized ? "type-specialized" : "type-changed", Effect::narrows, words,
           pair.after);
  }
}

void SchemaDiff::compare_format(const Pair& pair) {
  const Value* const before = keyword(pair.before.value, "format");
  const Value* const after = keyword(pair.after.value, "format");
  if (before == nullptr && after == nullptr) return;
  if (before != nullptr && after != nullptr && *before == *after) return;
  const std::string words =
      fmt::format("the format changed from {} to {}", shown(before), shown(after));
  const auto is = [](const Value* value, const char* name) {
    return value != nullptr && *value == Value(name);
  };
  const bool widens = after == nullptr || (is(before, "int32") && is(after, "int64")) ||
                      (is(before, "float") && is(after, "double"));
  const bool narrows = before == nullptr || (is(before, "int64") && is(after, "int32")) ||
                       (is(before, "double") && is(after, "float"));
  if (widens) {
    report("type-generalized", Effect::widens, words, pair.after);
  } else if (narrows) {
    const bool is_specialized = !is_request() || subject() == "request-parameter-property";
    report(is_specialized ? "type-specialized" : "type-changed", Effect::narrows, words,
           pair.after);
  } else {
    report("type-changed", Effect::either, words, pair.after);
  }
}

void SchemaDiff::compare_bounds(const Pair& pair) {
  for (const Bound& bound : bounds) {
    const auto before = bound_of(pair.before.value, bound);
    const auto after = bound_of(pair.after.value, bound);
    if (before == after) continue;
    const bool rises = before && after && *after > *before;
    const bool narrows = !before || (after && rises == bound.is_lower);
    const char* const what = !before ? "set" : !after ? "unset" : rises ? "increased" : "decreased";
    report(fmt::format("{}-{}", bound.name, what), narrows ? Effect::narrows : Effect::widens,
           fmt::format("{} changed from {} to {}", bound.keyword,
                       before ? fmt::format("{}", *before) : "none",
                       after ? fmt::format("{}", *after) : "none"),
           pair.after);
  }
  const bool was_unique = is_true(keyword(pair.before.value, "uniqueItems"));
  const bool is_unique = is_true(keyword(pair.after.value, "uniqueItems"));
  if (was_unique != is_unique) {
    report(is_unique ? "unique-items-set" : "unique-items-unset",
           is_unique ? Effect::narrows : Effect::widens,
           is_unique ? "no item may come twice any more" : "items may come twice", pair.after);
  }
}

void SchemaDiff::compare_values(const Pair& pair) {
  const auto compare_one = [&](Bytes name, Bytes rule, bool counts) {
    const Value* const before = keyword(pair.before.value, name);
    const Value* const after = keyword(pair.after.value, name);
    if (before == nullptr && after == nullptr) return;
    if (before != nullptr && after != nullptr && *before == *after) return;
    const std::string words =
        fmt::format("{} changed from {} to {}", name, shown(before), shown(after));
    const char* const what = before == nullptr ? "added" : after == nullptr ? "removed" : "changed";
    const Effect effect = !counts             ? Effect::neither
                          : before == nullptr ? Effect::narrows
                          : after == nullptr  ? Effect::widens
                                              : Effect::either;
    report(fmt::format("{}-{}", rule, what), effect, words, pair.after);
  };
  compare_one("const", "const", true);
  compare_one("default", "default-value", false);
  compare_one("not", "not", true);
  compare_one("discriminator", "discriminator", false);
}

void SchemaDiff::compare_enum(const Pair& pair) {
  const Value* const before = keyword(pair.before.value, "enum");
  const Value* const after = keyword(pair.after.value, "enum");
  const List* const was = before == nullptr ? nullptr : before->get_list();
  const List* const is = after == nullptr ? nullptr : after->get_list();
  const std::string name = subject() == "response-body" ? "response-mediatype" : subject();
  if (was == nullptr && is == nullptr) return;
  if (was == nullptr || is == nullptr) {
    const bool became = was == nullptr;
    report_as(fmt::format("{}-became-{}enum", name, became ? "" : "not-"),
              level_of(became ? Effect::narrows : Effect::widens),
              became ? fmt::format("only {} is allowed any more", shown(after))
                     : std::string("any value of its type is allowed"),
              pair.after);
    return;
  }
  const auto lacks = [](const List& list, const Value& value) {
    return std::ranges::find(list, value) == list.end();
  };
  for (const Value& each : *was) {
    if (!lacks(*is, each)) continue;
    report_as(name + "-enum-value-removed", level_of(Effect::narrows),
              fmt::format("the value {} is not allowed any more", shown(&each)), pair.after);
  }
  for (const Value& each : *is) {
    if (!lacks(*was, each)) continue;
    report_as(name + "-enum-value-added", level_of(Effect::widens),
              fmt::format("the value {} is allowed", shown(&each)), pair.after);
  }
}

void SchemaDiff::compare_pattern(const Pair& pair) {
  const Value* const before = keyword(pair.before.value, "pattern");
  const Value* const after = keyword(pair.after.value, "pattern");
  if (before == nullptr && after == nullptr) return;
  if (before != nullptr && after != nullptr && *before == *after) return;
  const std::string words =
      fmt::format("the pattern changed from {} to {}", shown(before), shown(after));
  if (before == nullptr) {
    report("pattern-added", Effect::narrows, words, pair.after);
  } else if (after == nullptr) {
    report("pattern-removed", Effect::widens, words, pair.after);
  } else if (*after == Value(".*")) {
    report(is_request() ? "pattern-generalized" : "pattern-removed", Effect::widens, words,
           pair.after);
  } else {
    report_as(subject() + "-pattern-changed", Level::warning, words, pair.after);
  }
}

void SchemaDiff::compare_multiple(const Pair& pair) {
  const Value* const found_before = keyword(pair.before.value, "multipleOf");
  const Value* const found_after = keyword(pair.after.value, "multipleOf");
  // 0: none.
  const double before = found_before == nullptr ? 0 : found_before->get_real().value_or(0);
  const double after = found_after == nullptr ? 0 : found_after->get_real().value_or(0);
  if (before == after) return;
  const std::string words =
      fmt::format("multipleOf changed from {} to {}", shown(found_before), shown(found_after));
  const auto divides = [](double one, double other) {
    const double times = other / one;
    return times == static_cast<double>(static_cast<long long>(times));
  };
  if (before == 0) {
    report("multiple-of-set", Effect::narrows, words, pair.after);
  } else if (after == 0) {
    report("multiple-of-unset", Effect::widens, words, pair.after);
  } else if (is_request() && divides(after, before)) {
    report("multiple-of-generalized", Effect::widens, words, pair.after);
  } else if (!is_request() && divides(before, after)) {
    report("multiple-of-specialized", Effect::narrows, words, pair.after);
  } else {
    report("multiple-of-changed", Effect::either, words, pair.after);
  }
}

void SchemaDiff::compare_properties(const Pair& pair) {
  const std::vector<std::string> before = names_of(pair.before.value);
  const std::vector<std::string> after = names_of(pair.after.value);
  const auto was_required = required_of(pair.before.value);
  const auto is_required = required_of(pair.after.value);
  for (const std::string& name : before) {
    if (contains(after, name)) {
      compare_property(pair, name);
      continue;
    }
    const Side gone = child(before_, before_child(pair, "properties"), name);
    const std::string words = fmt::format("the property '{}' was removed", name);
    const bool was_other = is_true(keyword(gone.value, is_request() ? "readOnly" : "writeOnly"));
    if (is_request()) {
      report_as("request-property-removed", was_other ? Level::info : Level::warning, words, gone,
                true);
    } else {
      const bool counts = was_required.contains(name);
      report_as(fmt::format("response-{}{}property-removed", counts ? "required-" : "optional-",
                            was_other ? "write-only-" : ""),
                counts && !was_other ? Level::breaking : Level::info, words, gone, true);
    }
  }
  for (const std::string& name : after) {
    if (contains(before, name)) continue;
    const Side made = child(after_, after_child(pair, "properties"), name);
    const bool counts = is_required.contains(name);
    const bool is_other = is_true(keyword(made.value, is_request() ? "readOnly" : "writeOnly"));
    const std::string words =
        fmt::format("the {} property '{}' was added", counts ? "required" : "optional", name);
    if (!is_request()) {
      report_as(fmt::format("response-{}{}property-added", counts ? "required-" : "optional-",
                            is_other ? "write-only-" : ""),
                Level::info, words, made);
    } else if (!counts || is_other) {
      report_as("new-optional-request-property", Level::info, words, made);
    } else {
      const bool has_default = keyword(made.value, "default") != nullptr;
      report_as(has_default ? "new-required-request-property-with-default"
                            : "new-required-request-property",
                Level::breaking, words, made);
    }
  }
}

void SchemaDiff::compare_property(const Pair& pair, const std::string& name) {
  const bool was_required = required_of(pair.before.value).contains(name);
  const bool is_required = required_of(pair.after.value).contains(name);
  const Side before = child(before_, before_child(pair, "properties"), name);
  const Side after = child(after_, after_child(pair, "properties"), name);
  const std::size_t size = path_.size();
  append_pointer(path_, name);
  if (was_required != is_required) {
    const bool is_other = is_true(keyword(after.value, is_request() ? "readOnly" : "writeOnly"));
    const std::string words = is_required ? "it became required" : "it became optional";
    const bool breaks = is_required == is_request() && !is_other;
    std::string rule = is_request() ? "request-" : "response-";
    if (!is_request() && is_other) rule += "write-only-";
    rule += is_required ? "property-became-required" : "property-became-optional";
    if (is_request() && is_required && keyword(after.value, "default") != nullptr) {
      rule += "-with-default";
    }
    report_as(rule, breaks ? Level::breaking : Level::info, words, after);
  }
  compare_marks({before, after}, name, is_required);
  compare_pair(before, after);
  path_.resize(size);
}

// readOnly, writeOnly and deprecated.
void SchemaDiff::compare_marks(const Pair& pair, const std::string& name, bool is_required) {
  const char* const side = is_request() ? "request" : "response";
  const char* const kind = is_required ? "required" : "optional";
  const auto compare_one = [&](Bytes mark, Bytes rule, bool takes_away) {
    const bool was = is_true(keyword(pair.before.value, mark));
    const bool is = is_true(keyword(pair.after.value, mark));
    if (was == is) return;
    Level level = Level::info;
    // Sent by clients, and not read any more; received by clients, and not sent any more.
    if (is && takes_away) {
      level = is_request() ? Level::warning : is_required ? Level::breaking : Level::info;
    }
    if (!is && takes_away && is_request() && is_required) level = Level::breaking;
    report_as(fmt::format("{}-{}-property-became-{}{}", side, kind, is ? "" : "not-", rule), level,
              fmt::format("'{}' {} {}", name, is ? "became" : "is no longer", mark), pair.after);
  };
  compare_one("readOnly", "read-only", is_request());
  compare_one("writeOnly", "write-only", !is_request());
  const bool was = is_true(keyword(pair.before.value, "deprecated"));
  const bool is = is_true(keyword(pair.after.value, "deprecated"));
  if (was == is) return;
  const bool has_sunset = keyword(pair.after.value, "x-sunset") != nullptr;
  report_as(fmt::format("{}-property-{}{}", side, is ? "deprecated" : "reactivated",
                        is && has_sunset ? "-with-sunset" : ""),
            Level::info, is ? "it is deprecated" : "it is deprecated no more", pair.after);
}

void SchemaDiff::compare_additional(const Pair& pair) {
  const Side before = before_child(pair, "additionalProperties");
  const Side after = after_child(pair, "additionalProperties");
  const bool took = before.value == nullptr || *before.value != Value(false);
  const bool takes_more = after.value == nullptr || *after.value != Value(false);
  if (took != takes_more) {
    report(takes_more ? "additional-properties-allowed" : "additional-properties-disallowed",
           // Clients have to ignore members that they do not know.
           takes_more ? Effect::neither : Effect::narrows,
           takes_more ? "properties of any name are allowed"
                      : "properties of other names are not allowed any more",
           after.value != nullptr ? after : pair.after);
    return;
  }
  const bool had_schema = before.value != nullptr && before.value->get_object() != nullptr;
  const bool has_schema = after.value != nullptr && after.value->get_object() != nullptr;
  if (!had_schema || !has_schema) return;
  const std::size_t size = path_.size();
  path_ += "/*";
  compare_pair(before, after);
  path_.resize(size);
}

void SchemaDiff::compare_items(const Pair& pair) {
  const Side before = before_child(pair, "items");
  const Side after = after_child(pair, "items");
  if (before.value == nullptr || after.value == nullptr) return;
  const std::size_t size = path_.size();
  path_ += "/*";
  compare_pair(before, after);
  path_.resize(size);
}

void SchemaDiff::compare_alternatives(const Pair& pair, Bytes keyword_name, Bytes name) {
  const Value* const before = keyword(pair.before.value, keyword_name);
  const Value* const after = keyword(pair.after.value, keyword_name);
  const List* const was = before == nullptr ? nullptr : before->get_list();
  const List* const is = after == nullptr ? nullptr : after->get_list();
  if (was == nullptr && is == nullptr) return;
  const auto sides = [&](const Description& description, const Side& side, const List* list) {
    std::vector<std::pair<std::string, Side>> made;
    for (std::size_t at = 0; list != nullptr && at < list->size(); ++at) {
      const Value& each = (*list)[at];
      // The name of the alternative: its reference, its title, or its whole JSON.
      const Value* const reference = keyword(&each, "$ref");
      const Value* const title = keyword(&each, "title");
      std::string called = reference != nullptr ? shown(reference)
                           : title != nullptr   ? "title " + shown(title)
                                                : container::to_json(each);
      Side found{fmt::format("{}/{}/{}", side.pointer, keyword_name, at), &each};
      made.emplace_back(std::move(called), follow(description, std::move(found)));
    }
    return made;
  };
  auto old_ones = sides(before_, pair.before, was);
  auto new_ones = sides(after_, pair.after, is);
  for (std::size_t at = 0; at < old_ones.size();) {
    const auto found = std::ranges::find(new_ones, old_ones[at].first,
                                         [](const auto& each) { return each.first; });
    if (found == new_ones.end()) {
      ++at;
      continue;
    }
    compare_pair(old_ones[at].second, found->second);
    old_ones.erase(old_ones.begin() + static_cast<std::ptrdiff_t>(at));
    new_ones.erase(found);
  }
  // One of each that is left is the same, changed.
  if (old_ones.size() == 1 && new_ones.size() == 1) {
    compare_pair(old_ones.front().second, new_ones.front().second);
    return;
  }
  const bool is_all = keyword_name == "allOf";
  for (const auto& [called, side] : old_ones) {
    report(fmt::format("{}-removed", name), is_all ? Effect::widens : Effect::narrows,
           fmt::format("{} of {} was removed", called, keyword_name), side, true);
  }
  for (const auto& [called, side] : new_ones) {
    report(fmt::format("{}-added", name), is_all ? Effect::narrows : Effect::widens,
           fmt::format("{} of {} was added", called, keyword_name), side);
  }
}

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
