#include "katana/openapi/mock/mock.hpp"

#include <gtest/gtest.h>

#include <string>

#include "katana/testing/contract_check.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::openapi {
namespace {

constexpr const char* pets = R"(openapi: 3.1.0
info: {title: Pets, version: "1"}
servers: [{url: /v1}]
paths:
  /pets:
    get:
      parameters: [{name: limit, in: query, schema: {type: integer, maximum: 10}}]
      responses:
        '200':
          description: ok
          headers: {X-Total: {schema: {type: integer, minimum: 5, maximum: 5}}}
          content:
            application/json:
              schema: {type: array, minItems: 1, items: {$ref: '#/components/schemas/Pet'}}
            text/csv: {schema: {type: string, const: "id"}}
    post:
      security: [{key: []}]
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}
      responses:
        '201':
          description: made
          content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}
        '401': {description: who, content: {application/problem+json: {}}}
  /pets/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses:
        '200':
          description: ok
          content:
            application/json:
              schema: {$ref: '#/components/schemas/Pet'}
              examples: {rex: {value: {id: 1, name: Rex}}, tom: {value: {id: 2, name: Tom}}}
        '404': {description: none, content: {application/problem+json: {example: {title: gone}}}}
    delete:
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {'204': {description: gone}}
components:
  securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}
  schemas:
    Pet:
      type: object
      required: [id, name]
      properties:
        id: {type: integer, minimum: 1}
        name: {type: string, minLength: 1}
        tag: {type: string}
        email: {type: string, format: email}
)";

class MockTest : public ::testing::Test {
 protected:
  testing::TestServer server(MockOptions options = {}) {
    model::Problems problems;
    Description description = read_description_text("pets.yaml", pets, problems);
    EXPECT_FALSE(problems.has_errors()) << problems.as_error().describe();
    const auto mock = Mock::make(std::move(description), options);
    EXPECT_TRUE(mock) << mock.error().describe();
    EXPECT_EQ(mock->operation_count(), 4u);
    Router router;
    mock->add_to(router);
    // The judge of the mock is the description.
    return testing::TestServer(std::move(router).build(),
                               {.contract = *testing::ContractCheck::of_document(pets)});
  }
};

TEST_F(MockTest, the_same_request_has_the_same_reply_and_it_obeys_the_description) {
  auto first = server();
  auto second = server();
  const auto reply = first.get("/v1/pets");
  EXPECT_EQ(reply.status(), 200u) << reply;
  EXPECT_EQ(reply.header("x-total"), "5");
  EXPECT_TRUE(reply.content().starts_with("[{")) << reply;
  EXPECT_EQ(reply.content(), second.get("/v1/pets").content());
  EXPECT_NE(reply.content(), server({.seed = 2}).get("/v1/pets").content());
  for (int limit = 1; limit < 10; ++limit) {
    const auto other = first.get("/v1/pets?limit=" + std::to_string(limit));
    EXPECT_EQ(other.status(), 200u) << other;
  }
  EXPECT_NE(first.get("/v1/pets", {{"Prefer", "dynamic=true"}}).content(),
            first.get("/v1/pets", {{"Prefer", "dynamic=true"}}).content());
}

TEST_F(MockTest, an_example_goes_before_what_is_drawn_and_may_be_chosen) {
  auto served = server();
  EXPECT_EQ(served.get("/v1/pets/7").content(), R"({"id":1,"name":"Rex"})");
  EXPECT_EQ(served.get("/v1/pets/7", {{"Prefer", "example=tom"}}).content(),
            R"({"id":2,"name":"Tom"})");
  EXPECT_EQ(served.get("/v1/pets/7?__example=tom").content(), R"({"id":2,"name":"Tom"})");
  const auto missing = served.get("/v1/pets/7", {{"Prefer", "code=404, example=\"x\""}});
  EXPECT_TRUE(missing.content().contains("no example 'x' of the reply 404")) << missing;
}

TEST_F(MockTest, a_status_may_be_chosen) {
  auto served = server();
  const auto reply = served.get("/v1/pets/7", {{"Prefer", "code=404"}});
  EXPECT_EQ(reply.status(), 404u);
  EXPECT_EQ(reply.content(), R"({"title":"gone"})");
  EXPECT_EQ(reply.header("content-type"), "application/problem+json");
  EXPECT_TRUE(served.get("/v1/pets/7", {{"Prefer", "code=418"}})
                  .content()
                  .contains("no reply 418 for GET /pets/{id}"));
  EXPECT_EQ(served.delete_("/v1/pets/7").status(), 204u);
}

TEST_F(MockTest, requests_are_checked) {
  auto served = server();
  EXPECT_EQ(served.get("/v1/pets/x").status(), 400u);
  EXPECT_EQ(served.get("/v1/pets?limit=11").status(), 400u);
  EXPECT_EQ(served.post("/v1/pets", "{}").status(), 401u);
  EXPECT_EQ(served.post("/v1/pets", "{}", {{"X-Key", "any"}}).status(), 422u);
  EXPECT_EQ(served.post("/v1/pets", R"({"id":1,"name":"a"})", {{"X-Key", "any"}}).status(), 201u);
  EXPECT_EQ(served.put("/v1/pets", "{}").status(), 405u);
  EXPECT_EQ(served.get("/pets").status(), 404u);
}

TEST_F(MockTest, accept_chooses_the_media_type) {
  auto served = server();
  EXPECT_EQ(served.get("/v1/pets", {{"Accept", "text/csv"}}).content(), "id");
  EXPECT_EQ(served.get("/v1/pets", {{"Accept", "image/png"}}).status(), 406u);
}

TEST(MockSteps, of_a_request_and_its_reply_are_one_budget) {
  constexpr const char* costly = R"(openapi: 3.1.0
info: {title: Costly, version: "1"}
paths:
  /words:
    get:
      parameters: [{name: q, in: query, schema: {type: string, pattern: '^(\w+\s?)+(?=z)$'}}]
      responses:
        '200':
          description: ok
          content: {application/json: {schema: {$ref: '#/components/schemas/Deep'}}}
components:
  schemas:
    Deep:
      oneOf:
        - type: object
          required: [a, b]
          properties: {a: {$ref: '#/components/schemas/Deep'}}
          not: {required: [b]}
        - type: object
          required: [b]
          properties: {b: {$ref: '#/components/schemas/Deep'}}
          not: {required: [b]}
)";
  model::Problems problems;
  const auto mock =
      Mock::make(read_description_text("costly.yaml", costly, problems), {.steps_max = 20'000});
  ASSERT_TRUE(mock) << mock.error().describe();
  Router router;
  mock->add_to(router.group(""));
  testing::TestOptions test;
  test.check_contract = false;
  testing::TestServer server(std::move(router).build(), test);
  const auto refused = server.get("/words?q=" + std::string(34, 'a') + "!");
  EXPECT_EQ(refused.status(), 422u) << refused;
  EXPECT_TRUE(refused.content().contains("was not checked to its end")) << refused;
  const auto undrawn = server.get("/words");
  EXPECT_EQ(undrawn.status(), 500u) << undrawn;
  EXPECT_TRUE(undrawn.content().contains("takes more than 20000 steps to draw")) << undrawn;
}

}  // namespace
}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
