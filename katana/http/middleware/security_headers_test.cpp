#include "katana/http/middleware/security_headers.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "katana/http/handlers/html.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

testing::TestServer server_with(SecurityHeaderOptions options) {
  Router router;
  router.use(security_headers(std::move(options)));
  router.get("/", [] { return Reply::text("x"); });
  router.get("/own", [] { return Reply::text("x").with("x-frame-options", "SAMEORIGIN"); });
  return testing::TestServer(std::move(router).build());
}
std::size_t count_of(const testing::TestReply& reply, std::string_view name) {
  std::size_t count = 0;
  for (const auto& [each, value] : reply.headers()) {
    count += http::equals_ignoring_case(each, name) ? 1 : 0;
  }
  return count;
}

TEST(SecurityHeaders, are_on_every_reply_also_where_nothing_is_served) {
  testing::TestServer server = server_with({});
  for (const char* target : {"/", "/nothing"}) {
    const auto reply = server.get(target);
    EXPECT_EQ(reply.header("X-Content-Type-Options"), "nosniff") << reply;
    EXPECT_EQ(reply.header("X-Frame-Options"), "DENY");
    EXPECT_EQ(reply.header("Referrer-Policy"), "strict-origin-when-cross-origin");
    EXPECT_EQ(reply.header("Cross-Origin-Opener-Policy"), "same-origin");
    EXPECT_EQ(reply.header("Cross-Origin-Resource-Policy"), "same-origin");
    EXPECT_FALSE(reply.header("Cross-Origin-Embedder-Policy"));
    EXPECT_EQ(reply.header("Content-Security-Policy"),
              "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
              "frame-ancestors 'none'");
    EXPECT_FALSE(reply.header("Strict-Transport-Security"));
  }
}

TEST(SecurityHeaders, of_a_handler_are_left_as_they_are) {
  testing::TestServer server = server_with({});
  const auto reply = server.get("/own");
  EXPECT_EQ(reply.header("X-Frame-Options"), "SAMEORIGIN");
  EXPECT_EQ(count_of(reply, "X-Frame-Options"), 1u);
  EXPECT_EQ(reply.header("X-Content-Type-Options"), "nosniff");
}

TEST(SecurityHeaders, say_hsts_only_to_who_came_by_tls) {
  testing::TestServer server = server_with(
      {.hsts = seconds(3600), .is_https = [](const RequestView& request, session::Exchange&) {
         return request.field("x-scheme") == "https";
       }});
  EXPECT_FALSE(server.get("/").header("Strict-Transport-Security"));
  EXPECT_EQ(server.get("/", {{"X-Scheme", "https"}}).header("Strict-Transport-Security"),
            "max-age=3600");
}

TEST(SecurityHeaders, have_a_nonce_for_each_reply_that_the_page_has_too) {
  SecurityHeaderOptions options;
  options.policy.allow(CspDirective::script_src, {CspSource::nonce(), CspSource::strict_dynamic()});
  Router router;
  router.use(security_headers(options));
  router.get("/", [](FromContext<CspNonce> nonce) {
    return html(R"(<script nonce="{}"></script>)", nonce->text());
  });
  testing::TestServer server(std::move(router).build());
  std::set<std::string> seen;
  for (int count = 0; count < 3; ++count) {
    const auto reply = server.get("/");
    const std::string& page = reply.content();
    const std::size_t from = page.find("nonce=\"") + 7;
    const std::string nonce = page.substr(from, page.find('"', from) - from);
    EXPECT_EQ(nonce.size(), 22u) << reply;
    const std::string policy(reply.header("Content-Security-Policy").value_or(""));
    EXPECT_NE(policy.find("script-src 'nonce-" + nonce + "' 'strict-dynamic'"), std::string::npos)
        << policy;
    EXPECT_TRUE(seen.insert(nonce).second);
  }
  EXPECT_NE(server.get("/nothing").header("Content-Security-Policy")->find("'nonce-"),
            std::string_view::npos);
}

TEST(SecurityHeaders, that_could_not_stand_in_a_field_are_an_error_of_build) {
  const auto problem = [](const SecurityHeaderOptions& options) {
    Router router;
    router.use(security_headers(options)).get("/", [] { return Reply(204); });
    const auto built = std::move(router).build();
    return built ? std::string() : built.error().describe();
  };
  SecurityHeaderOptions options;
  EXPECT_EQ(problem(options), "");
  options.referrer_policy = "no\r\nX: y";
  EXPECT_NE(problem(options).find("Referrer-Policy"), std::string::npos);
  options = {};
  options.policy.allow(CspDirective::img_src, {CspSource::host("https://a.example; script-src *")});
  EXPECT_NE(problem(options).find("img-src"), std::string::npos);
}

std::string written(const Result<ContentSecurityPolicy>& policy) {
  if (!policy) return policy.error().describe();
  std::string text;
  for (const std::string& part : policy->parts()) text += (text.empty() ? "" : "N") + part;
  return text;
}

TEST(PolicyOf, text_is_written_as_it_was_read) {
  for (const char* text :
       {"default-src 'self'", "script-src 'self' 'sha256-AbC+/=' https://cdn.example:8443/x",
        "img-src 'self' data: blob: *.example; upgrade-insecure-requests",
        "img-src host9.example:9009", ""}) {
    EXPECT_EQ(written(ContentSecurityPolicy::parse(text)), text);
  }
  EXPECT_EQ(written(ContentSecurityPolicy::parse(" Script-Src  'nonce' ;; img-src 'none' 'self'")),
            "script-src 'nonce-N'; img-src 'self'");
  EXPECT_EQ(written(ContentSecurityPolicy::parse("img-src a.example 'self' a.example")),
            "img-src a.example 'self'")
      << "a source is named once";
}

TEST(PolicyOf, text_that_browsers_would_take_otherwise_is_refused) {
  EXPECT_NE(written(ContentSecurityPolicy::parse("scrip-src 'self'")).find("'scrip-src'"),
            std::string::npos);
  EXPECT_NE(written(ContentSecurityPolicy::parse("img-src a; img-src b")).find("twice"),
            std::string::npos);
  for (const char* source : {"'selv'", "self\"", "'nonce-abc'", "a,b", "'sha256-'", "'sha1-aa'",
                             "'sha256-a$b'", "'sha256-a'b'"}) {
    EXPECT_NE(written(ContentSecurityPolicy::parse("img-src " + std::string(source)))
                  .find("is no source"),
              std::string::npos)
        << source;
  }
  EXPECT_NE(written(ContentSecurityPolicy::parse("upgrade-insecure-requests a")).find("no sources"),
            std::string::npos);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
