// Description: an OpenAPI description as data: Swagger 2.0, OpenAPI 3.0 and 3.1 in one model, with
// the place of everything in its file.
//
//   openapi::model::Problems problems;
//   openapi::Description api = openapi::read_description("api.yaml", problems);
//   if (problems.has_errors()) return std::unexpected(problems.as_error());   every one of them
//   for (const auto& path : api.paths)
//     for (const auto& operation : path.operations) … operation.parameters, .body, .replies
//
// References are resolved, also into other files, everywhere but within schemas. A referenced
// object is repeated where it is used, with its name in the components. Parameters of a
// path, and the document's servers and security, are those of each of its operations.
//
// `schemas` is one JSON Schema document of draft 2020-12, whatever the description was. The reader
// translates `nullable`, `exclusiveMinimum: true`, `example`, `type: file` and `$anchor`. Every
// `$ref` in the document points into it:
//
//   {"$schema": …, "components": {"schemas": {"User": …}}, "inline": [ … ]}
//
// A schema of a description is a pointer into it. Therefore katana::schema compiles any of them:
// Schema::compile_at(api.schemas, operation.body->content[0].schema->pointer). Schemas of other
// files have names there too. `discriminator`, `xml`, `readOnly` and `x-…` stay as they were.
//
// Owns       all its values; shares its files.
// Thread     a value; reading is one thread's.
// Allocates  freely, within Options::limits.
// Fails      read_…() adds all mistakes to `problems`, each with its place. The readable part is
//            returned in any case: look at problems.has_errors() first.
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

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/data/container/value.hpp"
#include "katana/openapi/model/node.hpp"
#include "katana/openapi/model/problems.hpp"
#include "katana/openapi/model/source.hpp"
#include "katana/openapi/model/source_set.hpp"

namespace katana::openapi::model {

// The dialect that the document names, by which it is read. The model is the same for all.
enum class Dialect : std::uint8_t {
  swagger_2_0,  // "2.0"
  openapi_3_0,  // "3.0", "3.0.x"
  openapi_3_1,  // "3.1", "3.1.x"
};

// Members "x-…", as they are.
using Extensions = container::Object;

// A schema: a place in Description::schemas.
struct SchemaAt {
  std::string pointer = {};  // "/components/schemas/User", "/inline/3"
  Location location = {};    // of the schema or reference, where it is used
};

// The External Documentation Object: of a tag, an operation or the whole.
struct ExternalDocs {
  std::string url = {};          // required
  std::string description = {};  // CommonMark
};

// The Info Object, with the members of its `contact` and `license`; empty: not there.
struct Info {
  std::string title = {};               // required
  std::string version = {};             // required; of the API, not of OpenAPI
  std::string summary = {};             // since OpenAPI 3.1
  std::string description = {};         // CommonMark
  std::string terms_of_service = {};    // a URL
  std::string contact_name = {};        // contact.name
  std::string contact_url = {};         // contact.url
  std::string contact_email = {};       // contact.email
  std::string licence_name = {};        // license.name
  std::string licence_url = {};         // license.url
  std::string licence_identifier = {};  // license.identifier: an SPDX expression; since OpenAPI 3.1
  Extensions extensions = {};           // of the info; not those of its contact and licence
  Location location = {};               // of the object `info`
};

// The Server Variable Object: fills a {name} in the URL of a server.
struct ServerVariable {
  std::string name = {};                  // as in the URL, without braces
  std::string default_value = {};         // required; not compared with `choices`
  std::vector<std::string> choices = {};  // `enum`; empty: any text
  std::string description = {};           // CommonMark
};
// The Server Object. Swagger 2.0's are made of `schemes`, `host` and `basePath`.
struct Server {
  std::string url = {};                        // may be relative, and have {variables}
  std::string description = {};                // CommonMark
  std::vector<ServerVariable> variables = {};  // as described; the URL may have others
  Location location = {};                      // in Swagger 2.0 the root object

  // The URL with the defaults of its variables.
  std::string default_url() const;
};

// The Tag Object: the description of a tag of operations.
struct Tag {
  std::string name = {};                           // required; Operation::tags has it
  std::string description = {};                    // CommonMark
  std::optional<ExternalDocs> external_docs = {};  // absent: none
  Location location = {};                          // of its object in `tags`
};

// The Example Object, or the plain value of `example`.
struct Example {
  std::string name = {};                 // empty: the one of `example`
  std::string summary = {};              // of its reference, where that has one (3.1)
  std::string description = {};          // CommonMark; likewise
  std::string external_value = {};       // a URL, when there is no value
  std::shared_ptr<const Node> raw = {};  // shared with the file; null: there is no value
  Location location = {};                // of what a reference led to

  // Made at each call; null, too, when there is no value.
  container::Value value() const { return raw == nullptr ? container::Value() : to_value(*raw); }
};

// How lists and objects become text: [a, b] in each, and where it may be used.
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
// As a description writes it: "deepObject". tab_delimited is of this model alone.
Bytes style_name(Style style) noexcept;

struct MediaType;

// The Header Object: a field of a reply, or of a part of a form.
struct Header {
  std::string name = {};                // its key in `headers`; case does not count
  std::string component = {};           // its name in the components, when it was referred to
  std::string description = {};         // CommonMark; of its reference, where that has one (3.1)
  bool required = false;                // always false in Swagger 2.0
  bool deprecated = false;              // since OpenAPI 3.0
  bool explode = false;                 // the style is simple
  std::optional<SchemaAt> schema = {};  // or:
  std::vector<MediaType> content;       // one
  std::vector<Example> examples = {};   // `example` in front, then `examples`
  Extensions extensions = {};           // of what a reference led to
  Location location = {};               // likewise
};

// Where a request has a parameter.
enum class In : std::uint8_t {
  path,    // of a {name} in it
  query,   // one pair, or one for each item or member
  header,  // never Accept, Content-Type or Authorization, which are ignored
  cookie,  // a pair of the field Cookie; not in Swagger 2.0
};
// As a description writes it: "query".
Bytes in_name(In in) noexcept;

// The Parameter Object, but for Swagger 2.0's `body` and `formData`.
struct Parameter {
  std::string name = {};                // required; of a header field, case does not count
  In in = In::query;                    // where the request has it
  std::string component = {};           // its name in the components, when it was referred to
  std::string description = {};         // CommonMark; of its reference, where that has one (3.1)
  bool required = false;                // always true of a path
  bool deprecated = false;              // since OpenAPI 3.0
  bool allow_empty_value = false;       // of a query: "?name=" is no value
  bool allow_reserved = false;          // reserved characters (RFC 3986 §2.2) may come unescaped
  Style style = Style::form;            // default: form in query and cookie, else simple
  bool explode = true;                  // not written: of form, deep_object and Swagger 2.0's multi
  std::optional<SchemaAt> schema = {};  // or:
  std::vector<MediaType> content;       // one: the value is text of that type
  std::vector<Example> examples = {};   // `example` in front, then `examples`
  Extensions extensions = {};           // of what a reference led to
  Location location = {};               // likewise; of an undescribed path parameter, the operation
};

// How a property of a form is sent.
struct Encoding {
  std::string property = {};         // its name in the schema of the form
  std::string content_type = {};     // empty: by the type of the property
  std::vector<Header> headers = {};  // of its part in multipart content; no Content-Type
  std::optional<Style> style = {};   // absent: not written; `content_type` decides
  bool explode = true;               // where it is not written: true of form, and without a style
  bool allow_reserved = false;       // as Parameter::allow_reserved
  Location location = {};            // of its object in `encoding`
};

// The Media Type Object, with its key.
struct MediaType {
  std::string type = {};                 // "application/json", "text/*"
  std::optional<SchemaAt> schema = {};   // absent: any bytes
  std::vector<Example> examples = {};    // `example` in front, then `examples`
  std::vector<Encoding> encodings = {};  // of forms: those written; in Swagger 2.0 of lists
  Extensions extensions = {};            // of its object in `content`
  Location location = {};                // in Swagger 2.0: of the body, or of the reply's schema
};

// The Request Body Object.
struct RequestBody {
  std::string component = {};           // its name in the components, when it was referred to
  std::string description = {};         // CommonMark; of its reference, where that has one (3.1)
  bool required = false;                // of a form of Swagger 2.0: one of its fields is
  std::vector<MediaType> content = {};  // in the order of the file, or of `consumes`
  Extensions extensions = {};           // of what a reference led to
  Location location = {};               // likewise; of a form of Swagger 2.0, its first field
};

// The Link Object: how a reply leads to another operation.
struct Link {
  std::string name = {};           // its key in `links`
  std::string operation_id = {};   // or:
  std::string operation_ref = {};  // as it was written
  std::string description = {};    // CommonMark
  // Parameters of the other operation, by name: a value, or an expression: "$response.body#/id".
  std::vector<std::pair<std::string, container::Value>> parameters = {};
  std::optional<container::Value> body = {};  // `requestBody`: a value or an expression
  std::optional<Server> server = {};          // absent: those of the other operation
  Location location = {};                     // of what a reference led to
};

// The Response Object, with its key.
struct Reply {
  std::string status = {};              // "200", "4XX", "default"
  std::string component = {};           // its name in the components, when it was referred to
  std::string summary = {};             // beside its reference (3.1); else empty
  std::string description = {};         // CommonMark; of its reference, where that has one (3.1)
  std::vector<Header> headers = {};     // without Content-Type, which `content` has
  std::vector<MediaType> content = {};  // empty: a reply without content
  std::vector<Link> links = {};         // since OpenAPI 3.0
  Extensions extensions = {};           // of what a reference led to
  Location location = {};               // likewise

  // 200; 0 for a range and for the default.
  unsigned code() const noexcept;
  // Whether this reply covers that status, when there is no exact one.
  bool covers(unsigned status) const noexcept;
};

// All schemes of a requirement are wanted, with those scopes (or roles).
using SecurityRequirement = std::vector<std::pair<std::string, std::vector<std::string>>>;

struct Callback;

// The Operation Object, with the parts that it takes over from its path and the document.
struct Operation {
  std::string id = {};      // operationId
  std::string method = {};  // "GET"
  // "/users/{id}"; of a webhook its name; of a callback the expression.
  std::string path = {};
  std::string summary = {};                // one line
  std::string description = {};            // CommonMark
  std::vector<std::string> tags = {};      // Description::tags may not have them
  bool deprecated = false;                 // clients should leave it
  std::vector<Parameter> parameters = {};  // those of the path in front
  std::optional<RequestBody> body = {};    // in Swagger 2.0 of `body` and `formData`
  std::vector<Reply> replies = {};         // by status, "default" last
  std::vector<Callback> callbacks;         // requests that the service sends; since OpenAPI 3.0
  std::vector<SecurityRequirement> security = {};  // any of them; empty: every client may
  std::vector<Server> servers = {};                // its own, else its path's, else the document's
  std::optional<ExternalDocs> external_docs = {};  // absent: none
  Extensions extensions = {};                      // its own, not those of the path
  Location location = {};                          // of the object below the method

  // The exact status, else its range, else the default; null: not described.
  const Reply* reply_of(unsigned status) const noexcept;
};

// The Path Item Object: the operations of one path, webhook or callback, by method.
struct PathItem {
  std::string path = {};                   // as Operation::path
  std::string component = {};              // its name in the components, when it was referred to
  std::string summary = {};                // its own, else that of its reference's target
  std::string description = {};            // likewise; CommonMark
  std::vector<Operation> operations = {};  // GET, PUT, POST, DELETE, OPTIONS, HEAD, PATCH, TRACE
  Extensions extensions = {};              // with those of its reference's target
  Location location = {};                  // of its key's value, the reference if it is one
};

// The Callback Object: requests to URLs that an earlier request named.
struct Callback {
  std::string name = {};             // its key in `callbacks`
  std::string component = {};        // its name in the components, when it was referred to
  std::vector<PathItem> paths = {};  // each path an expression: "{$request.body#/url}"
  Location location = {};            // of what a reference led to
};

// The OAuth Flow Object. Swagger 2.0's kinds have the names of OpenAPI 3.
struct OAuthFlow {
  std::string kind = {};  // "implicit", "password", "clientCredentials", "authorizationCode"
  std::string authorization_url = {};  // of implicit and authorizationCode
  std::string token_url = {};          // of all but implicit
  std::string refresh_url = {};        // for refresh tokens; empty: none is named
  std::vector<std::pair<std::string, std::string>> scopes = {};  // with their descriptions
};
// The Security Scheme Object: which credentials a request shows.
struct SecurityScheme {
  // `type`; decides which of the members below count.
  enum class Kind : std::uint8_t {
    api_key,          // `key_name` and `key_in`
    http,             // `scheme`, `bearer_format`: the field Authorization (RFC 9110 §11)
    mutual_tls,       // none: the client's certificate; since OpenAPI 3.1
    oauth2,           // `flows`
    open_id_connect,  // `open_id_connect_url`
  };

  std::string name = {};                 // in the components
  Kind kind = Kind::http;                // http, too, when the type is unknown, which is an error
  std::string description = {};          // CommonMark
  std::string key_name = {};             // of an API key: of the header, query parameter or cookie
  In key_in = In::header;                // header, query or cookie
  std::string scheme = {};               // of http: "basic", "bearer"; lower case
  std::string bearer_format = {};        // "JWT"
  std::vector<OAuthFlow> flows = {};     // of oauth2: one for each kind at most
  std::string open_id_connect_url = {};  // of open_id_connect: of its discovery document
  Extensions extensions = {};            // of what a reference led to
  Location location = {};                // likewise
};

// A name of Description::schemas, and where its schema stands.
struct NamedSchema {
  std::string name = {};      // in /components/schemas of Description::schemas
  SchemaAt at = {};           // its pointer has `name` escaped (RFC 6901)
  bool is_component = false;  // of the first file, by that name; else it was found elsewhere
};

struct Description {
  Dialect dialect = Dialect::openapi_3_1;  // the default, too, when the version was not read
  std::string version = {};                // "3.0.3"
  Info info = {};                          // empty, with an error, when it is missing
  std::vector<Server> servers = {};        // empty: "/" of the host that has the description
  std::vector<Tag> tags = {};              // without tags that only operations name
  std::vector<PathItem> paths = {};        // in the order of the file
  std::vector<PathItem> webhooks = {};     // each path is its name; since OpenAPI 3.1
  std::vector<SecurityScheme> security_schemes = {};  // of the components, or `securityDefinitions`
  // The default for operations without `security`. Their `security` has a copy of it already.
  std::vector<SecurityRequirement> security = {};
  std::optional<ExternalDocs> external_docs = {};           // absent: none
  Extensions extensions = {};                               // of the root object
  std::vector<NamedSchema> schema_names = {};               // in the order of `schemas`
  container::Value schemas = {};                            // the document of JSON Schema above
  std::vector<std::shared_ptr<const Source>> sources = {};  // the first is the root

  // The schema at that place; null when there is none.
  const container::Value* schema(const SchemaAt& at) const { return schemas.at(at.pointer); }
  const Operation* find_operation(Bytes id) const noexcept;
  // Where that place of `schemas` was written; for an added part, the place of the part around it.
  Location locate(Bytes pointer) const;

  // The nodes of schemas by pointer, for locate(): "/components/schemas/User", "/inline/3".
  std::map<std::string, NodeAt, std::less<>> schema_nodes = {};
  // Nodes that no file has: the schemas of Swagger 2.0's parameters.
  std::shared_ptr<std::deque<Node>> made_nodes = {};
};

// How read_description() reads.
struct Options {
  Limits limits = {};  // a part beyond one is left out, with an error
  // Reads a file. Null: from the disk.
  Load load = {};
  // Fetches the target of a remote reference. Null: such references are refused.
  Load fetch = {};
};

// Reads a file. References in it are relative to its folder.
Description read_description(const std::string& path, Problems& problems, Options options = {});
// Reads a text as if it were that file.
Description read_description_text(const std::string& path, Bytes text, Problems& problems,
                                  Options options = {});

}  // namespace katana::openapi::model

namespace katana::openapi {

using model::Description;
using model::read_description;
using model::read_description_text;

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
