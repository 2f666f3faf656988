#include "katana/openapi/diff/diff.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace katana::openapi {
namespace {

Description read(const std::string& text) {
  model::Problems problems;
  Description made = read_description_text("api.yaml", text, problems);
  EXPECT_FALSE(problems.has_errors()) << problems.as_error().describe() << text;
  return made;
}

// "breaking rule: words" of each, one a line.
std::string changes(const std::string& before, const std::string& after, DiffOptions options = {}) {
  std::string text;
  for (const Change& each : compare(read(before), read(after), options)) {
    text += std::string(level_name(each.level)) + " " + each.rule + ": " + each.words + "\n";
  }
  return text;
}

std::string document(const std::string& paths, const std::string& rest = "") {
  return "openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths:\n" + paths + rest;
}

// A POST whose content and whose 200 have that schema.
std::string with_schema(const std::string& schema) {
  const std::string content = "{content: {application/json: {schema: " + schema + "}}";
  return document("  /x:\n    post:\n      requestBody: " + content +
                  "}\n      responses: {'200': " + content + ", description: ok}}\n");
}
std::string schema_changes(const std::string& before, const std::string& after) {
  return changes(with_schema(before), with_schema(after));
}

struct SchemaCase {
  const char* before;
  const char* after;
  const char* request;  // "breaking request-body-…", or nothing
  const char* reply;
};

constexpr SchemaCase cases[] = {
    {"{type: integer}", "{type: number}", "info request-body-type-generalized",
     "breaking response-body-type-generalized"},
    {"{type: number}", "{type: integer}", "breaking request-body-type-changed",
     "info response-body-type-specialized"},
    {"{type: string}", "{type: integer}", "breaking request-body-type-changed",
     "breaking response-body-type-changed"},
    {"{type: [string, integer]}", "{type: [string, integer, boolean]}",
     "info request-body-list-of-types-widened", "breaking response-body-list-of-types-widened"},
    {"{type: [string, integer]}", "{type: [string]}",
     "breaking request-body-list-of-types-narrowed", "info response-body-list-of-types-narrowed"},
    {"{type: [string, 'null']}", "{type: string}", "breaking request-body-became-not-nullable",
     "info response-body-became-not-nullable"},
    {"{type: string}", "{type: [string, 'null']}", "info request-body-became-nullable",
     "breaking response-body-became-nullable"},
    {"{type: string}", "{type: string, format: uuid}", "breaking request-body-type-changed",
     "info response-body-type-specialized"},
    {"{type: integer, format: int32}", "{type: integer, format: int64}",
     "info request-body-type-generalized", "breaking response-body-type-generalized"},
    {"{type: integer}", "{type: integer, minimum: 1}", "breaking request-body-min-set",
     "info response-body-min-set"},
    {"{type: integer, minimum: 1}", "{type: integer, minimum: 2}",
     "breaking request-body-min-increased", "info response-body-min-increased"},
    {"{type: integer, minimum: 2}", "{type: integer, minimum: 1}",
     "info request-body-min-decreased", "breaking response-body-min-decreased"},
    {"{type: integer, minimum: 2}", "{type: integer}", "info request-body-min-unset",
     "breaking response-body-min-unset"},
    {"{type: integer, exclusiveMaximum: 9}", "{type: integer, exclusiveMaximum: 8}",
     "breaking request-body-exclusive-max-decreased", "info response-body-exclusive-max-decreased"},
    {"{type: string, maxLength: 9}", "{type: string, maxLength: 10}",
     "info request-body-max-length-increased", "breaking response-body-max-length-increased"},
    {"{type: string, minLength: 0}", "{type: string}", "", ""},
    {"{type: array, items: {}}", "{type: array, items: {}, maxItems: 3}",
     "breaking request-body-max-items-set", "info response-body-max-items-set"},
    {"{type: array, items: {}}", "{type: array, items: {}, uniqueItems: true}",
     "breaking request-body-unique-items-set", "info response-body-unique-items-set"},
    {"{type: string}", "{type: string, pattern: '^a'}", "breaking request-body-pattern-added",
     "info response-body-pattern-added"},
    {"{type: string, pattern: '^b'}", "{type: string, pattern: '^a'}",
     "warning request-body-pattern-changed", "warning response-body-pattern-changed"},
    {"{type: string, pattern: '^b'}", "{type: string}", "info request-body-pattern-removed",
     "breaking response-body-pattern-removed"},
    {"{enum: [a, b]}", "{enum: [a]}", "breaking request-body-enum-value-removed",
     "info response-mediatype-enum-value-removed"},
    {"{enum: [a]}", "{enum: [a, b]}", "info request-body-enum-value-added",
     "breaking response-mediatype-enum-value-added"},
    {"{type: string}", "{type: string, enum: [a]}", "breaking request-body-became-enum",
     "info response-mediatype-became-enum"},
    {"{type: string, enum: [a]}", "{type: string}", "info request-body-became-not-enum",
     "breaking response-mediatype-became-not-enum"},
    {"{type: integer}", "{type: integer, multipleOf: 5}", "breaking request-body-multiple-of-set",
     "info response-body-multiple-of-set"},
    {"{type: integer, multipleOf: 10}", "{type: integer, multipleOf: 5}",
     "info request-body-multiple-of-generalized", "breaking response-body-multiple-of-changed"},
    {"{const: 1}", "{const: 2}", "breaking request-body-const-changed",
     "breaking response-body-const-changed"},
    {"{type: string, default: a}", "{type: string, default: b}",
     "info request-body-default-value-changed", "info response-body-default-value-changed"},
    {"{oneOf: [{type: string}, {type: integer}]}", "{oneOf: [{type: string}]}",
     "breaking request-body-one-of-removed", "info response-body-one-of-removed"},
    {"{anyOf: [{type: string}]}", "{anyOf: [{type: string}, {type: integer}]}",
     "info request-body-any-of-added", "breaking response-body-any-of-added"},
    {"{allOf: [{type: string}]}", "{allOf: [{type: string}, {minLength: 1}]}",
     "breaking request-body-all-of-added", "info response-body-all-of-added"},
    {"{type: object}", "{type: object, additionalProperties: false}",
     "breaking request-body-additional-properties-disallowed",
     "info response-body-additional-properties-disallowed"},
};

TEST(OpenApiDiff, what_narrows_breaks_requests_and_what_widens_breaks_replies) {
  for (const SchemaCase& each : cases) {
    const std::string said = schema_changes(each.before, each.after);
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < said.size();) {
      const std::size_t end = said.find('\n', at);
      const std::string line = said.substr(at, end - at);
      lines.push_back(line.substr(0, line.find(':')));
      at = end + 1;
    }
    std::vector<std::string> wanted;
    for (const char* const one : {each.request, each.reply}) {
      if (*one != '\0') wanted.emplace_back(one);
    }
    EXPECT_EQ(lines, wanted) << each.before << " -> " << each.after << '\n' << said;
    EXPECT_EQ(schema_changes(each.before, each.before), "");
  }
}

TEST(OpenApiDiff, properties_are_compared_by_the_direction_of_their_data) {
  const char* const before =
      "{type: object, required: [a, b], properties: {a: {type: string}, b: {type: string}, "
      "c: {type: array, items: {type: object, properties: {d: {type: integer}}}}}}";
  EXPECT_EQ(
      schema_changes(before,
                     "{type: object, required: [a, e], properties: {a: {type: string}, "
                     "e: {type: string}, c: {type: array, items: {type: object, "
                     "properties: {d: {type: string}}}}}}"),
      "warning request-property-removed: content application/json the property 'b' was removed\n"
      "breaking request-property-type-changed: content application/json /c/*/d: the type changed "
      "from integer to string\n"
      "breaking new-required-request-property: content application/json the required property 'e' "
      "was added\n"
      "breaking response-required-property-removed: 200 application/json the property 'b' was "
      "removed\n"
      "breaking response-property-type-changed: 200 application/json /c/*/d: the type changed from "
      "integer to string\n"
      "info response-required-property-added: 200 application/json the required property 'e' was "
      "added\n");
  EXPECT_EQ(
      schema_changes("{type: object, properties: {a: {type: string}}}",
                     "{type: object, required: [a], properties: {a: {type: string}}}"),
      "breaking request-property-became-required: content application/json /a: it became required\n"
      "info response-property-became-required: 200 application/json /a: it became required\n");
  EXPECT_EQ(
      schema_changes("{type: object, required: [a], properties: {a: {type: string}}}",
                     "{type: object, properties: {a: {type: string}}}"),
      "info request-property-became-optional: content application/json /a: it became optional\n"
      "breaking response-property-became-optional: 200 application/json /a: it became optional\n");
  EXPECT_EQ(schema_changes("{type: object}",
                           "{type: object, required: [a], properties: {a: {readOnly: true}}}"),
            "info new-optional-request-property: content application/json the required property "
            "'a' was added\n"
            "info response-required-property-added: 200 application/json the required property 'a' "
            "was added\n");
}

TEST(OpenApiDiff, a_schema_that_refers_to_itself_is_compared_once) {
  const auto tree = [](const char* type) {
    return document(
        "  /x:\n    get:\n      responses: {'200': {description: ok, content: "
        "{application/json: {schema: {$ref: '#/components/schemas/Tree'}}}}}\n",
        std::string("components: {schemas: {Tree: {type: object, properties: {name: "
                    "{type: ") +
            type + "}, children: {type: array, items: {$ref: '#/components/schemas/Tree'}}}}}}\n");
  };
  EXPECT_EQ(changes(tree("string"), tree("integer")),
            "breaking response-property-type-changed: 200 application/json /name: the type changed "
            "from string to integer\n");
}

constexpr const char* ok = "responses: {'200': {description: ok}}";

TEST(OpenApiDiff, what_was_removed_breaks_unless_it_was_announced) {
  const std::string both = document(std::string("  /a/{id}: {get: {") + ok + "}, put: {" + ok +
                                    "}}\n  /b: {get: {" + ok + "}}\n");
  const std::string one = document(std::string("  /a/{other}: {get: {") + ok + "}}\n");
  EXPECT_EQ(
      changes(both, one),
      "breaking api-removed-without-deprecation: it was removed, and was not deprecated\n"
      "breaking api-path-removed-without-deprecation: it was removed, and was not deprecated\n");
  EXPECT_EQ(changes(one, both),
            "info endpoint-added: it was added\ninfo endpoint-added: it was added\n");
  const auto going = [](const char* words) {
    return document(std::string("  /a: {get: {") + ok + "}}\n  /b: {get: {deprecated: true, " +
                    words + ok + "}}\n");
  };
  const std::string without = document(std::string("  /a: {get: {") + ok + "}}\n");
  EXPECT_EQ(changes(going(""), without),
            "info api-path-removed-with-deprecation: it was removed, as was announced\n");
  EXPECT_EQ(changes(going("x-sunset: '2027-01-01', "), without, {.today = "2026-11-25"}),
            "breaking api-path-removed-before-sunset: it was removed before the day of its "
            "x-sunset, 2027-01-01\n");
  EXPECT_EQ(changes(going("x-sunset: '2027-01-01', "), without, {.today = "2027-01-01"}),
            "info api-path-removed-with-deprecation: it was removed, as was announced\n");
  EXPECT_EQ(changes(going("x-sunset: '2027-01-01', "), going("")),
            "breaking sunset-deleted: its x-sunset, 2027-01-01, was removed, and it is still "
            "deprecated\n");
  EXPECT_EQ(changes(going("x-sunset: '2027-01-01', "), going("x-sunset: '2026-12-01', ")),
            "breaking api-sunset-date-changed-earlier: its x-sunset moved from 2027-01-01 to "
            "2026-12-01\n");
}

TEST(OpenApiDiff, paths_of_one_shape_are_told_apart_by_their_names) {
  const auto at = [](const char* name, const char* method) {
    return std::string("  /a/{") + name + "}: {" + method + ": {parameters: [{name: " + name +
           ", in: path, required: true, schema: {type: string}}], " + ok + "}}\n";
  };
  const std::string both = document(at("id", "get") + at("digest", "delete"));
  EXPECT_EQ(changes(both, both), "");
  EXPECT_EQ(changes(both, document(at("id", "get") + at("other", "delete"))), "");
}

TEST(OpenApiDiff, parameters) {
  const auto with = [](const std::string& parameters) {
    return document(
        "  /x/{id}: {get: {parameters: [{name: id, in: path, required: true, schema: {type: "
        "string}}" +
        parameters + "], " + ok + "}}\n");
  };
  EXPECT_EQ(
      changes(with(""), with(", {name: q, in: query, required: true, schema: {type: string}}")),
      "breaking new-required-request-parameter: the required query parameter 'q' was added\n");
  EXPECT_EQ(changes(with(""), with(", {name: q, in: query, schema: {type: string}}")),
            "info new-optional-request-parameter: the optional query parameter 'q' was added\n");
  EXPECT_EQ(changes(with(", {name: X-Q, in: header, schema: {type: string}}"), with("")),
            "warning request-parameter-removed: the header parameter 'X-Q' was removed\n");
  EXPECT_EQ(changes(with(", {name: q, in: query, schema: {type: string}}"),
                    with(", {name: q, in: query, required: true, schema: {type: integer}}")),
            "breaking request-parameter-became-required: the query parameter 'q' became required\n"
            "breaking request-parameter-type-changed: the query parameter 'q' the type changed "
            "from string to integer\n");
  EXPECT_EQ(changes(with(", {name: q, in: query, schema: {type: array, items: {type: string}}}"),
                    with(", {name: q, in: query, explode: false, schema: {type: array, items: "
                         "{type: string}}}")),
            "breaking request-parameter-serialization-changed: the query parameter 'q' is written "
            "as form, no longer as form, exploded\n");
}

TEST(OpenApiDiff, content_replies_and_fields) {
  const auto with = [](const std::string& body, const std::string& replies) {
    return document("  /x:\n    post:\n" +
                    (body.empty() ? "" : "      requestBody: " + body + "\n") +
                    "      responses: " + replies + "\n");
  };
  const std::string reply = "{'200': {description: ok}}";
  EXPECT_EQ(changes(with("", reply), with("{required: true, content: {text/plain: {}}}", reply)),
            "breaking request-body-added-required: required content was added\n");
  EXPECT_EQ(
      changes(with("{content: {text/plain: {}, text/csv: {}}}", reply),
              with("{required: true, content: {text/plain: {}}}", reply)),
      "breaking request-body-became-required: the content became required\n"
      "breaking request-body-media-type-removed: content: the media type text/csv was removed\n");
  EXPECT_EQ(
      changes(with("",
                   "{'200': {description: ok, headers: {ETag: {required: true, schema: {type: "
                   "string}}}}, '201': {description: ok}, '404': {description: no}}"),
              with("", "{'200': {description: ok, headers: {etag: {schema: {type: string}}}}}")),
      "breaking response-header-became-optional: 200 header field 'ETag' became optional\n"
      "breaking response-success-status-removed: the reply 201 was removed\n"
      "info response-non-success-status-removed: the reply 404 was removed\n");
}

TEST(OpenApiDiff, security) {
  const auto with = [](const std::string& security) {
    return document(
        "  /x: {get: {security: " + security + ", " + ok + "}}\n",
        "components: {securitySchemes: {a: {type: http, scheme: bearer}, b: {type: oauth2, flows: "
        "{clientCredentials: {tokenUrl: 'https://t.example', scopes: {r: r, w: w}}}}}}\n");
  };
  EXPECT_EQ(changes(with("[]"), with("[{a: []}]")),
            "breaking api-security-anonymous-access-removed: it is no longer open to everybody\n"
            "info api-security-added: a is enough\n");
  EXPECT_EQ(changes(with("[{a: []}, {b: [r]}]"), with("[{b: [r, w]}]")),
            "breaking api-security-removed: a is no longer enough\n"
            "breaking api-security-scope-added: the scope 'w' of b is wanted as well\n");
}

// Clients receive the request of a webhook, and send its reply.
TEST(OpenApiDiff, webhooks_have_the_directions_the_other_way_round) {
  const auto with = [](const std::string& schema, const std::string& more = "",
                       const std::string& replies = "{'204': {description: ok}}") {
    return document("  /x: {get: {" + std::string(ok) + "}}\n",
                    "webhooks:\n  sold:\n    post:\n      requestBody: {content: "
                    "{application/json: {schema: " +
                        schema + "}}}\n      responses: " + replies + "\n" + more);
  };
  const auto content = [&](const std::string& schema) {
    return with(
        "{type: object}", "",
        "{'200': {description: ok, content: {application/json: {schema: " + schema + "}}}}");
  };
  EXPECT_EQ(changes(with("{type: integer}"), with("{type: integer}")), "");
  EXPECT_EQ(changes(with("{type: integer}"), with("{type: number}")),
            "breaking webhook-request-body-type-generalized: content application/json the type "
            "changed from integer to number\n");
  EXPECT_EQ(changes(with("{type: integer}"), with("{type: integer, minimum: 1}")),
            "info webhook-request-body-min-set: content application/json minimum changed from none "
            "to 1\n");
  EXPECT_EQ(changes(content("{type: integer}"), content("{type: number}")),
            "info webhook-response-body-type-generalized: 200 application/json the type changed "
            "from integer to number\n");
  EXPECT_EQ(changes(content("{type: object}"),
                    content("{type: object, required: [a], properties: {a: {type: string}}}")),
            "breaking webhook-new-required-response-property: 200 application/json the required "
            "property 'a' was added\n");
  EXPECT_EQ(changes(with("{}"), with("{}", "", "{'200': {description: ok}}")),
            "breaking webhook-response-status-removed: the reply 204 is not taken any more\n"
            "info webhook-response-status-added: the reply 200 is taken, too\n");
}

TEST(OpenApiDiff, parameters_of_webhooks_are_received) {
  const auto with = [](const std::string& parameters, const std::string& method = "post") {
    return document("  /x: {get: {" + std::string(ok) + "}}\n",
                    "webhooks: {sold: {" + method + ": {parameters: [" + parameters + "], " +
                        std::string(ok) + "}}}\n");
  };
  const std::string id = "{name: X-Id, in: header, required: true, schema: {type: integer}}";
  EXPECT_EQ(
      changes(with(id), with("")),
      "breaking webhook-request-parameter-removed: the header parameter 'X-Id' was removed\n");
  EXPECT_EQ(changes(with(""), with(id)),
            "info webhook-request-parameter-added: the header parameter 'X-Id' was added\n");
  EXPECT_EQ(
      changes(with(id), with("{name: x-id, in: header, schema: {type: string}}")),
      "breaking webhook-request-parameter-became-optional: the header parameter 'X-Id' became "
      "optional\n"
      "breaking webhook-request-parameter-type-changed: the header parameter 'X-Id' the type "
      "changed from integer to string\n");
  EXPECT_EQ(changes(with(id), with(id, "put")),
            "breaking webhook-removed: it was removed\ninfo webhook-added: it was added\n");
}

TEST(OpenApiDiff, a_change_names_its_place) {
  const auto made =
      compare(read(with_schema("{type: string}")), read(with_schema("{type: integer}")));
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(
      made[0].describe(),
      "breaking: POST /x: request-body-type-changed: content application/json the type changed "
      "from string to integer [api.yaml:6:58: "
      "#/paths/~1x/post/requestBody/content/application~1json/schema]");
}

}  // namespace
}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
