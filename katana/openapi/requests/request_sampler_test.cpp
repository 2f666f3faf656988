#include "katana/openapi/requests/request_sampler.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace katana::openapi {
namespace {

constexpr const char* shop = R"(openapi: 3.1.0
info: {title: t, version: "1"}
servers: [{url: /v1}]
paths:
  /items:
    get:
      operationId: list
      x-weight: 8
      parameters:
        - {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 50}}
        - {name: tag, in: query, schema: {type: array, items: {type: string}, minItems: 1}}
        - {name: sort, in: query, explode: false, schema: {type: array, items: {enum: [a, b]}}}
        - name: filter
          in: query
          style: deepObject
          schema: {type: object, properties: {min: {type: integer}, name: {type: string}}}
        - {name: X-Kind, in: header, required: true, schema: {type: string, pattern: '^[a-z]{3}$'}}
        - {name: seen, in: cookie, schema: {type: boolean}}
      responses: {'200': {description: ok}}
    post:
      operationId: add
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [name, email, price]
              properties:
                id: {type: integer, readOnly: true}
                name: {type: string, minLength: 1, maxLength: 20}
                email: {type: string, format: email}
                price: {type: number, minimum: 0, multipleOf: 0.01}
              additionalProperties: false
      responses: {'201': {description: ok}}
  /items/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: integer, minimum: 1}}]
      responses: {'200': {description: ok}}
    put:
      operationId: change
      parameters:
        - {name: id, in: path, required: true, style: matrix, schema: {type: string, minLength: 2}}
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema:
              type: object
              required: [a, parts, ids, note]
              properties:
                a: {type: string}
                parts: {type: array, minItems: 1, items: {$ref: '#/components/schemas/Part'}}
                ids: {type: array, minItems: 2, items: {type: integer}}
                note: {$ref: '#/components/schemas/Part'}
            encoding: {parts: {style: deepObject}, ids: {style: pipeDelimited, explode: false}}
      responses: {'200': {description: ok}}
components:
  schemas:
    Part:
      type: object
      required: [size]
      properties: {size: {type: integer}, names: {type: array, items: {type: string, minLength: 1}}}
      additionalProperties: false
)";

RequestSampler sampler(RequestSampleOptions options) {
  model::Problems problems;
  const Description description = read_description_text("shop.yaml", shop, problems);
  EXPECT_FALSE(problems.has_errors()) << problems.as_error().describe();
  auto made = RequestSampler::make(description, std::move(options));
  EXPECT_TRUE(made) << (made ? "" : made.error().describe());
  return *std::move(made);
}

// That each obeys the description is the sampler's own check.
TEST(RequestSampler, operations_are_drawn_by_their_weights_and_every_one_can_be) {
  RequestSampler requests = sampler({.seed = 7});
  std::map<std::string, int> counts;
  for (int at = 0; at < 2200; ++at) {
    const auto drawn = requests.draw();
    ASSERT_TRUE(drawn) << drawn.error().describe();
    ++counts[drawn->operation];
    EXPECT_TRUE(drawn->target.starts_with("/v1/items")) << drawn->target;
  }
  EXPECT_EQ(counts.size(), 4u);
  EXPECT_NEAR(counts["list"], 1600, 150);
  EXPECT_NEAR(counts["add"], 200, 75);
}

TEST(RequestSampler, a_form_has_objects_and_lists_by_its_encoding) {
  RequestSampler requests = sampler({.seed = 7});
  const auto drawn = requests.draw_of("change");
  ASSERT_TRUE(drawn) << drawn.error().describe();
  for (const char* const part : {"parts%5B0%5D%5Bsize%5D=", "%7C", "&note=%7B%22size%22%3A"}) {
    EXPECT_TRUE(drawn->content.contains(part)) << drawn->content;
  }
}

TEST(RequestSampler, a_seed_means_the_same_requests) {
  RequestSampler one = sampler({.seed = 7});
  RequestSampler same = sampler({.seed = 7});
  RequestSampler other = sampler({.seed = 8});
  int differences = 0;
  for (int at = 0; at < 50; ++at) {
    const auto drawn = one.draw();
    EXPECT_EQ(drawn->target, same.draw()->target);
    differences += drawn->target == other.draw()->target ? 0 : 1;
  }
  EXPECT_GT(differences, 10);
}

TEST(RequestSampler, options_say_weights_and_the_values_that_there_are) {
  RequestSampler requests =
      sampler({.weights = {{"list", 0}, {"add", 0}, {"change", 0}}, .ranges = {{"id", {5, 6}}}});
  for (int at = 0; at < 20; ++at) {
    const auto drawn = requests.draw();
    ASSERT_TRUE(drawn);
    EXPECT_EQ(drawn->operation, "GET /items/{id}");
    EXPECT_TRUE(drawn->target == "/v1/items/5" || drawn->target == "/v1/items/6") << drawn->target;
  }
}

TEST(RequestSampler, a_weight_of_no_operation_is_an_error) {
  model::Problems problems;
  const Description description = read_description_text("shop.yaml", shop, problems);
  const auto made = RequestSampler::make(description, {.weights = {{"lists", 1}}});
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.error().describe().contains("'lists=1': give an operation"));
}

}  // namespace
}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
