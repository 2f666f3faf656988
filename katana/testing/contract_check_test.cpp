#include "katana/testing/contract_check.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "katana/http/handlers/router.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::testing {
namespace {

constexpr const char* stock = R"(openapi: 3.1.0
info: {title: Stock, version: "1"}
paths:
  /items/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses:
        '200': &item
          description: It.
          content: &item_content {application/json: {schema: {$ref: '#/components/schemas/Item'}}}
        default: &problem {description: Not., content: {application/problem+json: {}}}
  /items:
    get:
      parameters: [{name: limit, in: query, schema: {type: integer, minimum: 1}}]
      responses: {'200': {description: They.}, default: *problem}
    post:
      requestBody: {required: true, content: *item_content}
      responses: {'200': *item, default: *problem}
  /loose:
    get:
      parameters: [{name: X-Kind, in: header, schema: {type: string, pattern: '^[a-z]+$'}}]
      responses: {'204': {description: Nothing.}}
components:
  schemas:
    Item:
      type: object
      required: [name, count]
      properties: {name: {type: string, minLength: 1}, count: {type: integer}}
)";

// Replies as the test wants, whatever the description says.
class ContractCheckTest : public ::testing::Test {
 protected:
  Result<Service> service() {
    Router router;
    router.get("/items/{id}", [this](Path<int> id) -> Reply {
      return *id < 0 ? problem(400, "below 0") : Reply::json(answer_);
    });
    router.get("/items", [](const RequestView& request) -> Reply {
      if (request.query() == "limit=0") return problem(400, "limit");
      return Reply(200);
    });
    router.post("/items", [this](const RequestView& request) -> Reply {
      if (request.content().contains("\"\"")) return problem(422, "name");
      return Reply(made_, "application/json", request.content());
    });
    router.get("/health", [](const RequestView&) { return Reply::text("well"); });
    router.get("/loose", [](const RequestView&) { return Reply(204); });
    return std::move(router).build();
  }
  static TestOptions by_description() {
    const auto check = ContractCheck::of_document(stock);
    EXPECT_TRUE(check) << check.error().describe();
    return {.contract = *check};
  }
  std::string answer_ = R"({"name":"a","count":1})";
  unsigned made_ = 200;
};

TEST_F(ContractCheckTest, a_reply_that_obeys_the_document_is_a_reply) {
  TestServer server(service(), by_description());
  EXPECT_EQ(server.get("/items/7").status(), 200u);
  EXPECT_EQ(server.get("/items?limit=5").status(), 200u);
  EXPECT_EQ(server.post("/items", R"({"name":"a","count":1})").status(), 200u);
  EXPECT_EQ(server.get("/health").status(), 200u);
  EXPECT_EQ(server.get("/nothing").status(), 404u);
}

TEST_F(ContractCheckTest, a_reply_that_departs_has_no_status_and_says_why) {
  TestServer server(service(), by_description());
  answer_ = R"({"name":"a","count":"many"})";
  const TestReply reply = server.get("/items/7");
  EXPECT_EQ(reply.status(), 0u);
  EXPECT_EQ(reply.problem(),
            "GET /items/7: the reply 200 departs from the OpenAPI description of GET /items/{id}:\n"
            "  content /count: expected an integer, got a string\n"
            "  it was: 200 application/json, 27 bytes: {\"name\":\"a\",\"count\":\"many\"}");
  made_ = 202;
  const TestReply made = server.post("/items", R"({"name":"a","count":1})");
  // `default` is a problem.
  EXPECT_TRUE(made.problem().contains(
      "Content-Type: expected application/problem+json, got 'application/json'"))
      << made;
}

TEST_F(ContractCheckTest, a_request_that_is_wrong_on_purpose_and_refused_is_none_of_its_business) {
  TestServer server(service(), by_description());
  EXPECT_EQ(server.get("/items/seven").status(), 400u);
  EXPECT_EQ(server.get("/items?limit=0").status(), 400u);
  EXPECT_EQ(server.post("/items", R"({"name":""})").status(), 422u);
  EXPECT_EQ(server.put("/items", "x").status(), 405u);
}

TEST_F(ContractCheckTest, a_wrong_request_that_is_taken_is_a_departure_of_the_service) {
  TestServer server(service(), by_description());
  EXPECT_EQ(server.get("/loose", {{"X-Kind", "good"}}).status(), 204u);
  EXPECT_EQ(
      server.get("/loose", {{"X-Kind", "BAD"}}).problem(),
      "GET /loose: GET /loose answers 204 to a request that its OpenAPI description refuses:\n"
      "  header field 'X-Kind': does not match its pattern");
}

TEST_F(ContractCheckTest, another_type_of_json_may_be_taken) {
  TestServer server(service(), by_description());
  const std::string item = R"({"name":"a","count":1})";
  EXPECT_EQ(server.post("/items", item, {{"Content-Type", "application/x.item+json"}}).status(),
            200u);
  EXPECT_TRUE(server.post("/items", item, {{"Content-Type", "text/csv"}})
                  .problem()
                  .contains("Content-Type: expected application/json, got 'text/csv'"));
}

TEST_F(ContractCheckTest, a_test_may_switch_it_off) {
  TestOptions options = by_description();
  options.check_contract = false;
  TestServer server(service(), options);
  answer_ = "{}";
  EXPECT_EQ(server.get("/items/7").status(), 200u);
}

TEST_F(ContractCheckTest, a_test_may_take_another_description_over_http2_as_well) {
  const auto check = ContractCheck::of_document(R"(openapi: 3.1.0
info: {title: t, version: "1"}
paths: {/health: {get: {responses: {'200': {description: ok, content: {application/json: {}}}}}}}
)");
  ASSERT_TRUE(check) << check.error().describe();
  TestOptions options{.contract = *check};
  options.http.http2.enabled = true;
  for (const TestProtocol protocol : {TestProtocol::http1, TestProtocol::http2}) {
    options.protocol = protocol;
    TestServer server(service(), options);
    EXPECT_TRUE(server.get("/health").problem().contains(
        "Content-Type: expected application/json, got 'text/plain"));
    answer_ = "{}";
    EXPECT_EQ(server.get("/items/7").status(), 200u);  // that one does not describe it
  }
}

TEST_F(ContractCheckTest, coverage_says_what_no_test_has_met) {
  // Coverage is counted by document for the whole process: each run of this test has its own.
  static int runs = 0;
  const std::string info = "info: {title: t, version: 2." + std::to_string(runs++) + "}";
  const auto check = ContractCheck::of_document("openapi: 3.1.0\n" + info + R"(
paths:
  /items/{id}: {get: {responses: {'200': {description: ok}, 4XX: {description: no}}}}
  /items: {post: {responses: {'201': {description: made}}}}
)");
  ASSERT_TRUE(check) << check.error().describe();
  TestServer server(service(), {.contract = *check});
  (void)server.get("/items/7");
  (void)server.get("/items/8");
  (void)server.get("/health");
  const ContractCoverage coverage = (*check)->coverage();
  EXPECT_EQ(coverage.operations_seen(), 1u);
  EXPECT_EQ(coverage.describe(),
            "1 of 2 operations were asked for\n"
            "       0 POST /items; seen: none; never seen: 201\n"
            "       2 GET /items/{id}; seen: 200; never seen: 4XX\n"
            "       1 GET /health, which is not described\n");
  EXPECT_FALSE(contract_coverage().empty());
}

TEST_F(ContractCheckTest, a_document_that_is_none_is_an_error_with_the_place) {
  const auto check = ContractCheck::of_document("openapi: 3.1.0\ninfo: {title: x}\npaths: {}\n");
  ASSERT_FALSE(check);
  EXPECT_TRUE(check.error().describe().contains("#/info")) << check.error().describe();
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
