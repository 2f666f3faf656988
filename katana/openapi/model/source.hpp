// Source: a file of a description, read, and the pointer of each of its places.
//
// Owns       its tree.
// Thread     any.
// Allocates  an index of its places, when the first pointer is asked for.
// Fails      never.
// Invariant  a node stays where it is for as long as its Source.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/openapi/model/node.hpp"

namespace katana::openapi::model {

class Source;

// Where something stands. Shares its file.
struct Location {
  std::shared_ptr<const Source> source = {};  // null: nowhere
  Position position = {};                     // where it begins

  // The name by which the file was given, or its URI.
  std::string file() const;
  // The JSON pointer of the value that begins there: "/paths/~1users/get".
  std::string pointer() const;
  // "api.yaml:12:7: #/paths/~1users/get"
  std::string describe() const;
};

// The path of a URI that names a file; empty for any other URI.
std::string path_of_uri(const std::string& uri);

class Source : public std::enable_shared_from_this<Source> {
 public:
  Source(std::string uri, Node root) : uri_(std::move(uri)), root_(std::move(root)) {}

  // A path with '%', '#' and '?' escaped (uri_of_path()), or a URI.
  const std::string& uri() const noexcept { return uri_; }
  // The name for messages: the path of a file, else the URI.
  std::string name() const;
  const Node& root() const noexcept { return root_; }
  Location locate(const Node& node) const { return {shared_from_this(), node.position}; }
  // The pointer of the outermost value that begins there, or whose key does; of the last one
  // before, if none does.
  std::string pointer_at(Position position) const;

 private:
  struct Place {
    std::uint32_t parent = 0;  // index in places_
    std::uint32_t child = 0;   // index in the parent
    const Node* node = nullptr;
  };
  using Placed = std::pair<Position, std::uint32_t>;
  void index() const;

  std::string uri_;
  Node root_;
  mutable std::once_flag indexed_;
  mutable std::vector<Place> places_;   // each node stands in front of the nodes inside of it
  mutable std::vector<Placed> sorted_;  // by position: of nodes and of keys
};

// A node and the file that it is of.
struct NodeAt {
  std::shared_ptr<const Source> source = {};  // keeps the node
  const Node* node = nullptr;                 // null: it is not there

  explicit operator bool() const noexcept { return node != nullptr; }
  // The value of that key. Without a node: there is no such key, or this is no object.
  NodeAt find(Bytes key) const { return {source, node == nullptr ? nullptr : node->find(key)}; }
  // REQUIRES `other` in the same file.
  NodeAt to(const Node& other) const { return {source, &other}; }
  // Without a node the file, at no line.
  Location location() const {
    return node == nullptr ? Location{source, {}} : Location{source, node->position};
  }
};

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
