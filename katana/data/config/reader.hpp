// read_group(): a described struct from a tree of nodes, with every rule checked.
//
// Members that the tree does not name keep the values of their initialisers, unless they are
// `required`. Keys that the struct does not have are refused, unless its description ignores them.
//
// Owns       the origin of each value, by its path.
// Thread     one.
// Allocates  freely.
// Fails      adds to `problems`, and goes on.
// Invariant  a secret is in no message.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "katana/base/values/described.hpp"
#include "katana/data/config/problems.hpp"
#include "katana/data/config/scalar.hpp"
#include "katana/data/config/shape.hpp"

namespace katana::config {

using Origins = std::map<std::string, Origin, std::less<>>;

struct Reading {
  Problems& problems;
  const Shape& root;
  std::string how_to_set = {};  // for a value that is required: "set it in katana.yaml, …"
  std::string path = {};
  Origins origins = {};
  bool secret = false;
  Origin around = {};  // of the group that is read

  void problem(const Node& at, Bytes words) {
    problems.add(at.kind == Node::Kind::nothing ? at.key_origin() : at.origin, path, words);
  }
  void missing() {
    const bool somewhere = around.kind != Origin::Kind::defaulted;
    problems.add(around, path,
                 "is required and was not given" + (somewhere ? "" : ": " + how_to_set));
  }
};

template <class T>
void read_member(Reading& reading, const Node* node, T& value,
                 const Rules<WithoutOptional<T>>& rules, const Shape& shape);

template <Described T>
void read_group(Reading& reading, const Node* node, T& value, const Shape& shape);

namespace detail {

// Runs `inside` with the path one step longer, and with what is known of secrecy.
template <class Inside>
void step(Reading& reading, Bytes name, Bytes separator, bool secret, Inside&& inside) {
  const std::size_t size = reading.path.size();
  const bool outer_secret = std::exchange(reading.secret, reading.secret || secret);
  if (size != 0) reading.path += separator;
  reading.path += name;
  inside();
  reading.path.resize(size);
  reading.secret = outer_secret;
}

template <class T>
void check_rules(Reading& reading, const Node& node, const T& value, Rules<T> rules) {
  if (obeys(rules, value)) return;
  rules.secret = reading.secret;
  if constexpr (NumberMember<T> || std::same_as<T, Duration> || std::same_as<T, ByteCount>) {
    const bool has_units = !NumberMember<T> || rules.byte_count;
    const bool bounded = rules.least || rules.most;
    if (has_units && bounded && !rules.secret) {
      const auto text = [&rules](const T& bound) { return write_ruled(rules, bound); };
      std::string words = "expected ";
      if (!rules.most) words += "at least ";
      if (!rules.least) words += "at most ";
      if (rules.least) words += text(*rules.least);
      if (rules.least && rules.most) words += " to ";
      if (rules.most) words += text(*rules.most);
      reading.problem(node, words + ", got " + text(value));
      return;
    }
  }
  reading.problem(node, broken_rule(rules, value));
}

template <class T>
void read_list(Reading& reading, const Node& node, T& value, const Rules<T>& rules,
               const Shape& shape) {
  if (node.kind != Node::Kind::list) {
    reading.problem(node, fmt::format("expected a list, got {}", node.kind_name()));
    return;
  }
  value.clear();
  for (std::size_t index = 0; index < node.items.size(); ++index) {
    step(reading, fmt::format("[{}]", index), "", rules.each.secret, [&] {
      typename T::value_type item{};
      read_member(reading, &node.items[index], item, rules.each, shape.members.front());
      value.push_back(std::move(item));
    });
  }
}

template <class T>
void read_dictionary(Reading& reading, const Node& node, T& value, const Rules<T>& rules,
                     const Shape& shape) {
  if (node.kind != Node::Kind::map) {
    reading.problem(node, fmt::format("expected keys and their values, got {}", node.kind_name()));
    return;
  }
  value.clear();
  for (std::size_t index = 0; index < node.items.size(); ++index) {
    step(reading, node.keys[index], ".", rules.each.secret, [&] {
      ElementOf<T> item{};
      read_member(reading, &node.items[index], item, rules.each, shape.members.front());
      value.insert(value.end(), {node.keys[index], std::move(item)});
    });
  }
}

}  // namespace detail

// `node` is null when nobody gave a value.
template <class T>
void read_member(Reading& reading, const Node* node, T& value,
                 const Rules<WithoutOptional<T>>& rules, const Shape& shape) {
  using Value = WithoutOptional<T>;
  if constexpr (is_optional<T>) {
    if (node != nullptr && node->kind == Node::Kind::nothing) {
      value.reset();
      reading.origins[reading.path] = node->origin;
      return;
    }
    if (node == nullptr && !value) {
      if (rules.presence == Presence::required) reading.missing();
      return;
    }
    if (!value) value.emplace();
    read_member<Value>(reading, node, *value, rules, shape);
  } else if constexpr (Described<T>) {
    const std::size_t before = reading.problems.count();
    read_group(reading, node, value, shape);
    if (reading.problems.count() == before) {
      detail::check_rules(reading, node != nullptr ? *node : Node(), value, rules);
    }
  } else if (node == nullptr) {
    if (rules.presence == Presence::required) reading.missing();
  } else {
    reading.origins[reading.path] = node->origin;
    const std::size_t before = reading.problems.count();
    if constexpr (Scalar<T>) {
      std::string words = read_ruled(rules, *node, value);
      if (!words.empty() && reading.secret) {
        words = scalar_words<T>() + "; what was given is secret and not shown";
      }
      if (!words.empty()) reading.problem(*node, "expected " + words);
    } else if constexpr (DictionaryMember<T>) {
      detail::read_dictionary(reading, *node, value, rules, shape);
    } else {
      static_assert(ListMember<T>, "no type of a configuration; see docs/guides/config.md");
      detail::read_list(reading, *node, value, rules, shape);
    }
    if (reading.problems.count() == before) detail::check_rules(reading, *node, value, rules);
  }
}

template <Described T>
void read_group(Reading& reading, const Node* node, T& value, const Shape& shape) {
  if (node != nullptr && node->kind == Node::Kind::nothing) node = nullptr;  // "http:" alone
  if (node != nullptr && node->kind != Node::Kind::map) {
    const bool secret = reading.secret || std::ranges::any_of(shape.members, &Shape::secret);
    const bool shown = node->kind == Node::Kind::text && !secret;
    reading.problem(*node, "expected a group of keys" + (shown ? detail::got(*node) : ""));
    return;
  }
  const Origin outer = std::exchange(reading.around, node != nullptr ? node->origin : Origin());
  for_each_index<T>([&](auto index) {
    constexpr const auto& field = field_of<T, index>;
    detail::step(reading, field.name, ".", field.rules.secret, [&] {
      read_member(reading, node != nullptr ? node->find(field.name) : nullptr, value.*field.pointer,
                  field.rules, shape.members[index]);
    });
  });
  reading.around = outer;
  if (node == nullptr || unknown_names<T> == UnknownNames::ignore) return;
  for (std::size_t index = 0; index < node->keys.size(); ++index) {
    if (shape.find(node->keys[index]) != nullptr) continue;
    detail::step(reading, node->keys[index], ".", false, [&] {
      reading.problems.add(node->items[index].key_origin(), reading.path,
                           unknown_key(shape, node->keys[index], reading.root));
    });
  }
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
