#include "katana/data/container/form_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "katana/data/container/json_write.hpp"

namespace katana::container {
namespace {

constexpr std::size_t shown_bytes_max = 64;
constexpr std::size_t digits_max = 9;

// True for "0", "7", "10": each number has only one form.
bool is_number(Bytes name) noexcept {
  const bool has_digits = std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
  return has_digits && !name.empty() && name.size() <= digits_max &&
         (name.size() == 1 || name[0] != '0');
}

unsigned number_of(Bytes name) noexcept {
  unsigned number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

// The steps of a name: "card", "number" for "card[number]"; nothing: it has no valid brackets.
std::optional<std::vector<Bytes>> steps_of(Bytes name) {
  const std::size_t first = name.find('[');
  if (first == Bytes::npos || first == 0 || !name.ends_with(']')) return std::nullopt;
  std::vector<Bytes> steps{name.substr(0, first)};
  Bytes rest = name.substr(first);
  while (!rest.empty()) {
    const std::size_t close = rest.find(']');
    if (rest[0] != '[' || close == Bytes::npos) return std::nullopt;
    const Bytes step = rest.substr(1, close - 1);
    if (step.find('[') != Bytes::npos) return std::nullopt;
    // One step more than allowed is enough to refuse the name.
    if (steps.size() <= FormTree::depth_max) steps.push_back(step);
    rest.remove_prefix(close + 1);
  }
  return steps;
}

Error refused(Bytes name, Bytes words) {
  return Error(Code::invalid_argument,
               fmt::format("'{}' {}", name.substr(0, shown_bytes_max), words));
}

void add_pairs(const std::string& name, const Value& value,
               std::vector<std::pair<std::string, std::string>>& pairs) {
  if (const List* const list = value.get_list()) {
    std::size_t index = 0;
    for (const Value& each : *list) add_pairs(fmt::format("{}[{}]", name, index++), each, pairs);
  } else if (const Object* const object = value.get_object()) {
    for (const Member& each : *object) {
      add_pairs(fmt::format("{}[{}]", name, each.name), each.value, pairs);
    }
  } else if (value.kind() == Kind::text) {
    pairs.emplace_back(name, value.as_text());
  } else if (!value.is_null()) {
    pairs.emplace_back(name, to_json(value));
  }
}

}  // namespace

bool FormTree::Node::is_numbered() const noexcept {
  return !members.empty() &&
         std::ranges::all_of(members, [](const auto& each) { return is_number(each.first); });
}

std::vector<std::pair<unsigned, const FormTree::Node*>> FormTree::Node::numbered() const {
  std::vector<std::pair<unsigned, const Node*>> items;
  items.reserve(members.size());
  for (const auto& [name, member] : members) items.emplace_back(number_of(name), member.get());
  std::ranges::sort(items);
  return items;
}

const FormTree::Node* FormTree::Node::unnumbered() const noexcept {
  const bool is_alone = members.size() == 1 && members.begin()->first.empty();
  return is_alone ? members.begin()->second.get() : nullptr;
}

Result<FormTree::Node*> FormTree::step(Node& from, Bytes name, Bytes whole) {
  if (!from.values.empty()) {
    return std::unexpected(refused(whole, "is beside a value of the name before its brackets"));
  }
  auto found = from.members.find(name);
  if (found == from.members.end()) {
    found = from.members.emplace(std::string(name), std::make_unique<Node>()).first;
  }
  return found->second.get();
}

Result<void> FormTree::put(Node& to, FormLeaf leaf, Bytes whole) {
  if (!to.members.empty()) {
    return std::unexpected(refused(whole, "is a value beside the same name with brackets"));
  }
  to.values.push_back(std::move(leaf));
  return {};
}

Result<void> FormTree::add(Bytes name, FormLeaf leaf) {
  const auto steps = steps_of(name);
  if (!steps) return add_plain(name, std::move(leaf));
  if (steps->size() > depth_max) {
    return std::unexpected(refused(name, fmt::format("is more than {} deep", depth_max)));
  }
  if (std::find(steps->begin(), steps->end() - 1, Bytes()) != steps->end() - 1) {
    return std::unexpected(refused(name,
                                   "has '[]' before other brackets: number the items, such "
                                   "as items[0][price]"));
  }
  if (++count_ > values_max) {
    return std::unexpected(refused(name, fmt::format("is one of more than {} values", values_max)));
  }
  Node* node = &root_;
  for (const Bytes each : *steps) {
    const Result<Node*> next = step(*node, each, name);
    if (!next) return std::unexpected(next.error());
    node = *next;
  }
  return put(*node, std::move(leaf), name);
}

Result<void> FormTree::add_plain(Bytes name, FormLeaf leaf) {
  if (++count_ > values_max) {
    return std::unexpected(refused(name, fmt::format("is one of more than {} values", values_max)));
  }
  const Result<Node*> node = step(root_, name, name);
  if (!node) return std::unexpected(node.error());
  return put(**node, std::move(leaf), name);
}

Result<void> FormTree::add_below(Bytes outer, Bytes name, FormLeaf leaf) {
  if (++count_ > values_max) {
    return std::unexpected(refused(name, fmt::format("is one of more than {} values", values_max)));
  }
  const Result<Node*> above = step(root_, outer, name);
  if (!above) return std::unexpected(above.error());
  const Result<Node*> node = step(**above, name, name);
  if (!node) return std::unexpected(node.error());
  return put(**node, std::move(leaf), name);
}

std::string bracket_name(Bytes pointer) {
  std::string name;
  bool is_first = true;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const Bytes raw = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(raw.size());
    std::string step;
    for (std::size_t at = 0; at < raw.size(); ++at) {
      const bool is_escape = raw[at] == '~' && at + 1 < raw.size();
      step += !is_escape ? raw[at] : raw[++at] == '1' ? '/' : '~';
    }
    name += std::exchange(is_first, false) ? step : "[" + step + "]";
  }
  return name;
}

std::vector<std::pair<std::string, std::string>> bracket_pairs(Bytes name, const Value& value) {
  std::vector<std::pair<std::string, std::string>> pairs;
  add_pairs(std::string(name), value, pairs);
  return pairs;
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
