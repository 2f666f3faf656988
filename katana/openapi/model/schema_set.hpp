// SchemaSet: the schemas of a description as one document of draft 2020-12.
//
// Owns       the document that it makes.
// Borrows    the sources and the problems, for its life.
// Thread     one.
// Allocates  freely, at most Limits::schemas_max schemas.
// Fails      adds to the problems: values that are no schema, and keywords without a meaning in
//            2020-12.
// Invariant  one node has one name, however often it is referred to.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/data/container/value.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi::model {

class SchemaSet {
 public:
  SchemaSet(SourceSet& sources, Problems& problems, Dialect dialect)
      : sources_(sources), problems_(problems), dialect_(dialect) {}

  // The schemas of the components, before any use().
  void add_components(const NodeAt& components);
  // The schema that a description has at that place.
  SchemaAt use(const NodeAt& schema);
  // Translates all schemas that were referred to, and moves them into `description`.
  void finish(Description& description);

 private:
  struct Named {
    std::string name;
    NodeAt node;
    std::string base;  // URI that its references are relative to; empty: of its file
    bool is_component = false;
    container::Value value = {};
  };
  struct Scope {
    std::shared_ptr<const Source> source;
    std::string base;
    Dialect dialect;
  };

  Dialect dialect_of(const Source& source) const;
  Scope scope_of(const NodeAt& node, std::string base) const;
  NodeAt final_target(NodeAt node);
  std::string name_of(const NodeAt& target, std::string base);
  std::string unused_name(const std::string& wanted);
  std::string target_of(const Node& reference, const Scope& scope);

  container::Value translate(const Node& node, const Scope& scope);
  container::Value translate_object(const Node& node, const Scope& scope);
  container::Value translate_reference(const Node& node, const Node& reference, const Scope& scope);
  void add_keyword(container::Object& to, const Node::Key& key, const Node& value,
                   const Scope& scope);
  void add_tuple(container::Object& to, const Node::Key& key, const Node& value,
                 const Scope& scope);
  container::Value translate_list(const Node& list, const Scope& scope);
  container::Value translate_map(const Node& map, const Scope& scope);
  void add_type(container::Object& to, const Node& value, const Scope& scope);
  void add_discriminator(container::Object& to, const Node& value, const Scope& scope);
  void add_dynamic_reference(container::Object& to, const Node& value, const Scope& scope);
  bool check_kind(const Node& value, Bytes key, const Scope& scope);
  void note_unknown(const Node::Key& key, const Scope& scope);
  void translate_bounds(container::Object& object, const Node& node, const Scope& scope);
  container::Value with_null(container::Object object) const;

  SourceSet& sources_;
  Problems& problems_;
  Dialect dialect_;
  std::vector<Named> named_;
  std::unordered_map<const Node*, std::size_t> by_node_;
  std::set<std::string> names_;
  container::List inline_;
  std::vector<NodeAt> inline_nodes_;
  std::unordered_map<const Node*, std::size_t> inline_by_node_;
  std::size_t translated_ = 0;
  std::size_t schemas_ = 0;
};

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
