#include "katana/openapi/generate/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <set>

#include "katana/data/container/value_rules.hpp"
#include "katana/data/schema/uri.hpp"
#include "katana/openapi/generate/schema_access.hpp"

namespace katana::openapi::generate {
namespace {

using container::List;
using container::Object;
using container::Value;

constexpr const char* octets_text = "std::vector<std::byte>";

}  // namespace

const Value& Types::at(Bytes pointer) const {
  static const Value anything = true;
  const Value* const value = api_.schemas.at(pointer);
  return value == nullptr ? anything : *value;
}

// The end of a chain of references.
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
  made_[key] = use(index);  // for a type that refers to itself
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
  coverage_.visit(pointer);
  if (const Value* const reference = schema.find("$ref")) {
    const std::string target = schema::fragment_of(reference->as_text());
    if (has_constraints(schema)) return make_parts(pointer, {target}, hint, slot);
    std::string name = target.substr(target.rfind('/') + 1);
    return type_of(target, name);
  }
  if (schema.find("const") != nullptr || schema.find("enum") != nullptr) {
    return enumeration(pointer, hint, slot);
  }
  if (std::optional<TypeText> chosen = make_choice(pointer, hint, slot)) return *chosen;
  bool nullable = false;
  const std::vector<std::string> types = types_of(schema, nullable);
  const auto as_nullable = [&](TypeText made) {
    made.nullable = made.nullable || nullable;
    return made;
  };
  const List* const all = list_of(schema, "allOf");
  if (all != nullptr && schema.find("properties") == nullptr) {
    std::vector<std::string> parts;
    for (std::size_t index = 0; index < all->size(); ++index) {
      parts.push_back(below(pointer, "allOf", index));
    }
    return as_nullable(make_parts(pointer, parts, hint, slot));
  }
  if (all != nullptr || schema.find("properties") != nullptr) {
    return as_nullable(structure(pointer, hint, slot));
  }
  if (types.empty()) return any();
  if (types.size() > 1) {
    coverage_.cover(pointer, "type");
    return as_nullable(any_of_types(pointer, hint, types));
  }
  const bool is_container = types[0] == "array" || types[0] == "object";
  TypeText made =
      is_container ? container_of(pointer, types[0], hint) : scalar(schema, types[0], pointer);
  if (made.text != any().text) coverage_.cover(pointer, "type");
  return as_nullable(std::move(made));
}

// "oneOf" and "anyOf", where they decide the type; nothing where they do not.
std::optional<TypeText> Types::make_choice(const std::string& pointer, const std::string& hint,
                                           std::size_t slot) {
  const Object& schema = at(pointer).as_object();
  bool nullable = false;
  const std::vector<std::string> types = types_of(schema, nullable);
  for (const Bytes key : {"oneOf", "anyOf"}) {
    const List* const list = list_of(schema, key);
    if (list == nullptr) continue;
    if (is_list_of_constants(*list)) return enumeration(pointer, hint, slot);
    std::vector<std::size_t> others;
    for (std::size_t index = 0; index < list->size(); ++index) {
      const Object* const each = (*list)[index].get_object();
      const bool null = each != nullptr && each->size() <= 2 && text_of(*each, "type") == "null";
      if (!null) others.push_back(index);
    }
    const bool optional = others.size() < list->size();
    const auto as_nullable = [&](TypeText made) {
      made.nullable = made.nullable || optional || nullable;
      return made;
    };
    const bool told_apart = schema.find("discriminator") != nullptr;
    const bool is_object = schema.find("properties") != nullptr;
    if (is_object && !told_apart) continue;
    if (others.size() == 1 && !is_object) {
      coverage_.cover(pointer, key);
      return as_nullable(make_parts(pointer, {below(pointer, key, others[0])}, hint, slot));
    }
    TypeText made = told_apart ? variant(pointer, hint, key, slot) : TypeText();
    if (made.text.empty()) made = any_of(pointer, hint, key, others);
    if (made.text != any().text) {
      coverage_.cover(pointer, key);
      if (fits_type(made, types)) coverage_.cover(pointer, "type");
    }
    return as_nullable(std::move(made));
  }
  return std::nullopt;
}

// One type for all of these schemas, and for the keywords around them.
TypeText Types::make_parts(const std::string& pointer, const std::vector<std::string>& parts,
                           const std::string& hint, std::size_t slot) {
  const Object& schema = at(pointer).as_object();
  if (list_of(schema, "allOf") != nullptr) coverage_.cover(pointer, "allOf");
  bool nullable = false;
  const std::vector<std::string> types = types_of(schema, nullable);
  Collected objects;
  const bool is_object = parts.size() > 1 || schema.find("$ref") != nullptr;
  if (is_object && collect(pointer, objects, 0) && !objects.properties.empty()) {
    return structure(pointer, hint, slot);
  }
  TypeText found = any();
  if (parts.size() == 1 && schema.find("$ref") == nullptr) {
    found = make(parts[0], hint, slot);
  } else {
    for (const std::string& each : parts) {
      TypeText made = type_of(each, hint + "_" + each.substr(each.rfind('/') + 1));
      if (made.text == any().text || made.text == found.text) continue;
      if (found.text != any().text && underlying(found).text != underlying(made).text) {
        warn(pointer, "'allOf' of other things than objects becomes any JSON value");
        return any();
      }
      found = std::move(made);
    }
  }
  if (found.text == any().text && types.size() == 1 && types[0] != "object") {
    return types[0] == "array" ? container_of(pointer, types[0], hint)
                               : scalar(schema, types[0], pointer);
  }
  if (found.text != any().text && fits_type(found, types)) coverage_.cover(pointer, "type");
  return found;
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
    miss_rules(part, found.back(), fmt::format("as an alternative of '{}'", key));
  }
  warn_of_overlaps(pointer, key, parts, found);
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
    // Bytes are text in JSON, which other texts beside them are, too.
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
    // With a tuple `items` is about the items behind it.
    const bool is_tuple = schema.find("prefixItems") != nullptr;
    if (is_tuple || schema.find("items") == nullptr) return list_of_these(any());
    if (schema.find("items")->get_object() != nullptr) coverage_.cover(pointer, "items");
    return list_of_these(type_of(below(pointer, "items"), hint + "_item"));
  }
  const Value* const more = schema.find("additionalProperties");
  if (more == nullptr || more->get_object() == nullptr || more->get_object()->empty() ||
      schema.find("patternProperties") != nullptr) {
    return any();
  }
  coverage_.cover(pointer, "additionalProperties");
  TypeText values = type_of(below(pointer, "additionalProperties"), hint + "_value");
  TypeText made{.text = "std::map<std::string, " + values.as_element() + ">",
                .uses = values.uses,
                .values = {values}};
  for (Use& each : made.uses) each.complete = values.wants_optional();
  return made;
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
  const Object& schema = at(pointer).as_object();
  const Choices choices = choices_of(pointer);
  bool has_null_type = false;
  const std::vector<std::string> types = types_of(schema, has_null_type);
  const bool null_fits = schema.find("type") == nullptr || has_null_type;
  std::vector<std::string> names;
  std::set<container::Kind> kinds;
  bool nullable = false;
  for (const Value& each : choices.values) {
    if (each.is_null()) {
      nullable = null_fits;
      continue;
    }
    if (!types.empty() && !std::ranges::any_of(types, [&](const std::string& type) {
          return container::has_type(each, type);
        })) {
      continue;
    }
    const bool is_text = each.kind() == container::Kind::text;
    kinds.insert(container::has_type(each, "integer") ? container::Kind::integer : each.kind());
    if (is_text && std::ranges::find(names, each.as_text()) == names.end()) {
      names.push_back(each.as_text());
    }
  }
  const bool all_texts = kinds == std::set{container::Kind::text};
  if (all_texts && names.size() <= members_max) {
    const std::size_t index = slot == std::string::npos ? declare(pointer, hint) : slot;
    Declared& type = declared_[index];
    type.form = Form::enumeration;
    Scope scope;
    for (const std::string& each : names) {
      type.names.emplace_back(scope.take(value_name(each)), each);
    }
    coverage_.cover(choices.covered);
    coverage_.cover(pointer, "type");
    TypeText made = use(index);
    made.nullable = nullable;
    return made;
  }
  using container::Kind;
  const bool all_numbers = !kinds.empty() && std::ranges::all_of(kinds, [](Kind each) {
    return each == Kind::integer || each == Kind::real;
  });
  const std::string_view type = all_texts                          ? "string"
                                : kinds == std::set{Kind::boolean} ? "boolean"
                                : all_numbers ? (kinds.contains(Kind::real) ? "number" : "integer")
                                              : "";
  if (type.empty()) return any();
  const bool is_declared_number = types.size() == 1 && types[0] == "number";
  TypeText made = scalar(schema, is_declared_number ? Bytes("number") : Bytes(type), pointer);
  coverage_.cover(pointer, "type");
  made.nullable = nullable;
  return made;
}

// The properties of an object, those of all parts of allOf included.
bool Types::collect(Bytes pointer, Collected& to, int depth) {
  const Object* const schema = at(pointer).get_object();
  if (schema == nullptr || depth > 32) return false;
  if (const Value* const reference = schema->find("$ref")) {
    if (!collect(schema::fragment_of(reference->as_text()), to, depth + 1)) return false;
    if (!has_constraints(*schema)) return true;
  }
  bool nullable = false;
  for (const std::string& each : types_of(*schema, nullable)) {
    if (each != "object") return false;
  }
  const auto cover = [&](Bytes keyword) { to.covered.emplace_back(pointer, keyword); };
  cover("type");
  if (const List* const all = list_of(*schema, "allOf")) {
    cover("allOf");
    for (std::size_t index = 0; index < all->size(); ++index) {
      if (!collect(below(pointer, "allOf", index), to, depth + 1)) return false;
    }
  }
  const bool chooses = schema->find("oneOf") != nullptr || schema->find("anyOf") != nullptr;
  if (chooses && schema->find("properties") == nullptr) return false;
  if (const Value* const own = schema->find("properties"); own != nullptr && own->get_object()) {
    cover("properties");
    for (const container::Member& each : own->as_object()) {
      std::string place = below(below(pointer, "properties"), each.name);
      if (each.name.empty()) {
        to.nameless = std::move(place);
        continue;
      }
      const auto known =
          std::ranges::find(to.properties, each.name, &std::pair<std::string, std::string>::first);
      if (known == to.properties.end()) {
        to.properties.emplace_back(each.name, std::move(place));
      } else {
        to.replaced.emplace_back(known->second, place);
        known->second = std::move(place);
      }
    }
  }
  if (const List* const names = list_of(*schema, "required")) {
    cover("required");
    for (const Value& each : *names) {
      if (each.kind() == container::Kind::text) to.required.push_back(each.as_text());
    }
  }
  const auto is_closed = [&](Bytes keyword) {
    const Value* const more = schema->find(keyword);
    return more != nullptr && *more == Value(false);
  };
  if (is_closed("additionalProperties")) {
    to.strict = true;
    to.strict_parts.emplace_back(pointer);
    cover("additionalProperties");
  }
  if (depth == 0 && is_closed("unevaluatedProperties")) {
    to.strict = true;
    cover("unevaluatedProperties");
  }
  return true;
}

// Adds warnings for keywords that a struct of these properties does not check.
void Types::check_collected(Bytes pointer, const Collected& from) {
  coverage_.cover(from.covered);
  for (const auto& [first, last] : from.replaced) {
    if (is_same(first, last)) continue;
    warn(last,
         "a property that several parts of 'allOf' describe has the type of the last one. The "
         "type does not check the rules of the others");
  }
  if (!from.nameless.empty()) {
    warn(from.nameless,
         "a property without a name is left out: it is not checked by its type. "
         "Give it a name");
  }
  for (const std::string& name : from.required) {
    if (name.empty()) continue;
    if (std::ranges::find(from.properties, name, &std::pair<std::string, std::string>::first) !=
        from.properties.end()) {
      continue;
    }
    warn(pointer, fmt::format("'{}' is required and no property: that it is there is not checked "
                              "by its type. Describe it in 'properties'",
                              name));
  }
  for (const std::string& part : from.strict_parts) {
    const Object* const schema = at(part).get_object();
    const Value* const own = schema == nullptr ? nullptr : schema->find("properties");
    const std::size_t count =
        own == nullptr || own->get_object() == nullptr ? 0 : own->as_object().size();
    if (count == from.properties.size() + (from.nameless.empty() ? 0 : 1)) continue;
    warn(part,
         "'additionalProperties: false' in a part of 'allOf' refuses the properties of the "
         "other parts, which its type takes. Use 'unevaluatedProperties: false' beside "
         "'allOf'");
  }
}

TypeText Types::structure(const std::string& pointer, const std::string& hint, std::size_t slot) {
  Collected found;
  if (!collect(pointer, found, 0)) {
    warn(pointer, "'allOf' of other things than objects becomes any JSON value");
    return any();
  }
  const auto& properties = found.properties;
  if (properties.empty()) return any();
  if (properties.size() > members_max) {
    warn(pointer, fmt::format("an object of {} properties becomes any JSON value; a struct has at "
                              "most {}",
                              properties.size(), members_max));
    return any();
  }
  const std::size_t index = slot == std::string::npos ? declare(pointer, hint) : slot;
  if (slot == std::string::npos) made_[pointer] = use(index);
  check_collected(pointer, found);
  cover_counts(pointer, found);
  declared_[index].form = Form::structure;  // for members that refer to it
  Declared made = declared_[index];
  made.strict = found.strict && found.nameless.empty();
  Scope scope;
  scope.take(made.name);
  for (const auto& [name, place] : properties) {
    const bool needed = std::ranges::find(found.required, name) != found.required.end();
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
  RuleText ruled = rules_of(pointer, member.type);
  coverage_.cover(ruled.covered);
  member.rules = std::move(ruled.rules);
  if (required && member.optional) member.rules.emplace_back("required");
  if (!required && !member.type.nullable) set_default(member, pointer);
  member.patch = member.optional && !required;
  const bool refuses_null = anything ? ruled.refuses_null : !member.type.nullable;
  if (member.patch && refuses_null) member.rules.emplace_back("not_null");
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
    text = real_text(value).value_or("");
  }
  if (text.empty()) return;
  member.optional = false;
  member.initialiser = std::move(text);
  member.rules.emplace_back("defaulted");
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
  std::vector<Collected> found(choices.size());
  bool fits = choices.size() > 1;
  for (std::size_t index = 0; fits && index < choices.size(); ++index) {
    auto& properties = found[index].properties;
    fits = targets.insert(choices[index].second).second &&
           collect(choices[index].second, found[index], 0);
    std::erase_if(properties, [&](const auto& each) { return each.first == property; });
    std::erase(found[index].required, property);
    fits = fits && !properties.empty() && properties.size() <= members_max;
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
    made.strict = found[each].strict && found[each].nameless.empty();
    coverage_.cover(found[each].covered);
    Scope scope;
    scope.take(made.name);
    const std::vector<std::string>& required = found[each].required;
    for (const auto& [member, place] : found[each].properties) {
      const bool needed = std::ranges::find(required, member) != required.end();
      const std::string own = choices[each].second;
      add_member(made, scope, member, place, needed, own.substr(own.rfind('/') + 1) + "_" + member);
    }
    declared_[part] = std::move(made);
  }
  declared_[index].alternatives = std::move(alternatives);
  declared_[index].discriminator = property;
  coverage_.cover(pointer, "discriminator");
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
    } else if (each.separator == nested_names || each.separator == own_names) {
      // As it is within JSON.
    } else if (TypeText type = parameter_type(member.type); !type.text.empty()) {
      type.nullable = member.type.nullable;
      member.type = std::move(type);
    }
    if (each.file) become_file(member);
    if (each.separator != '\0') made.separators.emplace_back(each.name, each.separator);
    member.patch = false;
    std::erase(member.rules, "not_null");
    // A list that is missing in a query is empty.
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
  Collected found;
  if (!collect(pointer, found, 0)) return {};
  std::vector<Field> fields;
  for (const auto& [name, place] : found.properties) {
    const bool needed = std::ranges::find(found.required, name) != found.required.end();
    fields.push_back({name, place, needed});
    fields.back().file = parts && is_file(place);
    fields.back().json = parameter_type(type_of(place, hint + "_" + name)).text.empty();
    fields.back().json_items = true;
  }
  return fields;
}

bool Types::is_empty_object(Bytes pointer) {
  Collected found;
  return collect(pointer, found, 0) && found.properties.empty() && found.strict;
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
