// Compiled: a schema that is ready for evaluation, with checked keywords and resolved references.
//
// Owns       its nodes, resources and expressions; the documents, which constants refer to.
// Thread     any, once it is compiled.
// Invariant  nodes do not move, because other nodes refer to them by address.
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
  number_type = 8,   // for an instance: not an integer
  string_type = 16,  // also bytes
  array_type = 32,   // a list of Value
  object_type = 64,  // an object of Value
  all_types = 127    // no `type` is given
};
// The types for a message: "an integer or null".
std::string words_of_types(std::uint8_t types);

// A schema with an `$id`, or a whole document.
struct Resource {
  std::string uri;  // absolute, or from the options; without a fragment
  std::map<std::string, const Node*, std::less<>> dynamic_anchors;  // `$dynamicAnchor`, by its name
};

// A name of `properties` or `required`.
struct Property {
  std::string name;              // name of the member, without escapes
  const Node* schema = nullptr;  // null: the member is only required
  bool is_required = false;      // named by `required`
};
// An entry of `patternProperties`.
struct PatternProperty {
  Expression expression;  // may match anywhere in a name
  const Node* schema;     // never null
};
// An entry of `dependentRequired`.
struct DependentNames {
  std::string name;                   // name of the member, without escapes
  std::vector<std::string> required;  // names that must be present, too
};
// An entry of `dependentSchemas`.
struct DependentSchema {
  std::string name;    // name of the member, without escapes
  const Node* schema;  // never null
};
// A `$dynamicRef`, resolved while an instance is evaluated.
struct DynamicReference {
  std::string anchor;   // empty: an ordinary reference
  const Node* initial;  // the target in its resource, unless an outer one has the anchor
};

// The way in which a schema decides: by its keywords, or it is `true` or `false`.
enum class Judgement : std::uint8_t {
  keywords,  // all given keywords of the Node
  always,    // `true`
  never,     // `false`
};

// A schema at one place, with keywords that are ready for evaluation. It does not change.
struct Node {
  std::string where;                              // "#/properties/age", for messages
  const Value* source = nullptr;                  // its value in Compiled::documents
  const Resource* resource = nullptr;             // the resource that contains it
  Judgement judgement = Judgement::keywords;      // otherwise nothing below is set
  std::uint8_t types = all_types;                 // a set of Type
  const Value* constant = nullptr;                // `const`; null: not given
  const container::List* alternatives = nullptr;  // `enum`

  std::optional<Number> minimum;      // inclusive
  std::optional<Number> maximum;      // inclusive
  std::optional<Number> above;        // exclusiveMinimum
  std::optional<Number> below;        // exclusiveMaximum
  std::optional<Number> multiple_of;  // above 0

  std::size_t length_min = 0;         // strings: code points
  std::size_t length_max = SIZE_MAX;  // likewise
  std::optional<Expression> pattern;  // strings: may match anywhere
  FormatCheck format = nullptr;       // null: not known, or not asserted
  std::string format_name;            // for messages

  std::size_t items_min = 0;                // arrays: number of items
  std::size_t items_max = SIZE_MAX;         // likewise
  std::size_t contained_min = 1;            // number of items that fit `contains`
  std::size_t contained_max = SIZE_MAX;     // likewise
  bool is_unique = false;                   // `uniqueItems`
  std::vector<const Node*> prefix_items;    // schemas of the first items, in order
  const Node* items = nullptr;              // schema of the items behind those
  const Node* contains = nullptr;           // contained_min … contained_max items fit it
  const Node* unevaluated_items = nullptr;  // schema of items that no keyword evaluated

  std::size_t properties_min = 0;         // objects: number of members
  std::size_t properties_max = SIZE_MAX;  // likewise
  std::vector<Property> properties;       // in the order of the schema; required ones behind
  std::vector<std::uint32_t> by_name;     // indices of `properties`
  std::size_t required = 0;               // number of required ones in `properties`
  std::vector<PatternProperty> pattern_properties;  // all that match a name apply
  const Node* additional_properties = nullptr;      // schema of members that neither names
  const Node* property_names = nullptr;             // schema of each name, as a string
  const Node* unevaluated_properties = nullptr;     // schema of members no keyword evaluated
  std::vector<DependentNames> dependent_required;   // apply if the named member is present
  std::vector<DependentSchema> dependent_schemas;   // likewise, to the whole object

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
  bool has_applicators = false;      // any keyword that evaluates the same place again
  // True: recursive schemas may evaluate it for the same value by several paths.
  bool is_repeated = false;

  // The property of that name; `expected` is its most likely index.
  const Property* find(Bytes name, std::size_t expected) const noexcept;
};

struct Compiled {
  std::deque<Node> nodes;          // never move, because other nodes point to them
  std::deque<Resource> resources;  // likewise
  std::deque<Value> documents;     // targets of Node::source
  std::vector<const Node*> roots;  // schemas at the requested pointers, in their order
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
