#include "katana/http/client/proxy.hpp"

#include <cerrno>

#include "katana/http/client/client_fixture_test.hpp"

namespace katana::client {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ProxyTest : public ClientTest {
 protected:
  ProxyTest() : ClientTest(proxied()) {}
  static HttpClientOptions proxied() {
    HttpClientOptions options = test_options();
    options.hosts["proxy.test"] = {"192.0.2.9"};
    options.proxy = {.url = "http://proxy.test:3128",
                     .user = "Aladdin",
                     .password = "open sesame",
                     .except = {"two.test"}};
    return options;
  }
};

TEST_F(ProxyTest, a_request_in_plaintext_goes_to_the_proxy_with_its_whole_url) {
  Reply& reply = get("http://server.test/a?b");
  EXPECT_EQ(world_.links[0].connected_to, "192.0.2.9 3128");
  answer(0);
  EXPECT_EQ(take_sent(0),
            "GET http://server.test:80/a?b HTTP/1.1\r\nHost: server.test\r\n"
            "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n");
  say(0, ok + "Content-Length: 0\r\n\r\n");
  EXPECT_EQ(error_of(reply), "status 200");
}

TEST_F(ProxyTest, an_exception_is_asked_directly_and_gets_no_credentials) {
  get("http://two.test/a");
  EXPECT_EQ(world_.links[0].connected_to, "192.0.2.2 80");
  answer(0);
  EXPECT_EQ(take_sent(0), "GET /a HTTP/1.1\r\nHost: two.test\r\n\r\n");
}

TEST_F(ProxyTest, tls_begins_once_the_proxy_has_connected) {
  get("https://server.test/");
  EXPECT_EQ(world_.links[0].connected_to, "192.0.2.9 3128");
  answer(0);
  EXPECT_EQ(take_sent(0),
            "CONNECT server.test:443 HTTP/1.1\r\nHost: server.test:443\r\n"
            "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n");
  say(0, "HTTP/1.1 200 Connection established\r\n");
  EXPECT_EQ(take_sent(0), "");
  say(0, "\r\n");
  const std::string client_hello = take_sent(0);
  EXPECT_THAT(client_hello, StartsWith("\x16\x03\x01"));
  EXPECT_THAT(client_hello, AllOf(HasSubstr("server.test"), Not(HasSubstr("Basic"))));
}

TEST_F(ProxyTest, a_proxy_that_refuses_is_named_with_the_remedy) {
  const std::pair<const char*, const char*> cases[] = {
      {"HTTP/1.1 407 Who\r\nContent-Length: 5\r\n\r\n", "set proxy.user and proxy.password"},
      {"HTTP/1.1 403 No\r\n\r\n", "refused with status 403"},
      {"SSH-2.0-x\r\n", "the reply is not valid HTTP/1.1"},
  };
  for (const auto& [said, problem] : cases) {
    Reply& reply = get("https://server.test/");
    const auto index = static_cast<std::uint32_t>(links() - 1);
    answer(index);
    say(index, said);
    EXPECT_THAT(error_of(reply),
                AllOf(StartsWith("GET https://server.test/: proxy http://proxy.test:3128: CONNECT "
                                 "server.test:443: "),
                      HasSubstr(problem)));
    EXPECT_FALSE(open(index));
  }
  Reply& closed = get("https://server.test/");
  const auto index = static_cast<std::uint32_t>(links() - 1);
  answer(index);
  close_by_server(index);
  EXPECT_THAT(error_of(closed), HasSubstr("the proxy closed the connection"));
  Reply& absent = get();
  lose(static_cast<std::uint32_t>(links() - 1), ECONNREFUSED);
  EXPECT_THAT(error_of(absent), HasSubstr("connect to proxy http://proxy.test:3128 (address "));
}

TEST_F(ProxyTest, a_reply_of_the_proxy_may_come_in_pieces) {
  get("https://server.test/");
  answer(0);
  take_sent(0);
  for (const char c : std::string("HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n")) {
    EXPECT_EQ(take_sent(0), "");
    say(0, std::string(1, c));
  }
  EXPECT_THAT(take_sent(0), testing::StartsWith("\x16\x03"));  // TLS begins
}

// RFC 9112 §6.3: TLS begins behind the head of the reply, whatever framing it states.
TEST_F(ProxyTest, framing_of_a_tunnel_is_ignored) {
  for (const char* const framing :
       {"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: 0\r\n",
        "Content-Length: many\r\n", "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"}) {
    get("https://server.test/");
    const auto index = static_cast<std::uint32_t>(links() - 1);
    answer(index);
    take_sent(index);
    say(index, std::string("HTTP/1.1 200 OK\r\n") + framing + "\r\n");
    EXPECT_THAT(take_sent(index), StartsWith("\x16\x03\x01")) << framing;
    replies.clear();
    close_by_server(index);
    turn();
  }
}

TEST_F(ProxyTest, an_endless_reply_of_the_proxy_is_cut_off) {
  Reply& reply = get("https://server.test/");
  answer(0);
  say(0, "HTTP/1.1 200 OK\r\n");
  const std::string line = "X: " + std::string(997, 'x') + "\r\n";
  for (int lines = 0; open(0) && lines < 100; ++lines) say(0, line);
  EXPECT_FALSE(open(0));
  EXPECT_THAT(error_of(reply), HasSubstr("its head exceeds 32768 bytes"));
}

TEST(ProxyOptionsTest, what_cannot_be_a_proxy_is_refused_with_its_name) {
  const std::pair<ProxyOptions, const char*> cases[] = {
      {{.url = "https://proxy.test"}, "must be http://host:port"},
      {{.url = "proxy.test:3128"}, "proxy.url"},
      {{.url = "http://proxy.test/x"}, "must be http://host:port"},
      {{.url = "http://proxy.test", .user = "a:b"}, "proxy.user has a colon"},
      {{.url = "http://proxy.test", .except = {".test"}}, "proxy.except"},
  };
  for (const auto& [options, problem] : cases) {
    const auto made = Proxy::make(options);
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().describe(), HasSubstr(problem));
  }
}

}  // namespace
}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
