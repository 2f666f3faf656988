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
// Its text is the same whenever it is made. Routes stand in the order in which they were added, and
// named entries in the order of their names. Therefore the text can be checked into a repository
// (`katana openapi dump`).
//
// Owns       copies of its arguments, which its own copies share.
// Thread     one, while routes are added.
// Allocates  yes: at the start of a program.
// Fails      Router::build() with mistakes(), once it is served or kept. Mistakes are two
//            operations of one id, and a note about a parameter that does not exist. Others are a
//            problem type that is not in the catalogue, and an audience that no document has.
// Invariant  the document that is served has all routes, whatever the order of the calls.
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

// The description of the service in a document.
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

// Version of OpenAPI. 3.0 is for readers that know no other. Parts that it lacks are left out
// (webhooks, mutual TLS) or translated (null, examples).
enum class Specification : std::uint8_t { v3_1, v3_0 };

class Routes;

class Document {
 public:
  // `name` tells it from other documents of the program: `katana openapi dump --document NAME`.
  explicit Document(Info info, std::string name = "default");

  // Where it is served; none: at the URL of the document.
  Document& server(Server server);
  // Adds a tag; tags keep this order. Tags that only operations name stand behind them.
  Document& tag(Tag tag);
  Document& external_docs(ExternalDocs docs);
  Document& webhook(OutgoingRequest request);
  // A way to identify clients that no middleware describes.
  Document& security_scheme(const SecurityScheme& scheme);
  // Operations may name these types, and no others; see problem_types.hpp.
  Document& problem_types(const ProblemTypes& types);
  // The document has operations without audiences, and operations for this audience.
  Document& audience(std::string name);

  // Routes that are added to the result are added to the group, and are in the document.
  Routes describe(Group group);
  // Adds an operation that is served without being described here; the document is then complete.
  // `security` is that of Group::security().
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

  // The mistakes of the document, one error each.
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

// Translates a document that Document made to OpenAPI 3.0; see Specification.
Value as_3_0(Object document);
// A JSON text as `katana openapi dump` writes it: two spaces for each level, and a line end.
std::string indented(const Value& value);

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
