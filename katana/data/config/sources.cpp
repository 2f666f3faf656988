#include "katana/data/config/sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <system_error>

#include "katana/data/config/variables.hpp"
#include "katana/data/config/yaml.hpp"

extern char** environ;

namespace katana::config {
namespace {

std::string reason_of(int error) { return std::generic_category().message(error); }

struct FileCloser {
  void operator()(std::FILE* file) const noexcept { (void)std::fclose(file); }  // only read
};

// The text of the file. Nothing: a problem was added, or an optional file is missing.
std::optional<std::string> read_file(const Sources& sources, const Origin& origin,
                                     Problems& problems) {
  errno = 0;
  const std::unique_ptr<std::FILE, FileCloser> file(std::fopen(sources.file.c_str(), "rb"));
  if (file == nullptr) {
    if (errno == ENOENT && sources.file_optional) return {};
    problems.add(origin, "", fmt::format("cannot be read: {}", reason_of(errno)));
    return {};
  }
  std::string text;
  char piece[16 * 1024];
  while (const std::size_t count = std::fread(piece, 1, sizeof piece, file.get())) {
    text.append(piece, count);
    if (text.size() > file_bytes_max) {
      problems.add(origin, "",
                   fmt::format("larger than {} bytes: is this the right file?", file_bytes_max));
      return {};
    }
  }
  if (std::ferror(file.get()) != 0) {
    problems.add(origin, "", fmt::format("cannot be read: {}", reason_of(errno)));
    return {};
  }
  return text;
}

std::vector<std::string> split_by_points(Bytes text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t at = text.find('.');
    parts.emplace_back(text.substr(0, at));
    if (at == text.npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// Sets one value by its path.
class Overlay {
 public:
  Overlay(Node& root, const Shape& shape, Problems& problems)
      : root_(root), shape_(shape), problems_(problems) {}

  void apply(const std::vector<std::string>& path, Bytes text, const Origin& origin) {
    std::vector<Bytes> keys;
    const Shape* const shape = find(path, origin, keys);
    if (shape == nullptr) return;
    const std::size_t before = problems_.count();
    Node value = read(*shape, text, origin);
    if (problems_.count() != before) return;
    Node* place = &root_;
    for (const Bytes key : keys) {
      place = step(*place, key, origin);
      if (place == nullptr) return;
    }
    *place = std::move(value);
  }

 private:
  // The shape at the path, and the keys of the path in the spelling of the shape. Null: a problem
  // was added.
  const Shape* find(const std::vector<std::string>& path, const Origin& origin,
                    std::vector<Bytes>& keys) {
    const bool any_case = origin.kind == Origin::Kind::environment;
    const Shape* shape = &shape_;
    for (const std::string& part : path) {
      if (shape->kind != Shape::Kind::group && shape->kind != Shape::Kind::dictionary) {
        problems_.add(origin, "", fmt::format("'{}' has no keys: give it as a whole", shape->name));
        return nullptr;
      }
      const Shape* const member = any_case ? shape->find_any_case(part) : shape->find(part);
      if (member == nullptr) {
        problems_.add(origin, "", unknown_key(*shape, part, shape_));
        return nullptr;
      }
      keys.push_back(shape->kind == Shape::Kind::dictionary ? Bytes(part) : member->name);
      shape = member;
    }
    if (shape->kind != Shape::Kind::group) return shape;
    problems_.add(origin, "", fmt::format("a group of keys: name one of them ({})", list(*shape)));
    return nullptr;
  }
  static std::string list(const Shape& group) {
    std::string text;
    for (const Shape& member : group.members) {
      if (&member != &group.members.front()) text += ", ";
      text += member.name;
    }
    return text;
  }
  // Null: the file has another kind of value there, which the reader reports.
  static Node* step(Node& node, Bytes key, const Origin& origin) {
    if (node.kind == Node::Kind::nothing) {
      node.kind = Node::Kind::map;
      node.origin = origin;
    }
    if (node.kind != Node::Kind::map) return nullptr;
    if (Node* const found = node.find(key)) return found;
    node.keys.emplace_back(key);
    return &node.items.emplace_back();
  }
  Node read(const Shape& shape, Bytes text, const Origin& origin) {
    if (shape.kind != Shape::Kind::value) return read_yaml(text, origin, problems_);
    Node node;
    node.kind = Node::Kind::text;
    node.text = text;
    node.origin = origin;
    return node;
  }

  Node& root_;
  const Shape& shape_;
  Problems& problems_;
};

Origin origin_of(Origin::Kind kind, Bytes name) {
  return {.kind = kind, .name = std::make_shared<const std::string>(name)};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> process_environment() {
  std::vector<std::pair<std::string, std::string>> all;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const Bytes text = *each;
    const std::size_t equals = text.find('=');
    if (equals == text.npos) continue;
    all.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return all;
}

std::string how_to_set(const Sources& sources) {
  std::string text = "set it";
  if (!sources.file.empty()) text += " in " + sources.file;
  if (!sources.environment_prefix.empty()) {
    if (!sources.file.empty()) text += ',';
    text += fmt::format(" by an environment variable {}...", sources.environment_prefix);
  }
  return text + " or by --set KEY=VALUE";
}

Node read_sources(const Sources& sources, const Shape& shape, Problems& problems) {
  Node root;
  if (!sources.file.empty()) {
    const Origin origin = origin_of(Origin::Kind::file, sources.file);
    if (const auto text = read_file(sources, origin, problems)) {
      root = read_yaml(*text, origin, problems);
    }
  }
  Overlay overlay(root, shape, problems);
  const Bytes prefix = sources.environment_prefix;
  for (const auto& [name, value] : sources.environment) {
    const auto named = std::ranges::find(sources.environment_names, name,
                                         &std::pair<std::string, std::string>::first);
    if (named != sources.environment_names.end()) {
      if (is_address_of_service(name, value)) {
        problems.note(origin_of(Origin::Kind::environment, name), service_words);
        continue;
      }
      overlay.apply(split_by_points(named->second), value,
                    origin_of(Origin::Kind::environment, name));
      continue;
    }
    if (prefix.empty() || !name.starts_with(prefix) ||
        std::ranges::count(sources.environment_others, name) != 0) {
      continue;
    }
    const VariableKeys keys = keys_of_variable(name, prefix, value, shape);
    if (keys.words.empty()) {
      overlay.apply(keys.path, value, origin_of(Origin::Kind::environment, name));
    } else {
      problems.note(origin_of(Origin::Kind::environment, name), keys.words);
    }
  }
  for (std::size_t index = 0; index < sources.sets.size(); ++index) {
    const std::string& set = sources.sets[index];
    const std::size_t equals = set.find('=');
    const Bytes key = Bytes(set).substr(0, equals);
    const Bytes flag = index < sources.set_flags.size() ? sources.set_flags[index] : Bytes();
    const Origin origin =
        flag.empty() ? origin_of(Origin::Kind::set, key) : origin_of(Origin::Kind::flag, flag);
    if (equals == set.npos) {
      problems.add(origin, "", "has no value: write KEY=VALUE");
    } else {
      overlay.apply(split_by_points(key), Bytes(set).substr(equals + 1), origin);
    }
  }
  return root;
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
