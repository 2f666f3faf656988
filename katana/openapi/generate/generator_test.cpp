#include "katana/openapi/generate/generator.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "katana/http/routing/route_pattern.hpp"
#include "katana/openapi/generate/names.hpp"

namespace katana::openapi::generate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* head = "openapi: 3.1.0\ninfo: {title: T, version: '1'}\n";

std::string types_of(const std::string& schemas) {
  model::Problems problems;
  const Description api = read_description_text(
      "api.yaml", std::string(head) + "components:\n  schemas:\n" + schemas, problems);
  const Generated made = generate(api, {}, problems);
  EXPECT_FALSE(problems.has_errors()) << problems.as_error().describe();
  return made.files.back().text;
}

TEST(NamesTest, names_of_a_description_become_safe_identifiers) {
  EXPECT_EQ(type_name("pet-store.user"), "PetStoreUser");
  EXPECT_EQ(type_name("HTTPError"), "HttpError");
  EXPECT_EQ(type_name("3d"), "Type3d");
  EXPECT_EQ(type_name("Größe"), "GrE");
  EXPECT_EQ(type_name("Value"), "ValueType");
  EXPECT_EQ(value_name("petId"), "pet_id");
  EXPECT_EQ(value_name("class"), "class_");
  EXPECT_EQ(value_name("+1"), "n1");
  EXPECT_EQ(value_name("世界"), "value");
  EXPECT_EQ(literal("a\"\\\n\xc3"), R"("a\"\\\012\303")");
  Scope scope;
  EXPECT_EQ(scope.take("a"), "a");
  EXPECT_EQ(scope.take("a"), "a_2");
}

TEST(GeneratorTest, constraints_become_rules) {
  const std::string text = types_of(R"(
    User:
      type: object
      required: [name, age, nick]
      properties:
        name: {type: string, minLength: 1, maxLength: 9, pattern: '^[a-z]+$'}
        age: {type: integer, format: int32, minimum: 0, exclusiveMaximum: 150}
        nick: {type: [string, 'null']}
        mail: {type: string, format: email}
        size: {type: number, default: 1.5}
        parent: {$ref: '#/components/schemas/User'}
        children: {type: array, items: {$ref: '#/components/schemas/User'}}
)");
  EXPECT_THAT(text, HasSubstr("\"name\", length(1, 9), pattern(\"[a-z]+\"))"));
  EXPECT_THAT(text, HasSubstr("\"age\", range(0, 149))"));
  EXPECT_THAT(text, HasSubstr("std::int32_t age = 0;"));
  EXPECT_THAT(text, HasSubstr("\"nick\", required)"));
  EXPECT_THAT(text, HasSubstr("std::optional<std::string> nick = {};"));
  EXPECT_THAT(text, HasSubstr("katana::Patch<std::string> mail = {};"));
  EXPECT_THAT(text, HasSubstr("\"mail\", format::email, not_null)"));
  EXPECT_THAT(text, HasSubstr("double size = 1.5;"));
  EXPECT_THAT(text, HasSubstr("katana::Patch<katana::Box<User>> parent = {};"));
  EXPECT_THAT(text, HasSubstr("katana::Patch<std::vector<User>> children = {};"));
}

// The warnings of these schemas, each with its pointer.
std::vector<std::string> warnings_of(const std::string& schemas) {
  model::Problems problems;
  const Description api = read_description_text(
      "api.yaml", std::string(head) + "components:\n  schemas:\n" + schemas, problems);
  generate(api, {}, problems);
  std::vector<std::string> words;
  for (const model::Problem& each : problems.sorted()) words.push_back(each.describe());
  return words;
}

TEST(GeneratorTest, constants_are_enums_by_which_alternatives_are_told_apart) {
  const std::string schemas = R"(
    Filter: {oneOf: [{$ref: '#/components/schemas/And'}, {$ref: '#/components/schemas/Or'}]}
    And: {type: object, required: [op], properties: {op: {const: and}}}
    Or: {type: object, required: [op], properties: {op: {const: or}, size: {const: 3}}}
    Order: {type: string, oneOf: [{const: up, title: Up}, {const: down}]}
)";
  const std::string text = types_of(schemas);
  EXPECT_THAT(text, HasSubstr("enum class AndOp {\n  and_,\n};"));
  EXPECT_THAT(text, HasSubstr("AndOp op = {};"));
  EXPECT_THAT(text, HasSubstr("using Filter = katana::AnyOf<And, Or>;"));
  EXPECT_THAT(text, HasSubstr("enum class Order {\n  up,\n  down,\n};"));
  EXPECT_THAT(text, HasSubstr("katana::container::is_one_of(value, {3})"));
  EXPECT_THAT(warnings_of(schemas), ::testing::IsEmpty());
}

TEST(GeneratorTest, rules_of_what_allOf_and_references_wrap_are_those_of_the_member) {
  const std::string text = types_of(R"(
    Name: {type: string, maxLength: 9}
    User:
      type: object
      properties:
        name: {description: wrapped, allOf: [{$ref: '#/components/schemas/Name'}]}
        nick: {$ref: '#/components/schemas/Name', minLength: 2}
        both: {allOf: [{$ref: '#/components/schemas/Name'}, {pattern: '^[a-z]*$'}]}
)");
  EXPECT_THAT(text, HasSubstr("\"name\", length(0, 9), not_null)"));
  EXPECT_THAT(text, HasSubstr("\"nick\", length(2, 9), not_null)"));
  EXPECT_THAT(text, HasSubstr("\"both\", length(0, 9), pattern(\"[a-z]*\"), not_null)"));
}

TEST(GeneratorTest, a_property_without_a_name_is_left_out_with_its_place) {
  const std::string schemas = R"(
    A:
      type: object
      additionalProperties: false
      properties: {"": {type: string}, b: {type: string}}
)";
  EXPECT_THAT(types_of(schemas), HasSubstr("field(&S::b, \"b\", not_null)"));
  EXPECT_THAT(warnings_of(schemas),
              ::testing::ElementsAre(HasSubstr("#/components/schemas/A/properties/: warning: a "
                                               "property without a name is left out")));
}

TEST(GeneratorTest, a_keyword_that_no_type_checks_has_a_warning_also_if_it_is_unknown) {
  const auto warnings = warnings_of(R"(
    A: {type: object, properties: {n: {type: integer, not: {const: 3}}}, minProprties: 1, x-a: 1}
)");
  ASSERT_EQ(warnings.size(), 2u);
  using ::testing::Contains;
  EXPECT_THAT(warnings, Contains(HasSubstr("'minProprties' is not a keyword of a schema")));
  EXPECT_THAT(warnings,
              Contains(HasSubstr("#/components/schemas/A/properties/n/not: warning: 'not' is not "
                                 "checked by its type. Have ContractRoutes")));
}

TEST(GeneratorTest, rules_of_a_whole_body_which_has_none_are_warned_of) {
  model::Problems problems;
  const std::string text = std::string(head) + R"(paths:
  /a:
    post:
      requestBody:
        required: true
        content:
          application/json: {schema: {type: array, maxItems: 3, items: {type: string}}}
      responses: {'204': {description: x}}
)";
  generate(read_description_text("api.yaml", text, problems), {}, problems);
  ASSERT_EQ(problems.warning_count(), 1u);
  EXPECT_THAT(problems.sorted()[0].describe(),
              HasSubstr("'maxItems' is not checked by its type as a whole body. Have"));
}

TEST(GeneratorTest, a_discriminator_makes_a_variant_without_its_member) {
  const std::string text = types_of(R"(
    Shape:
      oneOf: [{$ref: '#/components/schemas/Circle'}, {$ref: '#/components/schemas/Square'}]
      discriminator: {propertyName: kind, mapping: {
        circle: '#/components/schemas/Circle', square: Square}}
    Circle: {type: object, required: [r], properties: {kind: {type: string}, r: {type: number}}}
    Square: {type: object, required: [a], properties: {kind: {type: string}, a: {type: number}}}
)");
  EXPECT_THAT(text, HasSubstr("using Shape = std::variant<ShapeCircle, ShapeSquare>;"));
  EXPECT_THAT(text, HasSubstr("KATANA_DESCRIBE_VARIANT(Shape, \"kind\""));
  EXPECT_THAT(text, HasSubstr("struct ShapeCircle {\n  double r = 0;\n};"));
}

TEST(GeneratorTest, several_types_without_a_discriminator_are_an_any_of) {
  const std::string text = types_of(R"(
    Id: {type: [integer, string, 'null']}
    Level: {type: string, enum: [low, high]}
    Card: {type: object, properties: {number: {type: string}}}
    Payment:
      type: object
      required: [source, id, level, lists, one]
      properties:
        source: {anyOf: [{$ref: '#/components/schemas/Card'}, {type: string}, {type: 'null'}]}
        id: {$ref: '#/components/schemas/Id'}
        level: {oneOf: [{type: string}, {$ref: '#/components/schemas/Level'}]}
        lists:
          oneOf:
            - {type: array, items: {type: string}}
            - {type: array, items: {$ref: '#/components/schemas/Card'}}
            - {$ref: '#/components/schemas/Id'}
        one: {oneOf: [{type: integer, format: int32}, {type: integer}]}
        any: {oneOf: [{type: string}, {}]}
        octets: {oneOf: [{type: string, format: byte}, {$ref: '#/components/schemas/Level'}]}
)");
  EXPECT_THAT(text, HasSubstr("using Id = katana::AnyOf<std::int64_t, std::string>;"));
  EXPECT_THAT(text, HasSubstr("std::optional<katana::AnyOf<Card, std::string>> source = {};"));
  EXPECT_THAT(text, HasSubstr("std::optional<Id> id = {};"));
  EXPECT_THAT(text, HasSubstr("katana::AnyOf<Level, std::string> level = {};"));
  EXPECT_THAT(text, HasSubstr("std::optional<katana::AnyOf<std::int64_t, std::vector<katana::AnyOf"
                              "<Card, std::string>>, std::string>> lists = {};"));
  EXPECT_THAT(text, HasSubstr("std::int64_t one = 0;"));
  EXPECT_THAT(text, HasSubstr("katana::Patch<katana::AnyOf<Level, std::string>> octets = {};"));
  EXPECT_THAT(text, HasSubstr("katana::Patch<katana::container::Value> any = {};"));
}

TEST(GeneratorTest, items_that_may_be_null_are_optional) {
  const std::string text = types_of(R"(
    Node:
      type: object
      required: [names, levels, anything, rows]
      properties:
        names: {type: array, items: {type: [string, 'null'], maxLength: 9}}
        levels: {type: array, items: {oneOf: [{type: integer}, {type: 'null'}]}}
        anything: {type: array, items: {type: [object, 'null']}}
        rows: {type: object, additionalProperties: {type: [array, 'null'], items: {type: number}}}
        children:
          type: array
          items: {oneOf: [{$ref: '#/components/schemas/Node'}, {type: 'null'}]}
)");
  EXPECT_THAT(text, HasSubstr("std::vector<std::optional<std::string>> names = {};"));
  EXPECT_THAT(text, HasSubstr("\"names\", each(length(0, 9)))"));
  EXPECT_THAT(text, HasSubstr("std::vector<std::optional<std::int64_t>> levels = {};"));
  EXPECT_THAT(text, HasSubstr("std::vector<katana::container::Value> anything = {};"));
  EXPECT_THAT(text, HasSubstr("std::map<std::string, std::optional<std::vector<double>>> rows"));
  EXPECT_THAT(text, HasSubstr("std::vector<std::optional<Node>>"));
}

TEST(GeneratorTest, objects_of_200_properties_are_structs) {
  const auto large = [](int count) {
    std::string text = "\n    Large:\n      type: object\n      properties:\n";
    for (int index = 0; index < count; ++index) {
      text += fmt::format("        p{}: {{type: integer}}\n", index);
    }
    return types_of(text);
  };
  EXPECT_THAT(large(200), HasSubstr("katana::Patch<std::int64_t> p199 = {};"));
  EXPECT_THAT(large(201), Not(HasSubstr("p199")));
}

TEST(GeneratorTest, a_client_sends_a_parameter_in_a_part_of_a_segment) {
  const std::string text = std::string(head) + R"(paths:
  /files/{name}-v{major}.tar.gz:
    get:
      operationId: fetch_file
      tags: [files]
      parameters:
        - {name: name, in: path, required: true, schema: {type: string}}
        - {name: major, in: path, required: true, schema: {type: integer}}
      responses: {'204': {description: x}}
)";
  GeneratorOptions options;
  options.client = true;
  options.server = false;
  model::Problems problems;
  const Generated made =
      generate(read_description_text("api.yaml", text, problems), options, problems);
  EXPECT_FALSE(problems.has_errors()) << problems.as_error().describe();
  EXPECT_EQ(problems.warning_count(), 0u);
  std::map<std::string, std::string> files;
  for (const GeneratedFile& each : made.files) files[each.name] = each.text;
  EXPECT_THAT(files["files_client.cpp"], HasSubstr("\"GET\", \"/files/{name}-v{major}.tar.gz\""));
  EXPECT_THAT(files["files_client.cpp"], HasSubstr("call.path(\"major\", major_);"));
}

// As the router of a server has it.
Result<void> check_route(Bytes method, Bytes pattern) {
  auto shape = katana::detail::shape_of(method, pattern);
  if (!shape) return std::unexpected(shape.error());
  return {};
}

TEST(GeneratorTest, a_server_has_a_route_with_text_beside_a_parameter) {
  const std::string text = std::string(head) + R"(paths:
  /accounts/{Sid}.json:
    get:
      operationId: fetch_account
      tags: [accounts]
      parameters: [{name: Sid, in: path, required: true, schema: {type: string}}]
      responses: {'204': {description: x}}
  /v{major}/file-{id}.json:
    get:
      operationId: fetch_version
      tags: [accounts]
      parameters:
        - {name: major, in: path, required: true, schema: {type: integer}}
        - {name: id, in: path, required: true, schema: {type: string}}
      responses: {'204': {description: x}}
  /repos/{id}/compare/v{base}...{head}.diff:
    get:
      operationId: compare
      tags: [accounts]
      parameters: [{name: head, in: path, required: true, schema: {type: integer}}]
      responses: {'204': {description: x}}
  /pets/{id}:
    get: {operationId: fetch_pet, tags: [accounts], responses: {'204': {description: x}}}
  /pets/{id}.{format}:
    get: {operationId: fetch_pet_as, tags: [accounts], responses: {'204': {description: x}}}
  /words/{thread}-{local}:
    get: {operationId: fetch_word, tags: [accounts], responses: {'204': {description: x}}}
  /words/{first}.{second}:
    get: {operationId: fetch_words, tags: [accounts], responses: {'204': {description: x}}}
  /pairs/{one}{other}:
    get: {operationId: fetch_pair, tags: [accounts], responses: {'204': {description: x}}}
  /accounts#all:
    get: {operationId: fetch_all, tags: [accounts], responses: {'204': {description: x}}}
)";
  model::Problems problems;
  GeneratorOptions options;
  options.allow_partial = true;
  options.check_route = check_route;
  const Generated made =
      generate(read_description_text("api.yaml", text, problems), options, problems);
  std::string warnings;
  for (const model::Problem& each : problems.sorted()) warnings += each.describe() + "\n";
  EXPECT_THAT(warnings, Not(HasSubstr("'/repos")));
  EXPECT_THAT(warnings, HasSubstr("'/pairs/{one}{other}': "));
  EXPECT_THAT(warnings, HasSubstr("has more than one parameter"));
  EXPECT_THAT(warnings, HasSubstr("'/accounts#all' has a '#': the server leaves it out"));
  EXPECT_THAT(warnings, Not(HasSubstr("/v{major}")));
  std::string all;
  for (const GeneratedFile& each : made.files) all += each.text;
  EXPECT_THAT(all, HasSubstr("\"/accounts/{Sid}.json\""));
  EXPECT_THAT(all, HasSubstr("\"/v{major}/file-{id}.json\""));
  // Parameters with text between them are one for the router.
  EXPECT_THAT(all, HasSubstr("\"/repos/{id}/compare/v{base_head}.diff\""));
  EXPECT_THAT(all,
              HasSubstr("katana::PathParts<\"{}...{}\", std::string, std::int64_t> base_head"));
  EXPECT_THAT(all, HasSubstr("std::move(id.value), std::move(std::get<0>(base_head.values)), "
                             "std::move(std::get<1>(base_head.values))"));
  // Two routes of one shape exclude each other: the server leaves one out.
  EXPECT_THAT(warnings, HasSubstr("'/pets/{id}.{format}': "));
  EXPECT_THAT(warnings, HasSubstr("'/words/{first}.{second}': "));
  EXPECT_THAT(all, HasSubstr("fetch_pet("));
  EXPECT_THAT(all, HasSubstr("> thread_local_)"));
  EXPECT_THAT(all, Not(HasSubstr("fetch_pet_as(")));
  EXPECT_THAT(all, Not(HasSubstr("fetch_words(")));
  // A route that the router refuses would keep all others from being served.
  EXPECT_THAT(all, Not(HasSubstr("fetch_pair(")));
  EXPECT_THAT(all, Not(HasSubstr("fetch_all(")));
}

TEST(GeneratorTest, what_the_router_refuses_is_an_error_that_names_the_way_on) {
  std::string deep;
  for (int number = 0; number < 40; ++number) deep += fmt::format("/s{}", number);
  for (const std::string& path : {std::string("/a/{x}{y}"), std::string("/a?b"), deep}) {
    const std::string text = fmt::format(
        "{}paths:\n  '{}':\n    get: {{operationId: one, responses: {{'204': {{description: "
        "x}}}}}}\n",
        head, path);
    model::Problems problems;
    GeneratorOptions options;
    options.check_route = check_route;
    (void)generate(read_description_text("api.yaml", text, problems), options, problems);
    ASSERT_TRUE(problems.has_errors()) << path;
    EXPECT_THAT(problems.as_error().describe(), HasSubstr(path));
    EXPECT_THAT(problems.as_error().describe(),
                HasSubstr("Generate with --allow-partial, and the server leaves it out"));
  }
}

TEST(GeneratorTest, a_path_with_a_fragment_is_no_error_because_no_request_has_it) {
  const std::string text = std::string(head) + R"(paths:
  /files/{id}:
    get: {operationId: fetch, responses: {'204': {description: x}}}
  /files/{id}#classify:
    get: {operationId: classify, responses: {'204': {description: x}}}
)";
  model::Problems problems;
  GeneratorOptions options;
  options.client = true;
  options.check_route = check_route;
  const Generated made =
      generate(read_description_text("api.yaml", text, problems), options, problems);
  EXPECT_FALSE(problems.has_errors()) << problems.as_error().describe();
  std::string warnings, all;
  for (const model::Problem& each : problems.sorted()) warnings += each.describe() + "\n";
  EXPECT_THAT(warnings, HasSubstr("'/files/{id}#classify' has a '#': the server leaves it out"));
  for (const GeneratedFile& each : made.files) all += each.text;
  EXPECT_THAT(all, HasSubstr("group.get(\"/files/{id}\""));
  EXPECT_THAT(all, Not(HasSubstr("group.get(\"/files/{id}#")));
  // A client sends it, as every URL, without what stands behind the '#'.
  EXPECT_THAT(all, HasSubstr("classify(const std::string& id) const"));
}

TEST(GeneratorTest, what_contains_itself_does_so_in_a_box) {
  const std::string text = types_of(R"(
    Expression:
      oneOf: [{$ref: '#/components/schemas/Sum'}, {$ref: '#/components/schemas/Not'}]
      discriminator: {propertyName: does}
    Sum:
      type: object
      required: [left, right]
      properties:
        left: {$ref: '#/components/schemas/Operand'}
        right: {$ref: '#/components/schemas/Operand'}
    Not: {type: object, required: [of], properties: {of: {$ref: '#/components/schemas/Expression'}}}
    Operand: {oneOf: [{type: number}, {$ref: '#/components/schemas/Expression'}]}
    Loop: {oneOf: [{type: string}, {$ref: '#/components/schemas/Loop'}]}
    Json:
      oneOf:
        - {type: string}
        - {type: array, items: {$ref: '#/components/schemas/Json'}}
)");
  EXPECT_THAT(text, HasSubstr("using Expression = std::variant<ExpressionSum, ExpressionNot>;"));
  EXPECT_THAT(text, HasSubstr("using Operand = katana::AnyOf<double, Expression>;"));
  EXPECT_THAT(text, HasSubstr("katana::Box<Operand> left;"));
  EXPECT_THAT(text, HasSubstr("katana::Box<Expression> of;"));
  EXPECT_THAT(text, HasSubstr("using Loop = katana::container::Value;"));
  EXPECT_THAT(text, HasSubstr("using Json = katana::AnyOf<std::vector<katana::container::Value>, "
                              "std::string>;"));
}

TEST(GeneratorTest, what_a_list_is_of_comes_first_or_there_is_no_initialiser) {
  const std::string text = types_of(R"(
    Herd:
      type: object
      properties: {animals: {type: array, items: {$ref: '#/components/schemas/Zebra'}}}
    Ring:
      type: object
      properties: {stones: {type: array, items: {$ref: '#/components/schemas/Stone'}}}
    Stone:
      type: object
      properties: {rings: {type: array, items: {$ref: '#/components/schemas/Ring'}}}
    Zebra: {type: object, properties: {name: {type: string}}}
)");
  EXPECT_LT(text.find("struct Zebra {"), text.find("struct Herd {"));
  EXPECT_THAT(text, HasSubstr("katana::Patch<std::vector<Zebra>> animals = {};"));
  EXPECT_THAT(text, HasSubstr("katana::Patch<std::vector<Stone>> stones;"));
  EXPECT_THAT(text, HasSubstr("katana::Patch<std::vector<Ring>> rings = {};"));
}

TEST(GeneratorTest, what_is_not_decoded_is_an_error_with_its_place_unless_it_is_allowed) {
  const std::string text = std::string(head) + R"(paths:
  /a:
    post:
      parameters: [{name: f, in: query, explode: false, schema: {type: object}}]
      requestBody: {required: true, content: {multipart/mixed: {}}}
      responses: {'200': {description: x}}
)";
  model::Problems problems;
  generate(read_description_text("api.yaml", text, problems), {}, problems);
  EXPECT_EQ(problems.error_count(), 2u);
  EXPECT_THAT(problems.as_error().describe(),
              HasSubstr("api.yaml:6:20: #/paths/~1a/post/parameters/0: the query parameter 'f' of "
                        "style 'form' is not decoded. Generate with --allow-partial"));
  model::Problems allowed;
  GeneratorOptions options;
  options.allow_partial = true;
  const Generated made =
      generate(read_description_text("api.yaml", text, allowed), options, allowed);
  EXPECT_FALSE(allowed.has_errors());
  EXPECT_EQ(allowed.warning_count(), 2u);
  EXPECT_EQ(made.operations, 1u);
}

// The files of one operation with that part of its description, with a client.
std::map<std::string, std::string> files_of(const std::string& operation,
                                            std::vector<std::string> left = {}) {
  model::Problems problems;
  GeneratorOptions options;
  options.client = options.allow_partial = true;
  const std::string text =
      std::string(head) + "paths:\n  /a/{id}:\n    patch:\n      operationId: change\n" +
      "      tags: [main]\n      responses: {'204': {description: x}}\n" + operation;
  const Generated made =
      generate(read_description_text("api.yaml", text, problems), options, problems);
  EXPECT_FALSE(problems.has_errors()) << problems.as_error().describe();
  for (const model::Problem& each : problems.sorted()) {
    const std::string words = each.describe();
    if (words.find("left to the handler") == std::string::npos) continue;
    EXPECT_FALSE(left.empty()) << words;
    if (left.empty()) continue;
    EXPECT_THAT(words, HasSubstr(left.front()));
    left.erase(left.begin());
  }
  EXPECT_TRUE(left.empty()) << left.front();
  std::map<std::string, std::string> files;
  for (const GeneratedFile& each : made.files) files[each.name] = each.text;
  return files;
}

TEST(GeneratorTest, json_of_several_media_types_and_one_schema_is_a_json_of) {
  auto files = files_of(R"(
      requestBody:
        required: true
        content:
          application/merge-patch+json: {schema: {type: array, items: {type: integer}}}
          application/json-patch+json: {schema: {type: array, items: {type: integer}}}
)");
  const std::string type =
      "katana::JsonOf<std::vector<std::int64_t>, \"application/merge-patch+json\", "
      "\"application/json-patch+json\">";
  EXPECT_THAT(files["main_api.hpp"], HasSubstr("#include \"katana/base/values/content_of.hpp\""));
  EXPECT_THAT(files["main_api.hpp"], HasSubstr("using ChangeBody = " + type + ";"));
  EXPECT_THAT(files["main_api.hpp"], HasSubstr("ChangeBody content) = 0;"));
  EXPECT_THAT(files["main_api.cpp"], HasSubstr("#include \"katana/http/handlers/content_of.hpp\""));
  EXPECT_THAT(files["main_api.cpp"], HasSubstr("ChangeBody content)"));
  EXPECT_THAT(files["main_api.cpp"], HasSubstr(", std::move(content));"));
  EXPECT_THAT(files["main_client.hpp"], HasSubstr("using ChangeBody = " + type + ";"));
  EXPECT_THAT(files["main_client.hpp"], HasSubstr("const ChangeBody& content) const;"));
  EXPECT_THAT(files["main_client.cpp"], HasSubstr("  call.media(content);"));
}

TEST(GeneratorTest, what_has_no_tag_can_be_grouped_by_its_path) {
  std::string text = std::string(head) + "paths:\n";
  for (const char* const path : {"/v1/cards/{id}", "/v1/cards", "/orders", "/{id}"}) {
    text += std::string("  ") + path + ":\n    get: {responses: {'204': {description: x}}}\n";
  }
  model::Problems problems;
  GeneratorOptions options;
  options.group_by_path = true;
  const Generated made =
      generate(read_description_text("api.yaml", text, problems), options, problems);
  std::vector<std::string> names;
  for (const GeneratedFile& each : made.files) {
    if (each.name.ends_with("_api.hpp")) names.push_back(each.name);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"cards_api.hpp", "default__api.hpp", "orders_api.hpp"}));
}

TEST(GeneratorTest, one_object_of_any_names_has_the_names_of_the_query_that_are_left) {
  const auto parameters = [](const std::string& more) {
    return "      parameters:\n        - {name: id, in: path, required: true, schema: {type: "
           "string}}\n" +
           more;
  };
  const std::string any =
      "        - {name: any, in: query, schema: {type: object, additionalProperties: {type: "
      "string}}}\n";
  auto files = files_of(parameters(any));
  EXPECT_THAT(files["main_types.hpp"], HasSubstr("katana::Separator{\"any\", katana::own_names}"));
  EXPECT_THAT(files["main_api.cpp"], HasSubstr("katana::NestedQuery<ChangeQuery>"));
  const std::string second =
      "        - {name: other, in: query, schema: {type: object, additionalProperties: {type: "
      "string}}}\n";
  files_of(parameters(any + second),
           {"the query parameter 'other' of style 'form' is not decoded"});
  const std::string lists =
      "        - {name: any, in: query, schema: {type: object, additionalProperties: {type: array, "
      "items: {type: string}}}}\n";
  files_of(parameters(lists), {"the query parameter 'any' of style 'form' is not decoded"});
}

TEST(GeneratorTest, a_form_is_sent_by_its_encoding) {
  const auto form = [](const std::string& schema) {
    return "      requestBody:\n        content:\n          application/x-www-form-urlencoded:\n" +
           schema;
  };
  auto files = files_of(form(R"(
            schema:
              type: object
              properties:
                lines: {type: array, items: {type: object, properties: {n: {type: integer}}}}
                ids: {type: array, items: {type: integer}}
                note: {type: object, properties: {a: {type: string}}}
            encoding: {lines: {style: deepObject}, ids: {style: spaceDelimited, explode: false}}
)"));
  const std::string types = files["main_types.hpp"];
  EXPECT_THAT(types, HasSubstr("std::vector<ChangeLinesItem> lines"));
  EXPECT_THAT(types, HasSubstr("std::optional<katana::container::AsJson<ChangeNote>> note"));
  EXPECT_THAT(types, HasSubstr("katana::Separator{\"lines\", katana::nested_names}, "
                               "katana::Separator{\"ids\", ' '}"));
  EXPECT_THAT(files["main_api.cpp"], HasSubstr("katana::IfSent<katana::NestedForm<ChangeForm>>"));
  // There is nothing to read.
  files = files_of(form("            schema: {type: object, additionalProperties: false}\n"));
  EXPECT_THAT(files["main_api.hpp"], ::testing::Not(HasSubstr(" form)")));
  files_of(form("            schema: {type: object}\n"), {"a form that is no object of 1 to 200"});
  files_of(form(R"(
            schema: {type: object, properties: {a: {type: object, properties: {b: {type: string}}}}}
            encoding: {a: {style: form}}
)"),
           {"the property 'a' of the form is of a style that is not decoded"});
}

TEST(GeneratorTest, a_body_of_different_contents_is_one_of_them) {
  auto files = files_of(R"(
      requestBody:
        content:
          Application/JSON;charset=utf-8: {schema: {type: integer}}
          text/*: {}
          application/vnd.a+json: {schema: {type: boolean}}
          '*/*': {schema: {type: boolean}}
          application/json; version=2: {schema: {type: boolean}}
)",
                        {"'application/json; version=2' is not decoded: it is described twice"});
  EXPECT_THAT(files["main_api.hpp"],
              HasSubstr("using ChangeBody = katana::ContentOf<\n"
                        "    katana::JsonOf<std::int64_t, \"application/json\">,\n"
                        "    katana::RawOf<\"text/*\">,\n"
                        "    katana::JsonOf<bool, \"application/vnd.a+json\", \"*/*\">>;"));
  EXPECT_THAT(files["main_api.hpp"], HasSubstr("std::optional<ChangeBody> content) = 0;"));
  EXPECT_THAT(files["main_api.cpp"], HasSubstr("katana::IfSent<ChangeBody> content)"));
  EXPECT_THAT(files["main_client.cpp"], HasSubstr("  if (content) call.media(*content);"));
  const auto octets = files_of(R"(
      requestBody:
        required: true
        content: {application/json: {schema: {type: integer}}, '*/*': {}, image/png: {}}
)");
  EXPECT_THAT(octets.at("main_api.hpp"),
              HasSubstr("katana::JsonOf<std::int64_t, \"application/json\">,\n"
                        "    katana::RawOf<\"*/*\", \"image/png\">>;"));
}

TEST(GeneratorTest, a_form_beside_other_content_is_one_alternative) {
  auto files = files_of(R"(
      requestBody:
        required: true
        content:
          application/json: {schema: {type: object, properties: {a: {type: string}}}}
          multipart/form-data: {schema: {type: object, properties: {b: {type: string}}}}
          application/x-www-form-urlencoded:
            schema: {type: object, properties: {b: {type: string}}}
          text/csv: {}
)");
  EXPECT_THAT(files["main_api.hpp"],
              HasSubstr("using ChangeBody = katana::ContentOf<\n"
                        "    katana::JsonOf<ChangeContent, \"application/json\">,\n"
                        "    katana::FormOf<ChangeForm, \"multipart/form-data\", "
                        "\"application/x-www-form-urlencoded\">,\n"
                        "    katana::RawOf<\"text/csv\">>;"));
  EXPECT_THAT(files["main_api.cpp"], HasSubstr("#include \"katana/http/forms/form_of.hpp\""));
  EXPECT_THAT(files["main_client.cpp"], HasSubstr("  call.media(content);"));
}

TEST(GeneratorTest, parameters_that_are_json_are_read_as_such) {
  auto files = files_of(R"(
      parameters:
        - name: id
          in: path
          required: true
          content: {application/json: {schema: {type: array, items: {type: integer}}}}
        - name: filter
          in: query
          content:
            application/json:
              schema: {type: object, required: [a], properties: {a: {type: integer, minimum: 1}}}
        - name: X-List
          in: header
          required: true
          content:
            application/json:
              schema: {type: [array, 'null'], maxItems: 3, items: {type: string}}
        - name: seen
          in: cookie
          content: {application/json: {schema: {type: boolean, default: true}}}
        - {name: other, in: query, content: {text/plain: {schema: {type: string}}}}
)",
                        {"the query parameter 'other'"});
  const std::string& types = files["main_types.hpp"];
  EXPECT_THAT(types, HasSubstr("#include \"katana/data/container/as_json.hpp\""));
  EXPECT_THAT(types, HasSubstr("struct ChangeQueryFilter {\n  std::int64_t a = 0;"));
  EXPECT_THAT(
      types, HasSubstr("std::optional<katana::container::AsJson<ChangeQueryFilter>> filter = {};"));
  EXPECT_THAT(types, HasSubstr("katana::container::AsJson<std::optional<std::vector<std::string>>> "
                               "x_list = {};"));
  EXPECT_THAT(types, HasSubstr("\"x_list\", required, named(\"X-List\"))"));
  EXPECT_THAT(types, HasSubstr("std::optional<katana::container::AsJson<bool>> seen = {};"));
  EXPECT_THAT(files["main_api.cpp"],
              HasSubstr("katana::Path<katana::container::AsJson<std::vector<std::int64_t>>> id"));
}

TEST(GeneratorTest, a_client_has_the_operations_of_the_server_and_reads_replies_by_status) {
  const std::string text = std::string(head) + R"(servers:
  - {url: 'https://{host}/v1', variables: {host: {default: a.test}}}
paths:
  /a/{id}:
    get:
      operationId: getA
      tags: [main]
      parameters:
        - {name: id, in: path, required: true, style: label, schema: {type: integer}}
        - name: ids
          in: query
          style: spaceDelimited
          explode: false
          schema: {type: array, items: {type: string}}
      responses:
        '200':
          description: x
          content: {application/json: {schema: {type: boolean}}, text/csv: {}}
        5XX: {description: y}
)";
  model::Problems problems;
  GeneratorOptions options;
  options.client = options.tests = true;
  options.samples["GET /a/{id}"].target = "/a/.7";
  const Generated made =
      generate(read_description_text("api.yaml", text, problems), options, problems);
  EXPECT_FALSE(problems.has_errors()) << problems.as_error().describe();
  std::map<std::string, std::string> files;
  for (const GeneratedFile& each : made.files) files[each.name] = each.text;
  ASSERT_EQ(files.size(), 9u);
  EXPECT_THAT(files["main_client.hpp"],
              HasSubstr("get_a(std::int64_t id, const GetAQuery& query) const;"));
  EXPECT_THAT(files["main_client.hpp"], HasSubstr("const bool* status_200() const noexcept"));
  EXPECT_THAT(files["main_client.hpp"],
              HasSubstr("std::optional<katana::Bytes> status_200_text_csv() const"));
  EXPECT_THAT(files["main_client.cpp"], HasSubstr("\"GET\", \"/a/{id}\", \"https://a.test/v1\""));
  EXPECT_THAT(files["main_client.cpp"], HasSubstr("PathStyle::label, false"));
  EXPECT_THAT(files["main_client.cpp"], HasSubstr("} else if (status / 100 == 5) {"));
  EXPECT_THAT(files["main_client.cpp"], HasSubstr("content.undescribed();"));
  EXPECT_THAT(files["main_api.cpp"],
              HasSubstr("katana::StyledPath<std::int64_t, katana::SegmentStyle::label, false> id"));
  ASSERT_EQ(made.tests.size(), 1u);
  EXPECT_THAT(made.tests[0].text, HasSubstr("server_.send(\"GET\", \"/a/.7\""));
  EXPECT_THAT(made.tests[0].text,
              HasSubstr("EXPECT_TRUE(status == 200 || status / 100 == 5) << reply;"));
  EXPECT_THAT(made.tests[0].text, HasSubstr("co_return GetAReply::status_200({});"));
  EXPECT_THAT(files["main_types.hpp"], HasSubstr("katana::Separator{\"ids\", ' '}"));
}

TEST(GeneratorTest, a_tag_includes_its_own_types_and_those_that_it_shares) {
  const std::string text = std::string(head) + R"(paths:
  /a:
    get:
      tags: [one]
      responses:
        '200':
          description: x
          content: {application/json: {schema: {$ref: '#/components/schemas/One'}}}
  /b:
    get:
      tags: [two]
      responses:
        '200':
          description: x
          content: {application/json: {schema: {$ref: '#/components/schemas/Both'}}}
components:
  schemas:
    One: {type: object, properties: {both: {$ref: '#/components/schemas/Both'}}}
    Both: {type: object, properties: {n: {type: integer}}}
    None: {type: object, properties: {n: {type: integer}}}
    OneApi: {type: object, properties: {n: {type: integer}}}
)";
  model::Problems problems;
  const Generated made = generate(read_description_text("api.yaml", text, problems), {}, problems);
  std::map<std::string, std::string> files;
  for (const GeneratedFile& each : made.files) files[each.name] = each.text;
  EXPECT_THAT(files["one_types.hpp"], HasSubstr("struct One {"));
  EXPECT_THAT(files["one_types.hpp"], Not(HasSubstr("struct Both {")));
  EXPECT_THAT(files["shared.hpp"], HasSubstr("struct Both {"));
  EXPECT_THAT(files["types.hpp"], HasSubstr("struct None {"));
  EXPECT_THAT(files["types.hpp"], HasSubstr("struct OneApi_2 {"));  // the other is the interface
  EXPECT_THAT(files["two_api.hpp"], HasSubstr("#include \"two_types.hpp\""));
}

class WriteFilesTest : public ::testing::Test {
 protected:
  WriteFilesTest() { std::filesystem::remove_all(folder_); }
  ~WriteFilesTest() override { std::filesystem::remove_all(folder_); }
  std::string content(const std::string& name) const {
    std::ifstream stream(folder_ + "/" + name);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  void change(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }
  std::string folder_ = ::testing::TempDir() + "katana_openapi_write_files";
};

TEST_F(WriteFilesTest, files_are_replaced_and_removed_and_equal_ones_are_left) {
  ASSERT_EQ(write_files(folder_, {{"a.hpp", "1"}, {"b.hpp", "1"}}), 2u);
  ASSERT_EQ(write_files(folder_, {{"a.hpp", "1"}, {"c.hpp", "1"}}), 1u);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/b.hpp"));
  ASSERT_EQ(write_files(folder_, {{"a.hpp", "2"}, {"c.hpp", "1"}}), 1u);
  EXPECT_EQ(content("a.hpp"), "2");
}

TEST_F(WriteFilesTest, a_file_of_the_user_is_never_touched) {
  ASSERT_EQ(write_files(folder_, {{"a.hpp", "1"}, {"b.hpp", "1"}}), 2u);
  change("a.hpp", "mine");
  change("own.hpp", "mine");
  const auto changed = write_files(folder_, {{"a.hpp", "2"}, {"b.hpp", "2"}});
  ASSERT_FALSE(changed);
  EXPECT_THAT(changed.error().describe(), HasSubstr("was changed since it was generated"));
  EXPECT_EQ(content("b.hpp"), "1");
  const auto own = write_files(folder_, {{"own.hpp", "2"}});
  ASSERT_FALSE(own);
  EXPECT_THAT(own.error().describe(), HasSubstr("was not generated"));
  EXPECT_EQ(content("a.hpp"), "mine");
  EXPECT_EQ(content("own.hpp"), "mine");
}

TEST_F(WriteFilesTest, tests_are_begun_once) {
  ASSERT_EQ(write_new_files(folder_, {{"a_test.cpp", "1"}, {"b_test.cpp", "1"}}), 2u);
  change("a_test.cpp", "mine");
  ASSERT_EQ(write_new_files(folder_, {{"a_test.cpp", "2"}, {"c_test.cpp", "2"}}), 1u);
  EXPECT_EQ(content("a_test.cpp"), "mine");
}

}  // namespace
}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
