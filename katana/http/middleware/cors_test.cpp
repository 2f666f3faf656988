#include "katana/http/middleware/cors.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/http/handlers/router.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

class CorsTest : public ::testing::Test {
 protected:
  void serve(CorsOptions options) {
    auto shared = cors(std::move(options));
    ASSERT_TRUE(shared) << shared.error().describe();
    Router router;
    router.use(*shared).get("/x", [] { return Reply::text("x"); }).put("/x", [] {
      return Reply(204);
    });
    server_.emplace(std::move(router).build());
  }
  // The fields of the reply for CORS: lines in their order.
  std::string ask(std::string_view method, std::string_view target,
                  const testing::TestFields& fields) {
    reply_ = server_->send(method, target, {}, fields);
    std::string lines;
    for (const auto& [name, value] : reply_.headers()) {
      if (name == "Vary" || name.starts_with("Access-Control-")) {
        lines += name + ": " + value + "\r\n";
      }
    }
    return lines;
  }

  std::optional<testing::TestServer> server_;
  testing::TestReply reply_{std::string("nothing was asked")};
};

TEST_F(CorsTest, an_origin_that_is_allowed_is_named_and_another_one_is_not) {
  serve({.origins = {"https://a.example", "http://b.example:8080"},
         .credentials = true,
         .reply_fields = {"ETag"}});
  EXPECT_EQ(ask("GET", "/x", {{"Origin", "http://b.example:8080"}}),
            "Vary: Origin\r\nAccess-Control-Allow-Origin: http://b.example:8080\r\n"
            "Access-Control-Allow-Credentials: true\r\nAccess-Control-Expose-Headers: ETag\r\n");
  EXPECT_EQ(reply_.content(), "x");
  for (const char* origin : {"https://a.example.evil", "https://evil", "null", "HTTPS://A.EXAMPLE",
                             "https://a.example:443", "*"}) {
    EXPECT_EQ(ask("GET", "/x", {{"Origin", origin}}), "Vary: Origin\r\n");
    EXPECT_EQ(reply_.status(), 200u);
  }
  EXPECT_EQ(ask("GET", "/x", {}), "Vary: Origin\r\n");
}

TEST_F(CorsTest, any_origin_is_a_star_and_depends_on_nothing) {
  serve({.origins = {"*"}});
  EXPECT_EQ(ask("GET", "/x", {{"Origin", "https://anything"}}),
            "Access-Control-Allow-Origin: *\r\n");
}

TEST_F(CorsTest, a_preflight_is_told_what_the_path_serves) {
  serve({.origins = {"https://a"}, .request_fields = {"Content-Type", "X-Token"}});
  const std::string fields = ask("OPTIONS", "/x",
                                 {{"Origin", "https://a"},
                                  {"Access-Control-Request-Method", "PUT"},
                                  {"Access-Control-Request-Headers", "x-token,content-type"}});
  EXPECT_EQ(reply_.status(), 204u);
  EXPECT_NE(fields.find("Access-Control-Allow-Origin: https://a\r\n"), std::string::npos);
  EXPECT_NE(fields.find("Access-Control-Allow-Methods: GET, HEAD, PUT, OPTIONS\r\n"),
            std::string::npos)
      << fields;
  EXPECT_NE(fields.find("Access-Control-Allow-Headers: Content-Type, X-Token\r\n"),
            std::string::npos);
  EXPECT_NE(fields.find("Access-Control-Max-Age: 600\r\n"), std::string::npos);
  EXPECT_NE(fields.find("Vary: Access-Control-Request-Method, Access-Control-Request-Headers\r\n"),
            std::string::npos);
}

TEST_F(CorsTest, a_preflight_for_what_is_not_allowed_gets_no_permission) {
  serve({.origins = {"https://a"}});
  const auto permits = [&](std::string_view target, const testing::TestFields& fields) {
    return ask("OPTIONS", target, fields).find("Access-Control-Allow") != std::string::npos;
  };
  const std::pair<std::string, std::string> method{"Access-Control-Request-Method", "PUT"};
  EXPECT_TRUE(permits("/x", {{"Origin", "https://a"}, method}));
  EXPECT_FALSE(permits("/x", {{"Origin", "https://b"}, method}));
  EXPECT_FALSE(permits("/nothing", {{"Origin", "https://a"}, method}));
  EXPECT_FALSE(permits(
      "/x", {{"Origin", "https://a"}, method, {"Access-Control-Request-Headers", "x-other"}}));
}

// A star is a wildcard only in requests without credentials.
TEST_F(CorsTest, an_options_request_that_a_handler_answers_itself_is_no_preflight) {
  auto shared = cors({.origins = {"https://a.example"}});
  ASSERT_TRUE(shared) << shared.error().describe();
  Router router;
  router.use(*shared).any("/own", [](const RequestView&) { return Reply(204); });
  server_.emplace(std::move(router).build());
  const std::string lines =
      ask("OPTIONS", "/own",
          {{"Origin", "https://a.example"}, {"Access-Control-Request-Method", "PUT"}});
  EXPECT_EQ(reply_.status(), 204u);
  EXPECT_EQ(lines.find("Access-Control-Allow-Methods"), std::string::npos) << lines;
}

TEST_F(CorsTest, with_credentials_the_headers_that_are_asked_for_are_named) {
  serve({.origins = {"https://a"}, .credentials = true, .request_fields = {"*"}});
  const std::string fields = ask("OPTIONS", "/x",
                                 {{"Origin", "https://a"},
                                  {"Access-Control-Request-Method", "PUT"},
                                  {"Access-Control-Request-Headers", "authorization,x-any"}});
  EXPECT_NE(fields.find("Access-Control-Allow-Headers: authorization,x-any\r\n"), std::string::npos)
      << fields;
  EXPECT_EQ(fields.find('*'), std::string::npos) << fields;
  for (const std::vector<std::string>& star : {std::vector<std::string>{"*"}, {"ETag", "*"}}) {
    EXPECT_FALSE(cors({.origins = {"https://a"}, .credentials = true, .reply_fields = star}));
    EXPECT_TRUE(cors({.origins = {"https://a"}, .reply_fields = star}));
  }
}

TEST(Cors, what_a_browser_would_not_accept_is_an_error) {
  const std::vector<CorsOptions> wrong = {{.origins = {}},
                                          {.origins = {"*"}, .credentials = true},
                                          {.origins = {"example.org"}},
                                          {.origins = {"https://example.org/"}},
                                          {.origins = {"https://Example.org"}},
                                          {.origins = {"https://a", "*"}},
                                          {.origins = {"https://a"}, .request_fields = {"a b"}},
                                          {.origins = {"https://a"}, .reply_fields = {""}}};
  for (const CorsOptions& each : wrong) EXPECT_FALSE(cors(each));
  EXPECT_NE(cors(wrong[2]).error().describe().find("'example.org' is no origin"),
            std::string::npos);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
