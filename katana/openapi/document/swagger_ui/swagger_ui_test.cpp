#include "katana/openapi/document/swagger_ui/swagger_ui.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "katana/openapi/document/openapi.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::openapi {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// "hello" in gzip.
constexpr Bytes hello(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\x07\x00\x86\xa6\x10\x36"
    "\x05\x00\x00\x00",
    25);

DocsAssets assets() {
  DocsAssets made;
  made.version = "v7";
  made.files = {{"swagger-ui-bundle.js", hello}, {"oauth2-redirect.html", hello}};
  return made;
}

Result<Service> service_with(const DocsAssets& given, const DocsPageOptions& options = {}) {
  Router router;
  docs_page(router, given, options);  // before the documents
  Document({.title = "Shop", .version = "1"}, "public").serve(router);
  Document({.title = "Partners", .version = "1"}, "partner \"x\"").serve(router, "/partners.json");
  Document({.title = "Kept", .version = "1"}, "kept").keep(router);
  return std::move(router).build();
}

TEST(DocsPage, names_every_document_that_is_served_and_no_other) {
  testing::TestServer server(service_with(assets()));
  const auto page = server.get("/docs");
  EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8");
  EXPECT_THAT(page.content(), HasSubstr("/openapi.json"));
  EXPECT_THAT(page.content(), HasSubstr("/partners.json"));
  EXPECT_THAT(page.content(), HasSubstr("partner \\&quot;x\\&quot;"));
  EXPECT_THAT(page.content(), Not(HasSubstr("kept")));
  EXPECT_THAT(page.content(), HasSubstr("/docs/v7/swagger-ui-bundle.js"));
}

TEST(DocsPage, its_policy_allows_no_inline_script_and_only_origins_that_are_named) {
  testing::TestServer server(service_with(assets(), {.origins = {"https://api.example"}}));
  const std::string policy(server.get("/docs").header("content-security-policy").value_or(""));
  EXPECT_THAT(policy, HasSubstr("script-src 'self';"));
  EXPECT_THAT(policy, HasSubstr("connect-src 'self' https://api.example;"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
}

TEST(DocsPage, a_file_is_decoded_for_a_client_that_takes_no_gzip) {
  testing::TestServer server(service_with(assets()));
  const auto plain = server.get("/docs/v7/swagger-ui-bundle.js");
  EXPECT_EQ(plain.content(), "hello");
  EXPECT_EQ(plain.header("content-encoding"), std::nullopt);
  EXPECT_EQ(plain.header("vary"), "Accept-Encoding");
  const auto packed = server.get("/docs/v7/swagger-ui-bundle.js", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(packed.header("content-encoding"), "gzip");
  EXPECT_EQ(packed.content(), hello);
  EXPECT_THAT(std::string(packed.header("cache-control").value_or("")), HasSubstr("immutable"));
  EXPECT_NE(packed.header("etag"), plain.header("etag")) << "strong tags of two codings";
  const auto again = [&](const auto& known, const char* coding) {
    return server
        .get("/docs/v7/swagger-ui-bundle.js",
             {{"If-None-Match", std::string(*known.header("etag"))}, {"Accept-Encoding", coding}})
        .status();
  };
  EXPECT_EQ(again(plain, "identity"), 304u);
  EXPECT_EQ(again(packed, "gzip"), 304u);
  EXPECT_EQ(again(plain, "gzip"), 200u);
  EXPECT_EQ(server.get("/docs/oauth2-redirect.html").content(), "hello");
}

TEST(DocsPage, without_the_files_it_says_what_to_install) {
  testing::TestServer server(service_with({.remedy = "Install it."}));
  const auto page = server.get("/docs");
  EXPECT_EQ(page.status(), 503u);
  EXPECT_THAT(page.content(), HasSubstr("Install it."));
}

TEST(SwaggerUi, has_its_files_whole_or_none_and_a_remedy) {
  const DocsAssets made = swagger_ui();
  EXPECT_THAT(std::string(made.remedy), HasSubstr("KATANA_SWAGGER_UI"));
  for (const DocsFile& each : made.files) EXPECT_TRUE(each.content.starts_with("\x1f\x8b"));
  EXPECT_TRUE(made.files.empty() || made.files.size() == 5);
}

}  // namespace
}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
