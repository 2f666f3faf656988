#include "katana/http/handlers/dispatcher.hpp"

#include <gtest/gtest.h>

#include <string>

#include "katana/http/handlers/exchange_fixture_test.hpp"

namespace katana {
namespace {

class DispatcherTest : public ::testing::Test {
 protected:
  DispatcherTest()
      : service(make_service([](Router& router) {
          router.get("/", [] { return Reply::text("root"); });
          router.get("/users/{id}", [](const RequestView& request, Path<std::string> id) {
            return Reply::text(format_text("{} {} [{}]", request.path(), *id, request.query()));
          });
          router.post("/users", [](const RequestView& request) {
            return Reply(201, "text/plain", Text(request.content()));
          });
          router.delete_("/users/{_id}", [] { return Reply(204); });
          router.any("/any", [](const RequestView& request) {
            return Reply::text(Text(request.method_text()));
          });
        })),
        dispatcher(service) {}

  FakeExchange& serve(std::string_view method, std::string_view target) {
    exchange.emplace(method, target);
    exchange->serve(dispatcher);
    return *exchange;
  }
  std::string detail() {
    const auto members = JsonObject::parse(exchange->content_sent);
    EXPECT_TRUE(members) << exchange->content_sent;
    EXPECT_EQ(exchange->type_sent, "application/problem+json");
    return members ? members->at("detail") : "";
  }

  Service service;
  Dispatcher dispatcher;
  std::optional<FakeExchange> exchange;
};

// ---- targets ----

TEST_F(DispatcherTest, a_plain_path_reaches_its_handler) {
  EXPECT_EQ(serve("GET", "/").content_sent, "root");
  EXPECT_EQ(serve("GET", "/users/7").content_sent, "/users/7 7 []");
}

TEST_F(DispatcherTest, a_query_is_no_part_of_the_path) {
  EXPECT_EQ(serve("GET", "/users/7?a=%2F..&b").content_sent, "/users/7 7 [a=%2F..&b]");
  EXPECT_EQ(serve("GET", "/?").content_sent, "root");
}

TEST_F(DispatcherTest, an_encoded_path_is_routed_by_what_it_means) {
  EXPECT_EQ(serve("GET", "/%75sers/7").content_sent, "/users/7 7 []");
  EXPECT_EQ(serve("GET", "/users/a%20b").content_sent, "/users/a b a b []");
  EXPECT_EQ(serve("GET", "/users/a%2Fb").content_sent, "/users/a%2Fb a/b []");
  EXPECT_EQ(serve("GET", "/x/../users/./7").content_sent, "/users/7 7 []");
  EXPECT_EQ(serve("GET", "/%2e%2e/users/7?q").content_sent, "/users/7 7 [q]");
}

TEST_F(DispatcherTest, an_encoded_slash_makes_no_segment) {
  EXPECT_EQ(serve("GET", "/users%2F7").status, 404u);
}

TEST_F(DispatcherTest, a_malformed_path_is_400) {
  for (const std::string_view target : {"/%", "/%4", "/%zz", "/a%00", "/[x]", "/users/%"}) {
    EXPECT_EQ(serve("GET", target).status, 400u) << target;
    EXPECT_NE(detail().find("path"), std::string::npos);
  }
}

TEST_F(DispatcherTest, a_target_in_no_form_that_the_method_allows_is_400) {
  for (const auto& [method, target] :
       {std::pair{"GET", "users"}, std::pair{"GET", "*"}, std::pair{"CONNECT", "/"},
        std::pair{"GET", "host:80"}, std::pair{"GET", "http://"}, std::pair{"POST", ""}}) {
    EXPECT_EQ(serve(method, target).status, 400u) << method << ' ' << target;
    EXPECT_NE(detail().find("RFC 9112"), std::string::npos);
  }
}

TEST_F(DispatcherTest, an_absolute_target_is_served_by_its_path) {
  EXPECT_EQ(serve("GET", "http://example/users/7?q").content_sent, "/users/7 7 [q]");
  EXPECT_EQ(serve("GET", "http://example").content_sent, "root");
  EXPECT_EQ(serve("GET", "http://example?q").content_sent, "root");
  EXPECT_EQ(serve("GET", "http://example/users/a%20b").content_sent, "/users/a b a b []");
}

// RFC 9110 §7.4
TEST_F(DispatcherTest, a_target_of_https_needs_tls_or_a_trusted_proxy) {
  EXPECT_EQ(serve("GET", "HTTPS://example:8443/").status, 421u);
  EXPECT_NE(detail().find("no TLS"), std::string::npos);
  FakeExchange by_tls("GET", "HTTPS://example:8443/");
  by_tls.is_secure_ = true;
  by_tls.serve(dispatcher);
  EXPECT_EQ(by_tls.content_sent, "root");
  const Network proxies[] = {*Network::parse("192.0.2.0/24")};
  FakeExchange by_proxy("GET", "HTTPS://example:8443/");
  by_proxy.trust_ = session::ProxyTrust::make(proxies, {});
  by_proxy.serve(dispatcher);
  EXPECT_EQ(by_proxy.content_sent, "root");
}

TEST_F(DispatcherTest, an_unknown_scheme_is_421) {
  EXPECT_EQ(serve("GET", "ftp://example/").status, 421u);
  EXPECT_NE(detail().find("http"), std::string::npos);
}

TEST_F(DispatcherTest, connect_is_501) {
  EXPECT_EQ(serve("CONNECT", "example:443").status, 501u);
  EXPECT_NE(detail().find("CONNECT"), std::string::npos);
}

TEST_F(DispatcherTest, options_of_the_whole_server_names_methods) {
  EXPECT_EQ(serve("OPTIONS", "*").status, 204u);
  EXPECT_NE(exchange->fields_sent.find("Allow: GET, HEAD"), std::string::npos);
  EXPECT_EQ(exchange->content_sent, "");
}

// ---- routes ----

TEST_F(DispatcherTest, an_unknown_path_is_404) {
  EXPECT_EQ(serve("GET", "/nowhere").status, 404u);
  EXPECT_EQ(detail(), "No route matches GET /nowhere.");
  EXPECT_EQ(serve("HEAD", "/nowhere").status, 404u);
  EXPECT_EQ(detail(), "No route matches GET /nowhere.");
  EXPECT_EQ(serve("DELETE", "/nowhere/%ff?token=secret").status, 404u);
  EXPECT_EQ(detail(), "No route matches DELETE /nowhere/%ff.");
  EXPECT_EQ(serve("GET", "/" + std::string(300, 'a')).status, 404u);
  EXPECT_EQ(detail(), "No route matches GET /" + std::string(199, 'a') + "….");
  EXPECT_EQ(serve("GET", "/users/").status, 404u);
  EXPECT_EQ(exchange->failures, 0);
}

TEST_F(DispatcherTest, a_method_that_a_path_lacks_is_405_and_names_those_it_has) {
  EXPECT_EQ(serve("PUT", "/users/7").status, 405u);
  EXPECT_EQ(exchange->fields_sent, "Allow: GET, HEAD, DELETE, OPTIONS\r\n");
  EXPECT_FALSE(detail().empty());
  EXPECT_EQ(serve("GET", "/users").fields_sent, "Allow: POST, OPTIONS\r\n");
  EXPECT_EQ(serve("BREW", "/users").status, 405u);
}

TEST_F(DispatcherTest, head_is_served_by_get) {
  EXPECT_EQ(serve("HEAD", "/users/7").status, 200u);
  EXPECT_EQ(exchange->content_sent, "/users/7 7 []");  // the protocol leaves this out later
}

TEST_F(DispatcherTest, options_of_a_path_is_answered_from_its_routes) {
  EXPECT_EQ(serve("OPTIONS", "/users/7").status, 204u);
  EXPECT_EQ(exchange->fields_sent, "Allow: GET, HEAD, DELETE, OPTIONS\r\n");
  EXPECT_EQ(exchange->content_sent, "");
  EXPECT_EQ(serve("OPTIONS", "/nowhere").status, 404u);
}

TEST_F(DispatcherTest, a_route_for_any_method_gets_them_all) {
  for (const std::string_view method : {"GET", "OPTIONS", "TRACE", "BREW"}) {
    EXPECT_EQ(serve(method, "/any").content_sent, method);
  }
}

// ---- content ----

TEST_F(DispatcherTest, content_is_collected_and_the_handler_called_once) {
  exchange.emplace("POST", "/%75sers");
  exchange->awaiting_content(7).serve(dispatcher);
  EXPECT_EQ(exchange->collect_max, 1024u * 1024);
  EXPECT_FALSE(exchange->completed);
  // Meanwhile the dispatcher serves another request, whose path uses the same memory.
  FakeExchange other("GET", "/%75sers/other");
  other.serve(dispatcher);
  EXPECT_EQ(other.content_sent, "/users/other other []");
  exchange->collected("content");
  EXPECT_EQ(exchange->status, 201u);
  EXPECT_EQ(exchange->content_sent, "content");
}

TEST_F(DispatcherTest, a_request_that_no_route_serves_is_answered_without_its_content) {
  exchange.emplace("POST", "/nowhere");
  exchange->awaiting_content().serve(dispatcher);
  EXPECT_EQ(exchange->status, 404u);
  EXPECT_FALSE(exchange->collect_max);
}

// ---- refusals by the protocol ----

TEST_F(DispatcherTest, a_refusal_of_the_protocol_is_a_problem_document) {
  exchange.emplace("GET", "/");
  dispatcher.on_refused(*exchange, nullptr, 431, "The head is larger than 32768 bytes.");
  EXPECT_EQ(exchange->status, 431u);
  EXPECT_EQ(detail(), "The head is larger than 32768 bytes.");
  EXPECT_EQ(exchange->failures, 0);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
