#include "katana/openapi/contract/contract.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "katana/openapi/model/description.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::openapi {
namespace {

class MapFields final : public Fields {
 public:
  MapFields(std::initializer_list<std::pair<std::string, std::string>> all) : all_(all) {}
  std::optional<Bytes> find(Bytes name) const override {
    for (const auto& [known, value] : all_) {
      if (http::equals_ignoring_case(known, name)) return value;
    }
    return std::nullopt;
  }

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

Contract contract_of(const std::string& yaml) {
  model::Problems problems;
  const Description description = read_description_text("api.yaml", yaml, problems);
  EXPECT_FALSE(problems.has_errors()) << problems.as_error().describe();
  auto made = Contract::compile(description);
  EXPECT_TRUE(made) << (made ? "" : made.error().describe());
  return *std::move(made);
}

constexpr const char* head = R"(openapi: 3.1.0
info: {title: t, version: "1"}
paths:
)";

// One parameter of a GET of /x, or of /x/{p}, and the violations of a request with that text.
class ParameterTest : public ::testing::Test {
 protected:
  static std::string said(const std::string& in, const std::string& words,
                          const std::string& text) {
    const bool is_path = in == "path";
    const std::string yaml = std::string(head) + (is_path ? "  /x/{p}:\n" : "  /x:\n") +
                             "    get:\n      parameters:\n        - {name: p, in: " + in +
                             (is_path ? ", required: true" : "") + ", " + words +
                             "}\n      responses: {'200': {description: ok}}\n";
    const Contract contract = contract_of(yaml);
    const std::string path = is_path ? "/x/" + text : "/x";
    const auto found = contract.find("GET", path);
    if (found.operation == nullptr) return "no operation";
    const MapFields fields = {{in == "cookie" ? "Cookie" : "P", text}};
    const MapFields none = {};
    const bool is_field = in == "header" || in == "cookie";
    Violations violations;
    const bool fits = found.operation->check_request(
        {.path = found.values,
         .query = in == "query" ? Bytes(text) : Bytes(),
         .fields = is_field ? static_cast<const Fields&>(fields) : none,
         .content = {}},
        violations);
    EXPECT_EQ(fits, violations.empty());
    return violations.describe();
  }
  static constexpr const char* integer = "schema: {type: integer, minimum: 1}";
  static constexpr const char* list = "schema: {type: array, items: {type: integer}, maxItems: 3}";
  static constexpr const char* object =
      "schema: {type: object, required: [a], additionalProperties: false, "
      "properties: {a: {type: integer}, b: {type: string}}}";
};

TEST_F(ParameterTest, a_text_is_what_the_schema_takes) {
  EXPECT_EQ(said("query", integer, "p=7"), "");
  EXPECT_EQ(said("query", integer, "p=0"), "query parameter 'p': must be at least 1");
  EXPECT_EQ(said("query", integer, "p=x"), "query parameter 'p': expected an integer, got 'x'");
  EXPECT_EQ(said("query", integer, "p=1.5"),
            "query parameter 'p': expected an integer, got a number");
  EXPECT_EQ(said("query", "schema: {type: boolean}", "p=true"), "");
  EXPECT_EQ(said("query", "schema: {type: boolean}", "p=yes"),
            "query parameter 'p': expected a boolean, got 'yes'");
  EXPECT_EQ(said("query", "schema: {type: string, maxLength: 3}", "p=1234"),
            "query parameter 'p': must have at most 3 characters");
  EXPECT_EQ(said("query", "schema: {type: string, minLength: 3}", "p=a%20b"), "");
  EXPECT_EQ(said("query", "schema: {type: string, format: uuid}", "p=7"),
            "query parameter 'p': is no uuid");
  // Both are taken: it is the one that fits.
  EXPECT_EQ(said("query", "schema: {type: [integer, string], minimum: 5, minLength: 1}", "p=3"),
            "");
  EXPECT_EQ(said("query", "schema: {anyOf: [{type: integer}, {enum: [all]}]}", "p=all"), "");
  EXPECT_EQ(said("query", "schema: {}", "p=anything"), "");
}

// Integers between bounds are judged without the schema; it judges every other value.
TEST_F(ParameterTest, integers_at_their_bounds) {
  struct Case {
    const char* schema;
    const char* text;
    bool fits;
  };
  constexpr Case cases[] = {
      {"{type: integer, minimum: 1, maximum: 50}", "1", true},
      {"{type: integer, minimum: 1, maximum: 50}", "50", true},
      {"{type: integer, minimum: 1, maximum: 50}", "51", false},
      {"{type: integer, minimum: 1, maximum: 50}", "5.0", true},
      {"{type: integer, minimum: 1, maximum: 50}", "", false},
      {"{type: integer, minimum: 1.5}", "1", false},
      {"{type: integer, minimum: 1.5}", "2", true},
      {"{type: integer}", "-9223372036854775808", true},
      {"{type: integer}", "18446744073709551615", true},
      {"{type: integer, maximum: 1.0e300}", "9223372036854775807", true},
      {"{type: integer, minimum: 1.0e300}", "9223372036854775807", false},
      {"{type: integer, exclusiveMinimum: 3}", "3", false},
      {"{type: integer, multipleOf: 5}", "7", false},
      {"{type: integer, enum: [1, 2]}", "3", false},
      {"{type: integer, not: {const: 3}}", "3", false},
      {"{type: number, maximum: 2}", "3", false},
      {"{type: number, maximum: 2}", "2", true},
      {"{type: number, maximum: 2}", "1.5", true},
      {"{type: string, maxLength: 1}", "12", false},
      {"{type: boolean}", "1", false},
  };
  for (const Case& each : cases) {
    const std::string words = std::string("schema: ") + each.schema;
    for (const char* const in : {"query", "header"}) {
      const std::string prefix = std::string(in) == "query" ? "p=" : "";
      const std::string found = said(in, words, prefix + each.text);
      EXPECT_EQ(found.empty(), each.fits) << in << " " << each.schema << " " << each.text << found;
    }
  }
}

TEST_F(ParameterTest, what_is_missing_or_given_twice_is_said) {
  EXPECT_EQ(said("query", "required: true, schema: {type: string}", ""),
            "query parameter 'p': is missing");
  EXPECT_EQ(said("query", "schema: {type: string}", ""), "");
  EXPECT_EQ(said("query", integer, "p=7&p=8"), "query parameter 'p': is given more than once");
  EXPECT_EQ(said("query", integer, "%70=0"), "query parameter 'p': must be at least 1");
  EXPECT_EQ(said("query", integer, "p=%zz"),
            "query parameter 'p': expected valid percent-encoding, got '%zz'");
  EXPECT_EQ(said("cookie", integer, "a=1; p=7; p=8"), "cookie 'p': is given more than once");
}

TEST_F(ParameterTest, lists_in_all_styles) {
  const auto with = [](const char* style) { return std::string(style) + ", " + list; };
  EXPECT_EQ(said("query", list, "p=1&p=2"), "");
  EXPECT_EQ(said("query", list, "p=1&q=9&p=x"),
            "query parameter 'p' /1: expected an integer, got a string");
  EXPECT_EQ(said("query", list, "p=1&p=2&p=3&p=4"),
            "query parameter 'p': must have at most 3 items");
  EXPECT_EQ(said("query", with("style: form, explode: false"), "p=1,2"), "");
  EXPECT_EQ(said("query", with("style: form, explode: false"), "p=1,2,3,4"),
            "query parameter 'p': must have at most 3 items");
  EXPECT_EQ(said("query", with("style: spaceDelimited, explode: false"), "p=1%202+3"),
            "query parameter 'p' /1: expected an integer, got a string");
  EXPECT_EQ(said("query", with("style: spaceDelimited, explode: false"), "p=1%202"), "");
  EXPECT_EQ(said("query", with("style: pipeDelimited, explode: false"), "p=1|2|x"),
            "query parameter 'p' /2: expected an integer, got a string");
  EXPECT_EQ(said("query", with("style: pipeDelimited, explode: false"), "p=1%7C2"), "");
  EXPECT_EQ(said("path", list, "1,2"), "");
  EXPECT_EQ(said("path", list, "1,x"), "path parameter 'p' /1: expected an integer, got a string");
  EXPECT_EQ(said("path", with("style: label, explode: true"), ".1.2"), "");
  EXPECT_EQ(said("path", with("style: label"), "1,2"),
            "path parameter 'p': expected the style 'label', got '1,2'");
  EXPECT_EQ(said("path", with("style: matrix, explode: true"), ";p=1;p=2"), "");
  EXPECT_EQ(said("path", with("style: matrix"), ";p=1,x"),
            "path parameter 'p' /1: expected an integer, got a string");
  EXPECT_EQ(said("header", list, "1, 2 ,3"), "");
  EXPECT_EQ(said("cookie", "explode: false, " + std::string(list), "p=1,2"), "");
}

TEST_F(ParameterTest, objects_in_all_styles) {
  const auto with = [](const char* style) { return std::string(style) + ", " + object; };
  EXPECT_EQ(said("query", object, "a=1&b=2&other=3"), "");
  EXPECT_EQ(said("query", object, "a=x"),
            "query parameter 'p' /a: expected an integer, got a string");
  EXPECT_EQ(said("query", object, "b=2"), "query parameter 'p' /a: is missing");
  EXPECT_EQ(said("query", with("style: form, explode: false"), "p=a,1,b,2"), "");
  EXPECT_EQ(said("query", with("style: form, explode: false"), "p=a,1,b"),
            "query parameter 'p': expected names and values in turn");
  EXPECT_EQ(said("query", with("style: deepObject"), "p[a]=1&p%5Bb%5D=x"), "");
  EXPECT_EQ(said("query", with("style: deepObject"), "p[c]=1&p[a]=2"),
            "query parameter 'p' /c: is not allowed");
  EXPECT_EQ(said("query", with("style: deepObject"), "p[a]=1&p[a]=2"),
            "query parameter 'p' /a: is given more than once");
  const std::string deep = "style: deepObject, schema: ";
  const std::string numbers = deep + "{type: array, items: {type: integer}}";
  EXPECT_EQ(said("query", numbers, "p[0]=1&p[1]=2"), "");
  EXPECT_EQ(said("query", numbers, "p[]=1&p[]=x"),
            "query parameter 'p' /1: expected an integer, got a string");
  const std::string either = deep +
                             "{anyOf: [{type: integer}, {type: object, properties: {a: "
                             "{type: array, items: {type: integer}}}}]}";
  EXPECT_EQ(said("query", either, "p=7"), "");
  EXPECT_EQ(said("query", either, "p[a][]=7&p[a][]=8"), "");
  EXPECT_EQ(said("query", either, "p[a]=7&p[a][]=8"),
            "query parameter 'p': 'p[a][]' is beside a value of the name before its brackets");
  EXPECT_EQ(said("path", object, "a,1"), "");
  EXPECT_EQ(said("path", with("explode: true"), "a=1,b=2"), "");
  EXPECT_EQ(said("path", with("style: label, explode: true"), ".a=1.b=2"), "");
  EXPECT_EQ(said("path", with("style: matrix, explode: true"), ";a=1;b=2"), "");
  EXPECT_EQ(said("path", with("style: matrix"), ";p=a,x"),
            "path parameter 'p' /a: expected an integer, got a string");
  EXPECT_EQ(said("header", with("explode: true"), "a=1, b=2"), "");
  EXPECT_EQ(said("query", "content: {application/json: {" + std::string(object) + "}}",
                 "p=%7B%22a%22:%22x%22%7D"),
            "query parameter 'p' /a: expected an integer, got a string");
}

constexpr const char* users = R"(openapi: 3.1.0
info: {title: t, version: "1"}
servers: [{url: "https://shop.example/v1/"}]
paths:
  /users:
    post:
      operationId: createUser
      requestBody:
        required: true
        content:
          application/json: {schema: {$ref: '#/components/schemas/User'}}
          application/x-www-form-urlencoded: {schema: {$ref: '#/components/schemas/User'}}
          multipart/form-data: {schema: {$ref: '#/components/schemas/User'}}
          text/*: {schema: {type: string, maxLength: 5}}
      responses:
        '201':
          description: made
          headers: {Location: {required: true, schema: {type: string, pattern: '^/users/'}}}
          content: {application/json: {schema: {$ref: '#/components/schemas/User'}}}
        '204': {description: nothing}
        4XX:
          description: refused
          content: {application/problem+json: {schema: {type: object, required: [title]}}}
  /users/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {default: {description: any}}
  /users/me:
    get: {operationId: me, responses: {'200': {description: ok}}}
  /files/{name}.{kind}:
    get:
      parameters:
        - {name: name, in: path, required: true, schema: {type: string}}
        - {name: kind, in: path, required: true, schema: {enum: [json, csv]}}
      responses: {'200': {description: ok}}
components:
  schemas:
    User:
      type: object
      required: [id, name, age, password]
      properties:
        id: {type: integer, readOnly: true}
        name: {type: string, minLength: 1}
        age: {type: integer}
        password: {type: string, writeOnly: true}
        tags: {type: array, items: {type: integer}}
      additionalProperties: false
)";

class UsersTest : public ::testing::Test {
 protected:
  std::string request(Bytes type, Bytes content) {
    const MapFields fields = {{"content-type", std::string(type)}};
    const MapFields none = {};
    const auto found = contract_.find("POST", "/v1/users");
    Violations violations;
    found.operation->check_request(
        {.path = {}, .query = {}, .fields = type.empty() ? none : fields, .content = content},
        violations);
    return violations.describe();
  }
  std::string reply(unsigned status, Bytes type, Bytes content, Bytes location = "/users/7") {
    const MapFields fields = {{"Location", std::string(location)}};
    const MapFields none = {};
    Violations violations;
    contract_.find("POST", "/v1/users")
        .operation->check_reply({.status = status,
                                 .fields = location.empty() ? none : fields,
                                 .content_type = type,
                                 .content = content},
                                violations);
    return violations.describe();
  }
  const Contract contract_ = contract_of(users);
};

TEST_F(UsersTest, a_literal_segment_goes_before_a_parameter) {
  EXPECT_EQ(contract_.find("GET", "/v1/users/me").operation->id(), "me");
  const auto other = contract_.find("HEAD", "/v1/users/7");
  ASSERT_NE(other.operation, nullptr);
  EXPECT_EQ(other.operation->describe(), "GET /users/{id}");
  EXPECT_EQ(other.values.front().second, "7");
  EXPECT_EQ(contract_.find("GET", "/users/7").operation, nullptr);
  EXPECT_TRUE(contract_.find("PUT", "/v1/users/7").has_path);
  const auto file = contract_.find("GET", "/v1/files/a.b.csv");
  ASSERT_NE(file.operation, nullptr);
  EXPECT_EQ(file.values.front().second, "a.b");
  EXPECT_EQ(file.values.back().second, "csv");
  EXPECT_EQ(contract_.find("GET", "/v1/files/.csv").operation, nullptr);
}

TEST(ContractTest, the_longest_text_beside_a_parameter_goes_first_as_in_the_router) {
  std::string yaml = head;
  for (const char* const path : {"/{x}", "/{x}.json", "/v{x}", "/ver{x}", "/{x}F", "/v{x}/{y}"}) {
    yaml += std::string("  ") + path + ":\n    get:\n      operationId: " + path +
            "\n      responses: {'200': {description: ok}}\n";
  }
  model::Problems problems;
  auto made = Contract::compile(read_description_text("api.yaml", yaml, problems));
  ASSERT_TRUE(made) << made.error().describe();
  const auto path_of = [&](Bytes path) -> std::string {
    const auto found = made->find("GET", path);
    if (found.operation == nullptr) return "none";
    std::string text = found.operation->describe();
    for (const auto& [name, value] : found.values) {
      text += " " + std::string(name) + "=" + std::string(value);
    }
    return text;
  };
  EXPECT_EQ(path_of("/ver1.json"), "GET /ver{x} x=1.json");
  EXPECT_EQ(path_of("/v1.json"), "GET /v{x} x=1.json");
  EXPECT_EQ(path_of("/a.json"), "GET /{x}.json x=a");
  EXPECT_EQ(path_of("/v"), "GET /{x} x=v");
  EXPECT_EQ(path_of("/a%2F"), "GET /{x} x=a%2F");
  EXPECT_EQ(path_of("/v1/2"), "GET /v{x}/{y} x=1 y=2");
}

TEST_F(UsersTest, content_is_checked_by_its_media_type) {
  EXPECT_EQ(request("application/json", R"({"name":"a","age":1,"password":"x"})"), "");
  EXPECT_EQ(request("application/json; charset=utf-8", R"({"name":"","age":"x","password":"y"})"),
            "content /name: must have at least 1 characters\n"
            "content /age: expected an integer, got a string");
  EXPECT_EQ(request("application/json", "{"),
            "content: malformed JSON: line 1, column 2: an object or array does not end");
  EXPECT_EQ(request("image/png", "x"),
            "Content-Type: expected application/json, application/x-www-form-urlencoded, "
            "multipart/form-data, text/*, got 'image/png'");
  EXPECT_EQ(request("", "x").substr(0, 24), "Content-Type: is missing");
  EXPECT_EQ(request("", "").substr(0, 43), "Content-Type: is missing, as is the content");
  EXPECT_EQ(request("text/csv", "123456"), "content: must have at most 5 characters");
}

TEST_F(UsersTest, forms_are_objects) {
  EXPECT_EQ(request("application/x-www-form-urlencoded", "name=a+b&age=7&password=x&tags=1&tags=2"),
            "");
  EXPECT_EQ(request("application/x-www-form-urlencoded", "name=a&age=x&password=x&tags=1"),
            "content /age: expected an integer, got a string");
  EXPECT_EQ(request("application/x-www-form-urlencoded", "name=%zz"),
            "content: expected valid percent-encoding, got '%zz'");
  const Bytes form =
      "--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nada\r\n"
      "--b\r\nContent-Disposition: form-data; name=\"age\"\r\n\r\n36\r\n"
      "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nx\r\n"
      "--b\r\nContent-Disposition: form-data; name=\"tags\"\r\nContent-Type: application/json\r\n"
      "\r\n[1, \"y\"]\r\n--b--\r\n";
  EXPECT_EQ(request("multipart/form-data; boundary=b", form),
            "content /tags/1: expected an integer, got a string");
  EXPECT_EQ(request("multipart/form-data; boundary=b", form.substr(0, 60)),
            "content: the last boundary is missing");
}

TEST_F(UsersTest, a_form_has_objects_and_lists_within_it) {
  const auto said = [](Bytes form) {
    const std::string text = R"(openapi: 3.1.0
info: {title: t, version: "1"}
paths:
  /orders:
    post:
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema:
              type: object
              properties:
                items: {type: array, maxItems: 2, items: {$ref: '#/components/schemas/Item'}}
                one: {$ref: '#/components/schemas/Item'}
                codes: {type: array, items: {type: integer}}
                'a[b]': {type: boolean}
            encoding: {items: {style: deepObject}, codes: {style: pipeDelimited, explode: false}}
      responses: {'200': {description: ok}}
components:
  schemas:
    Item:
      type: object
      required: [name]
      properties:
        name: {type: string}
        price: {type: integer}
        tags: {type: array, items: {type: string}}
)";
    const Contract contract = contract_of(text);
    const MapFields fields({{"content-type", "application/x-www-form-urlencoded"}});
    Violations violations;
    contract.operations()[0].check_request(
        {.path = {}, .query = "", .fields = fields, .content = form}, violations);
    return violations.describe();
  };
  EXPECT_EQ(said("items[0][name]=a&items[0][price]=7&items[1][name]=b&items[1][tags][]=x"), "");
  EXPECT_EQ(said("items[0][price]=x&items[0][name]=a"),
            "content /items/0/price: expected an integer, got a string");
  EXPECT_EQ(said("one=%7B%22name%22%3A%22a%22%7D&codes=1%7C2&a[b]=true"), "");
  EXPECT_EQ(
      said("one=%7B%7D&codes=1%7Cx&a[b]=1"),
      "content /a[b]: expected a boolean, got a string\ncontent /codes/1: expected an integer, "
      "got a string\ncontent /one/name: is missing");
  EXPECT_EQ(said("one[name]=a&one[name]=b"), "content /one/name: is given more than once");
  EXPECT_EQ(said("items[][name]=a"),
            "content: 'items[][name]' has '[]' before other brackets: number the "
            "items, such as items[0][price]");
}

TEST_F(UsersTest, members_of_the_other_direction_are_not_required) {
  EXPECT_EQ(request("application/json", R"({"name":"a","age":1})"),
            "content /password: is missing");
  EXPECT_EQ(reply(201, "application/json", R"({"name":"a","age":1})"), "content /id: is missing");
  EXPECT_EQ(reply(201, "application/json", R"({"id":1,"name":"a","age":1})"), "");
}

TEST_F(UsersTest, a_reply_has_a_status_fields_and_content_that_are_described) {
  EXPECT_EQ(reply(200, "application/json", "{}"),
            "status: 200 is not among those that are described: 201, 204, 4XX");
  EXPECT_EQ(reply(204, "", ""), "");
  EXPECT_EQ(reply(204, "text/plain", "x"),
            "content: status 204 is described without content, and has 'text/plain'");
  EXPECT_EQ(reply(409, "application/problem+json", "{}"), "content /title: is missing");
  EXPECT_EQ(reply(409, "application/json", R"({"title":"x"})"),
            "Content-Type: expected application/problem+json, got 'application/json'");
  EXPECT_EQ(reply(201, "application/json", R"({"id":1,"name":"a","age":1})", ""),
            "header field 'Location': is missing");
  EXPECT_EQ(reply(201, "application/json", R"({"id":1,"name":"a","age":1})", "/u"),
            "header field 'Location': does not match its pattern");
}

}  // namespace
}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
