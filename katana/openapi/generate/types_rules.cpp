// Facts that types alone do not express: the rules of members, and which alternatives overlap.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "katana/data/container/value_rules.hpp"
#include "katana/data/schema/uri.hpp"
#include "katana/openapi/generate/schema_access.hpp"
#include "katana/openapi/generate/types.hpp"
#include "katana/openapi/model/keywords.hpp"

namespace katana::openapi::generate {

using container::List;

// Whether a schema with a reference has other keywords that data can break.
bool Types::has_constraints(const Object& schema) {
  return std::ranges::any_of(schema, [](const container::Member& each) {
    const model::Keyword* const keyword = model::keyword_of(each.name);
    return keyword != nullptr && keyword->in_types != model::InTypes::annotation &&
           keyword->in_types != model::InTypes::resolved;
  });
}

// Collects every schema of the same value: referenced schemas, the parts of allOf, and a single
// alternative beside null.
void Types::layers_of(Bytes pointer, std::vector<std::string>& layers) const {
  if (layers.size() > 32 || std::ranges::find(layers, pointer) != layers.end()) return;
  const Object* const schema = at(pointer).get_object();
  if (schema == nullptr) return;
  layers.emplace_back(pointer);
  if (const Value* const reference = schema->find("$ref")) {
    layers_of(schema::fragment_of(reference->as_text()), layers);
  }
  if (const List* const all = list_of(*schema, "allOf")) {
    for (std::size_t index = 0; index < all->size(); ++index) {
      layers_of(below(pointer, "allOf", index), layers);
    }
  }
  for (const Bytes key : {"oneOf", "anyOf"}) {
    const List* const list = list_of(*schema, key);
    if (list == nullptr) continue;
    std::vector<std::size_t> others;
    for (std::size_t index = 0; index < list->size(); ++index) {
      const Object* const each = (*list)[index].get_object();
      if (each == nullptr || text_of(*each, "type") != "null") others.push_back(index);
    }
    if (others.size() == 1) layers_of(below(pointer, key, others[0]), layers);
  }
}

Held Types::held_of(const TypeText& plain) const {
  if (plain.text == any().text) return Held::value;
  if (plain.text == "std::string") return Held::text;
  if (plain.text == "std::int64_t") return Held::integer;
  if (plain.text == "std::int32_t") return Held::small_integer;
  if (plain.text == "double") return Held::number;
  if (plain.text == "bool") return Held::boolean;
  if (!plain.items.empty() && plain.text.starts_with("std::vector<")) return Held::list;
  return plain.values.empty() ? Held::other : Held::dictionary;
}

// Whether equal values of the type were equal in JSON: a struct does not keep unknown members.
bool Types::is_comparable(const TypeText& item) const {
  const TypeText& plain = underlying(item);
  switch (held_of(plain)) {
    case Held::list: return is_comparable(plain.items[0]);
    case Held::dictionary: return is_comparable(plain.values[0]);
    case Held::other: return is_text_value(plain);
    default: return true;
  }
}

Types::RuleText Types::rules_of(Bytes use, const TypeText& type) {
  RuleText made;
  const TypeText& plain = underlying(type);
  const Held held = held_of(plain);
  if (held == Held::other) return made;
  Constraints all(held, held == Held::list && is_comparable(plain.items[0]));
  std::vector<std::string> layers;
  layers_of(use, layers);
  std::string each_rules;
  const auto add_each = [&](Bytes place, const TypeText& element) {
    RuleText inner = rules_of(place, element);
    if (inner.rules.empty()) return;
    each_rules = fmt::format("each({})", fmt::join(inner.rules, ", "));
    made.covered.insert(made.covered.end(), inner.covered.begin(), inner.covered.end());
  };
  for (const std::string& layer : layers) {
    const Object& schema = at(layer).as_object();
    bool nullable = false;
    const bool has_types = !types_of(schema, nullable).empty() || nullable;
    made.refuses_null = made.refuses_null || (has_types && !nullable);
    const Choices choices = choices_of(layer);
    if (!choices.covered.empty()) {
      made.refuses_null =
          made.refuses_null || std::ranges::find(choices.values, Value()) == choices.values.end();
      if (all.take("enum", Value(choices.values))) {
        made.covered.insert(made.covered.end(), choices.covered.begin(), choices.covered.end());
      }
    }
    for (const container::Member& each : schema) {
      if (each.name == "enum" || each.name == "const") continue;
      if (all.take(each.name, each.value)) made.covered.emplace_back(layer, each.name);
    }
    const Bytes element = held == Held::list ? "items" : "additionalProperties";
    const bool has_elements = held == Held::list || held == Held::dictionary;
    if (!has_elements || !each_rules.empty() || schema.find(element) == nullptr) continue;
    if (schema.find("prefixItems") != nullptr) continue;
    add_each(below(layer, element), held == Held::list ? plain.items[0] : plain.values[0]);
  }
  made.rules = all.rules();
  if (!each_rules.empty()) made.rules.push_back(each_rules);
  return made;
}

void Types::miss_rules(Bytes pointer, const TypeText& type, Bytes where) {
  coverage_.miss(rules_of(pointer, type).covered, where);
}

// Properties that have to be there anyway, and those of a struct that refuses others.
void Types::cover_counts(Bytes pointer, const Collected& from) {
  const Object* const schema = at(pointer).get_object();
  if (schema == nullptr) return;
  const auto count_of = [&](Bytes keyword) {
    const Value* const value = schema->find(keyword);
    return value == nullptr ? std::nullopt : value->get_natural();
  };
  const std::set<std::string> required(from.required.begin(), from.required.end());
  const auto least = count_of("minProperties");
  const auto most = count_of("maxProperties");
  if (least && *least <= required.size()) coverage_.cover(pointer, "minProperties");
  if (most && from.strict && *most >= from.properties.size()) {
    coverage_.cover(pointer, "maxProperties");
  }
}

// ---- constants ----

// {"const": "up", "title": "Up"}; null may be a type.
bool Types::is_list_of_constants(const List& list) {
  static constexpr Bytes beside[] = {"const", "type", "title", "description", "deprecated"};
  bool has_constant = false;
  for (const Value& part : list) {
    const Object* const schema = part.get_object();
    if (schema == nullptr) return false;
    const bool is_null = schema->size() == 1 && text_of(*schema, "type") == "null";
    if (schema->find("const") == nullptr && !is_null) return false;
    has_constant = has_constant || !is_null;
    const bool is_plain = std::ranges::all_of(*schema, [](const container::Member& each) {
      return each.name.starts_with("x-") ||
             std::ranges::find(beside, Bytes(each.name)) != std::end(beside);
    });
    if (!is_plain) return false;
  }
  return has_constant;
}

Types::Choices Types::choices_of(const std::string& pointer) const {
  Choices made;
  const Object* const schema = at(pointer).get_object();
  if (schema == nullptr) return made;
  const auto is_equal = [](const Value& one, const Value& other) {
    return container::compare_json(one, other) == 0;
  };
  const Value* const constant = schema->find("const");
  if (constant != nullptr) {
    made.values.push_back(*constant);
    made.covered.emplace_back(pointer, "const");
  }
  if (const List* const list = list_of(*schema, "enum")) {
    made.covered.emplace_back(pointer, "enum");
    if (constant == nullptr) made.values = *list;
    std::erase_if(made.values, [&](const Value& each) {
      return std::ranges::none_of(*list, [&](const Value& one) { return is_equal(one, each); });
    });
  }
  for (const Bytes key : {"oneOf", "anyOf"}) {
    const List* const list = list_of(*schema, key);
    if (!made.covered.empty() || list == nullptr || !is_list_of_constants(*list)) continue;
    List all;
    for (const Value& each : *list) {
      const Object& part = each.as_object();
      const Value* const value = part.find("const");
      const Bytes type = text_of(part, "type");
      all.push_back(value == nullptr ? Value() : *value);
      if (!type.empty() && !container::has_type(all.back(), type)) all.pop_back();
    }
    // A value that stands twice in oneOf fits none.
    for (const Value& each : all) {
      const auto same = [&](const Value& other) { return is_equal(each, other); };
      if (key == "anyOf" || std::ranges::count_if(all, same) == 1) made.values.push_back(each);
    }
    made.covered.emplace_back(pointer, key);
  }
  return made;
}

// ---- alternatives ----

// Whether data of it are of these types of JSON.
bool Types::fits_type(const TypeText& type, const std::vector<std::string>& types) const {
  if (types.empty()) return false;
  const TypeText& plain = underlying(type);
  if (!plain.alternatives.empty()) {
    return std::ranges::all_of(plain.alternatives,
                               [&](const TypeText& each) { return fits_type(each, types); });
  }
  const std::string own = json_type_of(plain);
  const auto has = [&](const std::string& name) {
    return std::ranges::find(types, name) != types.end();
  };
  return has(own) || (own == "integer" && has("number"));
}

// "object"; empty: any.
std::string Types::json_type_of(const TypeText& type) const {
  const TypeText& plain = underlying(type);
  switch (held_of(plain)) {
    case Held::value: return {};
    case Held::text: return "string";
    case Held::integer:
    case Held::small_integer: return "integer";
    case Held::number: return "number";
    case Held::boolean: return "boolean";
    case Held::list: return "array";
    case Held::dictionary: return "object";
    case Held::other: break;
  }
  const bool is_text = is_text_value(plain) || plain.text == "std::vector<std::byte>";
  return is_text ? "string" : "object";
}

// The texts that a required property may be; none: others, or it may be absent.
std::set<std::string> Types::texts_of_member(const Collected& object, Bytes name) const {
  std::set<std::string> texts;
  const auto found =
      std::ranges::find(object.properties, name, &std::pair<std::string, std::string>::first);
  const bool needed = std::ranges::find(object.required, name) != object.required.end();
  if (!needed || found == object.properties.end()) return texts;
  for (const Value& each : choices_of(std::string(follow(found->second))).values) {
    if (each.kind() != container::Kind::text) return {};
    texts.insert(each.as_text());
  }
  return texts;
}

// Whether a reader of a katana::AnyOf can distinguish the objects: by names, and by texts of
// enumerations.
bool Types::are_disjoint_objects(Bytes one, Bytes other) {
  Collected left, right;
  if (!collect(one, left, 0) || !collect(other, right, 0)) return false;
  const auto refuses = [](const Collected& object, const std::string& name) {
    return object.strict && std::ranges::find(object.properties, name,
                                              &std::pair<std::string, std::string>::first) ==
                                object.properties.end();
  };
  for (const std::string& name : right.required) {
    if (refuses(left, name)) return true;
  }
  for (const std::string& name : left.required) {
    if (refuses(right, name)) return true;
    const std::set<std::string> first = texts_of_member(left, name);
    const std::set<std::string> second = texts_of_member(right, name);
    std::vector<std::string> both;
    std::ranges::set_intersection(first, second, std::back_inserter(both));
    if (!first.empty() && !second.empty() && both.empty()) return true;
  }
  return false;
}

void Types::warn_of_overlaps(const std::string& pointer, Bytes key,
                             const std::vector<std::size_t>& parts,
                             const std::vector<TypeText>& found) {
  const auto overlap = [&](std::size_t one, std::size_t other) {
    std::string left = json_type_of(found[one]), right = json_type_of(found[other]);
    if (left == "object" && right == "object") {
      return !are_disjoint_objects(below(pointer, key, parts[one]),
                                   below(pointer, key, parts[other]));
    }
    if (left == "array" && right == "array") return true;
    if (key == "anyOf") return false;
    const auto choices = [&](std::size_t index) {
      return choices_of(std::string(follow(below(pointer, key, parts[index])))).values;
    };
    const List first = choices(one), second = choices(other);
    if (left == right && !first.empty() && !second.empty()) {
      return std::ranges::any_of(first, [&](const Value& each) {
        return std::ranges::find(second, each) != second.end();
      });
    }
    const bool are_numbers =
        (left == "integer" || left == "number") && (right == "integer" || right == "number");
    return left == right || are_numbers;
  };
  for (std::size_t one = 0; one < found.size(); ++one) {
    for (std::size_t other = 0; other < one; ++other) {
      if (!overlap(one, other)) continue;
      coverage_.miss({{pointer, std::string(key)}},
                     "where a value fits several of the alternatives, of which names and kinds of "
                     "members choose one");
      return;
    }
  }
}

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
