#include "katana/openapi/validation/contract_routes.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "katana/base/system/failure.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/openapi/model/description.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::openapi {
namespace {

constexpr const char* items = R"(openapi: 3.1.0
info: {title: t, version: "1"}
paths:
  /items:
    get:
      operationId: listItems
      parameters:
        - {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 50}}
        - {name: X-Trace, in: header, schema: {type: string, pattern: '^[a-f0-9]+$'}}
        - {name: tenant, in: cookie, required: true, schema: {type: string}}
      responses:
        '200':
          description: ok
          content:
            application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Item'}}}
    post:
      operationId: addItem
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: '#/components/schemas/Item'}}}
      responses:
        '201':
          description: made
          content: {application/json: {schema: {$ref: '#/components/schemas/Item'}}}
  /items/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: string, format: uuid}}]
      responses: {'200': {description: ok}}
    put:
      operationId: replaceItem
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      requestBody: {content: {application/json: {schema: {type: object}}}}
      responses: {'204': {description: ok}}
  /notes:
    post:
      operationId: addNote
      requestBody:
        required: true
        content:
          application/json: {schema: {type: object}}
          text/plain: {schema: {type: string}}
      responses: {'204': {description: ok}}
  /filters:
    get:
      operationId: listFilters
      parameters:
        - {name: list, in: query, schema: {type: array, items: {type: integer, minimum: 1}}}
        - {name: limit, in: query, schema: {type: integer, minimum: 1}}
        - {name: after, in: query, schema: {type: integer, minimum: 1}}
      responses: {'200': {description: ok}}
components:
  schemas:
    Item:
      type: object
      required: [name, count]
      properties: {name: {type: string, minLength: 1}, count: {type: integer, minimum: 0}}
      additionalProperties: false
)";

std::shared_ptr<const Contract> contract() {
  model::Problems problems;
  const Description description = read_description_text("items.yaml", items, problems);
  EXPECT_FALSE(problems.has_errors()) << problems.as_error().describe();
  auto made = Contract::compile(description);
  EXPECT_TRUE(made) << (made ? "" : made.error().describe());
  return std::make_shared<const Contract>(*std::move(made));
}

class Failures final : public FailureObserver {
 public:
  void on_failure(const Failure& failure) noexcept override { all.push_back(describe(failure)); }
  std::vector<std::string> all;
};

class ContractRoutesTest : public ::testing::Test {
 protected:
  // Answers with the reply that the request asks for: replies can then be wrong.
  testing::TestServer server(ValidationOptions options = {}) {
    Router router;
    ContractRoutes routes(router.group(""), contract(), options);
    routes.operation("listItems", [this](const RequestView&) {
      ++calls_;
      return Reply::json(answer_);
    });
    routes.operation("addItem", [this](Request request) -> Task<Reply> {
      ++calls_;
      co_return Reply(201, "application/json", std::string(request.content()));
    });
    routes.operation(http::Method::get, "/items/{id}", [this](Path<std::string>) {
      ++calls_;
      return Reply(200);
    });
    routes.answer_rest();
    testing::TestOptions test;
    test.http.failures = &failures_;
    return testing::TestServer(std::move(router).build(), test);
  }
  const testing::TestFields cookie_ = {{"Cookie", "tenant=a"}};
  std::string answer_ = "[]";
  int calls_ = 0;
  Failures failures_;
};

TEST_F(ContractRoutesTest, a_request_that_obeys_reaches_its_handler) {
  auto served = server();
  EXPECT_EQ(served.get("/items?limit=50&other=1", cookie_).status(), 200u);
  const auto made = served.post("/items", R"({"name":"a","count":1})");
  EXPECT_EQ(made.status(), 201u) << made;
  EXPECT_EQ(made.content(), R"({"name":"a","count":1})");
  EXPECT_EQ(served.get("/items/6f0c5b1e-8a55-4a51-9d3e-0b7c6f1f2a3b").status(), 200u);
  EXPECT_EQ(calls_, 3);
}

TEST_F(ContractRoutesTest, parameters_that_do_not_fit_are_answered_with_400_and_their_name) {
  auto served = server();
  const auto reply = served.get("/items?limit=0", cookie_);
  EXPECT_EQ(reply.status(), 400u);
  EXPECT_EQ(reply.header("content-type"), "application/problem+json");
  EXPECT_EQ(reply.content(),
            R"({"type":"urn:katana:problem:invalid-parameter","title":"Bad Request","status":400,)"
            R"("detail":"query parameter 'limit': must be at least 1",)"
            R"("errors":[{"pointer":"/limit","detail":"must be at least 1"}]})");
  // Each is told, whichever part of the request it belongs to.
  EXPECT_TRUE(served.get("/items?limit=0")
                  .content()
                  .ends_with(R"("errors":[{"pointer":"/limit","detail":"must be at least 1"},)"
                             R"({"pointer":"/tenant","detail":"is missing"}]})"))
      << served.get("/items?limit=0");
  EXPECT_TRUE(served.get("/items").content().contains("cookie 'tenant': is missing"));
  auto fields = cookie_;
  fields.emplace_back("x-trace", "XYZ");
  EXPECT_TRUE(served.get("/items", fields).content().contains("header field 'X-Trace': does not"));
  EXPECT_TRUE(served.get("/items/7").content().contains("path parameter 'id': is no uuid"));
  EXPECT_EQ(calls_, 0);
}

TEST_F(ContractRoutesTest, mistakes_beyond_the_limit_are_counted) {
  auto served = server();
  std::string query = "limit=0&after=0";
  for (int number = 0; number < 16; ++number) query += "&list=0";
  const std::string refused(served.get("/filters?" + query).content());
  EXPECT_TRUE(refused.contains("must be at least 1; and 2 more\",\"errors\":")) << refused;
}

TEST_F(ContractRoutesTest, content_of_another_type_is_415_with_every_type_that_is_accepted) {
  auto served = server();
  const auto reply = served.post("/notes", "<note/>", {{"Content-Type", "application/xml"}});
  EXPECT_EQ(reply.status(), 415u);
  EXPECT_EQ(reply.header("accept"), "application/json, text/plain") << reply;
  EXPECT_EQ(served.post("/notes", "a note", {{"Content-Type", "text/plain"}}).status(), 501u);
}

// The same documents as Json<T> gives: see json_test.cpp.
TEST_F(ContractRoutesTest, content_that_does_not_fit_is_answered_as_json_of_a_struct_is) {
  auto served = server();
  const auto reply = served.post("/items", R"({"name":"","count":-1,"more":1})");
  EXPECT_EQ(reply.status(), 422u);
  EXPECT_EQ(
      reply.content(),
      R"({"type":"urn:katana:problem:validation","title":"Unprocessable Content","status":422,)"
      R"("detail":"The content does not fit.","errors":[)"
      R"({"pointer":"/name","detail":"must have at least 1 characters"},)"
      R"({"pointer":"/count","detail":"must be at least 0"},)"
      R"({"pointer":"/more","detail":"is not allowed"}]})");
  EXPECT_EQ(served.post("/items", "{").status(), 400u);
  const auto other = served.post("/items", "x", {{"Content-Type", "text/plain"}});
  EXPECT_EQ(other.status(), 415u);
  EXPECT_EQ(other.header("accept"), "application/json");
  EXPECT_EQ(served.post("/items", "").status(), 415u);
  EXPECT_EQ(calls_, 0);
}

TEST_F(ContractRoutesTest, what_nobody_serves_is_checked_and_answered_with_501) {
  auto served = server();
  EXPECT_EQ(served.put("/items/7", "{}").status(), 501u);
  EXPECT_EQ(served.put("/items/x", "{}").status(), 400u);
}

TEST_F(ContractRoutesTest, a_wrong_reply_is_reported_and_sent) {
  answer_ = R"([{"name":"a","count":"many"}])";
  auto served = server({.replies = Replies::reported});
  const auto reply = served.get("/items", cookie_);
  EXPECT_EQ(reply.status(), 200u);
  EXPECT_EQ(reply.content(), answer_);
  ASSERT_EQ(failures_.all.size(), 1u);
  EXPECT_EQ(failures_.all[0],
            "GET /items: a reply departs from its description: status 200, content /0/count: "
            "expected an integer, got a string; correct the handler, or responses/200 of the "
            "operation 'listItems' (GET /items)");
  answer_ = "[]";
  EXPECT_EQ(served.get("/items", cookie_).status(), 200u);
  EXPECT_EQ(failures_.all.size(), 1u);
}

TEST_F(ContractRoutesTest, a_router_says_what_becomes_of_replies_where_the_routes_do_not) {
  const auto failures_of = [this](ReplyChecks checks, Replies replies) {
    Router router;
    router.check_replies(checks);
    ContractRoutes routes(router.group(""), contract(), {.replies = replies});
    routes.operation("listItems", [](const RequestView&) { return Reply::json("{}"); });
    testing::TestOptions test;
    test.http.failures = &failures_;
    failures_.all.clear();
    testing::TestServer served(std::move(router).build(), test);
    const unsigned status = served.get("/items", cookie_).status();
    EXPECT_EQ(status, checks == ReplyChecks::refuse ? 500u : 200u);
    return failures_.all.size();
  };
  EXPECT_EQ(failures_of(ReplyChecks::off, Replies::by_router), 0u);
  EXPECT_EQ(failures_of(ReplyChecks::report, Replies::by_router), 1u);
  EXPECT_EQ(failures_of(ReplyChecks::refuse, Replies::by_router), 1u);
  EXPECT_EQ(failures_of(ReplyChecks::report, Replies::unchecked), 0u);
}

TEST_F(ContractRoutesTest, a_reply_that_is_written_in_pieces_is_judged_by_its_head) {
  Router router;
  ContractRoutes routes(router.group(""), contract(), {.replies = Replies::reported});
  routes.operation("listItems", [](ReplyWriter writer) -> Task<void> {
    writer.begin(200, "application/json");
    co_await writer.write("[");
    co_await writer.write("]");
  });
  testing::TestOptions test;
  test.http.failures = &failures_;
  testing::TestServer served(std::move(router).build(), test);
  EXPECT_EQ(served.get("/items", cookie_).content(), "[]");
  EXPECT_TRUE(failures_.all.empty()) << failures_.all[0];
}

TEST_F(ContractRoutesTest, a_wrong_reply_becomes_500_where_that_is_chosen) {
  answer_ = "{}";
  auto served = server({.replies = Replies::refused});
  const auto reply = served.get("/items", cookie_);
  EXPECT_EQ(reply.status(), 500u);
  EXPECT_FALSE(reply.content().contains("expected")) << reply;
  ASSERT_EQ(failures_.all.size(), 1u);
  EXPECT_TRUE(failures_.all[0].contains("content: expected an array, got an object"))
      << failures_.all[0];
}

TEST_F(ContractRoutesTest, a_refusal_is_no_wrong_reply) {
  auto served = server({.replies = Replies::reported});
  EXPECT_EQ(served.get("/items?limit=0", cookie_).status(), 400u);
  EXPECT_EQ(failures_.all.size(), 0u);
}

TEST_F(ContractRoutesTest, what_is_not_described_or_not_served_is_a_mistake_of_build) {
  Router router;
  ContractRoutes routes(router.group("/v1"), contract());
  const auto handler = [](const RequestView&) { return Reply(200); };
  routes.operation("listItem", handler).operation("addItem", handler).operation("addItem", handler);
  EXPECT_EQ(routes.unserved(),
            (std::vector<std::string>{"GET /items", "GET /items/{id}", "PUT /items/{id}",
                                      "POST /notes", "GET /filters"}));
  routes.require_all();
  const auto built = std::move(router).build();
  ASSERT_FALSE(built);
  const std::string words = built.error().describe();
  EXPECT_TRUE(words.contains("the OpenAPI description has no operation 'listItem'")) << words;
  EXPECT_TRUE(words.contains("the operation 'addItem' is served twice")) << words;
  EXPECT_TRUE(words.contains("no handler serves the operation 'GET /items/{id}'")) << words;
}

}  // namespace
}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
