#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/patch.hpp"
#include "katana/data/container/as_json.hpp"
#include "katana/openapi/document/openapi.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::openapi {
namespace {

using ::testing::HasSubstr;

struct Order {
  std::int64_t id = 0;
  std::optional<std::string> note;
  std::string size;
};
KATANA_DESCRIBE(Order, id, note, (size, deprecated, help("Use width and height.")))

struct OrderPatch {
  Patch<std::string> note;
};
KATANA_DESCRIBE(OrderPatch, note)

struct Upload {
  FormFile picture;
  std::string title;
};
KATANA_DESCRIBE(Upload, (picture, required), title)

struct OldQuery {
  std::optional<std::string> q;
};
KATANA_DESCRIBE(OldQuery, (q, deprecated))

// The member at a JSON pointer, as JSON.
std::string shown(const Value& value, Bytes pointer) {
  const Value* const found = value.at(pointer);
  return found != nullptr ? container::to_json(*found) : "nothing";
}

Document shop() { return Document({.title = "Shop", .version = "1"}); }

// With one route of the handler.
template <class F>
Value document_with(F handler, const Operation& operation,
                    http::Method method = http::Method::post) {
  Router router;
  Document document = shop();
  document.describe(router).route(method, "/orders/{id}", handler, operation);
  for (const Error& each : document.mistakes()) ADD_FAILURE() << each.describe();
  return document.to_value();
}
const std::string post = "/paths/~1orders~1{id}/post";

Json<Order> take(Path<int>, Json<Order> order) { return order; }

std::string mistake_of(const std::function<void(Router&, Document&)>& add) {
  Router router;
  Document document = shop();
  document.serve(router);
  add(router, document);
  const auto built = std::move(router).build();
  return built ? "built" : built.error().describe();
}

TEST(OpenApiDocument, says_who_made_it_where_it_is_and_what_its_tags_are) {
  Document document({.title = "Shop",
                     .version = "1",
                     .summary = "Things",
                     .terms_of_service = "https://shop.example/terms",
                     .contact = {.name = "Ann", .email = "ann@shop.example"},
                     .license = {.name = "MIT", .identifier = "MIT"}});
  document.server(
      {.url = "https://{region}.shop.example",
       .description = "By region",
       .variables = {{.name = "region", .default_value = "eu", .values = {"eu", "us"}}}});
  document.tag({.name = "orders", .description = "Sold.", .docs = {.url = "https://x.example"}});
  document.external_docs({.url = "https://docs.example", .description = "All of it"});
  Router router;
  document.describe(router).tagged("things").get("/things", [] { return Reply(204); });
  const Value made = document.to_value();
  EXPECT_EQ(shown(made, "/info/contact"), R"({"name":"Ann","email":"ann@shop.example"})");
  EXPECT_EQ(shown(made, "/info/license"), R"({"name":"MIT","identifier":"MIT"})");
  EXPECT_EQ(shown(made, "/servers/0/variables/region"), R"({"default":"eu","enum":["eu","us"]})");
  EXPECT_EQ(
      shown(made, "/tags/0"),
      R"({"name":"orders","description":"Sold.","externalDocs":{"url":"https://x.example"}})");
  EXPECT_EQ(shown(made, "/tags/1"), R"({"name":"things"})");
  EXPECT_EQ(shown(made, "/paths/~1things/get/tags"), R"(["things"])");
  EXPECT_EQ(shown(made, "/externalDocs/description"), R"("All of it")");
}

TEST(OpenApiDocument, examples_have_names_wherever_they_stand) {
  Operation operation{
      .examples = {{.name = "small", .value = Object{{"id", 1}}, .summary = "One"}}};
  operation.replies = {json_reply<Order>(200, "It.")};
  operation.replies[0].examples = {{.name = "seven", .value = Object{{"id", 7}}}};
  operation.parameters = {{.name = "id", .description = "Whose.", .examples = {{"first", 1}}}};
  const Value made = document_with(take, operation);
  EXPECT_EQ(shown(made, post + "/requestBody/content/application~1json/examples"),
            R"({"small":{"summary":"One","value":{"id":1}}})");
  EXPECT_EQ(shown(made, post + "/responses/200/content/application~1json/examples/seven/value/id"),
            "7");
  EXPECT_EQ(shown(made, post + "/parameters/0/examples"), R"({"first":{"value":1}})");
  EXPECT_EQ(shown(made, post + "/parameters/0/description"), R"("Whose.")");
}

TEST(OpenApiDocument, what_is_deprecated_says_so) {
  Operation operation{.sunset = "2027-01-31"};
  operation.replies = {empty_reply(204, "Done.", {{.name = "X-Old", .deprecated = true}})};
  operation.fields = {{.name = "X-Odd", .deprecated = true}};
  const Value made =
      document_with([](Query<OldQuery>, Json<Order>) { return Reply(204); }, operation);
  EXPECT_EQ(shown(made, post + "/deprecated"), "true");
  EXPECT_EQ(shown(made, post + "/x-sunset"), R"("2027-01-31")");
  EXPECT_EQ(shown(made, post + "/parameters/1/name"), R"("id")");
  EXPECT_EQ(shown(made, post + "/parameters/0/deprecated"), "true");
  EXPECT_EQ(shown(made, post + "/parameters/2/deprecated"), "true");
  EXPECT_EQ(shown(made, post + "/responses/204/headers/X-Old/deprecated"), "true");
  EXPECT_EQ(shown(made, "/components/schemas/Order/properties/size"),
            R"({"type":"string","deprecated":true,"description":"Use width and height."})");
}

TEST(OpenApiDocument, fields_cookies_and_fields_of_replies_have_schemas) {
  Operation operation;
  operation.fields = {{.name = "X-Count", .schema = &schema_of<int>, .required = true},
                      {.name = "theme", .pattern = "^(dark|light)$", .in = "cookie"}};
  operation.replies = {empty_reply(
      204, "Done.", {{.name = "X-Left", .schema = &schema_of<std::uint8_t>, .required = true}})};
  const Value made = document_with([](Path<int>) { return Reply(204); }, operation);
  EXPECT_EQ(shown(made, post + "/parameters/1/required"), "true");
  EXPECT_EQ(shown(made, post + "/parameters/1/schema/type"), R"("integer")");
  EXPECT_EQ(shown(made, post + "/parameters/2/in"), R"("cookie")");
  EXPECT_EQ(shown(made, post + "/responses/204/headers/X-Left/schema/maximum"), "255");
  EXPECT_EQ(shown(made, post + "/responses/204/headers/X-Left/required"), "true");
}

TEST(OpenApiDocument, a_form_that_needs_a_file_is_multipart_alone) {
  Operation operation{.encodings = {{"picture", "image/png, image/jpeg"}}};
  const Value made =
      document_with([](Path<int>, FormFields<Upload>) { return Reply(204); }, operation);
  const std::string content = post + "/requestBody/content";
  EXPECT_EQ(made.at(content)->as_object().size(), 1u);
  EXPECT_EQ(shown(made, content + "/multipart~1form-data/encoding"),
            R"({"picture":{"contentType":"image/png, image/jpeg"}})");
  EXPECT_EQ(shown(made, content + "/multipart~1form-data/schema/required"), R"(["picture"])");
}

TEST(OpenApiDocument, a_patch_is_a_merge_patch_and_json) {
  const Value document = document_with([](Path<int>, Json<OrderPatch>) { return Reply(204); }, {},
                                       http::Method::patch);
  const std::string content = "/paths/~1orders~1{id}/patch/requestBody/content";
  const std::string schema = R"({"schema":{"$ref":"#/components/schemas/OrderPatch"}})";
  EXPECT_EQ(shown(document, content), R"({"application/merge-patch+json":)" + schema +
                                          R"(,"application/json":)" + schema + "}");
}

TEST(OpenApiDocument, content_of_several_media_types_has_each_of_them) {
  using Body = ContentOf<JsonOf<Order, "application/json", "application/merge-patch+json">,
                         RawOf<"text/csv">>;
  const Value document =
      document_with([](Path<int>, Body) { return Reply(204); }, {.example = Object{{"id", 1}}});
  const std::string content = post + "/requestBody/content";
  const std::string media =
      R"({"schema":{"$ref":"#/components/schemas/Order"},"example":{"id":1}})";
  EXPECT_EQ(shown(document, content + "/application~1json"), media);
  EXPECT_EQ(shown(document, content + "/application~1merge-patch+json"), media);
  EXPECT_EQ(document.at(content)->as_object().size(), 3u);
  EXPECT_EQ(document.at(content + "/text~1csv/schema/$ref"), nullptr);
  for (const char* const status : {"413", "415", "422"}) {
    EXPECT_NE(shown(document, post + "/responses/" + status), "nothing") << status;
  }
  const Value raw =
      document_with([](Path<int>, RawOf<"text/csv", "text/plain">) { return Reply(204); }, {});
  EXPECT_NE(shown(raw, post + "/responses/415"), "nothing");
  EXPECT_EQ(shown(raw, post + "/responses/422"), "nothing");
}

struct JsonQuery {
  std::optional<container::AsJson<Order>> order;
};
KATANA_DESCRIBE(JsonQuery, order)

TEST(OpenApiDocument, a_parameter_of_json_has_the_schema_of_its_content) {
  const Value document = document_with([](Path<int>, Query<JsonQuery>) { return Reply(204); }, {});
  EXPECT_EQ(shown(document, post + "/parameters/1/schema"),
            R"({"type":"string","contentMediaType":"application/json",)"
            R"("contentSchema":{"$ref":"#/components/schemas/Order"}})");
}

TEST(OpenApiDocument, streams_name_the_schema_of_their_items) {
  Operation operation;
  operation.replies = {events_reply<Order>("Orders as they come."),
                       json_lines_reply<Order>("The same as lines.")};
  operation.content = {{.type = "application/x-ndjson", .item = &schema_of<Order>}};
  const Value made = document_with([](Path<int>) { return Reply(204); }, operation);
  const std::string content = post + "/responses/200/content";
  EXPECT_EQ(shown(made, content + "/text~1event-stream/x-itemSchema/$ref"),
            R"("#/components/schemas/Order")");
  EXPECT_THAT(shown(made, content + "/text~1event-stream/schema/description"), HasSubstr("Order"));
  EXPECT_EQ(shown(made, content + "/application~1x-ndjson/schema/type"), R"("string")");
  EXPECT_EQ(shown(made, post + "/requestBody/content/application~1x-ndjson/x-itemSchema/$ref"),
            R"("#/components/schemas/Order")");
}

TEST(OpenApiDocument, content_that_the_handler_reads_itself_is_told) {
  Operation operation;
  operation.content = {{.type = "image/png"}, {.type = "image/jpeg"}};
  operation.replies = {file_reply("The picture.", "image/png")};
  const Value made = document_with([](Path<int>) { return Reply(204); }, operation);
  EXPECT_EQ(shown(made, post + "/requestBody/content/image~1jpeg/schema/format"), R"("binary")");
  EXPECT_EQ(shown(made, post + "/responses/200/content/image~1png/schema/format"), R"("binary")");
}

TEST(OpenApiDocument, requests_that_the_service_sends_are_callbacks_and_webhooks) {
  Operation operation;
  operation.callbacks = {{.name = "shipped",
                          .url = "{$request.body#/callback}",
                          .content = &schema_of<Order>,
                          .replies = {empty_reply(204, "Taken.")}}};
  operation.replies = {json_reply<Order>(200, "It.")};
  operation.replies[0].links = {
      {.name = "self", .operation_id = "getOrder", .parameters = {{"id", "$response.body#/id"}}}};
  Router router;
  Document document = shop();
  document.describe(router).post("/orders/{id}", take, operation);
  document.webhook({.name = "sold", .id = "onSold", .content = &schema_of<Order>});
  const Value made = document.to_value();
  EXPECT_EQ(shown(made, post + "/callbacks/shipped/{$request.body#~1callback}/post/responses/204"),
            R"({"description":"Taken."})");
  EXPECT_EQ(shown(made, "/webhooks/sold/post/operationId"), R"("onSold")");
  EXPECT_EQ(shown(made, "/webhooks/sold/post/requestBody/content/application~1json/schema/$ref"),
            R"("#/components/schemas/Order")");
  EXPECT_EQ(shown(made, post + "/responses/200/links/self/parameters/id"),
            R"("$response.body#/id")");
}

TEST(OpenApiDocument, every_kind_of_security_scheme_is_said_as_openapi_says_it) {
  using Kind = SecurityScheme::Kind;
  Document document = shop();
  document.security_scheme({.name = "sso", .kind = Kind::openid_connect, .detail = "https://id/"});
  document.security_scheme({.name = "key", .kind = Kind::query, .detail = "api_key"});
  document.security_scheme({.name = "login", .kind = Kind::cookie, .detail = "session"});
  document.security_scheme({.name = "cert", .kind = Kind::mutual_tls});
  document.security_scheme(
      {.name = "oauth",
       .kind = Kind::oauth2,
       .flows = {{.authorization_url = "https://id/a",
                  .token_url = "https://id/t",
                  .scopes = {{"read", "May read."}}},
                 {.kind = OAuthFlow::Kind::client_credentials, .token_url = "https://id/t"}}});
  EXPECT_EQ(shown(document.to_value(), "/components/securitySchemes"),
            R"({"cert":{"type":"mutualTLS"},)"
            R"("key":{"type":"apiKey","in":"query","name":"api_key"},)"
            R"("login":{"type":"apiKey","in":"cookie","name":"session"},)"
            R"("oauth":{"type":"oauth2","flows":{"authorizationCode":)"
            R"({"authorizationUrl":"https://id/a","tokenUrl":"https://id/t",)"
            R"("scopes":{"read":"May read."}},)"
            R"("clientCredentials":{"tokenUrl":"https://id/t","scopes":{}}}},)"
            R"("sso":{"type":"openIdConnect","openIdConnectUrl":"https://id/"}})");
}

// ---- problem types ----

constexpr ProblemType out_of_stock{.uri = "/problems/out-of-stock",
                                   .status = 409,
                                   .title = "Out of stock",
                                   .description = "There are none <left>."};
constexpr ProblemType elsewhere{
    .uri = "https://shop.example/problems/closed", .status = 503, .title = "Closed"};

struct Stock {
  int left = 0;
};
KATANA_DESCRIBE(Stock, left)

TEST(ProblemTypes, a_problem_has_its_type_and_members_of_its_own) {
  EXPECT_EQ(problem(out_of_stock, "No \"wheel\".").content(),
            R"({"type":"/problems/out-of-stock","title":"Out of stock","status":409,)"
            R"("detail":"No \"wheel\"."})");
  const Reply reply = problem(out_of_stock, "None.", Stock{3});
  EXPECT_EQ(reply.status(), 409u);
  EXPECT_EQ(reply.content_type(), "application/problem+json");
  EXPECT_THAT(std::string(reply.content()), HasSubstr(R"("detail":"None.","left":3})"));
}

TEST(ProblemTypes, the_catalogue_serves_a_page_for_each_and_the_document_names_them) {
  const ProblemTypes problems = {out_of_stock, elsewhere};
  Router router;
  problems.serve(router);
  Document document = shop();
  document.problem_types(problems);
  document.describe(router).post("/orders/{id}", take, {.types = {&out_of_stock, &elsewhere}});
  document.serve(router);
  const Value made = document.to_value();
  const std::string media = "/content/application~1problem+json";
  EXPECT_EQ(shown(made, post + "/responses/409" + media + "/schema/$ref"),
            R"("#/components/schemas/Problem")");
  EXPECT_EQ(shown(made, post + "/responses/409" + media + "/examples/out-of-stock/value/type"),
            R"("/problems/out-of-stock")");
  EXPECT_THAT(shown(made, post + "/responses/503/description"), HasSubstr("Closed"));
  testing::TestServer server(std::move(router).build());
  const auto page = server.get("/problems/out-of-stock");
  EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8");
  EXPECT_THAT(page.content(), HasSubstr("There are none &lt;left&gt;."));
}

// ---- mistakes, which build() reports ----

TEST(OpenApiMistakes, two_operations_of_one_id) {
  EXPECT_THAT(mistake_of([](Router& router, Document& document) {
                document.describe(router)
                    .get("/a", [] { return Reply(204); }, {.id = "x"})
                    .get("/b", [] { return Reply(204); }, {.id = "x"});
              }),
              HasSubstr("GET /b: the id 'x' is that of GET /a"));
}

TEST(OpenApiMistakes, what_is_said_of_something_that_is_not_there) {
  const auto none = [] { return Reply(204); };
  const auto with = [&](const Operation& operation) {
    return mistake_of([&](Router& router, Document& document) {
      document.describe(router).get("/a", none, operation);
    });
  };
  EXPECT_THAT(with({.parameters = {{.name = "q"}}}), HasSubstr("the parameter 'q'"));
  EXPECT_THAT(with({.types = {&out_of_stock}}), HasSubstr("is not in the catalogue"));
  EXPECT_THAT(with({.sunset = "soon"}), HasSubstr("sunset 'soon' is no date"));
  EXPECT_THAT(with({.audiences = {"partner"}}), HasSubstr("'partner', an audience"));
  EXPECT_THAT(with({.callbacks = {{.name = "c"}}}), HasSubstr("the callback 'c' has no url"));
  EXPECT_EQ(with({}), "built");
  EXPECT_THAT(mistake_of([](Router& router, Document& document) {
                document.describe(router).post("/a", [](FormFields<Upload>) { return Reply(204); },
                                               {.encodings = {{"photo", "image/png"}}});
              }),
              HasSubstr("the part 'photo'"));
  static constexpr ProblemType twin{
      .uri = "/problems/out-of-stock", .status = 200, .title = "Twin"};
  const std::string catalogue =
      mistake_of([](Router&, Document& document) { document.problem_types({out_of_stock, twin}); });
  EXPECT_THAT(catalogue, HasSubstr("two types have this uri"));
  EXPECT_THAT(catalogue, HasSubstr("its status is not of 400 to 599"));
}

// ---- served documents ----

TEST(OpenApiServed, is_the_document_of_all_routes_and_has_a_tag) {
  Router router;
  Document document = shop();
  document.serve(router);  // before there is any
  document.describe(router).get("/late", [] { return Reply(204); });
  auto built = std::move(router).build();
  ASSERT_TRUE(built) << built.error().describe();
  ASSERT_EQ(built->documents().size(), 1u);
  EXPECT_EQ(built->documents()[0].path, "/openapi.json");
  EXPECT_EQ(built->documents()[0].text, document.to_json());
  testing::TestServer server(std::move(built));
  const auto reply = server.get("/openapi.json");
  EXPECT_EQ(reply.content(), document.to_json());
  EXPECT_THAT(reply.content(), HasSubstr("/late"));
  EXPECT_EQ(reply.header("cache-control"), "no-cache");
  const std::string tag(reply.header("etag").value_or(""));
  EXPECT_EQ(server.get("/openapi.json", {{"If-None-Match", "\"x\", W/" + tag}}).status(), 304u);
  EXPECT_EQ(server.get("/openapi.json", {{"If-None-Match", "\"x\""}}).status(), 200u);
  EXPECT_EQ(
      server.get("/openapi.json", {{"If-None-Match", "\"x\""}, {"If-None-Match", tag}}).status(),
      304u);
  EXPECT_EQ(server.get("/openapi.json", {{"If-None-Match", "\"a,\" \t, " + tag}}).status(), 304u);
  EXPECT_EQ(server.get("/openapi.json", {{"If-Match", "\"x\""}}).status(), 412u);
  EXPECT_EQ(server.get("/openapi.json", {{"If-Match", tag}}).status(), 200u);
}

TEST(OpenApiServed, a_route_is_in_the_documents_of_its_audience) {
  Router router;
  Document open({.title = "Shop", .version = "1"}, "public");
  Document partners({.title = "Shop for partners", .version = "1"}, "partner");
  partners.audience("partner");
  Routes routes = describe(router.group("/api"), {open, partners});
  routes.get("/items", [] { return Reply(204); });
  routes.post("/orders", [](Json<Order> order) { return order; }, {.audiences = {"partner"}});
  EXPECT_NE(open.to_value().at("/paths/~1api~1items"), nullptr);
  EXPECT_EQ(open.to_value().at("/paths/~1api~1orders"), nullptr);
  EXPECT_EQ(open.to_value().at("/components/schemas/Order"), nullptr);
  EXPECT_NE(partners.to_value().at("/paths/~1api~1items"), nullptr);
  EXPECT_NE(partners.to_value().at("/paths/~1api~1orders"), nullptr);
  open.serve(router);
  partners.serve(router, "/partners.json");
  auto built = std::move(router).build();
  ASSERT_TRUE(built) << built.error().describe();
  EXPECT_EQ(built->documents()[1].name, "partner");
}

// ---- its text ----

TEST(OpenApiText, is_the_same_whatever_the_order_in_which_types_are_met) {
  const auto components_of = [](bool reverse) {
    Router router;
    Document document = shop();
    Routes routes = document.describe(router);
    const auto add = [&](bool first) {
      if (first) routes.get("/a", [](Path<int>) { return Json(Order()); }, {.id = "a"});
      if (!first) routes.get("/b", [](Path<int>) { return Json(Stock()); }, {.id = "b"});
    };
    add(!reverse);
    add(reverse);
    return shown(document.to_value(), "/components");
  };
  EXPECT_EQ(components_of(false), components_of(true));
}

TEST(OpenApiText, is_indented_for_a_file) {
  EXPECT_EQ(indented(Object{{"a", List{1, Object()}}, {"b", List()}, {"c", Object{{"d", "é\n"}}}}),
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": [],\n  \"c\": {\n    \"d\": "
            "\"é\\n\"\n  }\n}\n");
  EXPECT_TRUE(shop().to_text().ends_with("\n}\n"));
}

TEST(OpenApiText, is_said_as_3_0_says_it_where_that_is_wanted) {
  using Kind = SecurityScheme::Kind;
  const auto of = [](SecurityDocumentation words) {
    return Middleware{.security = std::make_shared<const SecurityDocumentation>(std::move(words))};
  };
  Router router;
  router.use(of({.schemes = {{.name = "bearer", .detail = "bearer"},
                             {.name = "cert", .kind = Kind::mutual_tls}},
                 .scopes = {"read"}}));
  Document document({.title = "Shop",
                     .version = "1",
                     .summary = "Things",
                     .license = {.name = "MIT", .identifier = "MIT"}});
  document.webhook({.name = "sold", .content = &schema_of<Order>});
  document.describe(router).post(
      "/orders/{id}", take, {.example = Object{{"const", 1}, {"type", List{"string", "null"}}}});
  const Value made = document.to_value(Specification::v3_0);
  EXPECT_EQ(shown(made, "/openapi"), R"("3.0.3")");
  EXPECT_EQ(made.at("/webhooks"), nullptr);
  EXPECT_EQ(made.at("/info/summary"), nullptr);
  EXPECT_EQ(shown(made, "/info/license"), R"({"name":"MIT"})");
  EXPECT_EQ(shown(made, "/components/schemas/Order/properties/note"),
            R"({"type":"string","nullable":true})");
  EXPECT_EQ(shown(made, "/components/securitySchemes"),
            R"({"bearer":{"type":"http","scheme":"bearer"}})");
  EXPECT_EQ(shown(made, post + "/security"), R"([{"bearer":[]}])");
  EXPECT_EQ(shown(made, post + "/requestBody/content/application~1json/example"),
            R"({"const":1,"type":["string","null"]})");
}

}  // namespace
}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
