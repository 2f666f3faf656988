// Compiled: what a schema says, ready to be evaluated: its keywords with their values checked, and
// its references resolved.
//
// Owns       its nodes, resources and expressions; the documents, which constants refer to.
// Thread     any, once it is compiled.
// Invariant  a Node is referred to by address: nodes do not move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/container/value.hpp"
#include "katana/schema/expression.hpp"
#include "katana/schema/number.hpp"

namespace katana::schema {

using container::Value;
struct Node;

// A set of JSON's types. An integer is a number, too.
enum Type : std::uint8_t {
  null_type = 1,
  boolean_type = 2,
  integer_type = 4,
  number_type = 8,
  string_type = 16,
  array_type = 32,
  object_type = 64,
  all_types = 127
};
// "an integer or null"
std::string words_of_types(std::uint8_t types);

// What has an `$id`, or is a whole document.
struct Resource {
  std::string uri;
  std::map<std::string, const Node*, std::less<>> dynamic_anchors;
};

struct Property {
  std::string name;
  const Node* schema = nullptr;  // null: it is required, and nothing else is said of it
  bool is_required = false;
};
struct PatternProperty {
  Expression expression;
  const Node* schema;
};
struct DependentNames {
  std::string name;
  std::vector<std::string> required;
};
struct DependentSchema {
  std::string name;
  const Node* schema;
};
struct DynamicReference {
  std::string anchor;  // empty: it is an ordinary reference
  const Node* initial;
};

enum class Judgement : std::uint8_t { keywords, always, never };

struct Node {
  std::string where;  // "#/properties/age", for messages
  const Value* source = nullptr;
  const Resource* resource = nullptr;
  Judgement judgement = Judgement::keywords;
  std::uint8_t types = all_types;
  const Value* constant = nullptr;
  const container::List* alternatives = nullptr;  // `enum`

  std::optional<Number> minimum, maximum, above, below;  // above: exclusiveMinimum
  std::optional<Number> multiple_of;

  std::size_t length_min = 0, length_max = SIZE_MAX;
  std::optional<Expression> pattern;
  bool (*format)(Bytes) = nullptr;
  std::string format_name;

  std::size_t items_min = 0, items_max = SIZE_MAX;
  std::size_t contained_min = 1, contained_max = SIZE_MAX;
  bool is_unique = false;
  std::vector<const Node*> prefix_items;
  const Node* items = nullptr;
  const Node* contains = nullptr;
  const Node* unevaluated_items = nullptr;

  std::size_t properties_min = 0, properties_max = SIZE_MAX;
  std::vector<Property> properties;    // in the order of the schema; required ones behind
  std::vector<std::uint32_t> by_name;  // indices of `properties`
  std::size_t required = 0;
  std::vector<PatternProperty> pattern_properties;
  const Node* additional_properties = nullptr;
  const Node* property_names = nullptr;
  const Node* unevaluated_properties = nullptr;
  std::vector<DependentNames> dependent_required;
  std::vector<DependentSchema> dependent_schemas;

  std::vector<const Node*> references;  // $ref
  std::vector<DynamicReference> dynamic_references;
  std::vector<const Node*> all_of, any_of, one_of;
  const Node* negated = nullptr;  // not
  const Node* condition = nullptr;
  const Node* consequence = nullptr;
  const Node* alternative = nullptr;

  bool looks_at_items = false;       // any keyword of arrays
  bool looks_at_properties = false;  // any keyword of objects
  bool has_applicators = false;      // any that evaluates the same place again

  // The property of that name; `expected` is where it is in all likelihood.
  const Property* find(Bytes name, std::size_t expected) const noexcept;
};

struct Compiled {
  std::deque<Node> nodes;
  std::deque<Resource> resources;
  std::deque<Value> documents;
  std::vector<const Node*> roots;  // of the pointers that were asked for, in their order
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
