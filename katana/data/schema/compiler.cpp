#include "katana/data/schema/compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <utility>

#include "katana/base/values/described.hpp"
#include "katana/data/schema/formats.hpp"
#include "katana/data/schema/pointer.hpp"
#include "katana/data/schema/repetition.hpp"
#include "katana/data/schema/uri.hpp"

namespace katana::schema {

using container::Kind;
using container::List;
using container::Member;
using container::Object;

namespace {

constexpr Bytes dialect_2020_12 = "https://json-schema.org/draft/2020-12/schema";
constexpr Bytes validation_vocabulary = "https://json-schema.org/draft/2020-12/vocab/validation";
constexpr Bytes assertion_vocabulary =
    "https://json-schema.org/draft/2020-12/vocab/format-assertion";
constexpr std::size_t depth_max = 256;  // levels of nested schemas

// The way in which a keyword contains schemas.
enum class Holds : std::uint8_t { one, list, names };
constexpr std::pair<Bytes, Holds> keywords_with_schemas[] = {
    {"$defs", Holds::names},
    {"additionalProperties", Holds::one},
    {"allOf", Holds::list},
    {"anyOf", Holds::list},
    {"contains", Holds::one},
    {"contentSchema", Holds::one},
    {"definitions", Holds::names},
    {"dependentSchemas", Holds::names},
    {"else", Holds::one},
    {"if", Holds::one},
    {"items", Holds::one},
    {"not", Holds::one},
    {"oneOf", Holds::list},
    {"patternProperties", Holds::names},
    {"prefixItems", Holds::list},
    {"properties", Holds::names},
    {"propertyNames", Holds::one},
    {"then", Holds::one},
    {"unevaluatedItems", Holds::one},
    {"unevaluatedProperties", Holds::one},
};

// Thrown only within compile(), which converts it to a Result.
struct Invalid {
  std::string message;
};

// The place of a schema.
struct Place {
  Resource* resource = nullptr;
  std::string where;
};

// The requirements of a resource's dialect.
struct Dialect {
  bool has_validation = true;
  bool asserts_formats = false;
};

class Compiler {
 public:
  explicit Compiler(Options options) : options_(std::move(options)) {}

  std::shared_ptr<const Compiled> run(Value document, std::span<const std::string> pointers) {
    for (auto& [uri, each] : options_.documents) add_document(uri, std::move(each));
    const Value& root = add_document(options_.uri, std::move(document));
    for (const std::string& pointer : pointers) {
      const Value* const wanted = root.at(pointer);
      if (wanted == nullptr) throw Invalid{fmt::format("there is nothing at '#{}'", pointer)};
      if (!places_.contains(wanted)) {
        index(*wanted, {places_.at(&root).resource, "#" + pointer}, 0);
      }
      compiled_->roots.push_back(node_of(*wanted));
    }
    while (!waiting_.empty()) {
      const auto [value, node] = waiting_.back();
      waiting_.pop_back();
      fill(*value, *node);
    }
    for (Resource& resource : compiled_->resources) {
      for (const auto& [name, value] : dynamic_anchors_[&resource]) {
        if (const auto found = nodes_.find(value); found != nodes_.end()) {
          resource.dynamic_anchors.emplace(name, found->second);
        }
      }
    }
    mark_repeated(*compiled_);
    return compiled_;
  }

 private:
  const Value& add_document(Bytes uri, Value document) {
    const Value& kept = compiled_->documents.emplace_back(std::move(document));
    Resource& resource = add_resource(without_fragment(uri), kept);
    index(kept, {&resource, "#"}, 0);
    return kept;
  }

  Resource& add_resource(Bytes uri, const Value& root) {
    Resource& resource = compiled_->resources.emplace_back();
    resource.uri = std::string(uri);
    roots_.insert_or_assign(resource.uri, &root);
    resources_.insert_or_assign(resource.uri, &resource);
    return resource;
  }

  // ---- names and places ----

  void index(const Value& value, Place place, std::size_t depth) {
    if (depth > depth_max) throw Invalid{place.where + ": schemas are nested too deeply"};
    const Object* const schema = value.get_object();
    if (schema != nullptr) enter_resource(*schema, value, place);
    places_.insert_or_assign(&value, place);
    if (schema == nullptr) return;
    note_anchors(*schema, value, place);
    for (const auto& [keyword, holds] : keywords_with_schemas) {
      const Value* const held = schema->find(keyword);
      if (held == nullptr) continue;
      const std::string where = fmt::format("{}/{}", place.where, keyword);
      if (holds == Holds::one) {
        index(*held, {place.resource, where}, depth + 1);
      } else if (holds == Holds::list && held->get_list() != nullptr) {
        for (std::size_t number = 0; number < held->get_list()->size(); ++number) {
          index((*held->get_list())[number], {place.resource, fmt::format("{}/{}", where, number)},
                depth + 1);
        }
      } else if (holds == Holds::names && held->get_object() != nullptr) {
        for (const Member& member : *held->get_object()) {
          index(member.value, {place.resource, where + "/" + escaped(member.name)}, depth + 1);
        }
      }
    }
  }

  void enter_resource(const Object& schema, const Value& value, Place& place) {
    const std::string* const id = text_of(schema, "$id", place);
    if (id == nullptr) return;
    const std::string uri = resolve_uri(place.resource->uri, *id);
    place.resource = &add_resource(without_fragment(uri), value);
    if (!place.resource->uri.empty()) place.where = place.resource->uri + "#";
  }

  void note_anchors(const Object& schema, const Value& value, const Place& place) {
    for (const Bytes keyword : {Bytes("$anchor"), Bytes("$dynamicAnchor")}) {
      const std::string* const anchor = text_of(schema, keyword, place);
      if (anchor == nullptr) continue;
      anchors_[place.resource].insert_or_assign(*anchor, &value);
      if (keyword == "$dynamicAnchor") {
        dynamic_anchors_[place.resource].insert_or_assign(*anchor, &value);
      }
    }
  }

  static const std::string* text_of(const Object& schema, Bytes keyword, const Place& place) {
    const Value* const found = schema.find(keyword);
    if (found == nullptr) return nullptr;
    if (found->kind() != Kind::text) expect(place.where, keyword, "a string");
    return &found->as_text();
  }

  [[noreturn]] static void expect(Bytes where, Bytes keyword, Bytes what) {
    throw Invalid{fmt::format("{}/{}: expected {}", where, keyword, what)};
  }

  // ---- references ----

  const Value& resolve(const std::string& reference, const Place& place, Bytes keyword,
                       bool* through_dynamic_anchor = nullptr) {
    const std::string uri = resolve_uri(place.resource->uri, reference);
    const std::string target(without_fragment(uri));
    const auto root = roots_.find(target);
    if (root == roots_.end()) {
      throw Invalid{
          fmt::format("{}/{}: '{}' is in none of the documents that were given; nothing is fetched",
                      place.where, keyword, uri)};
    }
    Resource* const resource = resources_.at(target);
    const std::string fragment = fragment_of(uri);
    const Value* found = root->second;
    if (!fragment.empty() && fragment.front() != '/') {
      const auto& anchors = anchors_[resource];
      const auto anchor = anchors.find(fragment);
      found = anchor == anchors.end() ? nullptr : anchor->second;
      if (through_dynamic_anchor != nullptr) {
        *through_dynamic_anchor = dynamic_anchors_[resource].contains(fragment);
      }
    } else if (!fragment.empty()) {
      found = found->at(fragment);
    }
    if (found == nullptr) {
      throw Invalid{fmt::format("{}/{}: there is nothing at '{}'", place.where, keyword, uri)};
    }
    // The target is at a place that belongs to no keyword.
    if (!places_.contains(found)) index(*found, {resource, target + "#" + fragment}, 0);
    return *found;
  }

  // ---- nodes ----

  const Node* node_of(const Value& value) {
    if (const auto found = nodes_.find(&value); found != nodes_.end()) return found->second;
    Node& node = compiled_->nodes.emplace_back();
    nodes_.emplace(&value, &node);
    node.where = places_.at(&value).where;
    node.source = &value;
    node.resource = places_.at(&value).resource;
    waiting_.emplace_back(&value, &node);
    return &node;
  }

  void fill(const Value& value, Node& node) {
    const Object* const schema = value.get_object();
    if (schema == nullptr) {
      if (value.kind() != Kind::boolean) {
        throw Invalid{node.where + ": expected a schema: an object, true or false"};
      }
      node.judgement = value == Value(true) ? Judgement::always : Judgement::never;
      return;
    }
    current_ = &node;
    schema_ = schema;
    const Dialect dialect = dialect_of(*node.resource);
    fill_references();
    fill_applicators();
    if (dialect.has_validation) fill_assertions();
    fill_items(dialect);
    fill_properties(dialect);
    if (options_.assert_formats || dialect.asserts_formats) fill_format();
    node.has_applicators = !node.references.empty() || !node.dynamic_references.empty() ||
                           !node.all_of.empty() || !node.any_of.empty() || !node.one_of.empty() ||
                           node.negated != nullptr || node.condition != nullptr;
  }

  Dialect dialect_of(const Resource& resource) {
    const Value* const root = roots_.at(resource.uri);
    const Object* const schema = root->get_object();
    const Value* const named = schema == nullptr ? nullptr : schema->find("$schema");
    if (named == nullptr || named->kind() != Kind::text || named->as_text() == dialect_2020_12) {
      return {};
    }
    const auto found = roots_.find(without_fragment(named->as_text()));
    if (found == roots_.end()) {
      throw Invalid{fmt::format("{}#/$schema: '{}' is not supported; write '{}'", resource.uri,
                                named->as_text(), dialect_2020_12)};
    }
    const Value* const vocabularies = found->second->at("/$vocabulary");
    if (vocabularies == nullptr || vocabularies->get_object() == nullptr) return {};
    const Object& known = *vocabularies->get_object();
    return {known.find(validation_vocabulary) != nullptr,
            known.find(assertion_vocabulary) != nullptr};
  }

  const Value* keyword(Bytes name) const { return schema_->find(name); }
  [[noreturn]] void expect(Bytes name, Bytes what) const { expect(current_->where, name, what); }

  const Node* schema_at(Bytes name) {
    const Value* const found = keyword(name);
    return found == nullptr ? nullptr : node_of(*found);
  }
  std::vector<const Node*> schemas_at(Bytes name) {
    const Value* const found = keyword(name);
    if (found == nullptr) return {};
    const List* const list = found->get_list();
    if (list == nullptr || list->empty()) expect(name, "a list of schemas with one at least");
    std::vector<const Node*> made;
    for (const Value& each : *list) made.push_back(node_of(each));
    return made;
  }
  const Object* names_at(Bytes name, Bytes what) {
    const Value* const found = keyword(name);
    if (found == nullptr) return nullptr;
    if (found->get_object() == nullptr) expect(name, what);
    return found->get_object();
  }
  std::optional<Number> number_at(Bytes name) {
    const Value* const found = keyword(name);
    if (found == nullptr) return std::nullopt;
    if (const auto integer = found->get_integer()) return static_cast<Number>(*integer);
    if (const auto natural = found->get_natural()) return static_cast<Number>(*natural);
    if (const auto real = found->get_real()) return static_cast<Number>(*real);
    expect(name, "a number");
  }
  void count_at(Bytes name, std::size_t& count) {
    const auto number = number_at(name);
    if (!number) return;
    if (*number < 0 || !is_integer(*number)) expect(name, "an integer of 0 or more");
    count = *number > 1e18L ? SIZE_MAX : static_cast<std::size_t>(*number);
  }
  std::vector<std::string> texts_of(const Value& value, Bytes name) const {
    const List* const list = value.get_list();
    if (list == nullptr) expect(name, "a list of strings");
    std::vector<std::string> made;
    for (const Value& each : *list) {
      if (each.kind() != Kind::text) expect(name, "a list of strings");
      made.push_back(each.as_text());
    }
    return made;
  }
  Expression expression_of(Bytes text, Bytes name) const {
    auto made = Expression::compile(text);
    if (!made) {
      throw Invalid{fmt::format("{}/{}: {}", current_->where, name, made.error().describe())};
    }
    return *std::move(made);
  }

  void fill_references() {
    const Place place{const_cast<Resource*>(current_->resource), current_->where};
    if (const std::string* const given = text_of(*schema_, "$ref", place)) {
      current_->references.push_back(node_of(resolve(*given, place, "$ref")));
    }
    if (const std::string* const given = text_of(*schema_, "$dynamicRef", place)) {
      bool is_dynamic = false;
      const Value& initial = resolve(*given, place, "$dynamicRef", &is_dynamic);
      current_->dynamic_references.push_back(
          {is_dynamic ? fragment_of(*given) : std::string(), node_of(initial)});
      if (!is_dynamic) return;
      // Any of them may be the outermost resource: all must exist.
      for (const auto& [resource, anchors] : dynamic_anchors_) {
        if (const auto found = anchors.find(fragment_of(*given)); found != anchors.end()) {
          (void)node_of(*found->second);
        }
      }
    }
  }

  void fill_applicators() {
    Node& node = *current_;
    node.all_of = schemas_at("allOf");
    node.any_of = schemas_at("anyOf");
    node.one_of = schemas_at("oneOf");
    node.negated = schema_at("not");
    node.condition = schema_at("if");
    if (node.condition != nullptr) {
      node.consequence = schema_at("then");
      node.alternative = schema_at("else");
    }
    if (const Object* const found = names_at("dependentSchemas", "an object of schemas")) {
      for (const Member& each : *found) {
        node.dependent_schemas.push_back({each.name, node_of(each.value)});
      }
    }
  }

  void fill_assertions() {
    Node& node = *current_;
    if (const Value* const found = keyword("type")) node.types = types_of(*found);
    node.constant = keyword("const");
    if (const Value* const found = keyword("enum")) {
      node.alternatives = found->get_list();
      if (node.alternatives == nullptr) expect("enum", "a list");
    }
    node.minimum = number_at("minimum");
    node.maximum = number_at("maximum");
    node.above = number_at("exclusiveMinimum");
    node.below = number_at("exclusiveMaximum");
    node.multiple_of = number_at("multipleOf");
    if (node.multiple_of && *node.multiple_of <= 0) expect("multipleOf", "a number above 0");
    count_at("minLength", node.length_min);
    count_at("maxLength", node.length_max);
    if (const Value* const found = keyword("pattern")) {
      if (found->kind() != Kind::text) expect("pattern", "a regular expression");
      node.pattern = expression_of(found->as_text(), "pattern");
    }
  }

  std::uint8_t types_of(const Value& value) const {
    constexpr std::pair<Bytes, std::uint8_t> names[] = {
        {"null", null_type},     {"boolean", boolean_type}, {"integer", integer_type},
        {"number", number_type}, {"string", string_type},   {"array", array_type},
        {"object", object_type}};
    constexpr Bytes expected = "null, boolean, integer, number, string, array, object, or a list";
    std::uint8_t made = 0;
    const auto add = [&](const Value& name) {
      const auto* const found = name.kind() != Kind::text
                                    ? std::end(names)
                                    : std::ranges::find(names, Bytes(name.as_text()),
                                                        &std::pair<Bytes, std::uint8_t>::first);
      if (found == std::end(names)) expect("type", expected);
      made |= found->second;
    };
    if (value.get_list() == nullptr) {
      add(value);
    } else {
      for (const Value& each : *value.get_list()) add(each);
    }
    return made;
  }

  void fill_items(const Dialect& dialect) {
    Node& node = *current_;
    node.prefix_items = schemas_at("prefixItems");
    node.items = schema_at("items");
    node.contains = schema_at("contains");
    node.unevaluated_items = schema_at("unevaluatedItems");
    if (dialect.has_validation) {
      count_at("minItems", node.items_min);
      count_at("maxItems", node.items_max);
      count_at("minContains", node.contained_min);
      count_at("maxContains", node.contained_max);
      if (const Value* const found = keyword("uniqueItems")) {
        if (found->kind() != Kind::boolean) expect("uniqueItems", "true or false");
        node.is_unique = *found == Value(true);
      }
    }
    node.looks_at_items = !node.prefix_items.empty() || node.items != nullptr ||
                          node.contains != nullptr || node.unevaluated_items != nullptr ||
                          node.items_min != 0 || node.items_max != SIZE_MAX || node.is_unique;
  }

  void fill_properties(const Dialect& dialect) {
    Node& node = *current_;
    if (const Object* const found = names_at("properties", "an object of schemas")) {
      for (const Member& each : *found) {
        node.properties.push_back({each.name, node_of(each.value), false});
      }
    }
    if (const Object* const found = names_at("patternProperties", "an object of schemas")) {
      for (const Member& each : *found) {
        node.pattern_properties.push_back(
            {expression_of(each.name, "patternProperties"), node_of(each.value)});
      }
    }
    node.additional_properties = schema_at("additionalProperties");
    node.property_names = schema_at("propertyNames");
    node.unevaluated_properties = schema_at("unevaluatedProperties");
    if (dialect.has_validation) fill_names();
    node.by_name.resize(node.properties.size());
    for (std::uint32_t at = 0; at < node.by_name.size(); ++at) node.by_name[at] = at;
    std::ranges::sort(node.by_name, {},
                      [&](std::uint32_t at) { return Bytes(node.properties[at].name); });
    node.looks_at_properties = !node.properties.empty() || !node.pattern_properties.empty() ||
                               node.additional_properties != nullptr ||
                               node.property_names != nullptr ||
                               node.unevaluated_properties != nullptr || node.properties_min != 0 ||
                               node.properties_max != SIZE_MAX ||
                               !node.dependent_required.empty() || !node.dependent_schemas.empty();
  }

  void fill_names() {
    Node& node = *current_;
    count_at("minProperties", node.properties_min);
    count_at("maxProperties", node.properties_max);
    if (const Value* const found = keyword("required")) {
      for (std::string& name : texts_of(*found, "required")) {
        auto at = std::ranges::find(node.properties, name, &Property::name);
        if (at == node.properties.end()) {
          at = node.properties.insert(at, {std::move(name), nullptr, false});
        }
        if (is_of_other_direction(at->schema)) continue;
        node.required += at->is_required ? 0 : 1;
        at->is_required = true;
      }
    }
    if (const Object* const found = names_at("dependentRequired", "an object of lists of names")) {
      for (const Member& each : *found) {
        node.dependent_required.push_back({each.name, texts_of(each.value, "dependentRequired")});
      }
    }
  }

  // True for a property that only the other side sends. It may be missing although it is
  // `required`.
  bool is_of_other_direction(const Node* property) {
    if (options_.direction == Direction::any || property == nullptr) return false;
    const Bytes mark = options_.direction == Direction::request ? "readOnly" : "writeOnly";
    Place place{const_cast<Resource*>(property->resource), property->where};
    const Value* value = property->source;
    for (std::size_t steps = 0; steps < depth_max; ++steps) {
      const Object* const schema = value->get_object();
      if (schema == nullptr) return false;
      const Value* const found = schema->find(mark);
      if (found != nullptr) return *found == Value(true);
      const std::string* const reference = text_of(*schema, "$ref", place);
      if (reference == nullptr) return false;
      value = &resolve(*reference, place, "$ref");
      place = places_.at(value);
    }
    return false;
  }

  void fill_format() {
    const Value* const found = keyword("format");
    if (found == nullptr) return;
    if (found->kind() != Kind::text) expect("format", "the name of a format");
    current_->format = format_check(found->as_text());
    current_->format_name = found->as_text();
  }

  Options options_;
  std::shared_ptr<Compiled> compiled_ = std::make_shared<Compiled>();
  std::map<std::string, const Value*, std::less<>> roots_;
  std::map<std::string, Resource*, std::less<>> resources_;
  std::unordered_map<const Value*, Place> places_;
  std::unordered_map<const Value*, Node*> nodes_;
  std::map<const Resource*, std::map<std::string, const Value*, std::less<>>> anchors_,
      dynamic_anchors_;
  std::vector<std::pair<const Value*, Node*>> waiting_;
  Node* current_ = nullptr;
  const Object* schema_ = nullptr;
};

}  // namespace

Result<std::shared_ptr<const Compiled>> compile(Value document,
                                                std::span<const std::string> pointers,
                                                Options options) {
  try {
    return Compiler(std::move(options)).run(std::move(document), pointers);
  } catch (const Invalid& invalid) {
    return fail(Code::invalid_argument, invalid.message);
  }
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
