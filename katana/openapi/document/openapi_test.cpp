#include "katana/openapi/document/openapi.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "katana/base/values/duration_text.hpp"
#include "katana/base/values/patch.hpp"
#include "katana/http/handlers/preconditions.hpp"
#include "katana/http/handlers/request_documentation.hpp"

namespace katana::openapi {
namespace {

enum class Colour { red, green };
KATANA_DESCRIBE_ENUM(Colour, red, (green, "lime"))

struct Part {
  std::string name;
};
KATANA_DESCRIBE(Part, (name, length(1, 20)))

struct Entry {
  std::string name;
  int age = 18;
  std::optional<FormFile> picture;
};
KATANA_DESCRIBE(Entry, (name, required), (age, range(0, 150)), picture)

struct Item {
  std::int64_t id = 0;
  std::string mail;
  std::optional<double> weight;
  std::vector<std::string> tags;
  std::map<std::string, int> counts;
  Colour colour = Colour::red;
  std::optional<Part> part;
  int stock = 7;
};
KATANA_DESCRIBE_STRICT(Item, (id, at_least(1)), (mail, format::email, help("Who sells it.")),
                       (weight, range(0, 10)), (tags, length(0, 3), each(pattern("[a-z.]+"))),
                       counts, colour, part, (stock, defaulted, at_most(9)))

struct Tree {
  std::string name;
  std::vector<Tree> branches;
};
KATANA_DESCRIBE(Tree, name, branches)

using Choice = std::variant<Part, Tree>;
KATANA_DESCRIBE_VARIANT(Choice, "type", (Part, "part"), (Tree, "tree"))
struct Choices {
  Choice first;
  std::optional<Choice> second;
};
KATANA_DESCRIBE(Choices, first, second)

struct Paging {
  int limit = 20;
  std::optional<std::string> after;
};
KATANA_DESCRIBE(Paging, (limit, range(1, 50), help("So many.")), after)

struct ItemPatch {
  Patch<std::string> name;
  Patch<int> stock;
};
KATANA_DESCRIBE(ItemPatch, (name, not_null, length(1, 20)), (stock, at_most(9)))

struct Gaps {
  std::vector<std::optional<std::string>> words;
  std::map<std::string, std::optional<int>> counts;
};
KATANA_DESCRIBE(Gaps, (words, each(length(1, 3))), counts)

// The member at a JSON pointer, as JSON.
std::string at(const Value& value, Bytes pointer) {
  const Value* const found = value.at(pointer);
  return found != nullptr ? container::to_json(*found) : "nothing";
}

template <class T>
Value schemas_with(Value* made = nullptr) {
  Schemas schemas;
  Value schema = schema_of<T>(schemas);
  if (made != nullptr) *made = std::move(schema);
  return schemas.all();
}

TEST(OpenApiSchema, a_described_struct_is_an_object_with_its_rules_as_constraints) {
  Value reference;
  const Value schemas = schemas_with<Item>(&reference);
  EXPECT_EQ(at(reference, "/$ref"), R"("#/components/schemas/Item")");
  EXPECT_EQ(at(schemas, "/Item/type"), R"("object")");
  EXPECT_EQ(at(schemas, "/Item/required"), R"(["id","mail","tags","counts","colour"])");
  EXPECT_EQ(at(schemas, "/Item/additionalProperties"), "false");
  const auto property = [&](const std::string& name) {
    return at(schemas, "/Item/properties/" + name);
  };
  EXPECT_EQ(property("id"),
            R"({"type":"integer","format":"int64","minimum":1,"maximum":9223372036854775807})");
  EXPECT_EQ(property("mail"),
            R"({"type":"string","format":"email","description":"Who sells it."})");
  EXPECT_EQ(property("weight"),
            R"({"type":["number","null"],"format":"double","minimum":0.0,"maximum":10.0})");
  EXPECT_EQ(property("tags"),
            R"({"type":"array","items":{"type":"string","pattern":"^[a-z.]+$"},"maxItems":3})");
  EXPECT_EQ(property("counts/additionalProperties/format"), R"("int32")");
  EXPECT_EQ(property("colour"), R"({"type":"string","enum":["red","lime"]})");
  EXPECT_EQ(property("part"),
            R"({"anyOf":[{"$ref":"#/components/schemas/Part"},{"type":"null"}]})");
  EXPECT_EQ(property("stock/default"), "7");
  EXPECT_EQ(property("stock/maximum"), "9");
  EXPECT_EQ(at(schemas, "/Part/properties/name"),
            R"({"type":"string","minLength":1,"maxLength":20})");
}

TEST(OpenApiSchema, a_patch_has_no_member_that_must_be_there_and_may_have_null) {
  const Value schemas = schemas_with<ItemPatch>();
  EXPECT_EQ(at(schemas, "/ItemPatch/required"), "nothing");
  EXPECT_EQ(at(schemas, "/ItemPatch/properties/name"),
            R"({"type":"string","minLength":1,"maxLength":20})");
  EXPECT_EQ(at(schemas, "/ItemPatch/properties/stock/type"), R"(["integer","null"])");
  EXPECT_EQ(at(schemas, "/ItemPatch/properties/stock/maximum"), "9");
  EXPECT_EQ(at(schemas, "/ItemPatch/properties/stock/default"), "nothing");
}

TEST(OpenApiSchema, items_and_values_of_a_dictionary_may_be_null) {
  const Value schemas = schemas_with<Gaps>();
  EXPECT_EQ(at(schemas, "/Gaps/properties/words/items"),
            R"({"type":["string","null"],"minLength":1,"maxLength":3})");
  EXPECT_EQ(at(schemas, "/Gaps/properties/counts/additionalProperties/type"),
            R"(["integer","null"])");
}

TEST(OpenApiSchema, a_variant_is_one_of_its_alternatives_by_its_discriminator) {
  const Value schemas = schemas_with<Choices>();
  constexpr Bytes choice =
      R"({"oneOf":[{"$ref":"#/components/schemas/PartWithType"},)"
      R"({"$ref":"#/components/schemas/TreeWithType"}],"discriminator":{"propertyName":"type",)"
      R"("mapping":{"part":"#/components/schemas/PartWithType",)"
      R"("tree":"#/components/schemas/TreeWithType"}}})";
  EXPECT_EQ(at(schemas, "/Choices/properties/first"), choice);
  EXPECT_EQ(at(schemas, "/Choices/properties/second"),
            std::string(R"({"anyOf":[)").append(choice) + R"(,{"type":"null"}]})");
  EXPECT_EQ(at(schemas, "/PartWithType"),
            R"({"type":"object","properties":{"type":{"type":"string","const":"part"},)"
            R"("name":{"type":"string","minLength":1,"maxLength":20}},)"
            R"("required":["type","name"]})");
  // The types inside of an alternative have the same schema as anywhere else.
  EXPECT_EQ(at(schemas, "/TreeWithType/properties/branches/items/$ref"),
            R"("#/components/schemas/Tree")");
}

TEST(OpenApiSchema, a_duration_is_text_of_a_pattern) {
  Schemas schemas;
  EXPECT_EQ(container::to_json(schema_of<std::chrono::seconds>(schemas)),
            R"({"type":"string","pattern":"^(-?[0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h|d)|0)$"})");
}

TEST(OpenApiSchema, a_struct_that_contains_itself_refers_to_itself) {
  const Value schemas = schemas_with<Tree>();
  EXPECT_EQ(at(schemas, "/Tree/properties/branches/items/$ref"), R"("#/components/schemas/Tree")");
}

namespace other {
struct Part {
  int number = 0;
};
KATANA_DESCRIBE(Part, number)
}  // namespace other

TEST(OpenApiSchema, two_structs_of_one_name_have_two) {
  Schemas schemas;
  EXPECT_EQ(at(schema_of<Part>(schemas), "/$ref"), R"("#/components/schemas/Part")");
  EXPECT_EQ(at(schema_of<other::Part>(schemas), "/$ref"), R"("#/components/schemas/Part2")");
  EXPECT_EQ(at(schema_of<Part>(schemas), "/$ref"), R"("#/components/schemas/Part")");
  EXPECT_EQ(schemas.all().size(), 2u);
}

TEST(OpenApiSchema, a_value_is_anything) {
  Value schema;
  EXPECT_EQ(schemas_with<Value>(&schema).as_object().size(), 0u);
  EXPECT_EQ(at(schema, "/type"), "nothing");
  schemas_with<std::map<std::string, Value>>(&schema);
  EXPECT_EQ(at(schema, "/type"), R"("object")");
}

TEST(OpenApiSchema, a_pattern_becomes_an_expression_for_the_whole_text) {
  EXPECT_EQ(detail::regular_expression("[a-z]+"), "^[a-z]+$");
  EXPECT_EQ(detail::regular_expression("a|b(c)$^"), "^a\\|b\\(c\\)\\$\\^$");
  EXPECT_EQ(detail::regular_expression(".{2,3}[.|[]\\."), "^[\\s\\S]{2,3}[.|\\[]\\.$");
}

// ---- operations ------------------------------------------------------------------------------

Json<Item> get_item(Path<std::int64_t>, Query<Paging>) { return {}; }
Result<Created<Item>> add_item(Json<Item>) { return fail(Code::internal); }
Task<Result<Reply>> remove_item(Path<std::string>) { co_return Reply(204); }

Value document_of(void (*add)(Routes&)) {
  Document document({.title = "Shop", .version = "1.2", .description = "All of it."});
  Router router;
  Routes routes = document.describe(router.group("/api"));
  add(routes);
  EXPECT_TRUE(std::move(router).build());
  return document.to_value();
}

TEST(OpenApiDocument, has_what_the_signature_of_a_handler_says) {
  const Value document = document_of([](Routes& routes) {
    routes.get("/items/{id}", get_item,
               {.id = "getItem", .summary = "One item", .tag = "items", .problems = {404}});
  });
  EXPECT_EQ(at(document, "/openapi"), R"("3.1.0")");
  EXPECT_EQ(at(document, "/info"),
            R"({"title":"Shop","version":"1.2","description":"All of it."})");
  const std::string operation = "/paths/~1api~1items~1{id}/get";
  EXPECT_EQ(at(document, operation + "/operationId"), R"("getItem")");
  EXPECT_EQ(at(document, operation + "/tags"), R"(["items"])");
  EXPECT_EQ(at(document, operation + "/parameters/0/name"), R"("id")");
  EXPECT_EQ(at(document, operation + "/parameters/0/in"), R"("path")");
  EXPECT_EQ(at(document, operation + "/parameters/0/required"), "true");
  EXPECT_EQ(at(document, operation + "/parameters/1"),
            R"({"name":"limit","in":"query","required":false,"description":"So many.",)"
            R"("schema":{"type":"integer","format":"int32","minimum":1,"maximum":50,)"
            R"("description":"So many.","default":20}})");
  EXPECT_EQ(at(document, operation + "/parameters/2/schema"), R"({"type":"string"})");
  EXPECT_EQ(at(document, operation + "/requestBody"), "nothing");
  EXPECT_EQ(at(document, operation + "/responses/200/content/application~1json/schema/$ref"),
            R"("#/components/schemas/Item")");
  EXPECT_EQ(at(document, operation + "/responses/404/$ref"),
            R"("#/components/responses/Problem404")");
  EXPECT_EQ(at(document, operation + "/responses/400/$ref"),
            R"("#/components/responses/Problem400")");
  EXPECT_EQ(at(document, "/components/responses/Problem404/description"), R"("Not Found")");
  EXPECT_EQ(
      at(document, "/components/responses/Problem404/content/application~1problem+json/schema"),
      R"({"$ref":"#/components/schemas/Problem"})");
}

TEST(OpenApiDocument, preconditions_bring_their_refusals_and_the_field_that_is_required) {
  const Value document = document_of([](Routes& routes) {
    routes.get("/a", [](Preconditions) { return Reply(204); }, {.id = "getA"});
    routes.put("/a", [](RequiredPreconditions) { return Reply(204); }, {.id = "putA"});
  });
  EXPECT_NE(at(document, "/paths/~1api~1a/get/responses/412"), "nothing");
  EXPECT_EQ(at(document, "/paths/~1api~1a/get/responses/428"), "nothing");
  EXPECT_NE(at(document, "/paths/~1api~1a/put/responses/428"), "nothing");
  EXPECT_EQ(at(document, "/paths/~1api~1a/put/parameters/0/name"), R"("If-Match")");
  EXPECT_EQ(at(document, "/paths/~1api~1a/put/parameters/0/required"), "true");
}

TEST(OpenApiDocument, content_brings_its_schema_its_example_and_its_refusals) {
  const Value document = document_of([](Routes& routes) {
    routes.post("/items", add_item, {.id = "addItem", .example = to_value(Part{"wheel"})});
  });
  const std::string operation = "/paths/~1api~1items/post";
  const std::string content = operation + "/requestBody/content/application~1json";
  EXPECT_EQ(at(document, operation + "/requestBody/required"), "true");
  EXPECT_EQ(at(document, content + "/schema/$ref"), R"("#/components/schemas/Item")");
  EXPECT_EQ(at(document, content + "/example"), R"({"name":"wheel"})");
  for (const char* status : {"400", "413", "415", "422", "default"}) {
    EXPECT_NE(at(document, operation + "/responses/" + status), "nothing") << status;
  }
  EXPECT_NE(at(document, operation + "/responses/201/headers/Location"), "nothing");
}

TEST(OpenApiDocument, what_the_signature_does_not_say_is_said) {
  const Value document = document_of([](Routes& routes) {
    routes.delete_("/items/{name}", remove_item,
                   {.id = "removeItem",
                    .replies = {empty_reply(204, "It is gone.", {{"ETag", "Of what was there."}}),
                                text_reply(200, "Why.", "text/plain")},
                    .fields = {{"If-Match", "Only then.", "^x$"}}});
  });
  const std::string operation = "/paths/~1api~1items~1{name}/delete";
  EXPECT_EQ(at(document, operation + "/responses/204"),
            R"({"description":"It is gone.","headers":)"
            R"({"ETag":{"description":"Of what was there.","schema":{"type":"string"}}}})");
  EXPECT_EQ(at(document, operation + "/responses/200/content"),
            R"({"text/plain":{"schema":{"type":"string"}}})");
  EXPECT_EQ(at(document, operation + "/parameters/0/schema"), R"({"type":"string","minLength":1})");
  EXPECT_EQ(at(document, operation + "/parameters/1/in"), R"("header")");
  EXPECT_EQ(at(document, operation + "/parameters/1/schema/pattern"), R"("^x$")");
}

TEST(OpenApiDocument, operations_of_one_path_stand_together) {
  const Value document = document_of([](Routes& routes) {
    routes.get("/items/{id}", get_item, {.id = "a"});
    routes.delete_("/items/{id}", remove_item, {.id = "b"});
  });
  EXPECT_EQ(document.at("/paths")->as_object().size(), 1u);
  EXPECT_EQ(document.at("/paths/~1api~1items~1{id}")->as_object().size(), 2u);
}

TEST(OpenApi, fields_of_a_form_stand_in_the_document_with_their_rules) {
  Schemas schemas;
  const auto handler = [](FormFields<Entry>) { return Reply(204); };
  const auto words = detail::words_of<decltype(handler)>(schemas);
  ASSERT_NE(words.form, nullptr);
  const std::string schema = container::to_json(words.form(schemas));
  EXPECT_THAT(schema, ::testing::HasSubstr(R"("picture":{"type":"string","format":"binary"})"));
  EXPECT_THAT(schema, ::testing::HasSubstr(R"("required":["name"])"));
  EXPECT_THAT(schema, ::testing::HasSubstr(R"("maximum":150)"));
}

struct Bounds {
  std::optional<int> min;
};
KATANA_DESCRIBE(Bounds, min)
struct Nested {
  std::optional<Bounds> size;
  std::vector<std::string> tags;
  std::vector<Bounds> more;
};
KATANA_DESCRIBE(Nested, size, tags, more)

TEST(OpenApiDocument, objects_in_queries_and_forms_are_deep_objects) {
  const Value document = document_of([](Routes& routes) {
    routes.get("/a", [](NestedQuery<Nested>) { return Reply(204); }, {.id = "a"});
    routes.post("/a", [](NestedForm<Nested>) { return Reply(204); }, {.id = "b"});
  });
  const auto at = [&](Bytes place) {
    const Value* const found = document.at("/paths/~1api~1a" + std::string(place));
    return found == nullptr ? std::string("nothing") : container::to_json(*found);
  };
  EXPECT_EQ(at("/get/parameters/0/style"), R"("deepObject")");
  EXPECT_EQ(at("/get/parameters/1/style"), "nothing");
  EXPECT_EQ(at("/get/parameters/2/style"), R"("deepObject")");
  const std::string encoding = R"({"size":{"style":"deepObject","explode":true},)"
                               R"("more":{"style":"deepObject","explode":true}})";
  EXPECT_EQ(at("/post/requestBody/content/application~1x-www-form-urlencoded/encoding"), encoding);
  EXPECT_EQ(at("/post/requestBody/content/multipart~1form-data/encoding"), encoding);
}

TEST(OpenApiDocument, who_may_ask_is_a_scheme_and_a_requirement) {
  using Kind = SecurityScheme::Kind;
  const auto of = [](SecurityDocumentation words) {
    return Middleware{.security = std::make_shared<const SecurityDocumentation>(std::move(words))};
  };
  Router router;
  router.use(of({.schemes = {{.name = "bearer", .detail = "bearer", .format = "JWT"},
                             {.name = "key", .kind = Kind::field, .detail = "X-API-Key"}}}));
  router.use(of({.scopes = {"items:read"}, .decides = true}));
  Document document({.title = "Shop", .version = "1"});
  Routes routes = document.describe(router);
  routes.get("/items", [] { return Reply(204); });
  routes.anonymous().get("/open", [] { return Reply(204); });
  const Value made = document.to_value();
  EXPECT_EQ(at(made, "/components/securitySchemes"),
            R"({"bearer":{"type":"http","scheme":"bearer","bearerFormat":"JWT"},)"
            R"("key":{"type":"apiKey","in":"header","name":"X-API-Key"}})");
  EXPECT_EQ(at(made, "/paths/~1items/get/security"),
            R"([{"bearer":["items:read"]},{"key":["items:read"]}])");
  EXPECT_NE(made.at("/paths/~1items/get/responses/401"), nullptr);
  EXPECT_NE(made.at("/paths/~1items/get/responses/403"), nullptr);
  EXPECT_EQ(made.at("/paths/~1open/get/security"), nullptr);
  EXPECT_EQ(made.at("/paths/~1open/get/responses/401"), nullptr);
}

TEST(OpenApiDocument, what_middleware_asks_of_requests_is_in_its_operations) {
  RequestDocumentation words;
  words.methods = {http::Method::post};
  words.fields = {
      {.name = "X-Key", .description = "Names it.", .pattern = "^a+$", .required = true},
      {.name = "X-Own", .description = "of the middleware"}};
  words.problems = {409, 422};
  words.reply_fields = {{.name = "X-Again", .description = "It is one."}};
  Router router;
  router.use(Middleware{.words = std::make_shared<const RequestDocumentation>(std::move(words))});
  Document document({.title = "Shop", .version = "1"});
  Routes routes = document.describe(router);
  routes.post("/items", [] { return Json<int>{1}; },
              {.fields = {{.name = "X-Own", .description = "of the operation"}}});
  routes.get("/items", [] { return Json<int>{1}; });
  routes.anonymous().post("/open", [] { return Reply(204); },
                          {.replies = {empty_reply(204, "Done."), empty_reply(304, "Known.")}});
  const Value made = document.to_value();
  EXPECT_EQ(at(made, "/paths/~1items/post/parameters"),
            R"([{"name":"X-Own","in":"header","required":false,"description":"of the operation",)"
            R"("schema":{"type":"string"}},)"
            R"({"name":"X-Key","in":"header","required":true,"description":"Names it.",)"
            R"("schema":{"type":"string","pattern":"^a+$"}}])");
  EXPECT_EQ(at(made, "/paths/~1items/post/responses/409/$ref"),
            R"("#/components/responses/Problem409")");
  EXPECT_NE(made.at("/paths/~1items/post/responses/422"), nullptr);
  EXPECT_EQ(at(made, "/paths/~1items/post/responses/200/headers/X-Again/description"),
            R"("It is one.")");
  EXPECT_EQ(made.at("/paths/~1items/get/parameters"), nullptr);
  EXPECT_EQ(made.at("/paths/~1items/get/responses/409"), nullptr);
  EXPECT_EQ(made.at("/paths/~1items/get/responses/200/headers"), nullptr);
  EXPECT_NE(made.at("/paths/~1open/post/responses/409"), nullptr);
  EXPECT_NE(made.at("/paths/~1open/post/responses/204/headers/X-Again"), nullptr);
  EXPECT_EQ(made.at("/paths/~1open/post/responses/304/headers"), nullptr);
}

TEST(OpenApiDocument, an_operation_needs_no_words) {
  Router router;
  Document document({.title = "Shop", .version = "1"});
  document.describe(router).get(
      "/items/{id}", [](Path<int> id) { return Reply::text("x" + std::to_string(*id)); });
  const Value made = document.to_value();
  const std::string operation = "/paths/~1items~1{id}/get";
  EXPECT_EQ(at(made, operation + "/parameters/0/name"), R"("id")");
  EXPECT_EQ(at(made, operation + "/summary"), "nothing");
  EXPECT_EQ(at(made, operation + "/operationId"), R"("getItemsById")");
  EXPECT_EQ(at(made, operation + "/responses/2XX/description"), R"("The request was served.")");
  EXPECT_TRUE(std::move(router).build());
}

}  // namespace
}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
