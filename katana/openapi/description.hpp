// Description: an OpenAPI description as data: Swagger 2.0, OpenAPI 3.0 and 3.1 in one model, with
// the place of everything in its file.
//
//   openapi::model::Problems problems;
//   openapi::Description api = openapi::read_description("api.yaml", problems);
//   if (problems.has_errors()) return std::unexpected(problems.as_error());   every one of them
//   for (const auto& path : api.paths)
//     for (const auto& operation : path.operations) … operation.parameters, .body, .replies
//
// References are resolved, also into other files, everywhere but within schemas. What is referred
// to is repeated where it is used, with the name that it has in the components. Parameters of a
// path, and the document's servers and security, are those of each of its operations.
//
// `schemas` is one JSON Schema document of draft 2020-12, whatever the description was: `nullable`,
// `exclusiveMinimum: true`, `example`, `type: file` and `$anchor` are translated, and every `$ref`
// in it points into it:
//
//   {"$schema": …, "components": {"schemas": {"User": …}}, "inline": [ … ]}
//
// A schema of a description is a pointer into it, so that katana::schema compiles any of them:
// Schema::compile_at(api.schemas, operation.body->content[0].schema->pointer). Schemas of other
// files have names there too. `discriminator`, `xml`, `readOnly` and `x-…` stay as they were.
//
// Owns       all it says; shares its files.
// Thread     a value; reading is one thread's.
// Allocates  freely, within Options::limits.
// Fails      read_…(): what is wrong is added to `problems`, with its place, and all of it at once.
//            What could be read is returned in any case: look at problems.has_errors() first.
// Invariant  every pointer of a SchemaAt is in `schemas`; every `$ref` in `schemas` resolves in it.
//            The same text gives the same description.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/bytes.hpp"
#include "katana/base/result.hpp"
#include "katana/container/value.hpp"
#include "katana/openapi/node.hpp"
#include "katana/openapi/problems.hpp"
#include "katana/openapi/source.hpp"
#include "katana/openapi/source_set.hpp"

namespace katana::openapi::model {

enum class Dialect : std::uint8_t { swagger_2_0, openapi_3_0, openapi_3_1 };

// Members "x-…", as they are.
using Extensions = container::Object;

// A schema: a place in Description::schemas.
struct SchemaAt {
  std::string pointer = {};  // "/components/schemas/User", "/inline/3"
  Location location = {};
};

struct ExternalDocs {
  std::string url = {};
  std::string description = {};
};

struct Info {
  std::string title = {};
  std::string version = {};
  std::string summary = {};
  std::string description = {};
  std::string terms_of_service = {};
  std::string contact_name = {};
  std::string contact_url = {};
  std::string contact_email = {};
  std::string licence_name = {};
  std::string licence_url = {};
  std::string licence_identifier = {};
  Extensions extensions = {};
  Location location = {};
};

struct ServerVariable {
  std::string name = {};
  std::string default_value = {};
  std::vector<std::string> choices = {};
  std::string description = {};
};
struct Server {
  std::string url = {};  // may be relative, and have {variables}
  std::string description = {};
  std::vector<ServerVariable> variables = {};
  Location location = {};

  // With the defaults of its variables.
  std::string default_url() const;
};

struct Tag {
  std::string name = {};
  std::string description = {};
  std::optional<ExternalDocs> external_docs = {};
  Location location = {};
};

struct Example {
  std::string name = {};  // empty: the one of `example`
  std::string summary = {};
  std::string description = {};
  std::string external_value = {};       // a URL, when there is no value
  std::shared_ptr<const Node> raw = {};  // shared with the file; null: there is no value
  Location location = {};

  container::Value value() const { return raw == nullptr ? container::Value() : to_value(*raw); }
};

enum class Style : std::uint8_t {
  simple,           // a,b           path, header
  label,            // .a.b          path
  matrix,           // ;name=a,b     path
  form,             // name=a,b      query, cookie
  space_delimited,  // name=a%20b    query
  pipe_delimited,   // name=a|b      query
  tab_delimited,    // name=a%09b    query; Swagger 2.0's tsv
  deep_object,      // name[key]=a   query
};
Bytes style_name(Style style) noexcept;

struct MediaType;

struct Header {
  std::string name = {};
  std::string component = {};  // its name in the components, when it was referred to
  std::string description = {};
  bool required = false;
  bool deprecated = false;
  bool explode = false;                 // the style is simple
  std::optional<SchemaAt> schema = {};  // or:
  std::vector<MediaType> content;       // one
  std::vector<Example> examples = {};
  Extensions extensions = {};
  Location location = {};
};

enum class In : std::uint8_t { path, query, header, cookie };
Bytes in_name(In in) noexcept;

struct Parameter {
  std::string name = {};
  In in = In::query;
  std::string component = {};
  std::string description = {};
  bool required = false;
  bool deprecated = false;
  bool allow_empty_value = false;
  bool allow_reserved = false;
  Style style = Style::form;
  bool explode = true;
  std::optional<SchemaAt> schema = {};  // or:
  std::vector<MediaType> content;       // one: the value is text of that type
  std::vector<Example> examples = {};
  Extensions extensions = {};
  Location location = {};
};

// How a property of a form is sent.
struct Encoding {
  std::string property = {};
  std::string content_type = {};  // empty: by the type of the property
  std::vector<Header> headers = {};
  std::optional<Style> style = {};
  bool explode = true;
  bool allow_reserved = false;
  Location location = {};
};

struct MediaType {
  std::string type = {};                // "application/json", "text/*"
  std::optional<SchemaAt> schema = {};  // absent: any octets
  std::vector<Example> examples = {};
  std::vector<Encoding> encodings = {};
  Extensions extensions = {};
  Location location = {};
};

struct RequestBody {
  std::string component = {};
  std::string description = {};
  bool required = false;
  std::vector<MediaType> content = {};
  Extensions extensions = {};
  Location location = {};
};

struct Link {
  std::string name = {};
  std::string operation_id = {};   // or:
  std::string operation_ref = {};  // as it was written
  std::string description = {};
  std::vector<std::pair<std::string, container::Value>> parameters = {};
  std::optional<container::Value> body = {};
  std::optional<Server> server = {};
  Location location = {};
};

struct Reply {
  std::string status = {};  // "200", "4XX", "default"
  std::string component = {};
  std::string summary = {};
  std::string description = {};
  std::vector<Header> headers = {};
  std::vector<MediaType> content = {};
  std::vector<Link> links = {};
  Extensions extensions = {};
  Location location = {};

  // 200; 0 for a range and for the default.
  unsigned code() const noexcept;
  // Whether a reply of that status may be this one, when no exact one is there.
  bool covers(unsigned status) const noexcept;
};

// All schemes of a requirement are wanted, with those scopes (or roles).
using SecurityRequirement = std::vector<std::pair<std::string, std::vector<std::string>>>;

struct Callback;

struct Operation {
  std::string id = {};      // operationId
  std::string method = {};  // "GET"
  std::string path = {};    // "/users/{id}"; of a webhook its name; of a callback the expression
  std::string summary = {};
  std::string description = {};
  std::vector<std::string> tags = {};
  bool deprecated = false;
  std::vector<Parameter> parameters = {};  // those of the path in front
  std::optional<RequestBody> body = {};
  std::vector<Reply> replies = {};  // by status, "default" last
  std::vector<Callback> callbacks;
  std::vector<SecurityRequirement> security = {};  // any of them; none: everybody may
  std::vector<Server> servers = {};
  std::optional<ExternalDocs> external_docs = {};
  Extensions extensions = {};
  Location location = {};

  // The exact status, else its range, else the default; null: not described.
  const Reply* reply_of(unsigned status) const noexcept;
};

struct PathItem {
  std::string path = {};
  std::string component = {};
  std::string summary = {};
  std::string description = {};
  std::vector<Operation> operations = {};
  Extensions extensions = {};
  Location location = {};
};

struct Callback {
  std::string name = {};
  std::string component = {};
  std::vector<PathItem> paths = {};
  Location location = {};
};

struct OAuthFlow {
  std::string kind = {};  // "implicit", "password", "clientCredentials", "authorizationCode"
  std::string authorization_url = {};
  std::string token_url = {};
  std::string refresh_url = {};
  std::vector<std::pair<std::string, std::string>> scopes = {};  // with their descriptions
};
struct SecurityScheme {
  enum class Kind : std::uint8_t { api_key, http, mutual_tls, oauth2, open_id_connect };

  std::string name = {};  // in the components
  Kind kind = Kind::http;
  std::string description = {};
  std::string key_name = {};  // of an API key: of the header, query parameter or cookie
  In key_in = In::header;
  std::string scheme = {};         // of http: "basic", "bearer"; lower case
  std::string bearer_format = {};  // "JWT"
  std::vector<OAuthFlow> flows = {};
  std::string open_id_connect_url = {};
  Extensions extensions = {};
  Location location = {};
};

struct NamedSchema {
  std::string name = {};  // in /components/schemas of Description::schemas
  SchemaAt at = {};
  bool is_component = false;  // of the first file, by that name; else it was found elsewhere
};

struct Description {
  Dialect dialect = Dialect::openapi_3_1;
  std::string version = {};  // "3.0.3"
  Info info = {};
  std::vector<Server> servers = {};
  std::vector<Tag> tags = {};  // those that only operations name are not here
  std::vector<PathItem> paths = {};
  std::vector<PathItem> webhooks = {};
  std::vector<SecurityScheme> security_schemes = {};
  std::vector<SecurityRequirement> security = {};
  std::optional<ExternalDocs> external_docs = {};
  Extensions extensions = {};
  std::vector<NamedSchema> schema_names = {};  // in the order of `schemas`
  container::Value schemas = {};
  std::vector<std::shared_ptr<const Source>> sources = {};  // the first is what was asked for

  // Null when there is none.
  const container::Value* schema(const SchemaAt& at) const { return schemas.at(at.pointer); }
  const Operation* find_operation(Bytes id) const noexcept;
  // Where that place of `schemas` was written; of what was added, what it was added to.
  Location locate(Bytes pointer) const;

  // By pointer, for locate(): "/components/schemas/User", "/inline/3".
  std::map<std::string, NodeAt, std::less<>> schema_nodes = {};
  // Nodes that no file has: the schemas of Swagger 2.0's parameters.
  std::shared_ptr<std::deque<Node>> made_nodes = {};
};

struct Options {
  Limits limits = {};
  // Reads a file. Null: from the disk.
  Load load = {};
  // Fetches what a remote reference names. Null: they are refused.
  Load fetch = {};
};

// Of a file. References in it are relative to its folder.
Description read_description(const std::string& path, Problems& problems, Options options = {});
// Of a text, as if it were that file.
Description read_description_text(const std::string& path, Bytes text, Problems& problems,
                                  Options options = {});

}  // namespace katana::openapi::model

namespace katana::openapi {

using model::Description;
using model::read_description;
using model::read_description_text;

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
