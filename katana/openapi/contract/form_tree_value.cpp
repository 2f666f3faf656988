#include "katana/openapi/contract/form_tree_value.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "katana/base/values/described.hpp"
#include "katana/data/container/json_read.hpp"

namespace katana::openapi {
namespace {

using container::Findings;
using container::FormLeaf;
using container::FormTree;
using container::List;
using container::Object;
using container::Value;
using schema::Shape;

constexpr std::uint8_t structured_types = schema::array_type | schema::object_type;

bool is_json_part(const FormLeaf& leaf) {
  return leaf.part != nullptr && leaf.part->filename.empty() &&
         leaf.part->content_type.starts_with("application/json");
}

Value leaf_value(const FormLeaf& leaf, std::uint8_t types, const std::string& pointer,
                 Findings& findings) {
  if (leaf.part != nullptr && !leaf.part->filename.empty()) return Value(leaf.text);
  const bool is_json = is_json_part(leaf);
  // Text that is no scalar of the schema may be JSON.
  const std::uint8_t scalars =
      static_cast<std::uint8_t>(types & ~(structured_types | schema::null_type));
  if (is_json || (scalars == 0 && (types & structured_types) != 0)) {
    auto read = container::read_json<Value>(leaf.text);
    if (read) return *std::move(read);
    if (is_json) findings.add(pointer, std::string(read.error().message()));
  }
  return schema::value_of_text(leaf.text, types);
}

Value values_of(const FormTree::Node& node, const Shape& shape, const std::string& pointer,
                Findings& findings) {
  const std::uint8_t types = shape.types();
  const bool takes_list = (types & schema::array_type) != 0;
  const bool takes_text = (types & schema::string_type) != 0;
  if (node.values.size() > 1 && !takes_list) findings.add(pointer, "is given more than once");
  if (!takes_list || (node.values.size() == 1 && takes_text)) {
    return leaf_value(node.values.back(), types, pointer, findings);
  }
  // One part may be the whole list.
  if (node.values.size() == 1 && is_json_part(node.values.front())) {
    Value whole = leaf_value(node.values.front(), types, pointer, findings);
    if (whole.get_list() != nullptr) return whole;
  }
  List list;
  for (const FormLeaf& each : node.values) {
    std::string place = pointer;
    append_pointer(place, list.size());
    list.push_back(leaf_value(each, shape.item(list.size()).types(), place, findings));
  }
  return list;
}

}  // namespace

Value form_tree_value(const FormTree::Node& node, const Shape& shape, const std::string& pointer,
                      Findings& findings) {
  if (!node.values.empty()) return values_of(node, shape, pointer, findings);
  const bool takes_list = (shape.types() & schema::array_type) != 0;
  const FormTree::Node* const all = takes_list ? node.unnumbered() : nullptr;
  if (all != nullptr) return values_of(*all, shape, pointer, findings);
  if (takes_list && node.is_numbered()) {
    List list;
    for (const auto& [number, item] : node.numbered()) {
      std::string place = pointer;
      append_pointer(place, std::size_t{number});
      list.push_back(form_tree_value(*item, shape.item(list.size()), place, findings));
    }
    return list;
  }
  Object object;
  for (const auto& [name, member] : node.members) {
    std::string place = pointer;
    append_pointer(place, Bytes(name));
    object.add(name, form_tree_value(*member, shape.member(name), place, findings));
  }
  return object;
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
