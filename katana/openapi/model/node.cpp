#include "katana/openapi/model/node.hpp"

#include <charconv>
#include <limits>
#include <optional>

namespace katana::openapi::model {
namespace {

std::string unescaped(Bytes step) {
  std::string name;
  for (std::size_t index = 0; index < step.size(); ++index) {
    const bool escape = step[index] == '~' && index + 1 < step.size() &&
                        (step[index + 1] == '0' || step[index + 1] == '1');
    name += !escape ? step[index] : step[index + 1] == '0' ? '~' : '/';
    index += escape ? 1 : 0;
  }
  return name;
}

template <class T>
std::optional<T> whole(Bytes text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

container::Value number(Bytes text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with("0x")) return whole<std::uint64_t>(text.substr(2), 16).value_or(0);
  if (text.starts_with("0o")) return whole<std::uint64_t>(text.substr(2), 8).value_or(0);
  if (text.ends_with("inf") || text.ends_with("Inf") || text.ends_with("INF")) {
    const double infinity = std::numeric_limits<double>::infinity();
    return text.starts_with('-') ? -infinity : infinity;
  }
  if (const auto integer = whole<std::int64_t>(text)) return *integer;
  if (const auto natural = whole<std::uint64_t>(text)) return *natural;
  double real = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), real);
  if (result.ec == std::errc::result_out_of_range) {
    return text.find("e-") == Bytes::npos && text.find("E-") == Bytes::npos
               ? std::numeric_limits<double>::max()
               : 0.0;
  }
  return result.ec == std::errc() ? real : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

const Node* Node::find(Bytes key) const noexcept {
  for (std::size_t index = 0; index < keys.size(); ++index) {
    if (keys[index].name == key) return &items[index];
  }
  return nullptr;
}

const Node* Node::at(Bytes pointer) const {
  const Node* node = this;
  while (node != nullptr && !pointer.empty()) {
    if (pointer.front() != '/') return nullptr;
    pointer.remove_prefix(1);
    const Bytes step = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(step.size());
    if (node->kind == Kind::object) {
      node = node->find(unescaped(step));
    } else {
      const auto index = node->kind == Kind::list ? whole<std::uint32_t>(step) : std::nullopt;
      node = index && *index < node->items.size() ? &node->items[*index] : nullptr;
    }
  }
  return node;
}

bool is_extension(const Node::Key& key, const Node& value) noexcept {
  return key.name.starts_with("x-") && !value.is(Node::Kind::object) &&
         !value.is(Node::Kind::boolean);
}

Bytes Node::kind_name() const noexcept {
  switch (kind) {
    case Kind::null: return "null";
    case Kind::boolean: return "a boolean";
    case Kind::number: return "a number";
    case Kind::text: return "text";
    case Kind::list: return "a list";
    case Kind::object: return "an object";
  }
  return "nothing";
}

container::Value scalar_value(const Node& node) {
  switch (node.kind) {
    case Node::Kind::boolean: return node.text.starts_with('t') || node.text.starts_with('T');
    case Node::Kind::number: return number(node.text);
    case Node::Kind::text: return node.text;
    default: return nullptr;
  }
}

container::Value to_value(const Node& node) {
  if (node.kind == Node::Kind::list) {
    container::List list;
    list.reserve(node.items.size());
    for (const Node& each : node.items) list.push_back(to_value(each));
    return list;
  }
  if (node.kind == Node::Kind::object) {
    container::Object object;
    object.reserve(node.items.size());
    for (std::size_t index = 0; index < node.items.size(); ++index) {
      object.add(node.keys[index].name, to_value(node.items[index]));
    }
    return object;
  }
  return scalar_value(node);
}

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
