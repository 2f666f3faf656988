#include "katana/openapi/generate/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <set>

#include "katana/base/described.hpp"
#include "katana/base/pattern.hpp"
#include "katana/schema/uri.hpp"

namespace katana::openapi::generate {
namespace {

using container::List;
using container::Object;
using container::Value;

constexpr const char* octets_text = "std::vector<std::byte>";

std::string below(Bytes pointer, Bytes step) {
  std::string result(pointer);
  append_pointer(result, step);
  return result;
}
std::string below(Bytes pointer, Bytes step, std::size_t index) {
  std::string result = below(pointer, step);
  append_pointer(result, index);
  return result;
}

Bytes text_of(const Object& object, Bytes key) {
  const Value* const value = object.find(key);
  return value != nullptr && value->kind() == container::Kind::text ? Bytes(value->as_text())
                                                                    : Bytes();
}
const List* list_of(const Object& object, Bytes key) {
  const Value* const value = object.find(key);
  return value == nullptr ? nullptr : value->get_list();
}

// The types without null; `nullable` when it was there.
std::vector<std::string> types_of(const Object& schema, bool& nullable) {
  std::vector<std::string> types;
  const Value* const type = schema.find("type");
  if (type == nullptr) return types;
  const auto add = [&](const Value& each) {
    if (each.kind() != container::Kind::text) return;
    if (each.as_text() == "null") {
      nullable = true;
    } else {
      types.push_back(each.as_text());
    }
  };
  if (const List* const list = type->get_list()) {
    for (const Value& each : *list) add(each);
  } else {
    add(*type);
  }
  return types;
}

// The pattern of base/pattern.hpp that fits the same text; nothing when there is none.
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

std::optional<std::string> number_text(const Value* value, bool whole, int shift = 0) {
  if (value == nullptr) return std::nullopt;
  if (whole) {
    const auto real = value->get_real();
    if (const auto integer = value->get_integer()) return fmt::format("{}", *integer + shift);
    if (!real || std::abs(*real) > 9e15 || *real != std::floor(*real)) return std::nullopt;
    return fmt::format("{}", static_cast<std::int64_t>(*real) + shift);
  }
  const auto real = value->get_real();
  if (!real || !std::isfinite(*real)) return std::nullopt;
  std::string text = fmt::format("{}", *real);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

const Value& Types::at(Bytes pointer) const {
  static const Value anything = true;
  const Value* const value = api_.schemas.at(pointer);
  return value == nullptr ? anything : *value;
}

// What a chain of references ends at.
Bytes Types::follow(Bytes pointer) const {
  for (int hops = 0; hops < 32; ++hops) {
    const Object* const schema = at(pointer).get_object();
    const Value* const reference = schema == nullptr ? nullptr : schema->find("$ref");
    if (reference == nullptr) return pointer;
    const auto found = api_.schema_nodes.find(schema::fragment_of(reference->as_text()));
    if (found == api_.schema_nodes.end()) return pointer;
    pointer = found->first;
  }
  return pointer;
}

void Types::warn(Bytes pointer, std::string words) {
  problems_.warning(api_.locate(pointer), std::move(words));
}

TypeText Types::any() { return {"katana::container::Value", false, {}}; }

TypeText Types::use(std::size_t type) const {
  return {declared_[type].name, false, {{type, true}}};
}

std::size_t Types::declare(const std::string& pointer, const std::string& hint) {
  const std::size_t index = declared_.size();
  declared_.push_back({.name = scope_.take(type_name(hint)), .pointer = pointer});
  return index;
}

void Types::add_components() {
  for (const model::NamedSchema& each : api_.schema_names) type_of(each.at.pointer, each.name);
}

TypeText Types::type_of(Bytes pointer, const std::string& hint) {
  TypeText type = find_or_make(pointer, hint);
  if (!tag_.empty()) {
    for (const Use& each : type.uses) roots_[tag_].insert(each.type);
  }
  return type;
}

TypeText Types::find_or_make(Bytes pointer, const std::string& hint) {
  const std::string key(pointer);
  if (const auto known = made_.find(key); known != made_.end()) return known->second;
  const bool named = key.starts_with("/components/schemas/") && key.find('/', 20) == Bytes::npos;
  if (!named) {
    if (depth_ > 200) return any();
    ++depth_;
    TypeText made = make(key, hint, std::string::npos);
    --depth_;
    made_[key] = made;
    return made;
  }
  const std::size_t index = declare(key, hint);
  made_[key] = use(index);  // for what refers to itself
  TypeText made = make(key, hint, index);
  if (declared_[index].form == Form::pending) {
    declared_[index].form = Form::alias;
    declared_[index].alias = made;
  }
  made_[key].nullable = made.nullable;
  return made_[key];
}

TypeText Types::make(const std::string& pointer, const std::string& hint, std::size_t slot) {
  const Object* const object = at(pointer).get_object();
  if (object == nullptr) return any();
  const Object& schema = *object;
  if (const Value* const reference = schema.find("$ref")) {
    const std::string target = schema::fragment_of(reference->as_text());
    std::string name = target.substr(target.rfind('/') + 1);
    return type_of(target, name);
  }
  bool nullable = false;
  const std::vector<std::string> types = types_of(schema, nullable);
  const auto as_nullable = [&](TypeText made) {
    made.nullable = made.nullable || nullable;
    return made;
  };
  for (const Bytes key : {"oneOf", "anyOf"}) {
    const List* const list = list_of(schema, key);
    if (list == nullptr) continue;
    std::vector<std::size_t> others;
    for (std::size_t index = 0; index < list->size(); ++index) {
      const Object* const each = (*list)[index].get_object();
      const bool null = each != nullptr && each->size() <= 2 && text_of(*each, "type") == "null";
      if (!null) others.push_back(index);
    }
    const bool optional = others.size() < list->size();
    if (others.size() == 1 && schema.find("properties") == nullptr) {
      TypeText made = make(below(pointer, key, others[0]), hint, slot);
      made.nullable = made.nullable || optional || nullable;
      return made;
    }
    const bool told_apart = schema.find("discriminator") != nullptr;
    if (told_apart || schema.find("properties") == nullptr) {
      TypeText made = told_apart ? variant(pointer, hint, key, slot) : TypeText();
      if (made.text.empty()) made = any_of(pointer, hint, key, others);
      made.nullable = made.nullable || optional || nullable;
      return made;
    }
  }
  const List* const all = list_of(schema, "allOf");
  if (all != nullptr && all->size() == 1 && schema.find("properties") == nullptr) {
    return as_nullable(make(below(pointer, "allOf", 0), hint, slot));
  }
  if (all != nullptr || schema.find("properties") != nullptr) {
    return as_nullable(structure(pointer, hint, slot));
  }
  if (schema.find("enum") != nullptr) return as_nullable(enumeration(pointer, hint, slot));
  if (types.size() > 1) return as_nullable(any_of_types(pointer, hint, types));
  if (types.empty()) return any();
  if (types[0] == "array" || types[0] == "object") {
    return as_nullable(container_of(pointer, types[0], hint));
  }
  return as_nullable(scalar(schema, types[0], pointer));
}

TypeText Types::list_of_these(TypeText items) {
  TypeText list{.uses = items.uses, .items = {items}};
  list.text = "std::vector<" + items.as_element() + ">";
  for (Use& each : list.uses) each.complete = items.wants_optional();
  return list;
}

// "oneOf" and "anyOf" without a discriminator.
TypeText Types::any_of(const std::string& pointer, const std::string& hint, Bytes key,
                       const std::vector<std::size_t>& parts) {
  const List& list = *list_of(at(pointer).as_object(), key);
  std::vector<TypeText> found;
  for (const std::size_t index : parts) {
    const std::string part = below(pointer, key, index);
    const Object* const each = list[index].get_object();
    const Bytes title = each == nullptr ? Bytes() : text_of(*each, "title");
    const std::string own = title.empty() ? fmt::format("{}", index + 1) : std::string(title);
    found.push_back(type_of(part, hint + "_" + own));
    if (found.back().uses.empty() && !rules_of(part, found.back().text).empty()) {
      warn(part, fmt::format("the constraints of '{}' are not checked by its type", key));
    }
  }
  return any_of_these(pointer, std::move(found));
}

TypeText Types::any_of_types(const std::string& pointer, const std::string& hint,
                             const std::vector<std::string>& types) {
  const Object& schema = at(pointer).as_object();
  std::vector<TypeText> found;
  for (const std::string& each : types) {
    const bool holds_others = each == "array" || each == "object";
    found.push_back(holds_others ? container_of(pointer, each, hint)
                                 : scalar(schema, each, pointer));
  }
  return any_of_these(pointer, std::move(found));
}

TypeText Types::any_of_these(Bytes pointer, std::vector<TypeText> found) {
  std::vector<TypeText> open(found.rbegin(), found.rend());
  std::vector<TypeText> all;
  std::vector<TypeText> items;
  TypeText made;
  while (!open.empty()) {
    TypeText each = std::move(open.back());
    open.pop_back();
    const TypeText plain = underlying(each);
    made.nullable = made.nullable || each.nullable || plain.nullable;
    const bool is_pending = plain.uses.size() == 1 && is_declared(plain) &&
                            declared_[plain.uses[0].type].form == Form::pending;
    if (is_pending || plain.text == any().text) {
      warn(pointer, is_pending ? "a type that is made of itself alone is any JSON value"
                               : "a type of several, one of which is any JSON value, is that");
      return any();
    }
    if (!plain.alternatives.empty()) {
      open.insert(open.end(), plain.alternatives.rbegin(), plain.alternatives.rend());
    } else if (!plain.items.empty()) {
      items.push_back(plain.items[0]);
    } else {
      all.push_back(std::move(each));
    }
  }
  if (!items.empty()) all.push_back(list_of_these(any_of_these(pointer, std::move(items))));
  return joined(pointer, std::move(all), made.nullable);
}

// One of each kind, in an order in which all of them can be read.
TypeText Types::joined(Bytes pointer, std::vector<TypeText> all, bool nullable) {
  const auto plain_text = [this](const TypeText& type) { return underlying(type).text; };
  const auto has = [&](Bytes text) {
    return std::ranges::any_of(all, [&](const auto& each) { return plain_text(each) == text; });
  };
  const bool wide = has("std::int64_t");
  const auto texts = std::ranges::count_if(all, [this](const TypeText& each) {
    const TypeText& plain = underlying(each);
    return plain.text == "std::string" || plain.text == octets_text ||
           (is_text_value(plain) && !plain.uses.empty());
  });
  std::vector<TypeText> kept;
  std::set<std::string> known;
  std::size_t dictionaries = 0;
  for (TypeText& each : all) {
    // Octets are text in JSON, which other texts beside them are, too.
    if (plain_text(each) == octets_text && texts > 1) each = {.text = "std::string"};
    const std::string plain = plain_text(each);
    if (plain == "std::int32_t" && wide) continue;
    if (!known.insert(plain).second) continue;
    dictionaries += plain.starts_with("std::map<") ? 1 : 0;
    kept.push_back(std::move(each));
  }
  if (dictionaries > 1) {
    warn(pointer, "a type of several dictionaries is any JSON value");
    return any();
  }
  // Any text is one: behind the others.
  const auto string = std::ranges::find(kept, "std::string", plain_text);
  if (string != kept.end()) std::rotate(string, string + 1, kept.end());
  if (kept.size() == 1) {
    kept[0].nullable = kept[0].nullable || nullable;
    return kept[0];
  }
  TypeText made{.nullable = nullable};
  std::vector<std::string> names;
  for (const TypeText& each : kept) {
    names.push_back(each.text);
    made.uses.insert(made.uses.end(), each.uses.begin(), each.uses.end());
  }
  made.text = fmt::format("katana::AnyOf<{}>", fmt::join(names, ", "));
  made.alternatives = std::move(kept);
  return made;
}

TypeText Types::container_of(const std::string& pointer, Bytes type, const std::string& hint) {
  const Object& schema = at(pointer).as_object();
  if (type == "array") {
    return list_of_these(
        schema.find("items") == nullptr ? any() : type_of(below(pointer, "items"), hint + "_item"));
  }
  const Value* const more = schema.find("additionalProperties");
  if (more == nullptr || more->get_object() == nullptr || more->get_object()->empty()) {
    return any();
  }
  TypeText values = type_of(below(pointer, "additionalProperties"), hint + "_value");
  for (Use& each : values.uses) each.complete = values.wants_optional();
  return {"std::map<std::string, " + values.as_element() + ">", false, std::move(values.uses)};
}

TypeText Types::scalar(const Object& schema, Bytes type, const std::string&) {
  const Bytes format = text_of(schema, "format");
  if (type == "boolean") return {"bool", false, {}};
  if (type == "integer") {
    return {format == "int32" ? "std::int32_t" : "std::int64_t", false, {}};
  }
  if (type == "number") return {"double", false, {}};
  if (format == "byte" || text_of(schema, "contentEncoding") == "base64") {
    return {octets_text, false, {}};
  }
  return {"std::string", false, {}};
}

TypeText Types::enumeration(const std::string& pointer, const std::string& hint, std::size_t slot) {
  bool nullable = false;
  const Object& schema = at(pointer).as_object();
  const std::vector<std::string> types = types_of(schema, nullable);
  std::vector<std::string> names;
  for (const Value& each : schema.find("enum")->as_list()) {
    if (each.is_null()) {
      nullable = true;
    } else if (each.kind() == container::Kind::text) {
      if (std::ranges::find(names, each.as_text()) == names.end()) names.push_back(each.as_text());
    } else {
      warn(pointer, "an enum of other values than text is not checked by its type");
      if (types.size() != 1 || types[0] == "array" || types[0] == "object") return any();
      return scalar(schema, types[0], pointer);
    }
  }
  if (names.empty() || names.size() > members_max) {
    warn(pointer, fmt::format("an enum of {} values becomes text, unchecked", names.size()));
    return {"std::string", nullable, {}};
  }
  const std::size_t index = slot == std::string::npos ? declare(pointer, hint) : slot;
  Declared& type = declared_[index];
  type.form = Form::enumeration;
  Scope scope;
  for (const std::string& each : names) type.names.emplace_back(scope.take(value_name(each)), each);
  TypeText made = use(index);
  made.nullable = nullable;
  return made;
}

// The properties of an object, those of all parts of allOf included.
bool Types::collect(Bytes pointer, std::vector<std::pair<std::string, std::string>>& properties,
                    std::vector<std::string>& required, bool& strict, int depth) {
  const Bytes target = follow(pointer);
  const Object* const schema = at(target).get_object();
  if (schema == nullptr || depth > 32) return false;
  bool nullable = false;
  for (const std::string& each : types_of(*schema, nullable)) {
    if (each != "object") return false;
  }
  if (const List* const all = list_of(*schema, "allOf")) {
    for (std::size_t index = 0; index < all->size(); ++index) {
      if (!collect(below(target, "allOf", index), properties, required, strict, depth + 1)) {
        return false;
      }
    }
  }
  if (schema->find("oneOf") != nullptr || schema->find("anyOf") != nullptr) {
    if (schema->find("properties") == nullptr) return false;
    warn(target, "'oneOf' or 'anyOf' beside properties is not checked by its type");
  }
  if (const Value* const own = schema->find("properties"); own != nullptr && own->get_object()) {
    for (const container::Member& each : own->as_object()) {
      std::string place = below(below(target, "properties"), each.name);
      const auto known =
          std::ranges::find(properties, each.name, &std::pair<std::string, std::string>::first);
      if (known == properties.end()) {
        properties.emplace_back(each.name, std::move(place));
      } else {
        known->second = std::move(place);
      }
    }
  }
  if (const List* const names = list_of(*schema, "required")) {
    for (const Value& each : *names) {
      if (each.kind() == container::Kind::text) required.push_back(each.as_text());
    }
  }
  const Value* const more = schema->find("additionalProperties");
  if (more != nullptr && *more == Value(false)) strict = true;
  return true;
}

TypeText Types::structure(const std::string& pointer, const std::string& hint, std::size_t slot) {
  std::vector<std::pair<std::string, std::string>> properties;
  std::vector<std::string> required;
  bool strict = false;
  if (!collect(pointer, properties, required, strict, 0)) {
    warn(pointer, "'allOf' of other things than objects becomes any JSON value");
    return any();
  }
  if (properties.empty()) return any();
  if (properties.size() > members_max) {
    warn(pointer, fmt::format("an object of {} properties becomes any JSON value; a struct has at "
                              "most {}",
                              properties.size(), members_max));
    return any();
  }
  const std::size_t index = slot == std::string::npos ? declare(pointer, hint) : slot;
  if (slot == std::string::npos) made_[pointer] = use(index);
  declared_[index].form = Form::structure;  // for members that refer to it
  Declared made = declared_[index];
  made.strict = strict;
  Scope scope;
  scope.take(made.name);
  for (const auto& [name, place] : properties) {
    const bool needed = std::ranges::find(required, name) != required.end();
    add_member(made, scope, name, place, needed, made.name + "_" + name);
  }
  declared_[index] = std::move(made);
  return use(index);
}

void Types::add_member(Declared& to, Scope& scope, const std::string& json,
                       const std::string& pointer, bool required, const std::string& hint) {
  Member member;
  member.json = json;
  member.name = scope.take(value_name(json));
  member.type = type_of(pointer, hint);
  const bool anything = member.type.text == "katana::container::Value";
  member.optional = !required || (member.type.nullable && !anything);
  const bool several = !underlying(member.type).alternatives.empty();
  if (!several) member.rules = rules_of(pointer, member.type.text);
  if (required && member.optional) member.rules.emplace_back("required");
  if (!required && !member.type.nullable) set_default(member, pointer);
  member.patch = member.optional && !required;
  if (member.patch && !member.type.nullable && !anything) member.rules.emplace_back("not_null");
  if (member.name != json) member.rules.push_back("named(" + literal(json) + ")");
  to.members.push_back(std::move(member));
}

void Types::set_default(Member& member, const std::string& pointer) {
  const Object* const schema = at(follow(pointer)).get_object();
  const Value* const value = schema == nullptr ? nullptr : schema->find("default");
  if (value == nullptr || value->is_null()) return;
  std::string text;
  const std::string& type = member.type.text;
  if (type == "bool" && value->kind() == container::Kind::boolean) {
    text = *value == Value(true) ? "true" : "false";
  } else if (type == "std::string" && value->kind() == container::Kind::text) {
    text = literal(value->as_text());
  } else if (type == "std::int32_t" || type == "std::int64_t") {
    const auto integer = value->get_integer();
    if (!integer || (type == "std::int32_t" && std::abs(*integer) > 2147483647)) return;
    if (std::abs(*integer) > 9007199254740991) return;
    text = fmt::format("{}", *integer);
  } else if (type == "double") {
    text = number_text(value, false).value_or("");
  }
  if (text.empty()) return;
  member.optional = false;
  member.initialiser = std::move(text);
  member.rules.emplace_back("defaulted");
}

std::vector<std::string> Types::rules_of(Bytes use, Bytes type) {
  std::vector<std::string> rules;
  const Bytes pointer = follow(use);
  const Object* const found = at(pointer).get_object();
  if (found == nullptr) return rules;
  const Object& schema = *found;
  bool nullable = false;
  const std::vector<std::string> types = types_of(schema, nullable);
  if (types.size() != 1 || type == "katana::container::Value") return rules;
  if (type.starts_with("katana::AnyOf<")) return rules;
  const auto length = [&](const char* least, const char* most) {
    const auto lower = number_text(schema.find(least), true);
    const auto upper = number_text(schema.find(most), true);
    if (!lower && !upper) return;
    rules.push_back(fmt::format("length({}, {})", lower.value_or("0"),
                                upper.value_or("std::numeric_limits<std::size_t>::max()")));
  };
  if (types[0] == "string" && schema.find("enum") == nullptr && type != octets_text) {
    length("minLength", "maxLength");
    const Bytes format = text_of(schema, "format");
    if (format == "email" || format == "uuid" || format == "date") {
      rules.push_back(fmt::format("format::{}", format));
    } else if (format == "date-time") {
      rules.emplace_back("format::date_time");
    }
    if (const Bytes expression = text_of(schema, "pattern"); !expression.empty()) {
      if (const auto pattern = whole_pattern(expression)) {
        rules.push_back("pattern(" + literal(*pattern) + ")");
      } else {
        warn(pointer, fmt::format("the pattern '{}' is not checked by its type", expression));
      }
    }
  } else if ((types[0] == "integer" || types[0] == "number") && schema.find("enum") == nullptr) {
    const bool whole = types[0] == "integer";
    auto lower = number_text(schema.find("minimum"), whole);
    auto upper = number_text(schema.find("maximum"), whole);
    if (whole && !lower) lower = number_text(schema.find("exclusiveMinimum"), true, 1);
    if (whole && !upper) upper = number_text(schema.find("exclusiveMaximum"), true, -1);
    const auto fits = [&](const std::optional<std::string>& text) {
      return text && (type != "std::int32_t" || std::abs(std::stod(*text)) <= 2147483647.0);
    };
    if (fits(lower) && fits(upper)) {
      rules.push_back(fmt::format("range({}, {})", *lower, *upper));
    } else if (fits(lower)) {
      rules.push_back(fmt::format("at_least({})", *lower));
    } else if (fits(upper)) {
      rules.push_back(fmt::format("at_most({})", *upper));
    }
    const bool open = !whole && (schema.find("exclusiveMinimum") != nullptr ||
                                 schema.find("exclusiveMaximum") != nullptr);
    if (open || schema.find("multipleOf") != nullptr) {
      warn(pointer, "'multipleOf' and exclusive bounds of fractions are not checked by the type");
    }
  } else if (types[0] == "array") {
    length("minItems", "maxItems");
    const std::string items = below(pointer, "items");
    if (schema.find("items") != nullptr && type.starts_with("std::vector<")) {
      Bytes item = type.substr(12, type.size() - 13);
      if (item.starts_with("std::optional<")) item = item.substr(14, item.size() - 15);
      const bool plain = item == "std::string" || item == "double" || item.ends_with("int32_t") ||
                         item.ends_with("int64_t");
      const auto inner = plain ? rules_of(items, item) : std::vector<std::string>();
      if (!inner.empty()) rules.push_back(fmt::format("each({})", fmt::join(inner, ", ")));
    }
  } else if (types[0] == "object" && type.starts_with("std::map")) {
    length("minProperties", "maxProperties");
  }
  return rules;
}

TypeText Types::variant(const std::string& pointer, const std::string& hint, Bytes key,
                        std::size_t slot) {
  const Object& schema = at(pointer).as_object();
  const Object& discriminator = schema.find("discriminator")->as_object();
  const std::string property(text_of(discriminator, "propertyName"));
  std::vector<std::pair<std::string, std::string>> choices;  // name, pointer
  const Value* const mapping = discriminator.find("mapping");
  if (mapping != nullptr && !mapping->as_object().empty()) {
    for (const container::Member& each : mapping->as_object()) {
      choices.emplace_back(each.name, schema::fragment_of(each.value.as_text()));
    }
  } else {
    const List& list = *list_of(schema, key);
    for (std::size_t index = 0; index < list.size(); ++index) {
      const Object* const each = list[index].get_object();
      const Bytes reference = each == nullptr ? Bytes() : text_of(*each, "$ref");
      if (reference.empty()) return {};
      const std::string target = schema::fragment_of(reference);
      choices.emplace_back(target.substr(target.rfind('/') + 1), target);
    }
  }
  std::set<std::string> targets;
  std::vector<std::vector<std::pair<std::string, std::string>>> properties(choices.size());
  std::vector<std::vector<std::string>> required(choices.size());
  std::vector<char> strict(choices.size());
  bool fits = choices.size() > 1;
  for (std::size_t index = 0; fits && index < choices.size(); ++index) {
    bool is_strict = false;
    fits = targets.insert(choices[index].second).second &&
           collect(choices[index].second, properties[index], required[index], is_strict, 0);
    strict[index] = is_strict;
    std::erase_if(properties[index], [&](const auto& each) { return each.first == property; });
    fits = fits && !properties[index].empty() && properties[index].size() <= members_max;
  }
  if (!fits) return {};
  const std::size_t index = slot == std::string::npos ? declare(pointer, hint) : slot;
  if (slot == std::string::npos) made_[pointer] = use(index);
  declared_[index].form = Form::variant;  // for members that refer to it
  std::vector<std::pair<std::size_t, std::string>> alternatives;
  for (std::size_t each = 0; each < choices.size(); ++each) {
    const std::string name = declared_[index].name + "_" + choices[each].first;
    const std::size_t part = declare(choices[each].second, name);
    alternatives.emplace_back(part, choices[each].first);
    Declared made = declared_[part];
    made.form = Form::structure;
    made.strict = strict[each] != 0;
    Scope scope;
    scope.take(made.name);
    for (const auto& [member, place] : properties[each]) {
      const bool needed = std::ranges::find(required[each], member) != required[each].end();
      const std::string own = choices[each].second;
      add_member(made, scope, member, place, needed, own.substr(own.rfind('/') + 1) + "_" + member);
    }
    declared_[part] = std::move(made);
  }
  declared_[index].alternatives = std::move(alternatives);
  declared_[index].discriminator = property;
  return use(index);
}

std::string Types::add_parameters(const std::string& name, const std::vector<Field>& fields) {
  const std::size_t index = declare({}, name);
  Declared made = declared_[index];
  made.form = Form::structure;
  Scope scope;
  for (const Field& each : fields) {
    add_member(made, scope, each.name, each.pointer, each.required, name + "_" + each.name);
    Member& member = made.members.back();
    if (each.json) {
      become_json(member, each);
    } else if (each.separator == nested_names) {
      // As it is within JSON.
    } else if (TypeText type = parameter_type(member.type); !type.text.empty()) {
      type.nullable = member.type.nullable;
      member.type = std::move(type);
    }
    if (each.file) become_file(member);
    if (each.separator != '\0') made.separators.emplace_back(each.name, each.separator);
    member.patch = false;
    std::erase(member.rules, "not_null");
    // Of a query a list that is not there is empty.
    if (member.type.text.starts_with("std::vector<") && member.type.text != octets_text) {
      if (!each.required) member.rules.emplace_back("defaulted");
      member.optional = false;
    }
    const bool marked = std::ranges::find(member.rules, "required") != member.rules.end();
    if (each.required && !marked) member.rules.emplace_back("required");
  }
  has_separators_ = has_separators_ || !made.separators.empty();
  declared_[index] = std::move(made);
  roots_[tag_].insert(index);
  return declared_[index].name;
}

TypeText Types::as_json(const TypeText& content) {
  has_json_parameters_ = true;
  TypeText type{.text = "katana::container::AsJson<" + content.as_element() + ">",
                .uses = content.uses};
  for (Use& each : type.uses) each.complete = true;
  return type;
}

void Types::become_json(Member& member, const Field& field) {
  const auto is_of_member = [](const std::string& rule) {
    return rule.starts_with("named(") || rule == "required";
  };
  std::erase_if(member.rules,
                [](const std::string& rule) { return rule == "not_null" || rule == "defaulted"; });
  if (!std::ranges::all_of(member.rules, is_of_member)) {
    warn(field.pointer, fmt::format("the constraints of '{}', which is JSON in a parameter, are "
                                    "not checked by its type; those of its members are",
                                    field.name));
  }
  std::erase_if(member.rules, [&](const std::string& rule) { return !is_of_member(rule); });
  const TypeText& listed = underlying(member.type);
  if (field.json_items && !listed.items.empty()) {
    member.type = list_of_these(as_json(listed.items[0]));
  } else {
    member.type = as_json(member.type);
  }
  member.optional = !field.required;
  member.initialiser.clear();
}

void Types::become_file(Member& member) {
  has_files_ = true;
  const bool list = member.type.text.starts_with("std::vector<std::string");
  member.type = {list ? "std::vector<katana::FormFile>" : "katana::FormFile", false, {}};
  std::erase_if(member.rules, [](const std::string& rule) {
    return !rule.starts_with("named(") && rule != "required" && rule != "defaulted";
  });
}

std::vector<Types::Field> Types::text_members_of(Bytes pointer, const std::string& hint) {
  std::vector<Field> fields = form_members_of(pointer, hint, false);
  const bool others = std::ranges::any_of(fields, [&](const Field& each) {
    return each.json || is_list(parameter_type(type_of(each.pointer, hint + "_" + each.name)));
  });
  if (others) fields.clear();
  return fields;
}

std::vector<Types::Field> Types::form_members_of(Bytes pointer, const std::string& hint,
                                                 bool parts) {
  std::vector<std::pair<std::string, std::string>> properties;
  std::vector<std::string> required;
  bool strict = false;
  if (!collect(pointer, properties, required, strict, 0)) return {};
  std::vector<Field> fields;
  for (const auto& [name, place] : properties) {
    const bool needed = std::ranges::find(required, name) != required.end();
    fields.push_back({name, place, needed});
    fields.back().file = parts && is_file(place);
    fields.back().json = parameter_type(type_of(place, hint + "_" + name)).text.empty();
    fields.back().json_items = true;
  }
  return fields;
}

bool Types::is_empty_object(Bytes pointer) {
  std::vector<std::pair<std::string, std::string>> properties;
  std::vector<std::string> required;
  bool strict = false;
  return collect(pointer, properties, required, strict, 0) && properties.empty() && strict;
}

bool Types::is_file(Bytes pointer) const {
  const Bytes target = follow(pointer);
  const Object* const schema = at(target).get_object();
  if (schema == nullptr) return false;
  if (text_of(*schema, "type") == "array") return is_file(below(target, "items"));
  return text_of(*schema, "format") == "binary" || schema->find("contentMediaType") != nullptr;
}

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
