// Source: a file of a description, read, and the pointer of each of its places.
// SourceSet: the files that a description refers to, and what a reference means.
//
// A reference is resolved beside the URI of its file, or the `$id` it stands below (OpenAPI 3.1).
// Files are read by `load`; what has another scheme than file: by `fetch`, and is refused if there
// is none.
//
// Owns       the trees.
// Thread     a Source any; a SourceSet one.
// Allocates  freely, within Limits.
// Fails      adds to the problems, with the place of the reference; a file that could not be read is
//            tried once.
// Invariant  a node stays where it is for as long as its Source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/bytes.hpp"
#include "katana/base/result.hpp"
#include "katana/openapi/node.hpp"
#include "katana/openapi/problems.hpp"

namespace katana::openapi::model {

struct Limits {
  std::size_t file_bytes_max = 64 * 1024 * 1024;  // of each file
  std::size_t files_max = 2'000;
  std::size_t nodes_max = 8'000'000;  // of all files, with what YAML's aliases repeat
  std::size_t depth_max = 128;        // of lists and objects in one another
  std::size_t schemas_max = 1'000'000;  // with all that is inside of them
  std::size_t objects_max = 4'000'000;  // of the model: what is referred to counts wherever it is used
};

class Source : public std::enable_shared_from_this<Source> {
 public:
  Source(std::string uri, Node root) : uri_(std::move(uri)), root_(std::move(root)) {}

  const std::string& uri() const noexcept { return uri_; }
  // For messages: of a file its path.
  std::string name() const;
  const Node& root() const noexcept { return root_; }
  Location locate(const Node& node) const { return {shared_from_this(), node.position}; }
  // The pointer of the outermost value that begins there; of the last one before, if none does.
  std::string pointer_at(Position position) const;

 private:
  struct Place {
    Position position;
    std::uint32_t parent = 0;  // index in places, in the order of the file
    std::uint32_t child = 0;   // index in the parent
    const Node* node = nullptr;
  };
  void index() const;

  std::string uri_;
  Node root_;
  mutable std::once_flag indexed_;
  mutable std::vector<Place> places_;          // in the order of the tree
  mutable std::vector<std::uint32_t> sorted_;  // by position
};

// A node and the file that it is of.
struct NodeAt {
  std::shared_ptr<const Source> source = {};
  const Node* node = nullptr;

  explicit operator bool() const noexcept { return node != nullptr; }
  NodeAt find(Bytes key) const { return {source, node == nullptr ? nullptr : node->find(key)}; }
  NodeAt to(const Node& other) const { return {source, &other}; }
  Location location() const {
    return node == nullptr ? Location{source, {}} : Location{source, node->position};
  }
};

using Load = std::move_only_function<Result<std::string>(const std::string& path)>;

// What SourceSet calls the file of that path.
std::string uri_of_path(Bytes path);
// The whole of a file of at most `bytes_max` octets.
Result<std::string> load_file(const std::string& path, std::size_t bytes_max);

class SourceSet {
 public:
  SourceSet(Load load, Load fetch, Limits limits, Problems& problems);

  // The file of that URI or path. `reason` is where it is asked for. Null: it cannot be had, which
  // was reported.
  std::shared_ptr<const Source> get(const std::string& uri, const Location& reason);
  // Adds text that was read already.
  std::shared_ptr<const Source> add(const std::string& uri, Bytes text);
  // What `reference` means at `at`, below `base` (empty: the URI of its file). Not there: reported.
  NodeAt resolve(Bytes reference, const NodeAt& at, Bytes base = {});
  // All files, in the order in which they were read.
  const std::vector<std::shared_ptr<const Source>>& all() const noexcept { return order_; }
  const Limits& limits() const noexcept { return limits_; }

 private:
  std::shared_ptr<const Source> load(const std::string& uri, const Location& reason);
  NodeAt find_resource(const std::string& uri, const NodeAt& at);
  NodeAt find_anchor(const NodeAt& resource, Bytes name) const;
  void note_ids(const std::shared_ptr<const Source>& source, const Node& node,
                const std::string& base);

  Load load_;
  Load fetch_;
  Limits limits_;
  Problems& problems_;
  std::size_t nodes_ = 0;
  std::map<std::string, std::shared_ptr<const Source>> sources_;
  std::map<std::string, NodeAt> ids_;
  std::vector<std::shared_ptr<const Source>> order_;
};

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
