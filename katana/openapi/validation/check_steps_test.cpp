// Requests and replies that would take long to check.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/failure.hpp"
#include "katana/openapi/document/openapi.hpp"
#include "katana/openapi/model/description.hpp"
#include "katana/openapi/validation/contract_routes.hpp"
#include "katana/openapi/validation/reply_checks.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::openapi {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A pattern that looks ahead is matched by backtracking: a longer text takes more steps.
constexpr const char* api = R"(openapi: 3.1.0
info: {title: Search, version: "1"}
paths:
  /words:
    get:
      operationId: getWords
      parameters:
        - {name: q, in: query, schema: {$ref: '#/components/schemas/Words'}}
        - name: list
          in: query
          schema: {type: array, items: {$ref: '#/components/schemas/Words'}}
        - name: deep
          in: query
          style: deepObject
          schema: {type: object, additionalProperties: {$ref: '#/components/schemas/Words'}}
        - {name: X-Words, in: header, schema: {$ref: '#/components/schemas/Words'}}
        - {name: words, in: cookie, schema: {$ref: '#/components/schemas/Words'}}
      responses:
        '200':
          description: ok
          content: {application/json: {schema: {$ref: '#/components/schemas/Words'}}}
    post:
      operationId: addWords
      requestBody:
        content:
          application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Words'}}}
          text/plain: {schema: {$ref: '#/components/schemas/Words'}}
          application/x-www-form-urlencoded:
            schema: {type: object, properties: {words: {$ref: '#/components/schemas/Words'}}}
      responses: {'200': {description: ok}}
  /filter:
    post:
      operationId: filter
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: '#/components/schemas/Filter'}}}
      responses: {'200': {description: ok}}
components:
  schemas:
    Words: {type: string, pattern: '^(\w+\s?)+(?=z)$'}
    Filter:
      oneOf:
        - {$ref: '#/components/schemas/And'}
        - {$ref: '#/components/schemas/Or'}
        - {$ref: '#/components/schemas/Equal'}
    Filters: {type: array, items: {$ref: '#/components/schemas/Filter'}}
    And:
      type: object
      required: [op, of]
      properties: {op: {const: and}, of: {$ref: '#/components/schemas/Filters'}}
    Or:
      type: object
      required: [op, of]
      properties: {op: {const: or}, of: {$ref: '#/components/schemas/Filters'}}
    Equal:
      type: object
      required: [op, field]
      properties: {op: {const: equal}, field: {type: string}}
)";
const std::string long_words = std::string(34, 'a') + "!";

std::shared_ptr<const Contract> contract_of_words() {
  model::Problems problems;
  const Description description = read_description_text("api.yaml", api, problems);
  EXPECT_FALSE(problems.has_errors()) << problems.as_error().describe();
  return std::make_shared<const Contract>(*Contract::compile(description));
}

class Told final : public FailureObserver {
 public:
  void on_failure(const Failure& failure) noexcept override {
    all.push_back(describe(failure));
    severities.push_back(failure.severity);
  }
  std::vector<std::string> all;
  std::vector<Severity> severities;
};

class CheckStepsTest : public ::testing::Test {
 protected:
  testing::TestServer server(ValidationOptions options = {}, RouteDefaults defaults = {}) {
    Router router;
    router.defaults(defaults);
    ContractRoutes routes(router.group(""), contract_of_words(), options);
    for (const char* const each : {"getWords", "addWords", "filter"}) {
      routes.operation(each, [this](const RequestView&) { return answer(); });
    }
    return server(std::move(router));
  }
  testing::TestServer server(Router router) {
    testing::TestOptions test;
    test.check_contract = false;
    test.http.failures = &told_;
    return testing::TestServer(std::move(router).build(), test);
  }
  Reply answer() {
    ++calls_;
    return Reply::json('"' + answer_ + '"');
  }

  void expect_refusal(const testing::TestReply& reply, Bytes steps) {
    EXPECT_EQ(reply.status(), 422u) << reply;
    EXPECT_THAT(reply.content(), AllOf(HasSubstr("The request was not checked to its end"),
                                       HasSubstr("takes more than " + std::string(steps)),
                                       HasSubstr("check_steps_max")));
    EXPECT_EQ(calls_, 0);
    ASSERT_FALSE(told_.all.empty());
    EXPECT_THAT(told_.all.back(),
                AllOf(HasSubstr("because its check was given up"), HasSubstr("check_steps_max")));
    EXPECT_EQ(told_.severities.back(), Severity::warning);
  }

  std::string answer_ = "a";
  int calls_ = 0;
  Told told_;
};

TEST_F(CheckStepsTest, a_request_that_takes_too_many_is_422_and_recorded_wherever_it_does) {
  auto served = server({.check_steps_max = 5'000});
  expect_refusal(served.get("/words?q=" + long_words), "5");
  expect_refusal(served.get("/words?list=" + long_words), "5");
  expect_refusal(served.get("/words?deep[a]=" + long_words), "5");
  expect_refusal(served.get("/words", {{"X-Words", long_words}}), "5000 steps");
  expect_refusal(served.get("/words", {{"Cookie", "words=" + long_words}}), "5000 steps");
  expect_refusal(served.post("/words", "[\"" + long_words + "\"]"), "5156 steps");
  expect_refusal(served.post("/words", long_words, {{"Content-Type", "text/plain"}}), "5140 steps");
  expect_refusal(served.post("/words", "words=" + long_words,
                             {{"Content-Type", "application/x-www-form-urlencoded"}}),
                 "5164 steps");
  EXPECT_EQ(told_.all.size(), 8u);
}

TEST_F(CheckStepsTest, parameters_and_content_of_a_request_take_from_one_budget) {
  // One of them takes about this much.
  auto served = server({.check_steps_max = 3'000'000});
  const std::string each = std::string(20, 'a') + "!";
  EXPECT_EQ(served.get("/words?q=" + each).status(), 400u);
  EXPECT_TRUE(told_.all.empty());
  std::string all;
  for (int at = 0; at < 1'000; ++at) all += (at == 0 ? "\"" : ",\"") + each + '"';
  expect_refusal(served.post("/words", "[" + all + "]"), "3096004 steps");
}

TEST_F(CheckStepsTest, the_limit_is_that_of_the_router_and_by_default_enough) {
  auto small = server({}, {.check_steps_max = 5'000});
  expect_refusal(small.get("/words?q=" + long_words), "5148 steps");
  auto usual = server();
  expect_refusal(usual.get("/words?q=" + long_words), "1000148 steps");
  EXPECT_EQ(usual.get("/words?q=a%20b").status(), 400u);
}

TEST_F(CheckStepsTest, a_filter_of_many_operators_is_checked_with_the_usual_steps) {
  auto served = server();
  std::string filter = R"({"op":"equal","field":"a"})";
  for (int depth = 0; depth < 22; ++depth) filter = R"({"of":[)" + filter + R"(],"op":"or"})";
  EXPECT_EQ(served.post("/filter", filter).status(), 200u);
  filter.replace(filter.find("equal"), 5, "drop");
  const auto refused = served.post("/filter", filter);
  EXPECT_EQ(refused.status(), 422u);
  EXPECT_THAT(refused.content(), HasSubstr("fits 0 of the 3 schemas of oneOf"));
}

TEST_F(CheckStepsTest, a_reply_that_takes_too_many_is_reported_or_refused_and_never_right) {
  answer_ = long_words;
  auto reported = server({.replies = Replies::reported, .check_steps_max = 5'000});
  EXPECT_EQ(reported.get("/words").status(), 200u);
  ASSERT_EQ(told_.all.size(), 1u);
  EXPECT_THAT(told_.all[0], AllOf(HasSubstr("a reply departs from its description"),
                                  HasSubstr("takes more than 5148 steps and was given up")));
  auto refused = server({.replies = Replies::refused, .check_steps_max = 5'000});
  EXPECT_EQ(refused.get("/words").status(), 500u);
}

TEST_F(CheckStepsTest, a_reply_is_judged_by_documents_within_the_limit_of_the_router) {
  struct Nested {
    std::vector<int> numbers;
  };
  Router router;
  router.defaults({.check_steps_max = 1'000});
  check_replies(router, ReplyChecks::report);
  Document document({.title = "Numbers", .version = "1"});
  std::string numbers = "[0";
  for (int at = 0; at < 2'000; ++at) numbers += ",1.5";
  Routes routes = document.describe(router.group(""));
  routes.get("/numbers", [&] { return Reply::json(numbers + "]"); },
             {.id = "n", .replies = {json_reply<std::vector<double>>(200, "They.")}});
  document.keep(router);
  auto served = server(std::move(router));
  EXPECT_EQ(served.get("/numbers").status(), 200u);
  EXPECT_TRUE(told_.all.empty()) << told_.all[0];  // its bytes earn enough steps
}

}  // namespace
}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
