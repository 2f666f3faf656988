#include "katana/openapi/model/schema_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <optional>

#include "katana/base/text/format.hpp"
#include "katana/base/values/described.hpp"
#include "katana/data/schema/uri.hpp"
#include "katana/openapi/model/keywords.hpp"

namespace katana::openapi::model {
namespace {

using container::List;
using container::Object;
using container::Value;

using Form = KeywordForm;

bool is_true(const Node* node) {
  return node != nullptr && node->is(Node::Kind::boolean) && scalar_value(*node) == Value(true);
}

// "#/components/schemas/Page%3CUser%3E"
std::string reference_to(Bytes name) {
  std::string pointer = "#/components/schemas";
  append_pointer(pointer, name);
  std::string reference;
  for (const char c : pointer) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       Bytes("-._~!$&'()*+,;=:@/?#").find(c) != Bytes::npos;
    if (plain) {
      reference += c;
    } else {
      fmt::format_to(std::back_inserter(reference), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return reference;
}

// "User_name" of "/components/schemas/User/properties/name"; of a whole file its name.
std::string name_in_place(const Source& source, Bytes pointer) {
  std::vector<std::string> steps;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const Bytes step = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(step.size());
    static constexpr Bytes structure[] = {"components", "schemas",    "definitions",
                                          "$defs",      "properties", "schema",
                                          "paths",      "responses",  "content"};
    if (std::ranges::find(structure, step) == std::end(structure)) steps.emplace_back(step);
  }
  if (steps.empty()) steps.push_back(std::filesystem::path(source.name()).stem().string());
  if (steps.size() > 2) steps.erase(steps.begin(), steps.end() - 2);
  std::string name = steps.size() == 1 ? steps[0] : steps[0] + "_" + steps[1];
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
    if (!plain) c = '_';
  }
  return name.empty() ? "schema" : name;
}

}  // namespace

Dialect SchemaSet::dialect_of(const Source& source) const {
  const Node& root = source.root();
  if (root.find("swagger") != nullptr) return Dialect::swagger_2_0;
  const Node* const version = root.find("openapi");
  if (version == nullptr) return dialect_;
  return version->text.starts_with("3.0") ? Dialect::openapi_3_0 : Dialect::openapi_3_1;
}

SchemaSet::Scope SchemaSet::scope_of(const NodeAt& node, std::string base) const {
  return {node.source, std::move(base), dialect_of(*node.source)};
}

std::string SchemaSet::unused_name(const std::string& wanted) {
  std::string name = wanted;
  for (int number = 2; !names_.insert(name).second; ++number) {
    name = fmt::format("{}_{}", wanted, number);
  }
  return name;
}

// The end of a chain of references that have no other keywords around them.
NodeAt SchemaSet::final_target(NodeAt node) {
  for (int hops = 0; hops < 32; ++hops) {
    const Node* const reference = node.node->find("$ref");
    const bool alone =
        reference != nullptr && reference->is(Node::Kind::text) && node.node->items.size() == 1;
    if (!alone) return node;
    const NodeAt next = sources_.resolve(reference->text, node.to(*reference));
    if (!next) return node;
    node = next;
  }
  return node;
}

void SchemaSet::add_components(const NodeAt& components) {
  if (!components.node->is(Node::Kind::object)) {
    problems_.error(components.location(), fmt::format("expected an object of schemas, got {}",
                                                       components.node->kind_name()));
    return;
  }
  const Node& all = *components.node;
  for (std::size_t index = 0; index < all.items.size(); ++index) {
    if (is_extension(all.keys[index], all.items[index])) continue;
    names_.insert(all.keys[index].name);
    by_node_.emplace(&all.items[index], named_.size());
    named_.push_back({all.keys[index].name, components.to(all.items[index]), {}, true});
  }
  // A component that only refers to another file gives its name to the schema there.
  const std::size_t count = named_.size();
  for (std::size_t index = 0; index < count; ++index) {
    const NodeAt target = final_target(named_[index].node);
    if (target.source == components.source) continue;
    if (by_node_.emplace(target.node, index).second) named_[index].node = target;
  }
}

std::string SchemaSet::name_of(const NodeAt& target, std::string base) {
  const auto known = by_node_.find(target.node);
  if (known != by_node_.end()) return named_[known->second].name;
  std::string name =
      unused_name(name_in_place(*target.source, target.source->pointer_at(target.node->position)));
  by_node_.emplace(target.node, named_.size());
  named_.push_back({name, target, std::move(base)});
  return name;
}

// The name of the schema that `reference` refers to; empty: there is none, which was reported.
std::string SchemaSet::target_of(const Node& reference, const Scope& scope) {
  const NodeAt at{scope.source, &reference};
  if (!reference.is(Node::Kind::text)) {
    problems_.error(at.location(),
                    fmt::format("expected a reference as text, got {}", reference.kind_name()));
    return {};
  }
  NodeAt target = sources_.resolve(reference.text, at, scope.base);
  if (!target) return {};
  if (!by_node_.contains(target.node)) target = final_target(target);
  // Below an `$id` references are relative to it. Their targets have that base as well, when they
  // are in the same file.
  const bool same = target.source == scope.source && target.node != &target.source->root();
  return name_of(target, same ? scope.base : std::string());
}

SchemaAt SchemaSet::use(const NodeAt& schema) {
  const Scope scope = scope_of(schema, {});
  const Node* const reference = schema.node->find("$ref");
  if (reference != nullptr &&
      (schema.node->items.size() == 1 || scope.dialect != Dialect::openapi_3_1)) {
    const Value translated = translate(*schema.node, scope);
    const Object& object = translated.as_object();
    const bool alone = object.size() == 1 || scope.dialect != Dialect::openapi_3_1;
    if (object.find("$ref") != nullptr && alone) {
      std::string pointer = schema::fragment_of(object.find("$ref")->as_text());
      return {std::move(pointer), schema.location()};
    }
  }
  const auto [known, is_new] = inline_by_node_.try_emplace(schema.node, inline_.size());
  if (is_new) {
    inline_.emplace_back();
    inline_nodes_.push_back(schema);
    inline_.back() = translate(*schema.node, scope);
  }
  return {fmt::format("/inline/{}", known->second), schema.location()};
}

void SchemaSet::finish(Description& description) {
  for (; translated_ < named_.size(); ++translated_) {
    const NodeAt node = named_[translated_].node;
    Value value = translate(*node.node, scope_of(node, named_[translated_].base));
    named_[translated_].value = std::move(value);
  }
  Object schemas;
  schemas.reserve(named_.size());
  for (Named& each : named_) {
    std::string pointer = "/components/schemas";
    append_pointer(pointer, Bytes(each.name));
    description.schema_nodes[pointer] = each.node;
    description.schema_names.push_back(
        {each.name, {std::move(pointer), each.node.location()}, each.is_component});
    schemas.add(std::move(each.name), std::move(each.value));
  }
  for (std::size_t index = 0; index < inline_nodes_.size(); ++index) {
    description.schema_nodes[fmt::format("/inline/{}", index)] = inline_nodes_[index];
  }
  description.schemas = Object{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                               {"components", Object{{"schemas", std::move(schemas)}}},
                               {"inline", std::move(inline_)}};
}

Value SchemaSet::translate(const Node& node, const Scope& scope) {
  const NodeAt at{scope.source, &node};
  if (++schemas_ > sources_.limits().schemas_max) {
    problems_.error(at.location(), fmt::format("more than {} schemas. Split the description",
                                               sources_.limits().schemas_max));
    return true;
  }
  if (node.is(Node::Kind::boolean)) return scalar_value(node);
  if (node.is(Node::Kind::object)) return translate_object(node, scope);
  problems_.error(at.location(),
                  fmt::format("expected a schema, which is an object, got {}", node.kind_name()));
  return true;
}

Value SchemaSet::translate_object(const Node& node, const Scope& outer) {
  const Node* const id = node.find("$id");
  const bool has_id = id != nullptr && id->is(Node::Kind::text);
  Scope inner;
  if (has_id) {
    const Bytes base = outer.base.empty() ? Bytes(outer.source->uri()) : Bytes(outer.base);
    inner = {outer.source, schema::resolve_uri(base, id->text), outer.dialect};
  }
  const Scope& scope = has_id ? inner : outer;
  const Node* const reference = node.find("$ref");
  if (reference != nullptr) return translate_reference(node, *reference, scope);
  Object object;
  object.reserve(node.items.size());
  const Node* const tuple = node.find("items");
  const bool is_tuple = tuple != nullptr && tuple->is(Node::Kind::list);
  for (std::size_t index = 0; index < node.items.size(); ++index) {
    if (is_tuple && node.keys[index].name == "additionalItems") {
      object.set("items", translate(node.items[index], scope));
    } else {
      add_keyword(object, node.keys[index], node.items[index], scope);
    }
  }
  translate_bounds(object, node, scope);
  if (scope.dialect == Dialect::openapi_3_1) return object;
  if (is_true(node.find("nullable")) || is_true(node.find("x-nullable"))) {
    return with_null(std::move(object));
  }
  return object;
}

Value SchemaSet::translate_reference(const Node& node, const Node& reference, const Scope& scope) {
  Object object;
  const std::string target = target_of(reference, scope);
  if (!target.empty()) object.set("$ref", reference_to(target));
  for (std::size_t index = 0; index < node.items.size(); ++index) {
    const Node::Key& key = node.keys[index];
    if (key.name == "$ref") continue;
    if (scope.dialect == Dialect::openapi_3_1 || key.name == "description" || key.name == "title" ||
        key.name.starts_with("x-")) {
      add_keyword(object, key, node.items[index], scope);
    } else if (key.name != "summary") {
      problems_.warning({scope.source, key.position},
                        fmt::format("'{}' beside $ref has no effect in OpenAPI before 3.1. Put the "
                                    "reference into allOf to have both",
                                    key.name));
    }
  }
  return object;
}

bool SchemaSet::check_kind(const Node& value, Bytes key, const Scope& scope) {
  const Form form = keyword_of(key)->form;
  const auto expect = [&](bool fits, Bytes expected) {
    if (!fits) {
      problems_.error({scope.source, value.position},
                      fmt::format("expected {} as '{}', got {}", expected, key, value.kind_name()));
    }
    return fits;
  };
  switch (form) {
    case Form::text: {
      // A value that YAML takes for a number or a boolean was meant as text.
      const bool scalar = !value.is(Node::Kind::list) && !value.is(Node::Kind::object);
      return expect(scalar && !value.is(Node::Kind::null), "text");
    }
    case Form::boolean: return expect(value.is(Node::Kind::boolean), "true or false");
    case Form::number: return expect(value.is(Node::Kind::number), "a number");
    case Form::natural:
      return expect(value.is(Node::Kind::number) && !value.text.starts_with('-'),
                    "a number that is not negative");
    case Form::list:
    case Form::schemas:
    case Form::names: return expect(value.is(Node::Kind::list), "a list");
    case Form::map: return expect(value.is(Node::Kind::object), "an object");
    default: return true;
  }
}

void SchemaSet::note_unknown(const Node::Key& key, const Scope& scope) {
  if (key.name.starts_with("x-")) return;
  problems_.warning(
      {scope.source, key.position},
      fmt::format("'{}' is not a keyword of a schema: it has no effect. Remove it, or "
                  "name it 'x-{}'",
                  key.name, key.name));
}

void SchemaSet::add_keyword(Object& to, const Node::Key& key, const Node& value,
                            const Scope& scope) {
  const Keyword* const keyword = keyword_of(key.name);
  if (keyword == nullptr) {
    note_unknown(key, scope);
    to.set(key.name, to_value(value));
    return;
  }
  if (keyword->only_3_1 && scope.dialect != Dialect::openapi_3_1) {
    problems_.warning(
        {scope.source, key.position},
        fmt::format("'{}' is a keyword of OpenAPI 3.1, and is taken as one", key.name));
  }
  if (key.name == "required" && value.is(Node::Kind::boolean)) {
    problems_.warning({scope.source, value.position},
                      "'required' lists names in the schema of the object: ignored here");
    return;
  }
  if (key.name == "nullable" && scope.dialect == Dialect::openapi_3_1) {
    problems_.warning({scope.source, key.position},
                      "'nullable' has no effect in OpenAPI 3.1. Add \"null\" to the type");
  }
  if (key.name == "items" && value.is(Node::Kind::list)) return add_tuple(to, key, value, scope);
  if (!check_kind(value, key.name, scope)) return;
  switch (keyword->form) {
    case Form::schema: to.set(key.name, translate(value, scope)); return;
    case Form::schemas: to.set(key.name, translate_list(value, scope)); return;
    case Form::map: to.set(key.name, translate_map(value, scope)); return;
    case Form::text: to.set(key.name, value.text); return;
    case Form::dropped: return;
    case Form::special: break;
    default: to.set(key.name, to_value(value)); return;
  }
  if (key.name == "type") {
    add_type(to, value, scope);
  } else if (key.name == "discriminator") {
    add_discriminator(to, value, scope);
  } else if (key.name == "$dynamicRef") {
    add_dynamic_reference(to, value, scope);
  } else if (key.name == "example") {
    if (to.find("examples") == nullptr) to.set("examples", List{to_value(value)});
  } else if (key.name == "$schema") {
    if (value.text.find("2020-12") == Bytes::npos && value.text.find("/oas/") == Bytes::npos) {
      problems_.warning({scope.source, value.position},
                        fmt::format("'{}' is read as JSON Schema 2020-12", value.text));
    }
  } else if (value.is(Node::Kind::number)) {  // exclusiveMinimum, exclusiveMaximum
    to.set(key.name, to_value(value));
  } else if (value.is(Node::Kind::boolean)) {
    if (scope.dialect == Dialect::openapi_3_1) {
      problems_.warning(
          {scope.source, value.position},
          fmt::format("'{}' as a boolean is of OpenAPI 3.0, and is taken as that", key.name));
    }
  } else {
    problems_.error({scope.source, value.position},
                    fmt::format("expected a number as '{}', got {}", key.name, value.kind_name()));
  }
}

// Drafts before 2020-12 have a tuple as a list of `items`, and the items behind it as
// `additionalItems`.
void SchemaSet::add_tuple(Object& to, const Node::Key& key, const Node& value, const Scope& scope) {
  problems_.warning({scope.source, key.position},
                    "'items' as a list is a tuple of older drafts, and is taken as 'prefixItems'. "
                    "Write 'prefixItems'");
  if (!value.items.empty()) to.set("prefixItems", translate_list(value, scope));
}

Value SchemaSet::translate_list(const Node& list, const Scope& scope) {
  List schemas;
  schemas.reserve(list.items.size());
  for (const Node& each : list.items) schemas.push_back(translate(each, scope));
  if (schemas.empty()) {
    problems_.error({scope.source, list.position}, "expected at least one schema in the list");
    schemas.emplace_back(true);
  }
  return schemas;
}

Value SchemaSet::translate_map(const Node& map, const Scope& scope) {
  Object schemas;
  schemas.reserve(map.items.size());
  for (std::size_t index = 0; index < map.items.size(); ++index) {
    if (is_extension(map.keys[index], map.items[index])) continue;
    schemas.add(map.keys[index].name, translate(map.items[index], scope));
  }
  return schemas;
}

void SchemaSet::add_type(Object& to, const Node& value, const Scope& scope) {
  static constexpr Bytes types[] = {"null",   "boolean", "object", "array",
                                    "number", "integer", "string"};
  const auto is_known = [&](const Node& type) {
    if (type.is(Node::Kind::null)) return true;  // YAML without quotes
    const bool known =
        type.is(Node::Kind::text) && std::ranges::find(types, Bytes(type.text)) != std::end(types);
    if (!known) {
      problems_.error({scope.source, type.position},
                      fmt::format("unknown type '{}'. Use one of null, boolean, object, array, "
                                  "number, integer, string",
                                  type.text.empty() ? type.kind_name() : Bytes(type.text)));
    }
    return known;
  };
  const auto name = [](const Node& type) {
    return type.is(Node::Kind::null) ? std::string("null") : type.text;
  };
  if (value.is(Node::Kind::list)) {
    List list;
    for (const Node& each : value.items) {
      if (is_known(each)) list.emplace_back(name(each));
    }
    if (scope.dialect != Dialect::openapi_3_1) {
      problems_.warning({scope.source, value.position},
                        "a list of types is of OpenAPI 3.1, and is taken as one");
    }
    if (!list.empty()) to.set("type", std::move(list));
  } else if (scope.dialect == Dialect::swagger_2_0 && value.text == "file") {
    to.set("type", "string");
    to.set("format", "binary");
  } else if (is_known(value)) {
    to.set("type", name(value));
  }
}

void SchemaSet::add_discriminator(Object& to, const Node& value, const Scope& scope) {
  const Node* const property = value.is(Node::Kind::text) ? &value : value.find("propertyName");
  if (property == nullptr || !property->is(Node::Kind::text)) {
    problems_.error({scope.source, value.position},
                    "expected a discriminator with its 'propertyName'");
    return;
  }
  Object discriminator{{"propertyName", property->text}};
  const Node* const mapping = value.find("mapping");
  if (mapping != nullptr) {
    Object translated;
    for (std::size_t index = 0; index < mapping->items.size(); ++index) {
      const Node& target = mapping->items[index];
      const bool extension =
          mapping->keys[index].name.starts_with("x-") && !target.is(Node::Kind::text);
      if (extension) continue;
      const bool is_name = names_.contains(target.text);
      const std::string name = is_name ? target.text : target_of(target, scope);
      if (!name.empty()) translated.set(mapping->keys[index].name, reference_to(name));
    }
    discriminator.set("mapping", std::move(translated));
  }
  for (std::size_t index = 0; index < value.keys.size(); ++index) {
    const std::string& name = value.keys[index].name;
    if (name.starts_with("x-")) discriminator.set(name, to_value(value.items[index]));
  }
  to.set("discriminator", std::move(discriminator));
}

// Translates a dynamic reference. With one anchor of that name it is like any other reference.
void SchemaSet::add_dynamic_reference(Object& to, const Node& value, const Scope& scope) {
  const std::string name = schema::fragment_of(value.text);
  std::vector<NodeAt> found;
  for (const auto& source : sources_.all()) {
    std::vector<const Node*> open{&source->root()};
    while (!open.empty()) {
      const Node& node = *open.back();
      open.pop_back();
      const Node* const anchor = node.find("$dynamicAnchor");
      if (anchor != nullptr && anchor->text == name) found.push_back({source, &node});
      for (const Node& each : node.items) open.push_back(&each);
    }
  }
  if (found.size() != 1) {
    problems_.error({scope.source, value.position},
                    fmt::format("'$dynamicRef' to '{}' is supported when there is one "
                                "$dynamicAnchor of that name; there are {}",
                                value.text, found.size()));
    return;
  }
  to.set("$ref", reference_to(name_of(found[0], {})));
}

// `exclusiveMinimum: true` beside `minimum`, and likewise for the maximum.
void SchemaSet::translate_bounds(Object& object, const Node& node, const Scope& scope) {
  for (const auto& [bound, exclusive] : {std::pair<Bytes, Bytes>("minimum", "exclusiveMinimum"),
                                         std::pair<Bytes, Bytes>("maximum", "exclusiveMaximum")}) {
    const Node* const flag = node.find(exclusive);
    if (!is_true(flag)) continue;
    if (const Value* const limit = object.find(bound)) {
      Value moved = *limit;
      object.erase(bound);
      object.set(exclusive, std::move(moved));
    } else {
      problems_.warning({scope.source, flag->position},
                        fmt::format("'{}' has no effect without '{}'", exclusive, bound));
    }
  }
}

// Applies `nullable`. This includes a schema without a type, which only combines others: authors
// use it so.
Value SchemaSet::with_null(Object object) const {
  Value* const type = object.find("type");
  if (Value* const choices = object.find("enum")) {
    List& list = choices->as_list();
    if (std::ranges::find(list, Value()) == list.end()) list.emplace_back();
  }
  if (type == nullptr) {
    const bool combines = object.find("allOf") != nullptr || object.find("anyOf") != nullptr ||
                          object.find("oneOf") != nullptr;
    if (!combines) return object;
    Object wrapped;
    wrapped.set("anyOf", List{Value(std::move(object)), Object{{"type", "null"}}});
    return wrapped;
  }
  List types = type->get_list() != nullptr ? type->as_list() : List{*type};
  if (std::ranges::find(types, Value("null")) == types.end()) types.emplace_back("null");
  *type = std::move(types);
  return object;
}

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
