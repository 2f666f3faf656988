#include "katana/openapi/model/description.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/schema/schema.hpp"

namespace katana::openapi::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Files = std::map<std::string, std::string>;

struct Read {
  Description api;
  Problems problems;
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const Problem& each : problems.sorted()) lines.push_back(each.describe());
    return lines;
  }
};

Read read(Files files, const std::string& root = "api.yaml", Limits limits = {}) {
  Read result;
  Options options;
  options.limits = limits;
  options.load = [&files](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return fail(Code::not_found, "no file '" + path + "'");
    return found->second;
  };
  result.api = read_description(root, result.problems, std::move(options));
  return result;
}
Read read(const std::string& text) { return read(Files{{"api.yaml", text}}); }

// The schema Thing of a document with that version.
std::string schema_of(const std::string& version, const std::string& schema) {
  Read result =
      read((version == "2.0" ? "swagger: '2.0'" : "openapi: " + version) +
           "\ninfo: {title: T, version: '1'}\npaths: {}\n" +
           (version == "2.0" ? "definitions: {Thing: " : "components: {schemas: {Thing: ") +
           schema + (version == "2.0" ? "}\n" : "}}\n"));
  EXPECT_THAT(result.lines(), IsEmpty()) << schema;
  return container::to_json(*result.api.schemas.at("/components/schemas/Thing"));
}

constexpr const char* head = "openapi: 3.1.0\ninfo: {title: T, version: '1'}\n";

TEST(DescriptionTest, an_operation_has_what_its_path_and_document_say) {
  const Read result = read(std::string(head) + R"(
servers: [{url: 'https://{host}/v1', variables: {host: {default: a.example}}}]
security: [{key: []}, {}]
paths:
  /users/{id}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: integer}}
      - $ref: '#/components/parameters/Page'
    get:
      operationId: getUser
      tags: [users]
      parameters:
        - {name: page, in: query, style: pipeDelimited,
           schema: {type: array, items: {type: string}}}
      responses:
        default: {$ref: '#/components/responses/Bad'}
        4xx: {$ref: '#/components/responses/Bad'}
        '200':
          description: It
          content: {application/json: {schema: {$ref: '#/components/schemas/User'}}}
components:
  securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}
  parameters:
    Page: {name: page, in: query, schema: {type: integer}}
  responses:
    Bad: {description: bad, headers: {X-Rate: {schema: {type: integer}}}}
  schemas:
    User: {type: object}
)");
  ASSERT_THAT(result.lines(), IsEmpty());
  const Operation& get = *result.api.find_operation("getUser");
  EXPECT_EQ(get.method, "GET");
  EXPECT_EQ(get.path, "/users/{id}");
  ASSERT_EQ(get.parameters.size(), 2u);
  EXPECT_EQ(get.parameters[0].style, Style::simple);
  EXPECT_EQ(get.parameters[1].style, Style::pipe_delimited);
  EXPECT_FALSE(get.parameters[1].explode);
  EXPECT_EQ(get.servers.at(0).default_url(), "https://a.example/v1");
  EXPECT_EQ(get.security.size(), 2u);
  ASSERT_EQ(get.replies.size(), 3u);
  EXPECT_EQ(get.replies[0].content.at(0).schema->pointer, "/components/schemas/User");
  EXPECT_EQ(get.reply_of(200), &get.replies[0]);
  EXPECT_EQ(get.reply_of(404), &get.replies[1]);
  EXPECT_EQ(get.reply_of(500)->status, "default");
  EXPECT_EQ(get.replies[1].component, "Bad");
  EXPECT_EQ(get.replies[1].headers.at(0).name, "X-Rate");
  EXPECT_EQ(get.location.describe(), "api.yaml:12:7: #/paths/~1users~1{id}/get");
}

TEST(DescriptionTest, schemas_before_3_1_become_2020_12) {
  EXPECT_EQ(schema_of("3.0.3", "{type: string, nullable: true}"), R"({"type":["string","null"]})");
  EXPECT_EQ(schema_of("3.0.3", "{type: string, nullable: true, enum: [a]}"),
            R"({"type":["string","null"],"enum":["a",null]})");
  EXPECT_EQ(schema_of("3.0.3", "{nullable: true, allOf: [{type: object}]}"),
            R"({"anyOf":[{"allOf":[{"type":"object"}]},{"type":"null"}]})");
  EXPECT_EQ(schema_of("3.0.3", "{type: integer, minimum: 0, exclusiveMinimum: true}"),
            R"({"type":"integer","exclusiveMinimum":0})");
  EXPECT_EQ(schema_of("3.0.3", "{type: integer, maximum: 9, exclusiveMaximum: false}"),
            R"({"type":"integer","maximum":9})");
  EXPECT_EQ(schema_of("3.0.3", "{example: 5}"), R"({"examples":[5]})");
  EXPECT_EQ(schema_of("2.0", "{type: file}"), R"({"type":"string","format":"binary"})");
  EXPECT_EQ(schema_of("2.0", "{type: object, discriminator: kind}"),
            R"({"type":"object","discriminator":{"propertyName":"kind"}})");
  EXPECT_EQ(schema_of("3.1.0", "{type: [string, 'null'], const: null, enum: [1.5, 0x1F]}"),
            R"({"type":["string","null"],"const":null,"enum":[1.5,31]})");
}

TEST(DescriptionTest, references_reach_other_files_and_anchors_and_each_has_one_name) {
  const Read result = read(
      {{"dir/api.yaml", std::string(head) + R"(
paths:
  /a:
    get:
      responses:
        '200': {$ref: 'parts/replies.yaml#/Fine'}
components:
  schemas:
    User: {$ref: 'parts/user%20type.json'}
    Node: {type: object, properties: {next: {$ref: '#/components/schemas/Node'}}}
    Anchored: {$anchor: here, type: integer}
    Uses: {items: {$ref: '#here'}, not: {$ref: 'https://a.example/ids/that'}}
    Id: {$id: 'https://a.example/ids/this', $defs: {That: {$id: that, type: 'null'}}}
)"},
       {"dir/parts/replies.yaml",
        "Fine: {description: x, content: {text/json: {schema: {$ref: 'user%20type.json#/properties/"
        "friend'}}}}"},
       {"dir/parts/user type.json",
        R"({"type": "object", "properties": {"friend": {"$ref": "#"}, "id": {"$ref": )"
        R"("../api.yaml#/components/schemas/Node"}}})"}},
      "dir/api.yaml");
  ASSERT_THAT(result.lines(), IsEmpty());
  const container::Value& schemas = result.api.schemas;
  EXPECT_EQ(container::to_json(*schemas.at("/components/schemas/User")),
            R"({"type":"object","properties":{"friend":{"$ref":"#/components/schemas/User"},)"
            R"("id":{"$ref":"#/components/schemas/Node"}}})");
  EXPECT_EQ(container::to_json(*schemas.at("/components/schemas/Uses")),
            R"({"items":{"$ref":"#/components/schemas/Anchored"},)"
            R"("not":{"$ref":"#/components/schemas/Id_That"}})");
  const Operation& get = result.api.paths.at(0).operations.at(0);
  EXPECT_EQ(get.replies.at(0).content.at(0).schema->pointer, "/components/schemas/User");
  EXPECT_EQ(result.api.locate("/components/schemas/User/properties/id").describe(),
            "dir/parts/user type.json:1:66: #/properties/id");
}

TEST(DescriptionTest, every_schema_of_it_compiles) {
  const Read result = read(std::string(head) + R"(
paths:
  /a:
    post:
      requestBody:
        content:
          application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Page<T>'}}}
      responses: {}
components: {schemas: {'Page<T>': {type: integer}}}
)");
  ASSERT_THAT(result.lines(), IsEmpty());
  const auto& at = *result.api.paths.at(0).operations.at(0).body->content.at(0).schema;
  const auto schema = schema::Schema::compile_at(result.api.schemas, at.pointer);
  ASSERT_TRUE(schema) << schema.error().describe();
  container::Findings findings;
  EXPECT_TRUE(schema->check_json("[1]", findings));
  EXPECT_FALSE(schema->check_json("[true]", findings));
}

TEST(DescriptionTest, swagger_2_0_is_the_same_model) {
  const Read result = read(R"(
swagger: '2.0'
info: {title: T, version: '1'}
host: a.example
basePath: /v1/
schemes: [https, http]
consumes: [application/json]
produces: [application/json, application/xml]
securityDefinitions:
  b: {type: basic}
  o: {type: oauth2, flow: accessCode, authorizationUrl: x, tokenUrl: t, scopes: {r: Read}}
parameters:
  Body: {name: body, in: body, required: true, schema: {$ref: '#/definitions/User'}}
paths:
  /users:
    post:
      parameters:
        - $ref: '#/parameters/Body'
        - {name: ids, in: query, type: array, items: {type: integer}, collectionFormat: multi}
      responses:
        '201':
          {description: x, schema: {$ref: '#/definitions/User'}, examples: {application/xml: y}}
  /files:
    post:
      parameters:
        - {name: file, in: formData, type: file, required: true}
        - {name: tags, in: formData, type: array, items: {type: string}, collectionFormat: pipes}
      responses: {'204': {description: x}}
definitions: {User: {type: object}}
)");
  ASSERT_THAT(result.lines(), IsEmpty());
  EXPECT_EQ(result.api.servers.at(1).url, "http://a.example/v1");
  EXPECT_EQ(result.api.security_schemes.at(1).flows.at(0).kind, "authorizationCode");
  const Operation& users = result.api.paths.at(0).operations.at(0);
  EXPECT_TRUE(users.body->required);
  EXPECT_EQ(users.body->content.at(0).schema->pointer, "/components/schemas/User");
  EXPECT_TRUE(users.parameters.at(0).explode);
  EXPECT_EQ(users.replies.at(0).content.at(1).type, "application/xml");
  EXPECT_EQ(users.replies.at(0).content.at(1).examples.at(0).value(), container::Value("y"));
  const MediaType& form = result.api.paths.at(1).operations.at(0).body->content.at(0);
  EXPECT_EQ(form.type, "multipart/form-data");
  EXPECT_EQ(form.encodings.at(0).style, Style::pipe_delimited);
  EXPECT_EQ(container::to_json(*result.api.schema(*form.schema)),
            R"({"type":"object","properties":{"file":{"type":"string","format":"binary"},)"
            R"("tags":{"type":"array","items":{"type":"string"}}},"required":["file"]})");
}

TEST(DescriptionTest, all_problems_are_reported_each_with_its_place_and_what_to_do) {
  const Read result = read(R"(openapi: 3.0.3
info: {title: T}
paths:
  /a/{id}:
    get:
      parameters:
        - {name: q, in: body, schema: {}}
        - {name: p, in: query, style: matrix, schema: {type: text}}
        - {name: r, in: query}
        - {$ref: '#/components/parameters/No'}
      responses:
        '20': {description: x}
        '200': {$ref: '#/components/responses/Loop'}
      security: [{none: []}]
components:
  responses: {Loop: {$ref: '#/components/responses/Loop'}}
  schemas:
    A: {minLength: '3', type: 7, additionalProperties: 1}
)");
  EXPECT_THAT(
      result.lines(),
      ElementsAre(
          "api.yaml:2:7: #/info: 'version' is missing in the info. Add it",
          "api.yaml:7:11: #/paths/~1a~1{id}/get/parameters/0: a parameter cannot be in 'body'. Use "
          "path, query, header or cookie",
          "api.yaml:8:39: #/paths/~1a~1{id}/get/parameters/1/style: a query parameter cannot have "
          "the style 'matrix'",
          "api.yaml:8:62: #/paths/~1a~1{id}/get/parameters/1/schema/type: unknown type 'text'. Use "
          "one of null, boolean, object, array, number, integer, string",
          "api.yaml:9:11: #/paths/~1a~1{id}/get/parameters/2: expected either 'schema' or "
          "'content' "
          "in the parameter 'r'",
          "api.yaml:10:18: #/paths/~1a~1{id}/get/parameters/3/$ref: '#/components/parameters/No' "
          "refers to nothing in 'api.yaml'. Correct the reference, or add what it names",
          "api.yaml:12:9: #/paths/~1a~1{id}/get/responses: '20' is no status. Use 100 to 599, 4XX "
          "or default",
          "api.yaml:13:16: #/paths/~1a~1{id}/get/responses/200: the reference leads back to itself",
          "api.yaml:14:19: #/paths/~1a~1{id}/get/security/0/none: no security scheme 'none' is "
          "there. Describe it in the components",
          "api.yaml:16:21: #/components/responses/Loop: the reference leads back to itself",
          "api.yaml:18:20: #/components/schemas/A/minLength: expected a number that is not "
          "negative "
          "as 'minLength', got text",
          "api.yaml:18:31: #/components/schemas/A/type: unknown type '7'. Use one of null, "
          "boolean, "
          "object, array, number, integer, string",
          "api.yaml:18:56: #/components/schemas/A/additionalProperties: expected a schema, which "
          "is "
          "an object, got a number",
          "api.yaml:6:7: #/paths/~1a~1{id}/get: warning: the path parameter 'id' is not described: "
          "it is taken as text"));
}

TEST(DescriptionTest, a_flaw_of_a_part_is_a_warning_where_parts_are_allowed) {
  const Bytes text = R"(openapi: 3.0.0
info: {title: T, version: '1'}
paths:
  /items:
    get:
      responses:
        '200':
          description: all
          content:
            application/json: {schema: {type: array, items: {type: string}}}
            examples: {one: {value: [a, b]}}
)";
  Problems strict;
  read_description_text("api.yaml", text, strict);
  EXPECT_TRUE(strict.has_errors());
  Problems partial;
  partial.allow_partial();
  const Description api = read_description_text("api.yaml", text, partial);
  EXPECT_FALSE(partial.has_errors());
  ASSERT_EQ(partial.warning_count(), 1u);
  EXPECT_EQ(partial.sorted()[0].describe(),
            "api.yaml:11:13: #/paths/~1items/get/responses/200/content/examples: warning: left "
            "out: "
            "'examples' is no media type, such as application/json. Move it below one, or name it "
            "'x-examples'");
  EXPECT_EQ(api.paths.at(0).operations.at(0).replies.at(0).content.size(), 1u);
  Problems whole;
  whole.allow_partial();
  read_description_text("api.yaml", "openapi: 2.5\n", whole);
  EXPECT_TRUE(whole.has_errors()) << "the document as a whole";
}

TEST(DescriptionTest, a_tuple_of_an_older_draft_is_one_of_2020_12) {
  Problems problems;
  const Description api = read_description_text("api.yaml", R"(swagger: '2.0'
info: {title: T, version: '1'}
paths: {}
definitions:
  Pair: {type: array, items: [{type: string}, {type: integer}], additionalItems: false}
)",
                                                problems);
  EXPECT_FALSE(problems.has_errors()) << problems.as_error().describe();
  EXPECT_EQ(problems.warning_count(), 1u);
  const container::Value& pair = *api.schemas.at("/components/schemas/Pair");
  EXPECT_EQ(pair.as_object().find("prefixItems")->as_list().size(), 2u);
  EXPECT_EQ(*pair.as_object().find("items"), container::Value(false));
}

TEST(DescriptionTest, what_has_no_effect_is_a_warning) {
  const Read result = read(R"(openapi: 3.0.3
info: {title: T, version: 1.0}
paths:
  /a:
    get:
      operationId: a
      sumary: x
      responses: {'200': {description: x}}
  /b:
    get: {operationId: a, responses: {'200': {}}, parameters: [
      {name: id, in: path, required: true, schema: {type: string}}]}
components:
  schemas:
    A: {$ref: '#/components/schemas/B', nullable: true}
    B: {const: 1, maxLen: 3, required: true}
)");
  EXPECT_FALSE(result.problems.has_errors());
  EXPECT_EQ(result.api.info.version, "1.0");
  EXPECT_THAT(
      result.lines(),
      ElementsAre(HasSubstr("2:27: #/info/version: warning: 'version' is a number, taken as text"),
                  HasSubstr("7:7: #/paths/~1a/get/sumary: warning: 'sumary' is not known in an"),
                  HasSubstr("10:10: #/paths/~1b/get: warning: operationId 'a' is also that of GET"),
                  HasSubstr("warning: 'description' is missing in a reply. Add it"),
                  HasSubstr("warning: the path '/b' has no {id}: the parameter is ignored"),
                  HasSubstr("14:41: #/components/schemas/A/nullable: warning: 'nullable' beside"),
                  HasSubstr("15:9: #/components/schemas/B/const: warning: 'const' is a keyword of"),
                  HasSubstr("15:19: #/components/schemas/B/maxLen: warning: 'maxLen' is not a key"),
                  HasSubstr("'required' lists names in the schema of the object")));
}

TEST(DescriptionTest, a_remote_reference_is_refused_unless_it_may_be_fetched) {
  const std::string text = std::string(head) +
                           "paths: {}\ncomponents: {schemas: {A: {$ref: "
                           "'https://a.example/s.json#/A', title: t}}}\n";
  EXPECT_THAT(read(text).lines(),
              ElementsAre(HasSubstr("api.yaml:4:34: #/components/schemas/A/$ref: "
                                    "'https://a.example/s.json' is remote, which is refused")));
  Problems problems;
  Options options;
  std::string fetched;
  options.fetch = [&](const std::string& uri) -> Result<std::string> {
    fetched += uri;
    return R"({"A": {"$ref": "/other.json"}, "B": {"$ref": "file:///etc/passwd"}})";
  };
  const Description api = read_description_text("api.yaml", text, problems, std::move(options));
  EXPECT_EQ(fetched, "https://a.example/s.jsonhttps://a.example/other.json");
  EXPECT_FALSE(problems.has_errors()) << problems.as_error().describe();
}

TEST(DescriptionTest, a_remote_document_may_not_refer_to_a_file) {
  Problems problems;
  Options options;
  options.fetch = [](const std::string&) -> Result<std::string> {
    return R"({"A": {"$ref": "file:///etc/passwd"}})";
  };
  read_description_text("api.yaml",
                        std::string(head) +
                            "paths: {}\ncomponents: {schemas: {A: {$ref: "
                            "'https://a.example/s.json#/A'}}}\n",
                        problems, std::move(options));
  EXPECT_THAT(problems.as_error().describe(),
              HasSubstr("which a remote document may not refer to"));
}

TEST(DescriptionTest, text_that_cannot_be_read_says_where_and_why) {
  EXPECT_THAT(read("").lines(), ElementsAre(HasSubstr("the description is empty")));
  EXPECT_THAT(read(Files{}).lines(), ElementsAre("api.yaml: no file 'api.yaml'"));
  EXPECT_THAT(read("openapi: 4.0.0").lines(), ElementsAre(HasSubstr("'4.0.0' is not supported")));
  EXPECT_THAT(read("a: 1\nb: [").lines(),
              Contains(HasSubstr("api.yaml:2:4: #: not YAML: '[' is not closed")));
  EXPECT_THAT(read("openapi: 3.1.0\nopenapi: 3.1.0\ninfo: {title: T, version: '1'}\n").lines(),
              ElementsAre(HasSubstr("2:1: #/openapi: the name 'openapi' stands twice")));
  EXPECT_THAT(read(Files{{"a.json", R"({"openapi": "3.1.0",
 "info": {"title": "T", "version": "1",}})"}},
                   "a.json")
                  .lines(),
              Contains(HasSubstr("a.json:2:40: #")));
  EXPECT_THAT(read("a: \xff").lines(), Contains(HasSubstr("1:4: #: not UTF-8")));
  EXPECT_THAT(read("a: 'x").lines(), Contains(HasSubstr("not YAML")));
}

TEST(DescriptionTest, limits_hold_whatever_aliases_and_references_repeat) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int level = 1; level < 9; ++level) {
    const std::string at = std::to_string(level);
    const std::string of = "*a" + std::to_string(level - 1);
    bomb += "a" + at + ": &a" + at + " [" + of;
    for (int index = 0; index < 9; ++index) bomb += ", " + of;
    bomb += "]\n";
  }
  EXPECT_THAT(read(Files{{"api.yaml", bomb}}, "api.yaml", {.nodes_max = 10'000}).lines(),
              Contains(HasSubstr("more than 10000 values")));
  EXPECT_THAT(read(std::string(300, '[')).lines(), Contains(HasSubstr("more than 128 levels")));
  EXPECT_THAT(read(Files{{"api.json", std::string(300, '[')}}, "api.json").lines(),
              Contains(HasSubstr("more than 128 levels")));
  const std::string callbacks = std::string(head) + R"(
paths:
  /a:
    post: {responses: {}, callbacks: {x: {$ref: '#/components/callbacks/C'}}}
components: {callbacks: {C: {'{$request.body#/u}': {post: {responses: {}, callbacks: {
  x: {$ref: '#/components/callbacks/C'}, y: {$ref: '#/components/callbacks/C'}}}}}}}
)";
  EXPECT_THAT(read(callbacks).lines(), Contains(HasSubstr("more than 6 callbacks in one another")));
}

// An extension in each object, and aliases of anchors in them.
constexpr const char* extended = R"(openapi: 3.0.3
x-limit: &limit {name: limit, in: query, x-p: 1,
  schema: &count {type: integer, <<: {minimum: 1}, maximum: 9}}
x-texts: [&name getItem, &tag items]
x-replies:
  ok: &ok
    description: It
    x-r: {deep: [1]}
    headers: {x-note: 1, X-Rate: {x-h: 1, schema: *count}}
    links: {x-note: [1], self: {operationId: *name, x-l: 1}}
    content:
      x-note: 1
      application/json: {x-m: 3, schema: {$ref: '#/components/schemas/Item', x-beside: 1},
        examples: {x-note: a, one: {value: {id: 1}, x-e: 1}}}
info: {title: T, version: &version '1', x-i: 1,
  contact: {name: a, x-c: 1}, license: {name: MIT, x-c: 1}}
servers: [{url: 'https://{host}/v1', x-s: 1, variables: {x-note: 1, host: {default: a, x-v: 1}}}]
tags: [{name: *tag, x-t: 1, externalDocs: {url: 'https://a', x-d: 1}}]
paths:
  x-paths: {get: 1}
  /items:
    x-item: 1
    parameters: [*limit]
    get: &get
      operationId: *name
      tags: [*tag]
      x-op: *version
      security: [&key {x-api-key: []}]
      responses: {x-res: [1], '200': *ok, 404: {<<: *ok, description: gone}}
    post:
      <<: *get
      operationId: postItem
      requestBody: {x-b: 1, content: {multipart/form-data: {
        schema: {type: object, properties: {a: *count}},
        encoding: {x-note: 1, a: {contentType: text/plain, x-en: 1}}}}}
      callbacks: {x-note: 1, done: {x-cb: 1, '{$request.query.url}': {x-pi: 1, post: {
        responses: {'204': {description: x, x-z: 1}}}}}}
components:
  x-components: 1
  schemas:
    x-note: text
    Item: &item
      type: object
      x-schema: {any: [thing]}
      required: &required [id]
      discriminator: {propertyName: kind, x-d: 1, mapping: {x-note: 1}}
      properties: &properties
        x-note: 1
        id: *count
        kind: {type: string, enum: &kinds [a, b], x-enum-varnames: [A, B]}
        x-own: {type: string}
    Other: {<<: [*item, {title: Other}],
      properties: {<<: *properties, more: {type: string, enum: *kinds}}}
  securitySchemes:
    x-note: 1
    x-api-key: {type: apiKey, in: header, name: k, x-k: 1}
    oauth: {type: oauth2, x-o: 1, flows: {x-f: 1,
      implicit: {authorizationUrl: 'https://a', x-i: 1, scopes: {read: r}}}}
  responses: {x-note: 1, Ok: *ok}
  parameters: {x-note: 1, limit: *limit}
)";

TEST(DescriptionTest, what_anchors_of_extensions_give_is_there_and_extensions_may_be_anywhere) {
  const Read result = read(extended);
  ASSERT_THAT(result.lines(), IsEmpty());
  const auto& schemas = result.api.schemas;
  EXPECT_EQ(container::to_json(*schemas.at("/components/schemas/Other/properties/id")),
            R"({"type":"integer","maximum":9,"minimum":1})");
  EXPECT_EQ(container::to_json(*schemas.at("/components/schemas/Other/properties/more/enum")),
            R"(["a","b"])");
  EXPECT_EQ(container::to_json(*schemas.at("/components/schemas/Other/required")), R"(["id"])");
  EXPECT_EQ(container::to_json(*schemas.at("/components/schemas/Item/discriminator/x-d")), "1");
  EXPECT_EQ(container::to_json(*schemas.at("/components/schemas/Item/x-schema")),
            R"({"any":["thing"]})");
  EXPECT_NE(schemas.at("/components/schemas/Item/properties/x-own"), nullptr);
  EXPECT_EQ(schemas.at("/components/schemas/Item/properties/x-note"), nullptr);
  const Operation& post = *result.api.find_operation("postItem");
  EXPECT_THAT(post.tags, ElementsAre("items"));
  EXPECT_EQ(container::to_json(post.extensions), R"({"x-op":"1"})");
  EXPECT_EQ(post.parameters.at(0).name, "limit");
  ASSERT_EQ(post.replies.size(), 2u);
  EXPECT_EQ(post.replies[1].description, "gone");
  EXPECT_EQ(post.replies[1].content.at(0).schema->pointer, "/components/schemas/Item");
  EXPECT_EQ(container::to_json(post.replies[1].extensions), R"({"x-r":{"deep":[1]}})");
  EXPECT_EQ(post.callbacks.at(0).name, "done");
  EXPECT_EQ(container::to_json(*result.api.extensions.find("x-texts")), R"(["getItem","items"])");
}

TEST(DescriptionTest, extensions_of_swagger_2_0_may_be_anywhere) {
  const Read result = read(R"(swagger: '2.0'
x-text: &text {type: string, x-b: 1}
x-types: &types [application/json]
info: {title: T, version: '1'}
consumes: *types
produces: *types
paths:
  /a:
    x-i: 1
    post:
      parameters:
        - {name: q, in: query, x-q: 1, <<: *text}
        - {name: l, in: query, type: array, items: *text, collectionFormat: csv}
        - {name: b, in: body, schema: {type: object, properties: {a: *text, x-p: 1}}}
      responses: {x-r: 1, '200': {description: x, x-s: 1,
        headers: {X-R: *text, x-n: 1}, schema: *text}}
definitions: {x-n: 1, A: {type: object, properties: {a: *text}}}
parameters: {x-n: 1}
responses: {x-n: 1}
securityDefinitions: {x-n: 1, o: {type: oauth2, flow: implicit,
  authorizationUrl: 'https://a', scopes: {x-s: 1, read: r}}}
)");
  ASSERT_THAT(result.lines(), IsEmpty());
  EXPECT_EQ(result.api.security_schemes.at(0).flows.at(0).scopes.size(), 1u);
  EXPECT_EQ(container::to_json(*result.api.schemas.at("/components/schemas/A/properties/a")),
            R"({"type":"string","x-b":1})");
}

TEST(DescriptionTest, yaml_and_json_of_one_document_are_equal) {
  const std::string yaml = std::string(head) +
                           "paths: {}\ncomponents:\n  schemas:\n    A: &a\n      type: object\n"
                           "      x-n: [1, -2.5, .5, 1e3, true, ~, \"1\", 'yes', no, 2020-01-01]\n"
                           "    B: {<<: *a, title: \"\\u00e9\\n\"}\n";
  const std::string json = R"({"openapi": "3.1.0", "info": {"title": "T", "version": "1"},
"paths": {}, "components": {"schemas": {"A": {"type": "object",
"x-n": [1, -2.5, 0.5, 1e3, true, null, "1", "yes", "no", "2020-01-01"]},
"B": {"title": "\u00e9\n", "type": "object",
"x-n": [1, -2.5, 0.5, 1e3, true, null, "1", "yes", "no", "2020-01-01"]}}}})";
  const Read one = read(yaml);
  const Read other = read(Files{{"api.json", json}}, "api.json");
  ASSERT_THAT(one.lines(), IsEmpty());
  ASSERT_THAT(other.lines(), IsEmpty());
  EXPECT_EQ(container::to_json(one.api.schemas), container::to_json(other.api.schemas));
}

}  // namespace
}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
