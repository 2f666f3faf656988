// DocumentWalk: the tree of a description's file, with the pointer of each place.
//
// Borrows    the tree.
// Thread     a value.
// Allocates  pointers.
// Fails      never: a missing node is null.
#pragma once

#include <string>
#include <utility>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/described.hpp"
#include "katana/openapi/model/node.hpp"

namespace katana::openapi::detail {

// A node and where it is; null: it is not there.
struct At {
  const model::Node* node = nullptr;
  std::string pointer = {};

  explicit operator bool() const noexcept { return node != nullptr; }
  bool is(model::Node::Kind kind) const noexcept { return node != nullptr && node->is(kind); }
  bool is_object() const noexcept { return is(model::Node::Kind::object); }
  bool is_list() const noexcept { return is(model::Node::Kind::list); }
  At child(Bytes name) const {
    At made{node == nullptr ? nullptr : node->find(name), pointer};
    append_pointer(made.pointer, name);
    return made;
  }
  At item(std::size_t index) const {
    At made{&node->items[index], pointer};
    append_pointer(made.pointer, is_object() ? Bytes(node->keys[index].name) : Bytes());
    if (is_list()) made.pointer = pointer + "/" + std::to_string(index);
    return made;
  }
  Bytes text(Bytes name) const {
    const model::Node* const found = node == nullptr ? nullptr : node->find(name);
    return found == nullptr || !found->is(model::Node::Kind::text) ? Bytes() : Bytes(found->text);
  }
  std::size_t size() const noexcept { return node == nullptr ? 0 : node->items.size(); }
  const std::string& key(std::size_t index) const noexcept { return node->keys[index].name; }
};

// Each member of an object: visit(name, At).
template <class Visit>
void for_each_member(const At& at, const Visit& visit) {
  if (!at.is_object()) return;
  for (std::size_t index = 0; index < at.size(); ++index) visit(at.key(index), at.item(index));
}
template <class Visit>
void for_each_item(const At& at, const Visit& visit) {
  if (!at.is_list()) return;
  for (std::size_t index = 0; index < at.size(); ++index) visit(index, at.item(index));
}

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
