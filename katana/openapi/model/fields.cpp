#include "katana/openapi/model/fields.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace katana::openapi::model {
namespace {

const Node& empty_object() {
  static const Node node{
      .kind = Node::Kind::object, .position = {}, .text = {}, .items = {}, .keys = {}};
  return node;
}

}  // namespace

Fields::Fields(NodeAt at, Bytes what, Problems& problems)
    : at_(std::move(at)), what_(what), problems_(problems) {
  if (at_.node->is(Node::Kind::object)) return;
  problems_.error(location(), fmt::format("expected {}, which is an object, got {}", what_,
                                          at_.node->kind_name()));
  at_.node = &empty_object();
}

NodeAt Fields::any(Bytes key) {
  asked_.push_back(key);
  return at_.find(key);
}

NodeAt Fields::of_kind(Bytes key, Node::Kind kind, Bytes expected) {
  const NodeAt found = any(key);
  if (!found || found.node->is(kind)) return found;
  if (found.node->is(Node::Kind::null)) {
    problems_.warning(found.location(),
                      fmt::format("'{}' is null, as if it were not there. Remove it", key));
  } else {
    problems_.error(found.location(), fmt::format("expected {} as '{}', got {}", expected, key,
                                                  found.node->kind_name()));
  }
  return {};
}

NodeAt Fields::object(Bytes key) { return of_kind(key, Node::Kind::object, "an object"); }
NodeAt Fields::list(Bytes key) { return of_kind(key, Node::Kind::list, "a list"); }

std::string Fields::text(Bytes key) {
  const NodeAt found = any(key);
  if (!found || found.node->is(Node::Kind::text)) return found ? found.node->text : std::string();
  if (found.node->is(Node::Kind::number) || found.node->is(Node::Kind::boolean)) {
    problems_.warning(found.location(), fmt::format("'{}' is {}, taken as text. Put it in quotes",
                                                    key, found.node->kind_name()));
    return found.node->text;
  }
  of_kind(key, Node::Kind::text, "text");
  return {};
}

std::string Fields::need_text(Bytes key) {
  const NodeAt found = at_.find(key);
  if (!found) {
    asked_.push_back(key);
    if (at_.node != &empty_object()) {
      problems_.error(location(), fmt::format("'{}' is missing in {}. Add it", key, what_));
    }
    return {};
  }
  return text(key);
}

bool Fields::boolean(Bytes key, bool otherwise) {
  const NodeAt found = of_kind(key, Node::Kind::boolean, "true or false");
  return found ? scalar_value(*found.node) == container::Value(true) : otherwise;
}

std::vector<std::string> Fields::texts(Bytes key) {
  std::vector<std::string> texts;
  const NodeAt found = list(key);
  if (!found) return texts;
  for (const Node& each : found.node->items) {
    if (each.is(Node::Kind::list) || each.is(Node::Kind::object) || each.is(Node::Kind::null)) {
      problems_.error(found.to(each).location(),
                      fmt::format("expected text in '{}', got {}", key, each.kind_name()));
    } else {
      texts.push_back(each.text);
    }
  }
  return texts;
}

Extensions Fields::finish() {
  Extensions extensions;
  const Node& node = *at_.node;
  for (std::size_t index = 0; index < node.items.size(); ++index) {
    const Node::Key& key = node.keys[index];
    if (key.name.starts_with("x-")) {
      extensions.add(key.name, to_value(node.items[index]));
    } else if (std::ranges::find(asked_, Bytes(key.name)) == asked_.end()) {
      problems_.warning({at_.source, key.position},
                        fmt::format("'{}' is not known in {}: it has no effect. Remove it, or name "
                                    "it 'x-{}'",
                                    key.name, what_, key.name));
    }
  }
  return extensions;
}

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
