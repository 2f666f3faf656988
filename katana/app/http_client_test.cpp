// HttpClient against our own servers: real sockets, threads, TLS, and handlers that ask others.
#include "katana/http/client/http_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "katana/app/option_descriptions.hpp"
#include "katana/data/config/config.hpp"
#include "katana/http/client/run.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/identity/auth/certificate.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/wire/tls/client_test.hpp"

namespace katana::app {
namespace {

using client::HttpClient;
using client::HttpClientOptions;
using client::HttpVersion;
using client::run;
using testing::HasSubstr;

struct ConfiguredClient {
  client::HttpClientOptions client;
};
KATANA_DESCRIBE(ConfiguredClient, client)

constexpr std::size_t long_bytes = 3'000'000;
constexpr std::size_t upload_bytes = 800'000;

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
  // `clients` are given the server's port, and a reactor of that kind, on their own thread.
  void serve(server::EngineKind kind,
             const std::function<void(std::uint16_t, net::Reactor&)>& clients) {
    auto service = std::move(router).build();
    ASSERT_TRUE(service);
    server::HttpServer server(options, *service);
    const auto started = server.start();
    ASSERT_TRUE(started) << started.error().describe();
    const server::ServerReport report = server::serve_clients(server, [&](std::uint16_t port) {
      net::ReactorOptions small;
      small.engine.links_max = 64;
      const auto reactor = server::make_reactor(kind, small, 256);
      const auto begun = reactor->start();
      EXPECT_TRUE(begun) << begun.error().describe();
      if (begun) clients(port, *reactor);
    });
    EXPECT_EQ(report.cut_off, 0u);
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

  server::HttpServerOptions options;
  Router router;
};

// Everything that a client does, at once and one after the other.
void talk_to(const HttpClient& http, net::Reactor& reactor, const std::string& origin,
             client::HttpVersion version) {
  for (int count = 0; count < 10; ++count) {
    auto reply = run(reactor, http.fetch(client::Request(origin + "/hello")));
    ASSERT_TRUE(reply) << reply.error().describe();
    EXPECT_EQ(reply->status(), 200u);
    EXPECT_EQ(reply->content(), "hello there");
    EXPECT_EQ(reply->find("content-type"), "text/plain");
    EXPECT_EQ(reply->version(), version);
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
  if (version == client::HttpVersion::http_2) {
    EXPECT_EQ(http.counters(reactor).connections, 1u);
  } else {
    EXPECT_GT(http.counters(reactor).connections, 1u);
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

  std::size_t given = 0;
  const auto source = [&]() -> Task<Result<Text>> {
    co_await net::sleep_for(microseconds(200));  // also later than the driver asks
    const std::string piece(given < upload_bytes ? 50'000 : 0, 'z');
    given += piece.size();
    co_return Text(piece);
  };
  auto echoed =
      run(reactor, http.fetch(client::Request("POST", origin + "/echo").content(source, "a/b")));
  ASSERT_TRUE(echoed) << echoed.error().describe();
  EXPECT_TRUE(echoed->content() == std::string(upload_bytes, 'z'));
  given = 0;
  echoed = run(reactor, http.fetch(client::Request("POST", origin + "/echo")
                                       .content(source, "a/b", upload_bytes)
                                       .expect_continue()));
  ASSERT_TRUE(echoed) << echoed.error().describe();
  EXPECT_TRUE(echoed->content() == std::string(upload_bytes, 'z'));

  auto head = run(reactor, http.fetch(client::Request("HEAD", origin + "/long")));
  ASSERT_TRUE(head) << head.error().describe();
  EXPECT_EQ(head->content(), "");
  EXPECT_EQ(head->find("content-length"), std::to_string(long_bytes));
  EXPECT_EQ(http.counters(reactor).failures, 0u);
}

class HttpClientEngines : public HttpClientHostTest,
                          public testing::WithParamInterface<server::EngineKind> {
 protected:
  void SetUp() override {
    if (!server::choose_engine(server::engine_name(GetParam()))) GTEST_SKIP() << "forbidden here";
  }
};

TEST_P(HttpClientEngines, a_server_of_ours_is_asked) {
  serve(GetParam(), [](std::uint16_t port, net::Reactor& reactor) {
    const auto http = HttpClient::make();
    ASSERT_TRUE(http) << http.error().describe();
    talk_to(*http, reactor, "http://127.0.0.1:" + std::to_string(port), HttpVersion::http_1_1);
  });
}

TEST_P(HttpClientEngines, a_server_of_ours_is_asked_in_http2_by_prior_knowledge) {
  serve(GetParam(), [](std::uint16_t port, net::Reactor& reactor) {
    HttpClientOptions made;
    made.http2 = client::Http2::prior_knowledge;
    const auto http = HttpClient::make(made);
    ASSERT_TRUE(http) << http.error().describe();
    talk_to(*http, reactor, "http://127.0.0.1:" + std::to_string(port), HttpVersion::http_2);
  });
}

TEST_P(HttpClientEngines, a_server_of_ours_is_asked_through_tls) {
  use_tls();
  serve(GetParam(), [](std::uint16_t port, net::Reactor& reactor) {
    for (const auto version : {HttpVersion::http_1_1, HttpVersion::http_2}) {
      HttpClientOptions made = trusting(certificate());
      if (version == HttpVersion::http_1_1) made.http2 = client::Http2::never;
      const auto http = HttpClient::make(made);
      ASSERT_TRUE(http) << http.error().describe();
      talk_to(*http, reactor, "https://localhost:" + std::to_string(port), version);
    }
  });
}

TEST_P(HttpClientEngines, nobody_listens_and_the_request_says_so) {
  net::ReactorOptions small;
  small.engine.links_max = 16;
  const auto reactor = server::make_reactor(GetParam(), small, 256);
  ASSERT_TRUE(reactor->start());
  const auto http = HttpClient::make();
  auto reply = run(*reactor, http->fetch(client::Request("http://127.0.0.1:1/")));
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().describe(), HasSubstr("(address 127.0.0.1): Connection refused"));
}

INSTANTIATE_TEST_SUITE_P(Each, HttpClientEngines,
                         testing::ValuesIn(server::engines().begin(), server::engines().end()),
                         [](const auto& each) {
                           std::string name(server::engine_name(each.param));
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(HttpClientConfigTest, configuration_sets_the_options_of_a_client) {
  const auto made = config::Config<ConfiguredClient>::load(
      {.sets = {"client.redirects_max=3", "client.http2=never", "client.timeout=7s",
                "client.breaker.failures_percent=50", "client.retry.transient=true",
                "client.proxy.url=http://proxy.test:3128"}});
  ASSERT_TRUE(made) << made.error().describe();
  const auto values = made->get();
  const client::HttpClientOptions& set = values->client;
  EXPECT_EQ(set.redirects_max, 3u);
  EXPECT_EQ(set.http2, client::Http2::never);
  EXPECT_EQ(set.timeout, seconds(7));
  EXPECT_EQ(set.breaker.failures_percent, 50u);
  EXPECT_TRUE(set.retry.transient);
  EXPECT_EQ(set.proxy.url, "http://proxy.test:3128");
  const auto wrong =
      config::Config<ConfiguredClient>::load({.sets = {"client.retry.share_percent=101"}});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().describe(), HasSubstr("client.retry.share_percent"));
}

TEST_F(HttpClientHostTest, a_server_that_cannot_prove_its_name_gets_no_request) {
  use_tls();
  serve(server::EngineKind::epoll_edge, [](std::uint16_t port, net::Reactor& reactor) {
    const std::string at = ":" + std::to_string(port) + "/hello";
    const auto trusts = HttpClient::make(trusting(certificate()));
    auto other = run(reactor, trusts->fetch(client::Request("https://other.test" + at)));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code(), Code::permission_denied);
    EXPECT_THAT(other.error().describe(), HasSubstr("certificate of 'other.test' is refused: "
                                                    "hostname mismatch"));
    const auto stranger = HttpClient::make();  // trusts the authorities of this machine
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

// A proxy for one tunnel, on its own thread; it ends when both sides have.
class TunnelProxy {
 public:
  explicit TunnelProxy(std::uint16_t to) : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    socklen_t size = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    thread_ = std::thread([this, to] { serve(to); });
  }
  ~TunnelProxy() {
    ::shutdown(listener_, SHUT_RDWR);
    join();
    ::close(listener_);
  }
  // Returns when the tunnel has ended.
  void join() {
    if (thread_.joinable()) thread_.join();
  }

  std::uint16_t port = 0;
  std::string asked;  // after join()

 private:
  void serve(std::uint16_t to) {
    const int caller = ::accept(listener_, nullptr, nullptr);
    if (caller < 0) return;
    char octet = 0;
    while (!asked.ends_with("\r\n\r\n") && ::recv(caller, &octet, 1, 0) == 1) asked += octet;
    const int server = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(to);
    EXPECT_EQ(::connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const std::string_view reply = "HTTP/1.1 200 Connection established\r\n\r\n";
    ::send(caller, reply.data(), reply.size(), MSG_NOSIGNAL);
    std::thread back([&] { copy(server, caller); });
    copy(caller, server);
    back.join();
    ::close(server);
    ::close(caller);
  }
  static void copy(int from, int to) {
    char piece[4096];
    for (;;) {
      const ssize_t count = ::recv(from, piece, sizeof piece, 0);
      if (count <= 0) break;
      if (::send(to, piece, static_cast<std::size_t>(count), MSG_NOSIGNAL) != count) break;
    }
    ::shutdown(to, SHUT_WR);
  }

  int listener_;
  std::thread thread_;
};

TEST_P(HttpClientEngines, tls_goes_through_the_tunnel_of_a_proxy_to_the_server_itself) {
  use_tls();
  serve(GetParam(), [](std::uint16_t port, net::Reactor& reactor) {
    TunnelProxy proxy(port);
    HttpClientOptions made = trusting(certificate());
    made.hosts.clear();  // the proxy resolves the name
    made.proxy.url = "http://127.0.0.1:" + std::to_string(proxy.port);
    made.idle_max = 0;
    const auto http = HttpClient::make(made);
    ASSERT_TRUE(http) << http.error().describe();
    const std::string origin = "https://localhost:" + std::to_string(port);
    auto reply = run(reactor, http->fetch(client::Request(origin + "/long")));
    ASSERT_TRUE(reply) << reply.error().describe();
    EXPECT_EQ(reply->content().size(), long_bytes);
    EXPECT_EQ(reply->version(), HttpVersion::http_2);
    while (http->counters(reactor).connections > 0) reactor.turn(milliseconds(10));
    proxy.join();
    EXPECT_EQ(proxy.asked, "CONNECT localhost:" + std::to_string(port) +
                               " HTTP/1.1\r\nHost: localhost:" + std::to_string(port) + "\r\n\r\n");
  });
}

// Before TLS has agreed on a protocol it is unknown how many connections a burst needs.
TEST_F(HttpClientHostTest, a_burst_to_a_server_of_http2_shakes_hands_once_and_http1_still_does) {
  use_tls();
  for (const bool http2 : {true, false}) {
    options.http.http2.enabled = http2;
    router = Router();
    router.get("/hello", [] { return Reply::text("hello there"); });
    serve(server::EngineKind::epoll_edge, [http2](std::uint16_t port, net::Reactor& reactor) {
      const auto http = HttpClient::make(trusting(certificate()));
      const std::string url = "https://localhost:" + std::to_string(port) + "/hello";
      std::deque<Task<Result<client::Response>>> tasks;
      reactor.turn(Duration{});
      for (int count = 0; count < 40; ++count) {
        tasks.push_back(http->fetch(client::Request(url)));
        tasks.back().start();
      }
      for (auto& each : tasks) {
        while (!each.done()) reactor.turn(milliseconds(10));
        const auto reply = each.result();
        ASSERT_TRUE(reply) << reply.error().describe();
        EXPECT_EQ(reply->version(), http2 ? HttpVersion::http_2 : HttpVersion::http_1_1);
      }
      EXPECT_EQ(http->counters(reactor).handshakes == 1u, http2);
    });
  }
}

TEST_F(HttpClientHostTest, the_next_connection_resumes_unless_it_is_to_another_name) {
  static const tls::TestCertificate both({"localhost", "other.test"});
  options.tls.emplace();
  options.tls->certificates = {
      {.chain_text = both.certificate_text(), .key_text = both.key_text()}};
  serve(server::EngineKind::epoll_edge, [](std::uint16_t port, net::Reactor& reactor) {
    HttpClientOptions made = trusting(both);
    made.idle_max = 0;  // each request has its own connection
    const auto http = HttpClient::make(made);
    const std::string at = ":" + std::to_string(port) + "/hello";
    const auto ask = [&](const HttpClient& asked, const std::string& name) {
      const auto reply = run(reactor, asked.fetch(client::Request("https://" + name + at)));
      EXPECT_TRUE(reply) << reply.error().describe();
      return asked.counters(reactor);
    };
    EXPECT_EQ(ask(*http, "localhost").handshakes_resumed, 0u);
    EXPECT_EQ(ask(*http, "localhost").handshakes_resumed, 1u);
    EXPECT_EQ(ask(*http, "localhost").handshakes_resumed, 2u);
    EXPECT_EQ(ask(*http, "other.test").handshakes_resumed, 2u);
    EXPECT_EQ(ask(*http, "other.test").handshakes, 5u);
    EXPECT_EQ(http->counters(reactor).handshakes_resumed, 3u);
    const auto another = HttpClient::make(made);  // with its own trusted authorities
    EXPECT_EQ(ask(*another, "localhost").handshakes_resumed, 0u);
  });
}

// Over both versions of HTTP, and when a session is resumed.
TEST_F(HttpClientHostTest, the_certificate_of_a_client_says_who_asks) {
  static const tls::TestCertificate authority({"authority.example"});
  static const tls::TestCertificate robot({"robot.example"}, false, &authority);
  use_tls();
  options.tls->client_authorities_text = authority.certificate_text();
  options.tls->client_certificate_optional = true;
  router.use(auth::certificate({.by = auth::CertificateName::dns}));
  router.get("/who", [](FromContext<auth::Principal> who) {
    return Reply::text(Text(who->id() + " by " + who->issuer()));
  });
  serve(server::EngineKind::epoll_edge, [](std::uint16_t port, net::Reactor& reactor) {
    const auto ask = [&](const HttpClientOptions& how) {
      const auto http = HttpClient::make(how);
      const std::string url = "https://localhost:" + std::to_string(port) + "/who";
      std::string all;
      for (int count = 0; count < 2; ++count) {
        const auto reply = run(reactor, http->fetch(client::Request(url)));
        EXPECT_TRUE(reply) << reply.error().describe();
        if (reply) all += std::to_string(reply->status()) + " " + std::string(reply->content());
      }
      return all;
    };
    HttpClientOptions how = trusting(certificate());
    how.idle_max = 0;  // the second request then resumes the session
    EXPECT_THAT(ask(how), testing::StartsWith("401 "));
    how.tls.certificate = {.chain_text = robot.certificate_text(), .key_text = robot.key_text()};
    const std::string known = "200 robot.example by CN=authority.example";
    EXPECT_EQ(ask(how), known + known);
    how.http2 = client::Http2::never;
    EXPECT_EQ(ask(how), known + known);
  });
}

TEST_F(HttpClientHostTest, tls_to_a_server_without_it_is_an_error_that_says_so) {
  serve(server::EngineKind::epoll_edge, [](std::uint16_t port, net::Reactor& reactor) {
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
  serve(server::EngineKind::epoll_edge, [&](std::uint16_t port, net::Reactor& reactor) {
    origin = "http://127.0.0.1:" + std::to_string(port);
    for (int count = 0; count < 5; ++count) {
      auto reply = run(reactor, http.fetch(client::Request(origin + "/gateway")));
      ASSERT_TRUE(reply) << reply.error().describe();
      EXPECT_EQ(reply->content(), "hello there");
    }
  });
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
