#include "katana/schema/shape.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

#include "katana/schema/value_view.hpp"

namespace katana::schema {
namespace {

constexpr std::size_t shape_depth_max = 16;  // of references in one another

std::uint8_t with_integers(std::uint8_t types) noexcept {
  return (types & number_type) == 0 ? types : types | integer_type;
}

std::uint8_t types_of(const Value& value) noexcept {
  return static_cast<std::uint8_t>(ValueView(value).type());
}

std::uint8_t types_of(const Node& node, std::size_t depth) {
  if (node.judgement == Judgement::never) return 0;
  if (node.judgement == Judgement::always || depth == shape_depth_max) return all_types;
  std::uint8_t types = with_integers(node.types);
  if (node.constant != nullptr) types &= types_of(*node.constant);
  if (node.alternatives != nullptr) {
    std::uint8_t any = 0;
    for (const Value& each : *node.alternatives) any |= types_of(each);
    types &= any;
  }
  for (const Node* const each : node.references) types &= types_of(*each, depth + 1);
  for (const DynamicReference& each : node.dynamic_references) {
    types &= types_of(*each.initial, depth + 1);
  }
  for (const Node* const each : node.all_of) types &= types_of(*each, depth + 1);
  for (const auto* const choices : {&node.any_of, &node.one_of}) {
    if (choices->empty()) continue;
    std::uint8_t any = 0;
    for (const Node* const each : *choices) any |= types_of(*each, depth + 1);
    types &= any;
  }
  return types;
}

// Every node that looks at the same place.
template <class Visit>
void for_each_node(const Node& node, const Visit& visit, std::size_t depth = 0) {
  if (depth == shape_depth_max) return;
  visit(node);
  for (const auto* const list : {&node.references, &node.all_of, &node.any_of, &node.one_of}) {
    for (const Node* const each : *list) for_each_node(*each, visit, depth + 1);
  }
  for (const DynamicReference& each : node.dynamic_references) {
    for_each_node(*each.initial, visit, depth + 1);
  }
  for (const Node* const each : {node.consequence, node.alternative}) {
    if (each != nullptr) for_each_node(*each, visit, depth + 1);
  }
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
    const std::uint8_t types = types_of(*node, 0);
    all &= types;
    any |= types;
  }
  // Of alternatives that have nothing in common any may be meant.
  return all != 0 || nodes_.empty() ? all : any;
}

Shape Shape::item(std::size_t index) const {
  Shape found;
  for (const Node* const from : nodes_) {
    for_each_node(*from, [&](const Node& node) {
      const Node* const item =
          index < node.prefix_items.size() ? node.prefix_items[index] : node.items;
      if (item != nullptr) found.nodes_.push_back(item);
    });
  }
  return found;
}

Shape Shape::member(Bytes name) const {
  Shape found;
  for (const Node* const from : nodes_) {
    for_each_node(*from, [&](const Node& node) {
      const Property* const property = node.find(name, 0);
      if (property != nullptr && property->schema != nullptr) {
        found.nodes_.push_back(property->schema);
      } else if (property == nullptr && node.additional_properties != nullptr &&
                 node.additional_properties->judgement == Judgement::keywords) {
        found.nodes_.push_back(node.additional_properties);
      }
    });
  }
  return found;
}

std::vector<std::string> Shape::names() const {
  std::vector<std::string> names;
  for (const Node* const from : nodes_) {
    for_each_node(*from, [&](const Node& node) {
      for (const Property& each : node.properties) {
        if (std::ranges::find(names, each.name) == names.end()) names.push_back(each.name);
      }
    });
  }
  return names;
}

bool Shape::takes_other_names() const {
  bool takes = true;
  for (const Node* const from : nodes_) {
    for_each_node(*from, [&](const Node& node) {
      for (const Node* const others : {node.additional_properties, node.unevaluated_properties}) {
        if (others != nullptr && others->judgement == Judgement::never) takes = false;
      }
    });
  }
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
