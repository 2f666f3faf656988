// FakeUpstream with the client of katana/http/client, which katana/testing does not know.
#include "katana/testing/fake_upstream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "katana/http/client/http_client.hpp"
#include "katana/http/handlers/streaming.hpp"

namespace katana::testing {
namespace {

using ::testing::HasSubstr;

client::HttpClientOptions client_options() {
  client::HttpClientOptions options;
  options.tls.system_authorities = false;
  options.seed = 1;
  options.backoff_min = options.backoff_max = milliseconds(50);
  return options;
}

// A service that sends its body to the URL in its query, and answers with the reply.
class FakeUpstreamTest : public ::testing::Test {
 protected:
  explicit FakeUpstreamTest(const client::HttpClientOptions& options = client_options())
      : client_(std::make_shared<client::HttpClient>(*client::HttpClient::make(options))),
        server_(make_service()) {}

  Result<Service> make_service() {
    Router router;
    router.post("/send", [client = client_](Request request) -> Task<Result<Reply>> {
      const std::string url(request.query());
      auto sent = co_await client->fetch(
          client::Request("POST", url).content(std::string(request.content()), "text/plain"));
      if (!sent) co_return Reply::text(Text(sent.error().describe()));
      co_return Reply::text(
          Text(std::to_string(sent->status()) + " " + std::string(sent->content())));
    });
    router.get("/get", [client = client_](Request request) -> Task<Result<Reply>> {
      auto got = co_await client->fetch(client::Request(std::string(request.query())));
      if (!got) co_return Reply::text(Text(got.error().describe()));
      co_return Reply::text(
          Text(std::to_string(got->status()) + " " + std::string(got->content())));
    });
    return std::move(router).build();
  }
  std::string get(const std::string& url) { return server_.get("/get?" + url).content(); }

  std::shared_ptr<client::HttpClient> client_;
  TestServer server_;
};

TEST_F(FakeUpstreamTest, records_what_it_received_and_answers_by_its_routes) {
  FakeUpstream notes(server_, "http://notes.example:8080", [](Router& router) {
    router.post("/notes", [] { return Reply::text("kept"); });
  });
  ASSERT_EQ(notes.problem(), "");
  EXPECT_EQ(server_.post("/send?http://notes.example:8080/notes", "milk").content(), "200 kept");
  ASSERT_EQ(notes.requests().size(), 1u);
  EXPECT_EQ(notes.requests()[0].method, "POST");
  EXPECT_EQ(notes.requests()[0].target, "/notes");
  EXPECT_EQ(notes.requests()[0].content, "milk");
  EXPECT_EQ(notes.requests()[0].field("content-type"), "text/plain");
  EXPECT_TRUE(notes.requests()[0].complete);
  EXPECT_THAT(get("http://notes.example:8080/nowhere"), HasSubstr("404"));
  EXPECT_EQ(notes.requests().size(), 2u);
  notes.forget_requests();
  EXPECT_EQ(notes.requests().size(), 0u);
}

TEST_F(FakeUpstreamTest, origins_are_kept_apart_and_https_needs_no_certificate) {
  const auto named = [](const char* name) {
    return [name](Router& router) { router.get("/", [name] { return Reply::text(Text(name)); }); };
  };
  FakeUpstream plain(server_, "http://API.example", named("plain"));
  FakeUpstream secure(server_, "https://api.example/", named("secure"));
  FakeUpstream v6(server_, "http://[::1]:81", named("v6"));
  EXPECT_EQ(get("http://api.example/"), "200 plain");
  EXPECT_EQ(get("https://api.example/"), "200 secure");
  EXPECT_EQ(get("http://[::1]:81/"), "200 v6");
  EXPECT_THAT(get("http://other.example/"),
              HasSubstr("there is no upstream for http://other.example:80; make a "
                        "testing::FakeUpstream for it (there are http://[::1]:81, "
                        "http://api.example:80, https://api.example:443)"));
}

TEST_F(FakeUpstreamTest, is_down_slow_or_fails_as_the_test_says) {
  FakeUpstream api(server_, "http://api.example",
                   [](Router& router) { router.get("/", [] { return Reply::text("well"); }); });
  api.fail_next(1, 502);
  EXPECT_EQ(get("http://api.example/"), "502 ");
  api.reset_next(10);  // the client repeats requests lost on a kept connection
  EXPECT_THAT(get("http://api.example/"), HasSubstr("GET http://api.example/: "));
  api.reset_next(0);
  EXPECT_EQ(get("http://api.example/"), "200 well");
  api.delay(seconds(40));  // the client's timeout is 30 s
  const Instant before = server_.now();
  EXPECT_THAT(get("http://api.example/"), HasSubstr("deadline exceeded"));
  EXPECT_GE(server_.now(), before + seconds(30));
  EXPECT_LT(server_.now(), before + seconds(31));
  api.delay({});
  EXPECT_EQ(get("http://api.example/"), "200 well");
  api.go_down();
  EXPECT_THAT(get("http://api.example/"), HasSubstr("Connection refused"));
  api.come_back();
  EXPECT_EQ(get("http://api.example/"), "200 well");
}

TEST_F(FakeUpstreamTest, what_is_wrong_with_it_is_said) {
  FakeUpstream no_url(server_, "api.example", [](Router&) {});
  EXPECT_THAT(no_url.problem(), HasSubstr("'api.example' is not the URL of a server"));
  FakeUpstream twice(server_, "http://twice.example", [](Router& router) {
    router.get("/", [] { return Reply(); });
    router.get("/", [] { return Reply(); });
  });
  EXPECT_THAT(twice.problem(), HasSubstr("upstream http://twice.example"));
  EXPECT_THAT(get("http://twice.example/"), HasSubstr("there is no upstream for http://twice"));
  EXPECT_THAT(get("http://twice.example/"), HasSubstr("upstream http://twice.example: route GET"));
  twice.go_down();
  EXPECT_TRUE(twice.requests().empty());
  FakeUpstream streams(server_, "http://streams.example", [](Router& router) {
    router.post("/", [](ContentReader content, ReplyWriter writer) -> Task<void> {
      co_await send(writer, Reply::text(co_await content.read()));
    });
  });
  EXPECT_THAT(streams.problem(), HasSubstr("take the content in one of them"));
}

class RetryingTest : public FakeUpstreamTest {
 protected:
  static client::HttpClientOptions options() {
    client::HttpClientOptions options = client_options();
    options.retry.transient = true;
    return options;
  }
  RetryingTest() : FakeUpstreamTest(options()) {}
};

TEST_F(RetryingTest, the_clients_own_retries_run_in_virtual_time) {
  FakeUpstream api(server_, "https://api.example",
                   [](Router& router) { router.get("/", [] { return Reply::text("well"); }); });
  api.fail_next(2);
  EXPECT_EQ(get("https://api.example/"), "200 well");
  EXPECT_EQ(api.requests().size(), 3u);
}

class Http2UpstreamTest : public FakeUpstreamTest {
 protected:
  static client::HttpClientOptions options() {
    client::HttpClientOptions options = client_options();
    options.http2 = client::Http2::prior_knowledge;
    return options;
  }
  Http2UpstreamTest() : FakeUpstreamTest(options()) {}
};

TEST_F(Http2UpstreamTest, speaks_http2_with_a_client_that_does) {
  FakeUpstream api(server_, "http://api.example",
                   [](Router& router) { router.get("/", [] { return Reply::text("two"); }); });
  EXPECT_EQ(get("http://api.example/"), "200 two");
  EXPECT_EQ(api.requests()[0].target, "/");
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
