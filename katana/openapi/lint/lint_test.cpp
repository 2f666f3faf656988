#include "katana/openapi/lint/lint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace katana::openapi {
namespace {

// "rule #pointer" of each, one a line.
std::string findings(const std::string& text, const LintOptions& options = {}) {
  model::Problems problems;
  const Description description = read_description_text("api.yaml", text, problems);
  std::string said;
  for (const Finding& each : lint(description, problems, options)) {
    said += each.rule + " #" + each.pointer + "\n";
  }
  return said;
}

// A description without findings, into which a test puts something.
std::string with(const std::string& operation, const std::string& rest = "",
                 const std::string& path = "/items") {
  return "openapi: 3.1.0\n"
         "info: {title: t, version: '1', description: d, contact: {name: n}}\n"
         "servers: [{url: 'https://example.com/v1'}]\n"
         "tags: [{name: items}]\n"
         "paths:\n  " +
         path + ":\n    get: {operationId: a, description: d, tags: [items], " + operation + "}\n" +
         rest;
}
constexpr const char* ok = "responses: {'200': {description: ok}}";

TEST(OpenApiLint, a_good_description_has_no_findings) { EXPECT_EQ(findings(with(ok)), ""); }

TEST(OpenApiLint, what_is_missing) {
  EXPECT_EQ(findings("openapi: 3.1.0\ninfo: {title: t, version: '1'}\n"
                     "paths:\n  /x: {get: {responses: {'404': {description: no}}}}\n"),
            "oas3-api-servers #\n"
            "info-contact #/info\n"
            "info-description #/info\n"
            "operation-description #/paths/~1x/get\n"
            "operation-operationId #/paths/~1x/get\n"
            "operation-tags #/paths/~1x/get\n"
            "operation-success-response #/paths/~1x/get/responses\n");
}

TEST(OpenApiLint, paths_and_their_parameters) {
  EXPECT_EQ(findings(with(ok, "", "/items/")), "path-keys-no-trailing-slash #/paths/~1items~1\n");
  EXPECT_EQ(findings(with(ok, "", "/items?x=1")), "path-not-include-query #/paths/~1items?x=1\n");
  EXPECT_TRUE(
      findings(with(ok, "", "'/items/{id}'")).contains("path-params #/paths/~1items~1{id}/get\n"));
  const std::string twice = findings(
      with("parameters: [{name: q, in: query, schema: {}}, {name: q, in: query, schema: {}}], " +
           std::string(ok)));
  EXPECT_TRUE(twice.contains("operation-parameters #/paths/~1items/get/parameters/1\n")) << twice;
}

TEST(OpenApiLint, names_that_stand_for_something_have_to_be_defined) {
  EXPECT_TRUE(
      findings(with("security: [{key: []}], " + std::string(ok)))
          .contains("oas3-operation-security-defined #/paths/~1items/get/security/0/key\n"));
  const std::string twice = with(ok,
                                 "  /more:\n    get: {operationId: a, description: d, tags: "
                                 "[other], responses: {'200': {description: ok}}}\n");
  EXPECT_TRUE(
      findings(twice).contains("operation-operationId-unique #/paths/~1more/get/operationId\n"))
      << findings(twice);
  EXPECT_TRUE(findings(twice).contains("operation-tag-defined #/paths/~1more/get/tags/0\n"));
  EXPECT_EQ(findings(with(ok, "components: {schemas: {Unused: {type: string}}}\n")),
            "oas3-unused-component #/components/schemas/Unused\n");
  EXPECT_EQ(findings(with(ok,
                          "x-more: {a: {$ref: '#/components/schemas/Used'}}\n"
                          "components: {schemas: {Used: {type: string}}}\n")),
            "");
}

TEST(OpenApiLint, schemas_and_their_examples) {
  const auto with_schema = [](const std::string& schema, const std::string& example = "") {
    return with("responses: {'200': {description: ok, content: {application/json: {" + example +
                "schema: " + schema + "}}}}");
  };
  const std::string at = " #/paths/~1items/get/responses/200/content/application~1json/schema";
  EXPECT_EQ(findings(with_schema("{type: string, enum: [a, a]}")),
            "duplicated-entry-in-enum" + at + "/enum\n");
  EXPECT_EQ(findings(with_schema("{type: string, enum: [a, 1]}")), "typed-enum" + at + "/enum/1\n");
  EXPECT_EQ(findings(with_schema("{type: [string, 'null'], enum: [a, null]}")), "");
  EXPECT_EQ(findings(with_schema("{type: integer, default: x}")).substr(0, 24),
            "oas3-valid-schema-exampl");
  EXPECT_EQ(findings(with_schema("{type: integer, examples: [1, 2]}")), "");
  EXPECT_EQ(findings(with_schema("{type: integer}", "example: x, ")).substr(0, 24),
            "oas3-valid-media-example");
  EXPECT_EQ(findings(with_schema("{type: integer, description: 'eval(1) <script>'}")),
            "no-eval-in-markdown" + at + "/description\nno-script-tags-in-markdown" + at +
                "/description\n");
}

TEST(OpenApiLint, servers) {
  const auto with_server = [](const std::string& server) {
    std::string text = with(ok);
    text.replace(text.find("{url: 'https://example.com/v1'}"), 31, server);
    return findings(text);
  };
  EXPECT_EQ(with_server("{url: 'https://example.com/'}"),
            "oas3-server-trailing-slash #/servers/0/url\n");
  EXPECT_TRUE(
      with_server("{url: 'https://{host}/v1'}").contains("oas3-server-variables #/servers/0\n"));
  EXPECT_EQ(
      with_server("{url: 'https://{host}/v1', variables: {host: {default: a, enum: [a, b]}}}"), "");
}

TEST(OpenApiLint, what_the_reader_found_is_a_finding_with_its_place) {
  model::Problems problems;
  const Description description =
      read_description_text("api.yaml", "openapi: 3.1.0\ninfo: {title: t}\npaths: {}\n", problems);
  const auto found = lint(description, problems);
  const auto schema = std::ranges::find(found, "oas3-schema", &Finding::rule);
  ASSERT_NE(schema, found.end());
  EXPECT_EQ(schema->severity, LintSeverity::error);
  EXPECT_TRUE(schema->describe().starts_with("api.yaml:2:")) << schema->describe();
}

TEST(OpenApiLint, a_rule_can_be_left_out) {
  EXPECT_EQ(findings(with(ok, "", "/items/"), {.without = {"path-keys-no-trailing-slash"}}), "");
}

TEST(OpenApiLint, rules_are_listed_once) {
  std::set<Bytes> names;
  for (const LintRule& each : lint_rules()) EXPECT_TRUE(names.insert(each.name).second);
  EXPECT_GE(names.size(), 30u);
}

}  // namespace
}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
