#include "katana/data/yaml/yaml.hpp"

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

namespace katana::yaml {
namespace {

// yaml-cpp 0.7 writes the escapes \N and \_ as one byte each, 85 and A0, where UTF-8 has C2 before
// them. The file was UTF-8, so that no other byte can stand alone.
std::string as_utf8(Bytes text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) out += '\xC2';
    out += text.substr(0, std::max<std::size_t>(length, 1));
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

struct SyntaxError {
  const char* parser;  // what yaml-cpp says
  const char* words;
};
const SyntaxError syntax_errors[] = {
    {YAML::ErrorMsg::END_OF_SEQ_FLOW, "'[' is not closed"},
    {YAML::ErrorMsg::END_OF_MAP_FLOW, "'{' is not closed"},
    {YAML::ErrorMsg::FLOW_END, "a bracket closes what was not opened"},
    {YAML::ErrorMsg::EOF_IN_SCALAR, "a quote is not closed"},
    {YAML::ErrorMsg::DOC_IN_SCALAR, "a quote is not closed"},
    {YAML::ErrorMsg::END_OF_MAP,
     "expected a key with the indentation of the keys above, or the end of their group"},
    {YAML::ErrorMsg::END_OF_SEQ,
     "expected '- ' with the indentation of the items above, or the end of their list"},
    {YAML::ErrorMsg::MAP_VALUE,
     "a second value on one line: quote a text that has ': ' in it, or begin a new line"},
    {YAML::ErrorMsg::MAP_KEY, "a key cannot begin here"},
    {YAML::ErrorMsg::BLOCK_ENTRY, "an item '- ' cannot begin here: begin the list on a new line"},
    {YAML::ErrorMsg::UNKNOWN_TOKEN,
     "a character that cannot begin a value: quote the text, and indent by spaces, not tabs"},
    {YAML::ErrorMsg::CHAR_IN_BLOCK, "unexpected text behind '|' or '>'"},
    {YAML::ErrorMsg::UNKNOWN_ANCHOR,
     "an alias '*name' without its anchor '&name' above: quote a text that begins with '*'"},
    {YAML::ErrorMsg::ALIAS_NOT_FOUND, "'*' without a name: quote a text that begins with '*'"},
    {YAML::ErrorMsg::ANCHOR_NOT_FOUND, "'&' without a name: quote a text that begins with '&'"},
    {YAML::ErrorMsg::INVALID_ANCHOR, "an anchor's name ends in a character that it cannot have"},
    {YAML::ErrorMsg::INVALID_ALIAS, "an alias's name ends in a character that it cannot have"},
    {YAML::ErrorMsg::INVALID_HEX, "a hexadecimal escape with another character"},
};

// The parser's words for a syntax error in words for its reader; unknown ones as they are.
std::string words_of(const std::string& parser) {
  for (const SyntaxError& each : syntax_errors) {
    if (parser == each.parser) return each.words;
  }
  if (parser.starts_with(YAML::ErrorMsg::INVALID_ESCAPE)) {
    return fmt::format("'\\{}' is no escape: write '\\\\' for a backslash, or use single quotes",
                       parser.substr(Bytes(YAML::ErrorMsg::INVALID_ESCAPE).size()));
  }
  return parser;
}

// Ends the parse: the rest would only be more of the same.
struct Stop {};

Position position_of(const YAML::Mark& mark) {
  if (mark.line < 0) return {};
  return {static_cast<std::uint32_t>(mark.line) + 1, static_cast<std::uint32_t>(mark.column) + 1};
}

class Builder final : public YAML::EventHandler {
 public:
  Builder(Parsed& result, const Limits& limits) : result_(result), limits_(limits) {}

  // Where the innermost list or group in brackets begins; nothing: none is open.
  std::optional<YAML::Mark> open_bracket() const {
    const auto found = std::find_if(open_.rbegin(), open_.rend(),
                                    [](const Open& each) { return each.in_brackets; });
    if (found == open_.rend()) return std::nullopt;
    return found->mark;
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ != 0) stop(mark, "a second document begins here. Give one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(mark, anchor, make(mark, Node::Kind::empty));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto of = anchors_.find(anchor);
    if (of == anchors_.end()) stop(mark, "an alias inside of what it stands for");
    count_nodes(mark, of->second.size);
    add(mark, 0, of->second.node, of->second.size);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node node = make(mark, Node::Kind::scalar);
    node.text = as_utf8(value);
    node.style = tag == "!"                  ? Node::Style::quoted
                 : tag.empty() || tag == "?" ? Node::Style::plain
                                             : Node::Style::tagged;
    add(mark, anchor, std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    open(mark, Node::Kind::list, anchor, style == YAML::EmitterStyle::Flow);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    open(mark, Node::Kind::map, anchor, style == YAML::EmitterStyle::Flow);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    YAML::Mark mark;
    YAML::anchor_t anchor;
    std::size_t nodes_before;
    bool in_brackets = false;
    std::optional<Node::Key> key = {};  // of a map: its value is to come
    std::vector<Node> merged = {};
  };
  struct Anchored {
    Node node;
    std::size_t size;
  };

  [[noreturn]] void stop(const YAML::Mark& mark, std::string words) {
    result_.problems.push_back({.position = position_of(mark), .words = std::move(words)});
    throw Stop{};
  }
  Node make(const YAML::Mark& mark, Node::Kind kind) {
    count_nodes(mark, 1);
    return {.kind = kind, .position = position_of(mark)};
  }
  void count_nodes(const YAML::Mark& mark, std::size_t count) {
    result_.nodes += count;
    if (result_.nodes > limits_.nodes_max) {
      stop(mark, fmt::format("more than {} values, with what aliases repeat", limits_.nodes_max));
    }
  }

  void open(const YAML::Mark& mark, Node::Kind kind, YAML::anchor_t anchor, bool in_brackets) {
    if (open_.size() == limits_.depth_max) {
      stop(mark, fmt::format("more than {} levels", limits_.depth_max));
    }
    const std::size_t before = result_.nodes;
    open_.push_back({make(mark, kind), mark, anchor, before, in_brackets});
  }
  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    drop_repeated(done.node);
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
      if (node.kind == Node::Kind::list || node.kind == Node::Kind::map) {
        stop(mark, "a key that is not text");
      }
      parent.key = Node::Key{std::move(node.text), position_of(mark),
                             node.kind == Node::Kind::empty, node.style};
    } else if (parent.key->name == "<<") {
      note_merge(*std::exchange(parent.key, {}), parent, std::move(node));
    } else {
      parent.node.keys.push_back(*std::exchange(parent.key, {}));
      parent.node.items.push_back(std::move(node));
    }
  }

  // Leaves the first of each name. By sorted names: a file may have as many keys as it may have
  // values.
  void drop_repeated(Node& map) {
    if (map.kind != Node::Kind::map) return;
    std::map<Bytes, std::uint32_t> lines;
    std::vector<bool> is_repeated(map.keys.size());
    for (std::size_t index = 0; index < map.keys.size(); ++index) {
      const Node::Key& key = map.keys[index];
      const auto [first, is_new] = lines.emplace(key.name, key.position.line);
      if (is_new) continue;
      is_repeated[index] = true;
      result_.problems.push_back(
          {key.position, key.name,
           fmt::format("the key stands twice, first in line {}", first->second), first->second});
    }
    std::size_t kept = 0;
    for (std::size_t index = 0; index < map.keys.size(); ++index) {
      if (is_repeated[index]) continue;
      if (kept != index) {
        map.keys[kept] = std::move(map.keys[index]);
        map.items[kept] = std::move(map.items[index]);
      }
      ++kept;
    }
    map.keys.resize(kept);
    map.items.resize(kept);
  }

  void note_merge(const Node::Key& key, Open& parent, Node node) {
    if (node.kind == Node::Kind::list) {
      for (Node& each : node.items) note_merge(key, parent, std::move(each));
    } else if (node.kind == Node::Kind::map) {
      parent.merged.push_back(std::move(node));
    } else {
      result_.problems.push_back(
          {.position = key.position, .key = "<<", .words = "expected an alias of a group of keys"});
    }
  }
  static void merge(Node& into, const Node& from) {
    for (std::size_t index = 0; index < from.keys.size(); ++index) {
      if (into.index_of(from.keys[index].name) != into.keys.size()) continue;
      into.keys.push_back(from.keys[index]);
      into.items.push_back(from.items[index]);
    }
  }

  Parsed& result_;
  const Limits limits_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  int documents_ = 0;
};

Parsed parse(const std::string& text, const Limits& limits) {
  Parsed result;
  Builder builder(result, limits);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop&) {  // reported already
  } catch (const YAML::Exception& error) {
    // yaml-cpp reports an unclosed bracket at the end of the text. Its beginning helps the user.
    const bool is_open = error.msg == YAML::ErrorMsg::END_OF_SEQ_FLOW ||
                         error.msg == YAML::ErrorMsg::END_OF_MAP_FLOW;
    const YAML::Mark mark = (is_open ? builder.open_bracket() : std::nullopt).value_or(error.mark);
    result.problems.push_back(
        {.position = position_of(mark), .words = fmt::format("not YAML: {}", words_of(error.msg))});
  }
  return result;
}

}  // namespace

std::size_t Node::index_of(Bytes name) const noexcept {
  return static_cast<std::size_t>(std::ranges::find(keys, name, &Key::name) - keys.begin());
}

Parsed read(Bytes text, const Limits& limits) {
  // yaml-cpp 0.7 accepts some quotes that the end of the text leaves open. It refuses them before
  // an end mark, which changes the meaning of no other text.
  std::string marked(text);
  const bool whole_lines = text.ends_with('\n');
  marked += whole_lines ? "...\n" : "\n...\n";
  Parsed with_mark = parse(marked, limits);
  // It does end a line, and is a document where there is none.
  if (with_mark.problems.empty() && whole_lines && with_mark.root.kind != Node::Kind::empty) {
    return with_mark;
  }
  Parsed without_mark = parse(std::string(text), limits);
  // The mark is not the user's: words about it are second to those about the text as it stands.
  if (without_mark.problems.empty()) without_mark.problems = std::move(with_mark.problems);
  return without_mark;
}

}  // namespace katana::yaml

// SPDX-License-Identifier: Apache-2.0
