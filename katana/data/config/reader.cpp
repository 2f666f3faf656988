#include "katana/data/config/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/data/config/scalar.hpp"

namespace katana::config {
namespace {

// Adds a step to the path, and keeps whether the value is secret.
class Step {
 public:
  Step(Reading& reading, Bytes name, Bytes separator, bool secret)
      : reading_(reading),
        size_(reading.path.size()),
        outer_secret_(std::exchange(reading.secret, reading.secret || secret)) {
    if (size_ != 0) reading.path += separator;
    reading.path += name;
  }
  ~Step() {
    reading_.path.resize(size_);
    reading_.secret = outer_secret_;
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

 private:
  Reading& reading_;
  std::size_t size_;
  bool outer_secret_;
};

void read_value(Reading& reading, const Node* node, const Type& type, void* value, const Said& said,
                const Shape& shape);

void check_rules(Reading& reading, const Node& node, const Type& type, const void* value,
                 const Said& said) {
  if (!said.limited) return;
  const std::string words = type.broken(said.rules, value, reading.secret);
  if (!words.empty()) reading.problem(node, words);
}

void read_scalar(Reading& reading, const Node& node, const ScalarType& type, void* value,
                 const Said& said) {
  std::string words = type.read(type, node, said.byte_count, value);
  if (words.empty()) return;
  if (reading.secret) words = type.words(type) + "; what was given is secret and not shown";
  reading.problem(node, "expected " + words);
}

// Reads a list or a dictionary.
void read_container(Reading& reading, const Node& node, const Type& type, void* value,
                    const Said& said, const Shape& shape) {
  const bool is_list = type.kind == Type::Kind::list;
  if (node.kind != (is_list ? Node::Kind::list : Node::Kind::map)) {
    reading.problem(node,
                    fmt::format("expected {}, got {}", is_list ? "a list" : "keys and their values",
                                node.kind_name()));
    return;
  }
  const Container& container = *type.container;
  const Type& element_type = container.element();
  const Said each = container.each(said.rules);
  container.clear(value);
  for (std::size_t index = 0; index < node.items.size(); ++index) {
    const std::string key = is_list ? fmt::format("[{}]", index) : node.keys[index];
    const Step step(reading, key, is_list ? "" : ".", each.secret);
    auto read = [&](Bytes, void* element) {
      read_value(reading, &node.items[index], element_type, element, each, shape.members.front());
    };
    container.make(value, key, Visitor(read));
  }
}

void read_optional(Reading& reading, const Node* node, const Type& type, void* value,
                   const Said& said, const Shape& shape) {
  const Container& container = *type.container;
  if (node != nullptr && node->kind == Node::Kind::nothing) {
    container.clear(value);
    reading.origins[reading.path] = node->origin;
    return;
  }
  bool held = false;
  auto read = [&](Bytes, void* content) {
    held = true;
    read_value(reading, node, container.element(), content, said, shape);
  };
  container.visit(value, Visitor(read));
  if (held) return;
  if (node != nullptr) {
    container.make(value, {}, Visitor(read));
  } else if (said.required) {
    reading.missing();
  }
}

// Reads a value. `node` is null if there is none.
void read_value(Reading& reading, const Node* node, const Type& type, void* value, const Said& said,
                const Shape& shape) {
  if (type.kind == Type::Kind::optional) {
    return read_optional(reading, node, type, value, said, shape);
  }
  const std::size_t before = reading.problems.count();
  if (type.kind == Type::Kind::group) {
    read_group(reading, node, *type.group, value, shape);
  } else if (node == nullptr) {
    if (said.required) reading.missing();
    return;
  } else {
    reading.origins[reading.path] = node->origin;
    if (type.kind == Type::Kind::scalar) {
      read_scalar(reading, *node, *type.scalar, value, said);
    } else {
      read_container(reading, *node, type, value, said, shape);
    }
  }
  if (reading.problems.count() != before) return;
  check_rules(reading, node != nullptr ? *node : Node(), type, value, said);
}

// The rules across members, of a group whose members obey their own rules.
void check_across(Reading& reading, const Node* node, const Group& group, const void* value) {
  if (group.check_across == nullptr) return;
  auto tell = [&](Bytes member, Bytes words) {
    const Step step(reading, member, ".", false);
    const Node* const given = node != nullptr ? node->find(member) : nullptr;
    reading.problem(given != nullptr ? *given : Node(), words);
  };
  group.check_across(value, Told(tell));
}

void tell_unknown_keys(Reading& reading, const Node& node, const Shape& shape) {
  for (std::size_t index = 0; index < node.keys.size(); ++index) {
    if (shape.find(node.keys[index]) != nullptr) continue;
    const Step step(reading, node.keys[index], ".", false);
    reading.problems.add(node.items[index].key_origin(), reading.path,
                         unknown_key(shape, node.keys[index], reading.root));
  }
}

}  // namespace

void Reading::problem(const Node& at, Bytes words) {
  problems.add(at.kind == Node::Kind::nothing ? at.key_origin() : at.origin, path, words);
}

void Reading::missing() {
  const bool somewhere = around.kind != Origin::Kind::defaulted;
  problems.add(around, path,
               "is required and was not given" + (somewhere ? "" : ": " + how_to_set));
}

void read_group(Reading& reading, const Node* node, const Group& group, void* value,
                const Shape& shape) {
  if (node != nullptr && node->kind == Node::Kind::nothing) node = nullptr;  // "http:" alone
  if (node != nullptr && node->kind != Node::Kind::map) {
    const bool secret = reading.secret || std::ranges::any_of(shape.members, &Shape::secret);
    const bool shown = node->kind == Node::Kind::text && !secret;
    reading.problem(*node, "expected a group of keys" + (shown ? detail::got(*node) : ""));
    return;
  }
  const Origin outer = std::exchange(reading.around, node != nullptr ? node->origin : Origin());
  const std::size_t before = reading.problems.count();
  const Places places(group, value);
  for (std::size_t index = 0; index < group.members.size(); ++index) {
    const Member& member = group.members[index];
    const Step step(reading, member.name, ".", member.said.secret);
    read_value(reading, node != nullptr ? node->find(member.name) : nullptr, member.type(),
               places[index], member.said, shape.members[index]);
  }
  reading.around = outer;
  if (reading.problems.count() == before) check_across(reading, node, group, value);
  if (node != nullptr && group.unknown != UnknownNames::ignore) {
    tell_unknown_keys(reading, *node, shape);
  }
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
