// The Operation Object of a route, and the parts that it refers to, for Document.
//
// Owns       nothing.
// Thread     one for each Parts.
// Allocates  yes: at the start of a program.
// Fails      members that contradict one another are added to the mistakes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/http/handlers/security.hpp"
#include "katana/openapi/document/operation.hpp"

namespace katana::openapi::detail {

// The parts of a document that operations share.
struct Parts {
  Schemas schemas;
  std::map<std::string, Value> responses;         // by name
  std::map<std::string, Value> security_schemes;  // by name
  std::vector<Error> mistakes;
};

// A route, as messages and the document call it.
struct RouteName {
  http::Method method = http::Method::get;
  std::string_view pattern = {};
  // "GET /users/{id}"
  std::string text() const;
  // "get"
  std::string key() const;
  // "/files/{rest}" of "/files/{rest...}"
  std::string path() const;
  // "getUsersById", for an operation without an id.
  std::string id() const;
};

// ---- the whole ----

Value operation_object(Parts& parts, const RouteName& route, SignatureWords& words,
                       const Operation& operation,
                       const std::vector<const SecurityDocumentation*>& security);
// The Path Item Object of a callback or webhook.
Value outgoing_object(Parts& parts, const OutgoingRequest& request);
Value docs_object(const ExternalDocs& docs);

// ---- content ----

Value text_schema();
// The Media Type Object with a schema. An empty schema is left out.
Object media_of(Value schema);
Value content_of(const std::string& type, Object media);
// Adds the schema of the items of a stream. OpenAPI 3.1 has no keyword for it: `itemSchema` is of
// 3.2.
void add_item(Parts& parts, Object& media, MakeSchema item);
// {"name": {"value": …}}
Value examples_object(const std::vector<Example>& examples);

// ---- replies ----

Value reply_of(Parts& parts, const ReplyWords& words);
Object responses_of(Parts& parts, const SignatureWords& words, const Operation& operation,
                    const std::vector<const SecurityDocumentation*>& security);
Value problem_response(std::string description);
Value problem_schema();

// ---- security ----

Value scheme_object(const SecurityScheme& scheme);
void add_security(Parts& parts, Object& made,
                  const std::vector<const SecurityDocumentation*>& security);

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
