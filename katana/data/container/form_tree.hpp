// FormTree: a tree from names with brackets, which forms and queries use for objects and lists.
//
//   card[number]=4242&items[0][price]=5&items[1][price]=7&tags[]=new&tags[]=used&name=Ann
//
// The items of a list have numbers, or they repeat one name with "[]" or without brackets. Objects
// as items need numbers. If the brackets of a name do not match, they are ordinary characters.
//
// Owns       names and values.
// Thread     a value.
// Allocates  for each name, and for each value that is longer than 15 bytes.
// Fails      add() returns the mistake of a name, or that there are too many names.
// Invariant  there are at most values_max values, and depth_max brackets in a row. Nothing is
//            allocated for missing numbers of a list.
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

// The value of a name.
struct FormLeaf {
  std::string text = {};  // without escapes; for a file: its content
  // The headers of a part of multipart/form-data.
  struct Part {
    std::string filename = {};      // empty: the part is no file
    std::string content_type = {};  // empty: the part has none
  };
  std::unique_ptr<Part> part = {};  // null: the value came in no part
};

class FormTree {
 public:
  static constexpr std::size_t values_max = 1000;  // values of all names together
  static constexpr std::size_t depth_max = 16;     // steps in one name

  // A node has either values or members. It has several values if its name came more than once.
  struct Node {
    std::vector<FormLeaf> values = {};  // in the order of their arrival
    std::map<std::string, std::unique_ptr<Node>, std::less<>> members = {};  // by their names

    // True if the members are the items of a list: "0", "1", …
    bool is_numbered() const noexcept;
    // The members by their numbers, in order. REQUIRES is_numbered().
    std::vector<std::pair<unsigned, const Node*>> numbered() const;
    // The node of "[]"; null: that is not the only member.
    const Node* unnumbered() const noexcept;
  };

  // Adds a value. The name has no escapes. An Error has the name in the form "card[number]".
  Result<void> add(Bytes name, FormLeaf leaf);
  // Adds a value. Brackets are ordinary characters of the name.
  Result<void> add_plain(Bytes name, FormLeaf leaf);
  // Adds a value with a plain name below the plain name `outer`.
  Result<void> add_below(Bytes outer, Bytes name, FormLeaf leaf);
  const Node& root() const noexcept { return root_; }

 private:
  Result<Node*> step(Node& from, Bytes name, Bytes whole);
  Result<void> put(Node& to, FormLeaf leaf, Bytes whole);

  Node root_ = {};
  std::size_t count_ = 0;
};

// The name for a JSON pointer: "card[number]" for "/card/number".
std::string bracket_name(Bytes pointer);

// The names and texts of a value for a form: ("items[0][price]", "5"). Null, an empty list and an
// empty object are not sent.
std::vector<std::pair<std::string, std::string>> bracket_pairs(Bytes name, const Value& value);

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
