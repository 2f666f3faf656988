#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "katana/base/text/utf8.hpp"
#include "katana/openapi/model/parse.hpp"

namespace katana::openapi::model {
namespace {

// yaml-cpp 0.7 writes the escapes \N and \_ as one byte each, 85 and A0, where UTF-8 has C2 before
// them. The file was UTF-8: no other byte can stand alone.
std::string as_utf8(Bytes text) {
  if (is_utf8(text)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) out += '\xC2';
    out += text.substr(0, std::max<std::size_t>(length, 1));
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

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

// Ends the parse: the rest would only be more of the same.
struct Stop {};

Position position_of(const YAML::Mark& mark) {
  if (mark.line < 0) return {1, 1};
  return {static_cast<std::uint32_t>(mark.line) + 1, static_cast<std::uint32_t>(mark.column) + 1};
}

class Builder final : public YAML::EventHandler {
 public:
  Builder(Parsed& result, std::size_t depth_max, std::size_t nodes_max)
      : result_(result), depth_max_(depth_max), nodes_max_(nodes_max) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ != 0) stop(mark, "a second document begins here. Give one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(mark, anchor, make(mark, Node::Kind::null));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto of = anchors_.find(anchor);
    if (of == anchors_.end()) stop(mark, "an alias inside of what it stands for");
    count_nodes(mark, of->second.size);
    add(mark, 0, of->second.node, of->second.size);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node node = make(mark, tag == "?" || tag.empty() ? kind_of(value) : Node::Kind::text);
    node.text = as_utf8(value);
    add(mark, anchor, std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, Node::Kind::list, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, Node::Kind::object, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    YAML::Mark mark;
    YAML::anchor_t anchor;
    std::size_t nodes_before;
    std::optional<Node::Key> key = {};  // of an object: its value is to come
    std::vector<Node> merged = {};
  };
  struct Anchored {
    Node node;
    std::size_t size;
  };

  [[noreturn]] void stop(const YAML::Mark& mark, std::string words) {
    result_.problems.push_back({position_of(mark), std::move(words)});
    throw Stop{};
  }
  Node make(const YAML::Mark& mark, Node::Kind kind) {
    count_nodes(mark, 1);
    Node node;
    node.kind = kind;
    node.position = position_of(mark);
    return node;
  }
  void count_nodes(const YAML::Mark& mark, std::size_t count) {
    result_.nodes += count;
    if (result_.nodes > nodes_max_) {
      stop(mark, fmt::format("more than {} values, with what aliases repeat", nodes_max_));
    }
  }

  void open(const YAML::Mark& mark, Node::Kind kind, YAML::anchor_t anchor) {
    if (open_.size() == depth_max_) {
      stop(mark, fmt::format("more than {} levels of lists and objects", depth_max_));
    }
    const std::size_t before = result_.nodes;
    open_.push_back({make(mark, kind), mark, anchor, before});
  }
  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    drop_repeated(done.node, result_.problems);
    for (const Node& each : done.merged) merge(done.node, each);
    add(done.mark, done.anchor, std::move(done.node), result_.nodes - done.nodes_before);
  }

  // A value is complete: as a key, the value of one, an item, or the whole.
  void add(const YAML::Mark& mark, YAML::anchor_t anchor, Node node, std::size_t size = 1) {
    if (anchor != 0) {
      count_nodes(mark, size);
      anchors_[anchor] = {node, size};
    }
    if (open_.empty()) {
      result_.root = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == Node::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      if (node.is(Node::Kind::list) || node.is(Node::Kind::object)) {
        stop(mark, "a key that is not text");
      }
      parent.key = Node::Key{std::move(node.text), position_of(mark)};
    } else if (parent.key->name == "<<") {
      note_merge(*std::exchange(parent.key, {}), parent, std::move(node));
    } else {
      parent.node.keys.push_back(*std::exchange(parent.key, {}));
      parent.node.items.push_back(std::move(node));
    }
  }

  void note_merge(const Node::Key& key, Open& parent, Node node) {
    if (node.kind == Node::Kind::list) {
      for (Node& each : node.items) note_merge(key, parent, std::move(each));
    } else if (node.kind == Node::Kind::object) {
      parent.merged.push_back(std::move(node));
    } else {
      result_.problems.push_back({key.position, "expected an alias of an object behind '<<'"});
    }
  }
  static void merge(Node& into, const Node& from) {
    for (std::size_t index = 0; index < from.keys.size(); ++index) {
      if (into.find(from.keys[index].name) != nullptr) continue;
      into.keys.push_back(from.keys[index]);
      into.items.push_back(from.items[index]);
    }
  }

  Parsed& result_;
  std::size_t depth_max_;
  std::size_t nodes_max_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  int documents_ = 0;
};

// The text with the mark of an end behind it. Without the mark yaml-cpp 0.7 accepts some quotes
// that are open at the end of the text.
std::string with_end(Bytes text) {
  std::string source(text);
  source += source.ends_with('\n') ? "...\n" : "\n...\n";
  return source;
}

}  // namespace

Parsed parse_yaml(Bytes text, std::size_t depth_max, std::size_t nodes_max) {
  Parsed result;
  try {
    std::istringstream stream(with_end(text));
    YAML::Parser parser(stream);
    Builder builder(result, depth_max, nodes_max);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop&) {  // reported already
  } catch (const YAML::Exception& error) {
    result.problems.push_back({position_of(error.mark), fmt::format("not YAML: {}", error.msg)});
  }
  return result;
}

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
