#include "katana/http/handlers/error_documents.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "katana/base/values/rules.hpp"
#include "katana/http/handlers/accept.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/handlers/problem_type.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

constexpr const char* browser_accept =
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

constexpr ProblemType sold_out_problem{
    .uri = "/problems/sold-out", .status = 409, .title = "Sold out", .description = "No more."};

testing::TestServer serve_with(ErrorForm form) {
  Router router;
  router.error_documents(std::move(form));
  router.get("/sold-out", [] { return problem(sold_out_problem, "All <10> are sold."); });
  router.get("/number/{n}", [](Path<int>) { return Reply(204); });
  router.get("/throws", []() -> Reply { throw std::runtime_error("a secret"); });
  router.get("/busy", [] { return problem(503, "Busy.").with("Retry-After", "7"); });
  router.get("/internal",
             []() -> Result<Reply> { return fail(Code::internal, "a table is missing"); });
  router.get("/fine", [] { return Reply::text("fine"); });
  router.get("/own", [] { return Reply(404, "application/json", Text("{}")); });
  return testing::TestServer(std::move(router).build());
}

TEST(ErrorDocuments, a_browser_gets_a_page_for_each_error_whatever_made_it) {
  testing::TestServer server = serve_with(html_error_pages("Call 555."));
  for (const auto& [path, status, text] :
       {std::tuple{"/sold-out", 409u, "All &lt;10&gt; are sold."},
        {"/number/x", 400u, "whole number"},
        {"/throws", 500u, "The server failed"},
        {"/internal", 500u, "The server failed"},
        {"/nowhere", 404u, "No route matches"}}) {
    const testing::TestReply reply = server.get(path, {{"Accept", browser_accept}});
    EXPECT_EQ(reply.status(), status) << path;
    EXPECT_EQ(reply.header("Content-Type"), "text/html; charset=utf-8") << path;
    EXPECT_EQ(reply.header("Vary"), "Accept") << path;
    EXPECT_NE(reply.content().find(text), std::string::npos) << reply.content();
    EXPECT_NE(reply.content().find("Call 555."), std::string::npos) << path;
    EXPECT_EQ(reply.content().find("secret"), std::string::npos) << path;
  }
}

TEST(ErrorDocuments, others_get_the_document_and_caches_are_told) {
  testing::TestServer server = serve_with(html_error_pages());
  for (const char* const accept : {"application/json", "*/*", "application/json, text/html"}) {
    const testing::TestReply reply = server.get("/sold-out", {{"Accept", accept}});
    EXPECT_EQ(reply.header("Content-Type"), "application/problem+json") << accept;
    EXPECT_EQ(reply.header("Vary"), "Accept") << accept;
  }
  EXPECT_FALSE(server.get("/fine", {{"Accept", browser_accept}}).header("Vary"));
  EXPECT_EQ(server.get("/own", {{"Accept", browser_accept}}).content(), "{}");
}

TEST(ErrorDocuments, the_fields_of_the_document_stay_and_a_form_may_lead_elsewhere) {
  testing::TestServer server =
      serve_with([](const ProblemView& problem, const RequestView& request) {
        EXPECT_EQ(request.method(), http::Method::get);
        if (problem.status == 404) return std::optional(Reply::redirect("/"));
        if (problem.status == 400) return std::optional<Reply>();
        return std::optional(Reply::text(
            format_text("{}|{}|{}", problem.title, problem.detail, problem.document.size() > 10)));
      });
  EXPECT_EQ(server.get("/sold-out").content(), "Sold out|All <10> are sold.|true");
  EXPECT_EQ(server.get("/sold-out").status(), 409u);
  EXPECT_EQ(server.get("/busy").status(), 503u);
  EXPECT_EQ(server.get("/busy").header("Retry-After"), "7");
  EXPECT_EQ(server.get("/nowhere").status(), 303u);
  EXPECT_EQ(server.get("/number/x").header("Content-Type"), "application/problem+json");
}

struct Order {
  std::string name;
  int count = 0;
};
KATANA_DESCRIBE(Order, (name, length(1, 5)), (count, at_least(1)))

TEST(ErrorDocuments, a_form_has_what_is_wrong_with_each_part) {
  Router router;
  router.post("/orders", [](Json<Order>) { return Reply::no_content(); });
  router.get("/other", [] {
    return Reply(400, "application/problem+json", Text(R"({"title":"a","errors":["b"]})"));
  });
  router.error_documents([](const ProblemView& problem, const RequestView&) {
    std::string all;
    for (const ProblemFinding& each : problem.findings)
      all += each.pointer + " " + each.detail + ";";
    return std::optional(Reply::text(Text(all)));
  });
  testing::TestServer server(std::move(router).build());
  const auto refused = server.post("/orders", R"({"name":"","count":0})");
  EXPECT_EQ(refused.status(), 422u);
  EXPECT_EQ(refused.content(),
            "/name expected 1 to 5 characters, got 0;/count expected at least 1, got 0;");
  EXPECT_EQ(server.get("/other").content(), "") << "of another form";
  EXPECT_EQ(server.get("/nowhere").content(), "");
}

TEST(PrefersHtml, is_what_a_browser_that_follows_a_link_accepts) {
  for (const char* const yes :
       {browser_accept, "text/html", "text/html, */*", "*/*;q=0.1, TEXT/HTML;q=0.2",
        "text/html;q=0.9, application/json;q=0.8"}) {
    EXPECT_TRUE(prefers_html(yes)) << yes;
  }
  for (const char* const no :
       {"", "*/*", "text/*", "application/json", "text/html;q=0", "text/html, application/json",
        "text/html;q=0.8, application/json;q=0.9", "text/html;q=0.5, application/problem+json"}) {
    EXPECT_FALSE(prefers_html(no)) << no;
  }
  EXPECT_FALSE(prefers_html(std::nullopt));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
