#include "katana/data/config/yaml.hpp"

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

namespace katana::config {
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

class Builder final : public YAML::EventHandler {
 public:
  Builder(const Origin& origin, Problems& problems) : origin_(origin), problems_(problems) {}

  Node take_root() { return std::move(root_); }
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
    add(mark, anchor, make(mark, Node::Kind::nothing));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto of = anchors_.find(anchor);
    if (of == anchors_.end()) stop(mark, "an alias inside of what it stands for");
    count_nodes(mark, of->second.size);
    add(mark, 0, of->second.node);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node node = make(mark, Node::Kind::text);
    node.text = as_utf8(value);
    node.quoted = tag == "!";
    if (!node.quoted && (value == "~" || value == "null")) node.kind = Node::Kind::nothing;
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
    std::optional<std::string> key = {};  // of a map: its value is to come
    int key_line = 0;
    std::vector<Node> merged = {};
  };
  struct Anchored {
    Node node;
    std::size_t size;
  };

  Origin at(const YAML::Mark& mark) const {
    Origin origin = origin_;
    if (origin.kind == Origin::Kind::file && mark.line >= 0) origin.line = mark.line + 1;
    return origin;
  }
  [[noreturn]] void stop(const YAML::Mark& mark, Bytes words) {
    problems_.add(at(mark), "", words);
    throw Stop{};
  }
  Node make(const YAML::Mark& mark, Node::Kind kind) {
    count_nodes(mark, 1);
    Node node;
    node.kind = kind;
    node.origin = at(mark);
    return node;
  }
  void count_nodes(const YAML::Mark& mark, std::size_t count) {
    nodes_ += count;
    if (nodes_ > nodes_max) {
      stop(mark, fmt::format("more than {} values, with what aliases repeat", nodes_max));
    }
  }

  void open(const YAML::Mark& mark, Node::Kind kind, YAML::anchor_t anchor, bool in_brackets) {
    if (open_.size() == depth_max) stop(mark, fmt::format("more than {} levels", depth_max));
    const std::size_t before = nodes_;
    open_.push_back({make(mark, kind), mark, anchor, before, in_brackets});
  }
  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    for (const Node& each : done.merged) merge(done.node, each);
    add(done.mark, done.anchor, std::move(done.node), nodes_ - done.nodes_before);
  }

  // A value is complete: as a key, the value of one, an item, or the whole.
  void add(const YAML::Mark& mark, YAML::anchor_t anchor, Node node, std::size_t size = 1) {
    if (anchor != 0) {
      count_nodes(mark, size);
      anchors_[anchor] = {node, size};
    }
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == Node::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      if (node.kind != Node::Kind::text) stop(mark, "a key that is not text");
      parent.key = std::move(node.text);
      parent.key_line = mark.line + 1;
    } else {
      node.key_line = parent.key_line;
      add_to_map(parent, *std::exchange(parent.key, {}), std::move(node));
    }
  }

  void add_to_map(Open& parent, std::string key, Node node) {
    if (key == "<<") {
      const Origin place = node.key_origin();
      note_merge(place, parent, std::move(node));
    } else if (const Node* const first = parent.node.find(key)) {
      problems_.add(node.key_origin(), key,
                    fmt::format("the key stands twice, first in line {}", first->key_line));
    } else {
      parent.node.keys.push_back(std::move(key));
      parent.node.items.push_back(std::move(node));
    }
  }

  void note_merge(const Origin& place, Open& parent, Node node) {
    if (node.kind == Node::Kind::list) {
      for (Node& each : node.items) note_merge(place, parent, std::move(each));
    } else if (node.kind == Node::Kind::map) {
      parent.merged.push_back(std::move(node));
    } else {
      problems_.add(place, "<<", "expected an alias of a group of keys");
    }
  }
  static void merge(Node& into, const Node& from) {
    for (std::size_t index = 0; index < from.keys.size(); ++index) {
      if (into.find(from.keys[index]) != nullptr) continue;
      into.keys.push_back(from.keys[index]);
      into.items.push_back(from.items[index]);
    }
  }

  const Origin& origin_;
  Problems& problems_;
  Node root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::size_t nodes_ = 0;
  int documents_ = 0;
};

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

Node parse(const std::string& text, const Origin& origin, Problems& problems) {
  Builder builder(origin, problems);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop&) {  // said already
  } catch (const YAML::Exception& error) {
    Origin place = origin;
    // yaml-cpp reports an unclosed bracket at the end of the text. Its beginning helps the user.
    const bool is_open = error.msg == YAML::ErrorMsg::END_OF_SEQ_FLOW ||
                         error.msg == YAML::ErrorMsg::END_OF_MAP_FLOW;
    const YAML::Mark mark = (is_open ? builder.open_bracket() : std::nullopt).value_or(error.mark);
    if (place.kind == Origin::Kind::file && mark.line >= 0) place.line = mark.line + 1;
    problems.add(place, "", fmt::format("not YAML: {}", words_of(error.msg)));
  }
  return builder.take_root();
}

}  // namespace

Node read_yaml(Bytes text, const Origin& origin, Problems& problems) {
  if (!check_text(text, origin, problems)) return {};
  // yaml-cpp 0.7 accepts some quotes that the end of the text leaves open. It refuses them before
  // an end mark, which changes the meaning of no other text.
  std::string marked(text);
  const bool whole_lines = text.ends_with('\n');
  marked += whole_lines ? "...\n" : "\n...\n";
  Problems with_mark;
  Node root = parse(marked, origin, with_mark);
  // It does end a line, and is a document where there is none.
  if (with_mark.empty() && whole_lines && root.kind != Node::Kind::nothing) return root;
  Problems without_mark;
  root = parse(std::string(text), origin, without_mark);
  // The mark is not the user's: words about it are second to those about the text as it stands.
  problems.add(without_mark.empty() ? with_mark : without_mark);
  return root;
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
