#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/data/yaml/yaml.hpp"
#include "katana/openapi/model/parse.hpp"

namespace katana::openapi::model {
namespace {

bool is_one_of(Bytes text, std::initializer_list<Bytes> words) {
  return std::ranges::find(words, text) != words.end();
}
bool has_only(Bytes text, Bytes characters) {
  return !text.empty() && text.find_first_not_of(characters) == Bytes::npos;
}

// YAML 1.2 §10.3.2, the core schema.
bool is_core_number(Bytes text) {
  if (text.starts_with("0o")) return has_only(text.substr(2), "01234567");
  if (text.starts_with("0x")) return has_only(text.substr(2), "0123456789abcdefABCDEF");
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (is_one_of(text, {".inf", ".Inf", ".INF"})) return true;
  const auto digits = [&text] {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  std::size_t count = digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    count += digits();
  }
  if (count == 0) return false;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return text.empty();
}

Node::Kind kind_of(Bytes plain) {
  if (is_one_of(plain, {"", "~", "null", "Null", "NULL"})) return Node::Kind::null;
  if (is_one_of(plain, {"true", "True", "TRUE", "false", "False", "FALSE"})) {
    return Node::Kind::boolean;
  }
  return is_core_number(plain) ? Node::Kind::number : Node::Kind::text;
}

// A problem of the whole text stands at its begin.
Position position_of(const yaml::Position& from) {
  if (from.line == 0) return {1, 1};
  return {from.line, from.column};
}

Node convert(yaml::Node&& from) {
  Node node;
  node.position = position_of(from.position);
  switch (from.kind) {
    case yaml::Node::Kind::empty: break;
    case yaml::Node::Kind::scalar:
      node.kind = from.style == yaml::Node::Style::plain ? kind_of(from.text) : Node::Kind::text;
      node.text = std::move(from.text);
      break;
    case yaml::Node::Kind::list: node.kind = Node::Kind::list; break;
    case yaml::Node::Kind::map: node.kind = Node::Kind::object; break;
  }
  for (yaml::Node& each : from.items) node.items.push_back(convert(std::move(each)));
  for (yaml::Node::Key& each : from.keys) {
    node.keys.push_back({std::move(each.name), position_of(each.position)});
  }
  return node;
}

std::string words_of(const yaml::Problem& problem) {
  if (problem.first_line != 0) return repeated_words(problem.key);
  if (problem.key.empty()) return problem.words;
  return fmt::format("{} behind '{}'", problem.words, problem.key);
}

}  // namespace

Parsed parse_yaml(Bytes text, std::size_t depth_max, std::size_t nodes_max) {
  yaml::Parsed read = yaml::read(text, {.depth_max = depth_max, .nodes_max = nodes_max});
  Parsed result{.root = convert(std::move(read.root)), .nodes = read.nodes};
  for (const yaml::Problem& each : read.problems) {
    result.problems.push_back({position_of(each.position), words_of(each)});
  }
  return result;
}

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
