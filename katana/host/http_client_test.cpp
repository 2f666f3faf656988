// HttpClient against servers of our own: real sockets, threads, TLS, and handlers that ask others.
#include "katana/client/http_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "katana/client/run.hpp"
#include "katana/host/client_test.hpp"
#include "katana/host/http_server.hpp"
#include "katana/wire/tls/client_test.hpp"

namespace katana::host {
namespace {

using client::HttpClient;
using client::HttpClientOptions;
using client::run;
using testing::HasSubstr;

constexpr std::size_t long_bytes = 3'000'000;

Task<Reply> echo(Request request) { co_return Reply::text(Text(request.content())); }

class HttpClientHostTest : public testing::Test {
 protected:
  HttpClientHostTest() {
    options.port = 0;
    options.reactors = 1;
    options.drain_timeout = seconds(20);
    options.reactor.engine.links_max = 64;
    router.get("/hello", [] { return Reply::text("hello there"); });
    router.get("/long", [] { return Reply::text(Text(std::string(long_bytes, 'x'))); });
    router.post("/echo", &echo);
  }
  // `clients` are given the server's port, and a reactor of that kind, on a thread of their own.
  void serve(EngineKind kind, const std::function<void(std::uint16_t, core::Reactor&)>& clients) {
    auto service = std::move(router).build();
    ASSERT_TRUE(service);
    HttpServer server(options, *service);
    const auto started = server.start();
    ASSERT_TRUE(started) << started.error().describe();
    std::thread thread([&] {
      core::ReactorOptions small;
      small.engine.links_max = 64;
      const auto reactor = make_reactor(kind, small, 256);
      const auto begun = reactor->start();
      EXPECT_TRUE(begun) << begun.error().describe();
      if (begun) clients(server.port(), *reactor);
      terminate();
    });
    EXPECT_EQ(server.run().cut_off, 0u);
    thread.join();
  }

  static HttpClientOptions trusting(const tls::TestCertificate& certificate) {
    HttpClientOptions made;
    made.hosts = {{"localhost", {"127.0.0.1"}}, {"other.test", {"127.0.0.1"}}};
    made.tls.system_authorities = false;
    made.tls.authorities_text = certificate.certificate_text();
    return made;
  }
  static const tls::TestCertificate& certificate() {
    static const tls::TestCertificate made;
    return made;
  }
  void use_tls() {
    options.tls.emplace();
    options.tls->certificates = {
        {.chain_text = certificate().certificate_text(), .key_text = certificate().key_text()}};
  }

  HttpServerOptions options;
  Router router;
};

// Everything that a client does, at once and one after the other.
void talk_to(const HttpClient& http, core::Reactor& reactor, const std::string& origin) {
  for (int count = 0; count < 10; ++count) {
    auto reply = run(reactor, http.fetch(client::Request(origin + "/hello")));
    ASSERT_TRUE(reply) << reply.error().describe();
    EXPECT_EQ(reply->status(), 200u);
    EXPECT_EQ(reply->content(), "hello there");
    EXPECT_EQ(reply->find("content-type"), "text/plain");
  }
  EXPECT_EQ(http.counters(reactor).connections, 1u);

  const std::string content(200'000, 'y');
  std::deque<Task<Result<client::Response>>> tasks;
  for (int count = 0; count < 20; ++count) {
    tasks.push_back(http.fetch(client::Request("POST", origin + "/echo").content(content, "a/b")));
    tasks.back().start();
  }
  for (auto& each : tasks) {
    while (!each.done()) reactor.turn(milliseconds(10));
    auto reply = each.result();
    ASSERT_TRUE(reply) << reply.error().describe();
    EXPECT_EQ(reply->content(), content);
  }

  auto opened = run(reactor, http.open(client::Request(origin + "/long")));
  ASSERT_TRUE(opened) << opened.error().describe();
  std::size_t got = 0;
  for (;;) {
    auto piece = run(reactor, opened->read());
    ASSERT_TRUE(piece) << piece.error().describe();
    if (piece->empty()) break;
    got += piece->size();
  }
  EXPECT_EQ(got, long_bytes);

  auto head = run(reactor, http.fetch(client::Request("HEAD", origin + "/long")));
  ASSERT_TRUE(head) << head.error().describe();
  EXPECT_EQ(head->content(), "");
  EXPECT_EQ(head->find("content-length"), std::to_string(long_bytes));
  EXPECT_EQ(http.counters(reactor).failures, 0u);
}

class HttpClientEngines : public HttpClientHostTest,
                          public testing::WithParamInterface<EngineKind> {
 protected:
  void SetUp() override {
    if (!choose_engine(engine_name(GetParam()))) GTEST_SKIP() << "forbidden here";
  }
};

TEST_P(HttpClientEngines, a_server_of_ours_is_asked) {
  serve(GetParam(), [](std::uint16_t port, core::Reactor& reactor) {
    const auto http = HttpClient::make();
    ASSERT_TRUE(http) << http.error().describe();
    talk_to(*http, reactor, "http://127.0.0.1:" + std::to_string(port));
  });
}

TEST_P(HttpClientEngines, a_server_of_ours_is_asked_through_tls) {
  use_tls();
  serve(GetParam(), [](std::uint16_t port, core::Reactor& reactor) {
    const auto http = HttpClient::make(trusting(certificate()));
    ASSERT_TRUE(http) << http.error().describe();
    talk_to(*http, reactor, "https://localhost:" + std::to_string(port));
  });
}

TEST_P(HttpClientEngines, nobody_listens_and_the_request_says_so) {
  core::ReactorOptions small;
  small.engine.links_max = 16;
  const auto reactor = make_reactor(GetParam(), small, 256);
  ASSERT_TRUE(reactor->start());
  const auto http = HttpClient::make();
  auto reply = run(*reactor, http->fetch(client::Request("http://127.0.0.1:1/")));
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().describe(), HasSubstr("(address 127.0.0.1): Connection refused"));
}

INSTANTIATE_TEST_SUITE_P(Each, HttpClientEngines,
                         testing::Values(EngineKind::epoll_edge, EngineKind::epoll_level,
                                         EngineKind::io_uring),
                         [](const auto& each) {
                           std::string name(engine_name(each.param));
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_F(HttpClientHostTest, a_server_that_cannot_prove_its_name_gets_no_request) {
  use_tls();
  serve(EngineKind::epoll_edge, [](std::uint16_t port, core::Reactor& reactor) {
    const std::string at = ":" + std::to_string(port) + "/hello";
    const auto trusts = HttpClient::make(trusting(certificate()));
    auto other = run(reactor, trusts->fetch(client::Request("https://other.test" + at)));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code(), Code::permission_denied);
    EXPECT_THAT(other.error().describe(), HasSubstr("certificate of 'other.test' is refused: "
                                                    "hostname mismatch"));
    const auto stranger = HttpClient::make();  // who trusts what this machine trusts
    auto unknown = run(reactor, stranger->fetch(client::Request("https://127.0.0.1" + at)));
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().describe(), HasSubstr("self-signed certificate"));

    HttpClientOptions careless;
    careless.tls.dangerously_accept_any_certificate = true;
    const auto any = HttpClient::make(careless);
    auto reply = run(reactor, any->fetch(client::Request("https://127.0.0.1" + at)));
    ASSERT_TRUE(reply) << reply.error().describe();
    EXPECT_EQ(reply->content(), "hello there");
  });
}

TEST_F(HttpClientHostTest, tls_to_a_server_without_it_is_an_error_that_says_so) {
  serve(EngineKind::epoll_edge, [](std::uint16_t port, core::Reactor& reactor) {
    const auto http = HttpClient::make();
    auto reply =
        run(reactor,
            http->fetch(client::Request("https://127.0.0.1:" + std::to_string(port) + "/hello")));
    ASSERT_FALSE(reply);
    EXPECT_THAT(reply.error().describe(), HasSubstr("TLS with '127.0.0.1' failed: not_tls"));
  });
}

// A handler that waits for another server, which is this one.
TEST_F(HttpClientHostTest, a_handler_asks_another_server_and_a_kept_connection_holds_up_no_end) {
  auto made = HttpClient::make();
  ASSERT_TRUE(made);
  const HttpClient& http = *made;
  std::string origin;
  router.get("/gateway", [&]() -> Task<Reply> {
    auto reply = co_await http.fetch(client::Request(origin + "/hello"));
    if (!reply) co_return Reply::text(Text(reply.error().describe()));
    co_return Reply::text(reply->take_content());
  });
  serve(EngineKind::epoll_edge, [&](std::uint16_t port, core::Reactor& reactor) {
    origin = "http://127.0.0.1:" + std::to_string(port);
    for (int count = 0; count < 5; ++count) {
      auto reply = run(reactor, http.fetch(client::Request(origin + "/gateway")));
      ASSERT_TRUE(reply) << reply.error().describe();
      EXPECT_EQ(reply->content(), "hello there");
    }
  });
}

}  // namespace
}  // namespace katana::host
