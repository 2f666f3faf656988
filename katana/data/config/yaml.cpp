#include "katana/data/config/yaml.hpp"

#include <utility>

#include "katana/base/text/utf8.hpp"
#include "katana/data/yaml/yaml.hpp"

namespace katana::config {
namespace {

// False: `text` is not UTF-8, or holds what no text editor shows.
bool check_text(Bytes text, Origin origin, Problems& problems) {
  const bool file = origin.kind == Origin::Kind::file;
  if (file) origin.line = 1;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0 || text.front() == '\0') {
      problems.add(origin, "",
                   length == 0 ? "a byte that is not UTF-8. Save the file as UTF-8"
                               : "a NUL character. Is this a text file in UTF-8?");
      return false;
    }
    if (file && text.front() == '\n') ++origin.line;
    text.remove_prefix(length);
  }
  return true;
}

// Gives the nodes of a document their origin.
class Converter {
 public:
  Converter(const Origin& origin, Problems& problems) : origin_(origin), problems_(problems) {}

  Origin at(const yaml::Position& position) const {
    Origin origin = origin_;
    if (origin.kind == Origin::Kind::file && position.line > 0) {
      origin.line = static_cast<int>(position.line);
    }
    return origin;
  }

  Node convert(yaml::Node&& from) {
    Node node;
    node.origin = at(from.position);
    switch (from.kind) {
      case yaml::Node::Kind::empty: break;
      case yaml::Node::Kind::scalar:
        node.quoted = from.style == yaml::Node::Style::quoted;
        if (is_nothing(from.style, from.text)) break;
        node.kind = Node::Kind::text;
        node.text = std::move(from.text);
        break;
      case yaml::Node::Kind::list:
        node.kind = Node::Kind::list;
        for (yaml::Node& each : from.items) node.items.push_back(convert(std::move(each)));
        break;
      case yaml::Node::Kind::map:
        node.kind = Node::Kind::map;
        for (std::size_t index = 0; index < from.keys.size(); ++index) {
          add(node, std::move(from.keys[index]), std::move(from.items[index]));
        }
        break;
    }
    return node;
  }

 private:
  static bool is_nothing(yaml::Node::Style style, Bytes text) noexcept {
    return style != yaml::Node::Style::quoted && (text == "~" || text == "null");
  }
  void add(Node& to, yaml::Node::Key&& key, yaml::Node&& value) {
    if (key.is_empty || is_nothing(key.style, key.name)) {
      problems_.add(at(key.position), "", "a key that is not text");
      return;
    }
    Node node = convert(std::move(value));
    node.key_line = static_cast<int>(key.position.line);
    to.keys.push_back(std::move(key.name));
    to.items.push_back(std::move(node));
  }

  const Origin& origin_;
  Problems& problems_;
};

}  // namespace

Node read_yaml(Bytes text, const Origin& origin, Problems& problems) {
  if (!check_text(text, origin, problems)) return {};
  yaml::Parsed parsed = yaml::read(text, {.depth_max = depth_max, .nodes_max = nodes_max});
  Converter converter(origin, problems);
  for (const yaml::Problem& each : parsed.problems) {
    problems.add(converter.at(each.position), each.key, each.words);
  }
  return converter.convert(std::move(parsed.root));
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
