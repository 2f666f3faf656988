// validated_server: the same requests, checked by described structs or by an OpenAPI description.
//
//   lab/instructions.py --server 'build/release/validated_server --by struct' …
//   lab/instructions.py --server 'build/release/validated_server --by description' …
//   lab/instructions.py --server 'build/release/validated_server --by nothing' …
//
//   GET /users?limit=20&after=7     two parameters, with bounds
//   POST /users                     a user of seven members; the reply is the content
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "apps/command_line.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/openapi/model/description.hpp"
#include "katana/openapi/validation/contract_routes.hpp"

namespace {

using namespace katana;

struct User {
  std::int64_t id = 0;
  std::string name;
  std::string email;
  std::int64_t age = 0;
  bool active = false;
  double score = 0;
  std::vector<std::string> tags;
};
KATANA_DESCRIBE(User, (id, required, rules::at_least(1)), (name, required, rules::length(1, 80)),
                (email, required, rules::length(3, 254)), (age, required, rules::range(0, 150)),
                (active, required), (score, required), (tags, required, rules::length(0, 16)))
struct Page {
  std::int64_t limit = 20;
  std::int64_t after = 0;
};
KATANA_DESCRIBE(Page, (limit, rules::range(1, 100)), (after, rules::at_least(0)))

constexpr const char* description_text = R"(openapi: 3.1.0
info: {title: users, version: "1"}
paths:
  /users:
    get:
      operationId: listUsers
      parameters:
        - {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 100}}
        - {name: after, in: query, schema: {type: integer, minimum: 0}}
      responses: {'200': {description: ok}}
    post:
      operationId: addUser
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: '#/components/schemas/User'}}}
      responses: {'200': {description: ok}}
components:
  schemas:
    User:
      type: object
      required: [id, name, email, age, active, score, tags]
      properties:
        id: {type: integer, minimum: 1}
        name: {type: string, minLength: 1, maxLength: 80}
        email: {type: string, minLength: 3, maxLength: 254}
        age: {type: integer, minimum: 0, maximum: 150}
        active: {type: boolean}
        score: {type: number}
        tags: {type: array, maxItems: 16, items: {type: string}}
)";

Reply echo(const RequestView& request) { return Reply::json(request.content()); }

Result<void> add_described(Router& router) {
  openapi::model::Problems problems;
  const auto description = openapi::read_description_text("users.yaml", description_text, problems);
  if (problems.has_errors()) return std::unexpected(problems.as_error());
  auto contract = openapi::Contract::compile(description, {.check_replies = false});
  if (!contract) return std::unexpected(contract.error());
  openapi::ContractRoutes routes(router.group(""),
                                 std::make_shared<const openapi::Contract>(*std::move(contract)));
  routes.operation("addUser", echo);
  routes.operation("listUsers", [](const RequestView&) { return Reply::json("[]"); });
  routes.require_all();
  return {};
}

void add_structs(Router& router) {
  router.post("/users", [](const RequestView& request, Json<User>) { return echo(request); });
  router.get("/users", [](const RequestView&, Query<Page>) { return Reply::json("[]"); });
}

void add_unchecked(Router& router) {
  router.post("/users", echo);
  router.get("/users", [](const RequestView&) { return Reply::json("[]"); });
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("Serve users, checked by a struct, by an OpenAPI description, or by nothing.");
  app.name("validated_server");
  std::string by = "struct";
  std::uint16_t port = 0;
  app.add_option("--by", by)->check(CLI::IsMember({"struct", "description", "nothing"}));
  app.add_option("--port", port);
  if (const auto status = command_line::parse(app, count, arguments)) return *status;
  Router router;
  if (by == "struct") add_structs(router);
  if (by == "nothing") add_unchecked(router);
  if (by == "description") {
    if (const auto added = add_described(router); !added) {
      return command_line::fail("validated_server", 1, added.error().describe());
    }
  }
  const auto service = std::move(router).build();
  if (!service) return command_line::fail("validated_server", 1, service.error().describe());
  server::HttpServer server({.port = port, .reactors = 1}, *service);
  if (auto started = server.start(); !started) {
    return command_line::fail("validated_server", 1, started.error().describe());
  }
  fmt::print("validated_server: listening on {} \n", server.url());
  std::fflush(stdout);
  (void)server.run();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
