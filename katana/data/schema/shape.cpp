#include "katana/data/schema/shape.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>
#include <utility>

#include "katana/data/schema/value_view.hpp"

namespace katana::schema {
namespace {

std::uint8_t with_integers(std::uint8_t types) noexcept {
  return (types & number_type) == 0 ? types : types | integer_type;
}

std::uint8_t types_of(const Value& value) noexcept {
  return static_cast<std::uint8_t>(ValueView(value).type());
}

// The known types of nodes that were visited already. A recursive node has all types.
using KnownTypes = std::vector<std::pair<const Node*, std::uint8_t>>;

std::uint8_t types_of(const Node& node, KnownTypes& known);

std::uint8_t types_anew(const Node& node, KnownTypes& known) {
  std::uint8_t types = with_integers(node.types);
  if (node.constant != nullptr) types &= types_of(*node.constant);
  if (node.alternatives != nullptr) {
    std::uint8_t any = 0;
    for (const Value& each : *node.alternatives) any |= types_of(each);
    types &= any;
  }
  for (const Node* const each : node.references) types &= types_of(*each, known);
  for (const DynamicReference& each : node.dynamic_references) {
    types &= types_of(*each.initial, known);
  }
  for (const Node* const each : node.all_of) types &= types_of(*each, known);
  for (const auto* const choices : {&node.any_of, &node.one_of}) {
    if (choices->empty()) continue;
    std::uint8_t any = 0;
    for (const Node* const each : *choices) any |= types_of(*each, known);
    types &= any;
  }
  return types;
}

std::uint8_t types_of(const Node& node, KnownTypes& known) {
  if (node.judgement == Judgement::never) return 0;
  if (node.judgement == Judgement::always) return all_types;
  const auto found = std::ranges::find(known, &node, &KnownTypes::value_type::first);
  if (found != known.end()) return found->second;
  const std::size_t place = known.size();
  known.emplace_back(&node, all_types);
  const std::uint8_t types = types_anew(node, known);
  known[place].second = types;
  return types;
}

using Nodes = std::vector<const Node*>;
void add_once(Nodes& nodes, const Node* node) {
  if (node != nullptr && std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
}

// Collects all nodes that apply to the same place, in the order of the schema. Each is collected
// once, however many paths lead to it.
void collect(const Node* node, Nodes& all) {
  const std::size_t before = all.size();
  add_once(all, node);
  if (all.size() == before) return;
  for (const auto* const list : {&node->references, &node->all_of, &node->any_of, &node->one_of}) {
    for (const Node* const each : *list) collect(each, all);
  }
  for (const DynamicReference& each : node->dynamic_references) collect(each.initial, all);
  collect(node->consequence, all);
  collect(node->alternative, all);
}
template <class Visit>
void for_each_node(const Nodes& from, const Visit& visit) {
  Nodes all;
  for (const Node* const each : from) collect(each, all);
  for (const Node* const each : all) visit(*each);
}

template <class T>
std::optional<T> number_of(Bytes text) noexcept {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::uint8_t Shape::types() const {
  std::uint8_t all = all_types;
  std::uint8_t any = 0;
  for (const Node* const node : nodes_) {
    KnownTypes known;
    const std::uint8_t types = types_of(*node, known);
    all &= types;
    any |= types;
  }
  // If the nodes have no common type, any of their types may be meant.
  return all != 0 || nodes_.empty() ? all : any;
}

Shape Shape::item(std::size_t index) const {
  Shape found;
  for_each_node(nodes_, [&](const Node& node) {
    add_once(found.nodes_,
             index < node.prefix_items.size() ? node.prefix_items[index] : node.items);
  });
  return found;
}

Shape Shape::member(Bytes name) const {
  Shape found;
  for_each_node(nodes_, [&](const Node& node) {
    const Property* const property = node.find(name, 0);
    if (property != nullptr) {
      add_once(found.nodes_, property->schema);
    } else if (node.additional_properties != nullptr &&
               node.additional_properties->judgement == Judgement::keywords) {
      add_once(found.nodes_, node.additional_properties);
    }
  });
  return found;
}

std::vector<std::string> Shape::names() const {
  std::vector<std::string> names;
  for_each_node(nodes_, [&](const Node& node) {
    for (const Property& each : node.properties) {
      if (std::ranges::find(names, each.name) == names.end()) names.push_back(each.name);
    }
  });
  return names;
}

bool Shape::takes_other_names() const {
  bool takes = true;
  for_each_node(nodes_, [&](const Node& node) {
    for (const Node* const others : {node.additional_properties, node.unevaluated_properties}) {
      if (others != nullptr && others->judgement == Judgement::never) takes = false;
    }
  });
  return takes;
}

container::Value value_of_text(Bytes text, std::uint8_t types) {
  if ((types & integer_type) != 0) {
    if (const auto integer = number_of<std::int64_t>(text)) return *integer;
    if (const auto natural = number_of<std::uint64_t>(text)) return *natural;
  }
  if ((types & (number_type | integer_type)) != 0) {
    const auto real = number_of<double>(text);
    if (real && std::isfinite(*real)) return *real;
  }
  if ((types & boolean_type) != 0) {
    if (text == "true") return true;
    if (text == "false") return false;
  }
  if ((types & null_type) != 0 && (types & string_type) == 0 && text.empty()) return nullptr;
  return text;
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
