// FormTree: names with brackets, as forms and queries have them for objects and lists, as a tree.
//
//   card[number]=4242&items[0][price]=5&items[1][price]=7&tags[]=new&tags[]=used&name=Ann
//
// The items of a list are numbered, or of the same name with "[]" or without brackets; only numbers
// tell the members of its items apart. A name whose brackets do not match is a name like any other.
//
// Owns       names and values.
// Thread     a value.
// Allocates  for each name, and for each value that is longer than 15 bytes.
// Fails      add() with what is wrong with a name, or that there are too many.
// Invariant  values_max values and depth_max brackets behind one another at most; nothing is
//            allocated for the numbers of a list that are not there.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/data/container/value.hpp"

namespace katana::container {

// What a name was given.
struct FormLeaf {
  std::string text = {};  // without escapes; of a file its content
  // What a part of multipart/form-data says of itself.
  struct Part {
    std::string filename = {};      // empty: it is no file
    std::string content_type = {};  // empty: it has none
  };
  std::unique_ptr<Part> part = {};  // null: it was no part
};

class FormTree {
 public:
  static constexpr std::size_t values_max = 1000;  // of all names
  static constexpr std::size_t depth_max = 16;     // of a name: steps in it

  // Has either values, of which there are several where a name came more than once, or members.
  struct Node {
    std::vector<FormLeaf> values = {};  // in the order in which they came
    std::map<std::string, std::unique_ptr<Node>, std::less<>> members = {};  // by their names

    // Whether the members are the items of a list: "0", "1", …
    bool is_numbered() const noexcept;
    // The members by their numbers, in order. REQUIRES is_numbered().
    std::vector<std::pair<unsigned, const Node*>> numbered() const;
    // The values of "[]"; null: that is not its only member.
    const Node* unnumbered() const noexcept;
  };

  // The name without its escapes. What it is called in an Error: "card[number]".
  Result<void> add(Bytes name, FormLeaf leaf);
  // The brackets are part of the name.
  Result<void> add_plain(Bytes name, FormLeaf leaf);
  const Node& root() const noexcept { return root_; }

 private:
  Result<Node*> step(Node& from, Bytes name, Bytes whole);
  Result<void> put(Node& to, FormLeaf leaf, Bytes whole);

  Node root_ = {};
  std::size_t count_ = 0;
};

// "card[number]" of the JSON pointer "/card/number".
std::string bracket_name(Bytes pointer);

// The names and texts by which a value is sent: ("items[0][price]", "5"). Null, and a list or an
// object without any, is not sent.
std::vector<std::pair<std::string, std::string>> bracket_pairs(Bytes name, const Value& value);

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
