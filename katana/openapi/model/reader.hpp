// Reader: makes a Description of its files. Each Reader has one call of run().
//
// Owns       the files, until run() gives them to the description.
// Borrows    the problems.
// Thread     one.
// Allocates  freely, within the limits.
// Fails      adds to the problems.
// Invariant  no part of a description is left out without a problem that names it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "katana/openapi/model/description.hpp"
#include "katana/openapi/model/fields.hpp"
#include "katana/openapi/model/schema_set.hpp"

namespace katana::openapi::model {

class Reader {
 public:
  Reader(Options options, Problems& problems);

  // Reads `path` by Options::load.
  Description run(const std::string& path);
  // Takes `text` as the content of the file, which is not read.
  Description run(const std::string& path, Bytes text);

 private:
  // The node that a reference led to.
  struct Target {
    NodeAt node;
    std::string component;    // its name; empty: it was no reference
    std::string summary;      // beside the reference (OpenAPI 3.1)
    std::string description;  // likewise
  };
  // The parts that all operations of a path share.
  struct Shared {
    std::string path;
    bool is_template = false;  // the path has {names}
    std::vector<NodeAt> parameters = {};
    std::vector<Server> servers = {};
  };
  using Names = std::vector<std::string>;
  // The content of an operation as Swagger 2.0 describes it.
  struct SwaggerContent {
    Names consumes = {};
    std::vector<NodeAt> form = {};
  };

  bool is_swagger() const noexcept { return api_.dialect == Dialect::swagger_2_0; }
  bool is_3_1() const noexcept { return api_.dialect == Dialect::openapi_3_1; }
  // Makes the description of the root, as far as it could be read.
  Description run_root(const std::shared_ptr<const Source>& root);
  bool read_version(Fields& root);
  void read_root(Fields& root);
  void read_components(const NodeAt& components);
  void read_swagger_root(Fields& root);
  void check_links();
  void check_operation_ids();
  void check_paths();

  template <class Read>
  void for_each(const NodeAt& object, Read&& read) {
    for (std::size_t index = 0; index < object.node->items.size(); ++index) {
      read(object.node->keys[index], object.to(object.node->items[index]));
    }
  }
  // The same without extensions.
  template <class Read>
  void for_each_entry(const NodeAt& object, Read&& read) {
    for_each(object, [&](const Node::Key& key, const NodeAt& each) {
      if (!is_extension(key, *each.node)) read(key, each);
    });
  }
  // False: there are too many, which was reported once.
  bool count_object(const NodeAt& at);
  Target follow(const NodeAt& at);

  Info read_info(const NodeAt& at);
  std::vector<Server> read_servers(const NodeAt& list);
  Server read_server(const NodeAt& at);
  Tag read_tag(const NodeAt& at);
  std::optional<ExternalDocs> read_docs(const NodeAt& at);
  SecurityScheme read_scheme(const std::string& name, const NodeAt& at);
  void read_flows(SecurityScheme& scheme, const NodeAt& at);
  void read_swagger_scheme(SecurityScheme& scheme, Fields& fields);
  OAuthFlow read_flow(const std::string& kind, Fields& fields);
  std::vector<SecurityRequirement> read_security(const NodeAt& list);
  void check_security();

  void read_path_item(PathItem& item, const NodeAt& at, Shared shared, int hops = 0);
  Operation read_operation(const std::string& method, const NodeAt& at, const Shared& shared);
  void read_parameters(Operation& operation, const NodeAt& own, const Shared& shared,
                       SwaggerContent content);
  void add_parameter(Operation& operation, const NodeAt& at, SwaggerContent& content);
  void check_template(Operation& operation, const Shared& shared);
  std::optional<Parameter> read_parameter(const Target& target);
  void read_style(Parameter& parameter, Fields& fields);
  void read_swagger_style(Parameter& parameter, Fields& fields);
  void read_value(Parameter& parameter, Fields& fields);
  RequestBody read_body(const NodeAt& at);
  std::vector<MediaType> read_content(const NodeAt& object);
  MediaType read_media_type(const std::string& type, const NodeAt& at);
  Encoding read_encoding(const std::string& property, const NodeAt& at);
  std::vector<Example> read_examples(Fields& fields);
  Example read_example(const std::string& name, const NodeAt& at);
  std::vector<Reply> read_replies(const NodeAt& object, const Names& produces);
  Reply read_reply(const std::string& status, const NodeAt& at, const Names& produces);
  Header read_header(const std::string& name, const NodeAt& at);
  std::vector<Header> read_headers(const NodeAt& object);
  Link read_link(const std::string& name, const NodeAt& at);
  Callback read_callback(const std::string& name, const NodeAt& at);

  // ---- Swagger 2.0 ----
  RequestBody read_swagger_body(const Target& target, const Names& consumes);
  RequestBody read_swagger_form(const std::vector<NodeAt>& parameters, const Names& consumes);
  void read_swagger_content(Reply& reply, Fields& fields, const Names& produces);
  // The keywords of a schema that stand in a parameter itself.
  Node schema_of_parameter(const Node& parameter) const;
  NodeAt keep(const NodeAt& place, Node node);

  Options options_;
  Problems& problems_;
  Description api_;
  std::unique_ptr<SourceSet> sources_;
  std::unique_ptr<SchemaSet> schemas_;
  Names consumes_;
  Names produces_;
  std::size_t objects_ = 0;
  int callbacks_ = 0;  // in one another
};

// The style of that name in OpenAPI 3; none for another, such as "tabDelimited".
std::optional<Style> style_of(Bytes name) noexcept;

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
