// SourceSet: the files that a description refers to, and the resolution of references.
//
// A reference is resolved against the URI of its file, or the `$id` that it stands below (OpenAPI
// 3.1). `load` reads files. `fetch` reads URIs of other schemes than file:, which are refused if it
// is null.
//
// Owns       the files.
// Borrows    the problems, for its life.
// Thread     one.
// Allocates  freely, within Limits.
// Fails      adds to the problems, with the place of the reference; a file that could not be read
//            is tried once.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/openapi/model/problems.hpp"
#include "katana/openapi/model/source.hpp"

namespace katana::openapi::model {

// How much is read. More than that is an error, and is not read.
struct Limits {
  std::size_t file_bytes_max = 64 * 1024 * 1024;  // of each file
  std::size_t files_max = 2'000;                  // with the first one
  std::size_t nodes_max = 8'000'000;              // of all files, with copies by YAML's aliases
  std::size_t depth_max = 128;                    // of lists and objects in one another
  std::size_t schemas_max = 1'000'000;            // with all that is inside of them
  std::size_t objects_max = 4'000'000;  // of the model: a referenced object counts at each use
};

// Gives the whole of a file. Called once for each, on the thread that reads; it may block.
using Load = std::move_only_function<Result<std::string>(const std::string& path)>;

// The URI by which SourceSet names the file of that path.
std::string uri_of_path(Bytes path);
// The whole of a file of at most `bytes_max` bytes.
Result<std::string> load_file(const std::string& path, std::size_t bytes_max);

class SourceSet {
 public:
  SourceSet(Load load, Load fetch, Limits limits, Problems& problems);

  // The file of that URI or path. `reason` is where it is asked for. Null: it cannot be had, which
  // was reported.
  std::shared_ptr<const Source> get(const std::string& uri, const Location& reason);
  // Adds text that was read already.
  std::shared_ptr<const Source> add(const std::string& uri, Bytes text);
  // Resolves `reference` at `at`, below `base` (empty: the URI of its file). A target that does not
  // exist is reported as a problem.
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
