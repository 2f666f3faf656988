// Document: an OpenAPI document in the making, and where it is served.
//
//   openapi::Document document({.title = "Shop", .version = "1.0"});
//   document.server({.url = "https://api.shop.example"})
//       .tag({.name = "items", .description = "What is sold."});
//   document.webhook({.name = "itemSold", .content = &openapi::schema_of<Sale>});
//   document.serve(router);               // GET /openapi.json, with an ETag
//
// A program may have several: one for each version (a group of routes each), or one for each
// audience. A route that is described in several stands in all of them, or in those of its
// audience:
//
//   openapi::Document open({.title = "Shop", …}), partners({.title = "Shop for partners", …});
//   partners.audience("partner");
//   openapi::Routes api = openapi::describe(router.group("/api"), {open, partners});
//   api.post("/orders", add_order, {.audiences = {"partner"}});   // in `partners` alone
//
// Its text is the same whenever it is made: routes in the order in which they were added, what is
// kept by name in the order of names. Therefore it can be checked into a repository
// (`katana openapi dump`).
//
// Owns       all that it is given. Copies share it.
// Thread     one, while routes are added.
// Allocates  yes: at the start of a program.
// Fails      mistakes() are errors of Router::build() once it is served or kept: two operations of
//            one id, a note about a parameter that there is not, a problem type that is not in the
//            catalogue, an audience that no document has.
// Invariant  what is served is the document of all routes, whatever the order of the calls.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/openapi/document/operation.hpp"
#include "katana/openapi/document/problem_types.hpp"

namespace katana::openapi {

// The person or group that answers for a service (Contact Object).
struct Contact {
  std::string name = {};   // empty: none is given, as for the next two
  std::string url = {};    // absolute
  std::string email = {};  // one address
};
// The licence under which a service is offered (License Object).
struct License {
  std::string name = {};        // empty: none is given
  std::string identifier = {};  // of SPDX; or
  std::string url = {};         // of the text; absolute
};

// What a document says of its service.
struct Info {
  std::string title = {};             // of the API, as tools show it
  std::string version = {};           // of the API, not of OpenAPI
  std::string description = {};       // CommonMark; empty: none
  std::string summary = {};           // one line; empty: none
  std::string terms_of_service = {};  // a URL
  Contact contact = {};               // left out if it is empty
  License license = {};               // left out if it is empty
};

// A variable in the URL of a server (Server Variable Object).
struct ServerVariable {
  std::string name = {};                 // as in the braces: "region"
  std::string default_value = {};        // used unless the client chooses another
  std::vector<std::string> values = {};  // empty: any
  std::string description = {};          // CommonMark; empty: none
};
// A base URL of a service (Server Object).
struct Server {
  std::string url = {};                        // "https://{region}.shop.example"
  std::string description = {};                // CommonMark; empty: none
  std::vector<ServerVariable> variables = {};  // one for each name in braces
};

// A group of operations.
struct Tag {
  std::string name = {};         // as Operation::tag
  std::string description = {};  // CommonMark; empty: none
  ExternalDocs docs = {};        // further documentation
};

// Version of OpenAPI. 3.0 is for readers that know no other: what it lacks is left out (webhooks,
// mutual TLS) or said as it says it (null, examples).
enum class Specification : std::uint8_t { v3_1, v3_0 };

class Routes;

class Document {
 public:
  // `name` tells it from other documents of the program: `katana openapi dump --document NAME`.
  explicit Document(Info info, std::string name = "default");

  // Where it is served; none: at the URL of the document.
  Document& server(Server server);
  // In this order. A tag that operations have and that is not told here stands behind them.
  Document& tag(Tag tag);
  Document& external_docs(ExternalDocs docs);
  Document& webhook(OutgoingRequest request);
  // A way to identify clients that no middleware describes.
  Document& security_scheme(const SecurityScheme& scheme);
  // Operations may name these types, and no others; see problem_types.hpp.
  Document& problem_types(const ProblemTypes& types);
  // Shown what is for everybody, and what is for this audience.
  Document& audience(std::string name);

  // Routes that are added to the result are added to the group, and are in the document.
  Routes describe(Group group);
  // What is served without being described here, for documents that are to be complete. `security`:
  // as Group::security() has it.
  void add(http::Method method, std::string_view pattern, SignatureWords words,
           const Operation& operation,
           const std::vector<const SecurityDocumentation*>& security = {});
  // Whether an operation is shown to its audience.
  bool shows(const Operation& operation) const;
  Schemas& schemas() noexcept;

  // GET of the path in the group: the document, as it is when the router is built.
  Document& serve(Group group, std::string_view path = "/openapi.json");
  // The same without a route: for Service::documents(), and so for `katana openapi dump` and tests.
  Document& keep(Group group);

  // What is wrong with it, one error each.
  std::vector<Error> mistakes() const;
  void add_mistake(Error mistake);
  const std::string& name() const noexcept;
  Value to_value(Specification specification = Specification::v3_1) const;
  std::string to_json(Specification specification = Specification::v3_1) const;
  // Indented, with a line end: to be kept in a file.
  std::string to_text(Specification specification = Specification::v3_1) const;

 private:
  struct State;
  static Result<ServiceDocument> finish(const State& state, const std::string& path);

  std::shared_ptr<State> state_;
};

// A document that Document made, as 3.0 says it; see Specification.
Value as_3_0(Object document);
// A JSON text as `katana openapi dump` writes it: two spaces for each level, and a line end.
std::string indented(const Value& value);

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
