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

#include "katana/data/container/value.hpp"
#include "katana/data/schema/expression.hpp"
#include "katana/data/schema/formats.hpp"
#include "katana/data/schema/number.hpp"

namespace katana::schema {

using container::Value;
struct Node;

// A set of JSON's types. An integer is a number, too.
enum Type : std::uint8_t {
  null_type = 1,     // JSON null
  boolean_type = 2,  // true or false
  integer_type = 4,  // also 1.0
  number_type = 8,   // of an instance: not an integer
  string_type = 16,  // also bytes
  array_type = 32,   // a list of Value
  object_type = 64,  // an object of Value
  all_types = 127    // no `type` is given
};
// "an integer or null"
std::string words_of_types(std::uint8_t types);

// What has an `$id`, or is a whole document.
struct Resource {
  std::string uri;  // absolute, or of the options; no fragment
  std::map<std::string, const Node*, std::less<>> dynamic_anchors;  // `$dynamicAnchor`, by its name
};

// A name of `properties` or `required`.
struct Property {
  std::string name;              // of a member, as it is compared
  const Node* schema = nullptr;  // null: it is required, and nothing else is said of it
  bool is_required = false;      // named by `required`
};
// Of `patternProperties`.
struct PatternProperty {
  Expression expression;  // sought anywhere in a name
  const Node* schema;     // never null
};
// Of `dependentRequired`.
struct DependentNames {
  std::string name;                   // of a member, as it is compared
  std::vector<std::string> required;  // names that must be there, too
};
// Of `dependentSchemas`.
struct DependentSchema {
  std::string name;    // of a member, as it is compared
  const Node* schema;  // never null
};
// A `$dynamicRef`, resolved while an instance is evaluated.
struct DynamicReference {
  std::string anchor;   // empty: it is an ordinary reference
  const Node* initial;  // of the resource it stands in, unless an outer one has the anchor
};

// What decides: its keywords, or the schema is `true` or `false`.
enum class Judgement : std::uint8_t {
  keywords,  // each of Node that is given
  always,    // `true`
  never,     // `false`
};

// A schema at one place, its keywords ready to be applied. It does not change.
struct Node {
  std::string where;                              // "#/properties/age", for messages
  const Value* source = nullptr;                  // in Compiled::documents
  const Resource* resource = nullptr;             // that it stands in
  Judgement judgement = Judgement::keywords;      // otherwise nothing below is set
  std::uint8_t types = all_types;                 // a set of Type
  const Value* constant = nullptr;                // `const`; null: not given
  const container::List* alternatives = nullptr;  // `enum`

  std::optional<Number> minimum;      // inclusive
  std::optional<Number> maximum;      // inclusive
  std::optional<Number> above;        // exclusiveMinimum
  std::optional<Number> below;        // exclusiveMaximum
  std::optional<Number> multiple_of;  // above 0

  std::size_t length_min = 0;         // of strings, in code points
  std::size_t length_max = SIZE_MAX;  // likewise
  std::optional<Expression> pattern;  // of strings; finds anywhere
  FormatCheck format = nullptr;       // null: not known, or not asserted
  std::string format_name;            // for messages

  std::size_t items_min = 0;                // of arrays
  std::size_t items_max = SIZE_MAX;         // likewise
  std::size_t contained_min = 1;            // items that fit `contains`
  std::size_t contained_max = SIZE_MAX;     // likewise
  bool is_unique = false;                   // `uniqueItems`
  std::vector<const Node*> prefix_items;    // of the first items, in order
  const Node* items = nullptr;              // of items behind those
  const Node* contains = nullptr;           // of contained_min … contained_max items
  const Node* unevaluated_items = nullptr;  // of items that nothing else took

  std::size_t properties_min = 0;         // members of objects
  std::size_t properties_max = SIZE_MAX;  // likewise
  std::vector<Property> properties;       // in the order of the schema; required ones behind
  std::vector<std::uint32_t> by_name;     // indices of `properties`
  std::size_t required = 0;               // how many of `properties` are
  std::vector<PatternProperty> pattern_properties;  // each that matches a name holds
  const Node* additional_properties = nullptr;      // of members that neither names
  const Node* property_names = nullptr;             // of each name, as a string
  const Node* unevaluated_properties = nullptr;     // of members that nothing else took
  std::vector<DependentNames> dependent_required;   // by a member that is there
  std::vector<DependentSchema> dependent_schemas;   // hold for the whole object

  std::vector<const Node*> references;               // $ref
  std::vector<DynamicReference> dynamic_references;  // $dynamicRef
  std::vector<const Node*> all_of;                   // each holds
  std::vector<const Node*> any_of;                   // one or more hold
  std::vector<const Node*> one_of;                   // exactly one holds
  const Node* negated = nullptr;                     // not
  const Node* condition = nullptr;                   // if
  const Node* consequence = nullptr;                 // then
  const Node* alternative = nullptr;                 // else

  bool looks_at_items = false;       // any keyword of arrays
  bool looks_at_properties = false;  // any keyword of objects
  bool has_applicators = false;      // any that evaluates the same place again
  // Schemas that lead back to themselves may ask it the same thing of a value by several ways.
  bool is_repeated = false;

  // The property of that name; `expected` is where it is in all likelihood.
  const Property* find(Bytes name, std::size_t expected) const noexcept;
};

struct Compiled {
  std::deque<Node> nodes;          // pointed at: they never move
  std::deque<Resource> resources;  // likewise
  std::deque<Value> documents;     // what Node::source points into
  std::vector<const Node*> roots;  // of the pointers that were asked for, in their order
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
