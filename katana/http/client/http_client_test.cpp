#include "katana/http/client/http_client.hpp"

#include "katana/http/client/client_fixture_test.hpp"
#include "katana/http/client/cookie_jar.hpp"

namespace katana::client {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string hello = ok + "Content-Length: 5\r\n\r\nhello";

class HttpClientTest : public ClientTest {};

TEST_F(HttpClientTest, a_request_goes_out_and_its_reply_comes_back) {
  Reply& reply = fetch(Request("http://server.test:81/a?b=c#d").field("Accept", "text/plain"));
  ASSERT_EQ(links(), 1u);
  EXPECT_EQ(sent(), "");  // no server has answered
  answer(0);
  EXPECT_EQ(sent(), "GET /a?b=c HTTP/1.1\r\nHost: server.test:81\r\nAccept: text/plain\r\n\r\n");
  say(0, ok + "X-One:  1 \r\nContent-Length: 5\r\nEmpty:\r\n\r\nhello");
  const Response moved = taken(reply);
  EXPECT_EQ(moved.status(), 200u);
  EXPECT_EQ(moved.content(), "hello");
  EXPECT_EQ(moved.field_count(), 3u);
  EXPECT_EQ(moved.find("x-one"), "1");
  EXPECT_EQ(moved.find("empty"), "");
  EXPECT_EQ(moved.find("other"), std::nullopt);
}

TEST_F(HttpClientTest, an_empty_path_is_asked_for_as_a_slash) {
  for (const auto& [url, line] : {std::pair{"http://server.test", "GET / HTTP/1.1\r\n"},
                                  std::pair{"http://server.test?a=/b", "GET /?a=/b HTTP/1.1\r\n"},
                                  std::pair{"http://server.test#f", "GET / HTTP/1.1\r\n"}}) {
    get(url);
    const auto index = static_cast<std::uint32_t>(links() - 1);
    answer(index);
    EXPECT_THAT(take_sent(index), testing::StartsWith(line)) << url;
  }
}

TEST_F(HttpClientTest, trailers_are_no_fields_of_a_reply) {
  Reply& reply = get();
  answer(0);
  say(0, ok + "Transfer-Encoding: chunked\r\nX-One: 1\r\n\r\n2\r\nok\r\n0\r\nX-One: 2\r\n"
              "X-Two: 2\r\nSet-Cookie: a=1\r\n\r\n");
  const Response response = taken(reply);
  EXPECT_EQ(response.content(), "ok");
  EXPECT_EQ(response.field_count(), 2u);
  EXPECT_EQ(response.find("x-one"), "1");
}

TEST_F(HttpClientTest, a_folded_field_is_one_value_with_spaces) {
  Reply& reply = get();
  answer(0);
  say(0, ok + "X-Policy: one;\r\n\ttwo\r\nSet-Cookie:\r\n\ta=1\r\nContent-Length:\r\n 2\r\n\r\nok");
  const Response folded = taken(reply);
  EXPECT_EQ(folded.content(), "ok");
  EXPECT_EQ(folded.find("x-policy"), "one;   two");
  EXPECT_EQ(folded.find("set-cookie"), "a=1");
}

TEST_F(HttpClientTest, a_connection_is_kept_for_the_next_request) {
  warm_up();
  Reply& reply = get();
  EXPECT_EQ(links(), 1u);
  say(0, hello);
  EXPECT_EQ(error_of(reply), "status 200");
  EXPECT_TRUE(open(0));
  EXPECT_EQ(http().counters(reactor()).calls, 2u);
  EXPECT_EQ(http().counters(reactor()).connections, 1u);
}

// One connection; one reply for each position at which it can be split.
TEST_F(HttpClientTest, a_reply_means_the_same_wherever_it_is_cut) {
  struct Case {
    const char* method;
    std::string bytes;
    unsigned status;
    std::string content;
  };
  const Case cases[] = {
      {"GET", hello, 200, "hello"},
      {"GET", ok + "Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: v\r\n\r\n",
       200, "abcde"},
      {"GET", "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + hello, 200, "hello"},
      {"GET", "HTTP/1.1 204 No Content\r\n\r\n", 204, ""},
      {"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, ""},
      {"HEAD", ok + "Content-Length: 999999999999\r\n\r\n", 200, ""},
  };
  for (const Case& each : cases) {
    for (std::size_t cut = 1; cut < each.bytes.size(); ++cut) {
      Reply& reply = fetch(Request(each.method, "http://server.test/"));
      answer(0);
      say(0, each.bytes.substr(0, cut));
      ASSERT_FALSE(reply.done()) << each.bytes << cut;
      say(0, each.bytes.substr(cut));
      SCOPED_TRACE(each.bytes + std::to_string(cut));
      const Response response = taken(reply);
      EXPECT_EQ(response.status(), each.status);
      EXPECT_EQ(response.content(), each.content);
      replies.clear();
    }
  }
  EXPECT_EQ(links(), 1u);
}

TEST_F(HttpClientTest, content_goes_out_with_its_length) {
  fetch(Request("POST", "http://server.test/").content("abc", "text/plain"));
  answer(0);
  EXPECT_EQ(take_sent(0),
            "POST / HTTP/1.1\r\nHost: server.test\r\nContent-Length: 3\r\n"
            "Content-Type: text/plain\r\n\r\nabc");
  fetch(Request("PUT", "http://server.test/").content(std::string(10'000, 'x'), "text/plain"));
  answer(1);
  EXPECT_THAT(sent(1), testing::EndsWith("\r\n\r\n" + std::string(10'000, 'x')));
  fetch(Request("POST", "http://server.test/"));
  answer(2);
  EXPECT_THAT(sent(2), HasSubstr("\r\nContent-Length: 0\r\n"));
}

TEST_F(HttpClientTest,
       trace_has_neither_content_nor_credentials_and_options_a_type_of_its_content) {
  HttpClientOptions options = test_options();
  options.cookies = std::make_shared<CookieJar>();
  options.cookies->store(*parse_url("http://server.test/"), "a=1", 1'700'000'000);
  options.secret_fields = {"X-Ours"};
  use(options);
  const std::string url = "http://server.test/";
  std::vector<Request> bad;
  bad.push_back(Request("TRACE", url).content("", "text/plain"));
  bad.push_back(Request("TRACE", url).content("abc", "text/plain"));
  for (const char* name : {"Authorization", "cookie", "Proxy-Authorization", "x-ours"}) {
    bad.push_back(Request("TRACE", url).field(name, "secret"));
  }
  bad.push_back(Request("TRACE", url).field("X-Own", "secret").secret("x-own"));
  bad.push_back(Request("OPTIONS", url).content("abc", ""));
  for (Request& each : bad) {
    Reply& reply = fetch(std::move(each));
    ASSERT_TRUE(reply.done());
    EXPECT_EQ(reply.result().error().code(), Code::invalid_argument);
  }
  EXPECT_EQ(links(), 0u);
  fetch(Request("TRACE", url).field("X-Other", "1"));
  answer(0);
  EXPECT_EQ(take_sent(0), "TRACE / HTTP/1.1\r\nHost: server.test\r\nX-Other: 1\r\n\r\n");
  fetch(Request("OPTIONS", url).content("abc", "text/plain"));
  answer(1);
  EXPECT_THAT(sent(1), HasSubstr("\r\nContent-Type: text/plain\r\n"));
}

TEST_F(HttpClientTest, a_field_that_is_no_list_is_sent_once_or_refused) {
  const std::string url = "http://server.test/";
  for (const char* name : {"Authorization", "Content-Type", "If-Modified-Since", "Range",
                           "if-range", "User-Agent", "Referer"}) {
    Reply& reply = fetch(Request(url).field(name, "1").field("X-Other", "1").field(name, "2"));
    ASSERT_TRUE(reply.done()) << name;
    EXPECT_EQ(reply.result().error().code(), Code::invalid_argument) << name;
  }
  Reply& reply =
      fetch(Request("POST", url).field("content-type", "text/html").content("abc", "text/plain"));
  ASSERT_TRUE(reply.done());
  EXPECT_EQ(links(), 0u);
  fetch(Request(url).field("Accept", "a/b").field("Accept", "c/d"));
  answer(0);
  EXPECT_THAT(sent(0), HasSubstr("Accept: a/b\r\nAccept: c/d\r\n"));
}

TEST_F(HttpClientTest, nothing_of_a_request_can_become_a_line_of_its_own) {
  const std::string url = "http://server.test/";
  std::vector<Request> bad;
  for (const char* name : {"", "a b", "a\r\nX: y", "a:", "\n"}) {
    bad.push_back(Request(url).field(name, "v"));
  }
  for (const char* value : {"a\r\nX: y", "a\n", "a\rb", " a", "a ", "\x7f", "a\x01"}) {
    bad.push_back(Request(url).field("Name", value));
  }
  for (const char* name : {"content-length", "Transfer-Encoding", "Connection", "Expect", "TE"}) {
    bad.push_back(Request(url).field(name, "1"));
  }
  for (const char* method : {"", "GET /x HTTP/1.1\r\nA:", "G T", "CONNECT"}) {
    bad.push_back(Request(method, url));
  }
  for (const char* each : {"", "/", "server.test", "ftp://server.test/", "http:///", "http://u@h/",
                           "http://h/a b", "http://h/\r\nX: y", "http://h:0/", "http://h:65536/",
                           "http://h\r\n/", "http://%41/", "http://h/?\n"}) {
    bad.push_back(Request(each));
  }
  bad.push_back(Request(url).field("Host", "a\r\nb"));
  bad.push_back(Request(url).field("Host", "a b"));
  for (Request& each : bad) {
    Reply& reply = fetch(std::move(each));
    ASSERT_TRUE(reply.done());
    auto result = reply.result();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), Code::invalid_argument) << result.error().describe();
  }
  EXPECT_EQ(links(), 0u);
}

TEST_F(HttpClientTest, an_invalid_reply_is_an_error_and_closes_its_connection) {
  const std::string chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";
  const std::pair<std::string, const char*> cases[] = {
      {"\x16\x03\x01 garbage", "no HTTP/1.x status line"},
      {"HTTP/1.1 200 OK\n\n", "LF without CR"},
      {ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "two values of Content-Length"},
      {ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "both Transfer-Encoding"},
      {chunked + "zz\r\n", "a chunk does not begin with its size"},
      {ok + "Transfer-Encoding: gzip, chunked\r\n\r\n", "transfer coding \"gzip, chunked\""},
      {ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n",
       "transfer coding \"gzip\""},
      {"HTTP/1.1 101 Switching\r\n\r\n", "101, and no upgrade was asked for"},
      {ok + "X: " + std::string(40'000, 'x') + "\r\n\r\n", "the head of the reply exceeds"},
      {ok + "X: " + std::string(40'000, 'x'), "the head of the reply exceeds"},
  };
  for (const auto& [bytes_said, problem] : cases) {
    Reply& reply = get();
    const auto index = static_cast<std::uint32_t>(links() - 1);
    answer(index);
    for (std::size_t at = 0; at < bytes_said.size(); at += 30'000) {
      if (open(index)) say(index, bytes_said.substr(at, 30'000));
    }
    EXPECT_THAT(error_of(reply), testing::AllOf(HasSubstr(problem),
                                                testing::StartsWith("GET http://server.test/: ")));
    EXPECT_FALSE(open(index)) << problem;
  }
}

TEST_F(HttpClientTest, an_endless_head_is_cut_off_at_its_limit) {
  Reply& reply = get();
  answer(0);
  say(0, ok);
  const std::string line = "X: " + std::string(997, 'x') + "\r\n";
  int lines = 0;
  for (; open(0) && lines < 1000; ++lines) say(0, line);
  EXPECT_LE(lines, 33);
  EXPECT_THAT(error_of(reply), HasSubstr("raise head_bytes_max"));
}

TEST_F(HttpClientTest, more_than_128_fields_are_refused) {
  Reply& reply = get();
  answer(0);
  std::string head = ok;
  for (int count = 0; count < 129; ++count) head += "X: y\r\n";
  say(0, head + "\r\n");
  EXPECT_THAT(error_of(reply), HasSubstr("more than 128 fields"));
  EXPECT_FALSE(open(0));
}

TEST_F(HttpClientTest, a_length_that_lies_is_an_error) {
  Reply& reply = get();
  answer(0);
  say(0, ok + "Content-Length: 100\r\n\r\nonly this");
  EXPECT_FALSE(reply.done());
  close_by_server(0);
  EXPECT_THAT(error_of(reply), HasSubstr("closed the connection before the reply was complete"));
}

TEST_F(HttpClientTest, content_without_a_length_ends_with_the_connection) {
  Reply& reply = get();
  answer(0);
  say(0, ok + "\r\nall of it");
  EXPECT_FALSE(reply.done());
  close_by_server(0);
  ASSERT_TRUE(reply.done());
  EXPECT_EQ(reply.result()->content(), "all of it");
  EXPECT_FALSE(open(0));
}

TEST_F(HttpClientTest, a_connection_with_unread_bytes_is_not_used_again) {
  Reply& reply = get();
  answer(0);
  say(0, hello + "HTTP/1.1 200");
  EXPECT_EQ(error_of(reply), "status 200");
  EXPECT_FALSE(open(0));
  get();
  EXPECT_EQ(links(), 2u);
}

TEST_F(HttpClientTest, unrequested_bytes_close_an_idle_connection) {
  warm_up();
  say(0, hello);
  EXPECT_FALSE(open(0));
  Reply& reply = get();
  answer(1);
  say(1, ok + "Content-Length: 0\r\n\r\n");
  EXPECT_EQ(error_of(reply), "status 200");
}

TEST_F(HttpClientTest, a_connection_that_the_server_closes_is_not_used_again) {
  Reply& reply = get();
  answer(0);
  say(0, ok + "Connection: close\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(error_of(reply), "status 200");
  EXPECT_FALSE(open(0));
  warm_up();
  close_by_server(1);  // while it is idle
  EXPECT_FALSE(open(1));
  EXPECT_EQ(http().counters(reactor()).connections, 0u);
}

TEST_F(HttpClientTest, a_reply_before_the_request_is_sent_is_taken_and_ends_the_connection) {
  Reply& reply =
      fetch(Request("POST", "http://server.test/").content(std::string(50'000, 'x'), "a/b"));
  world_.links[0].writable = 1000;
  complete(0);
  turn();
  EXPECT_EQ(sent().size(), 1000u);
  say(0, "HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(error_of(reply), "status 413");
  EXPECT_FALSE(open(0));
}

TEST_F(HttpClientTest, a_silent_server_is_disconnected_at_the_deadline) {
  Reply& reply = fetch(Request("http://server.test/").timeout(seconds(2)));
  answer(0);
  turn(milliseconds(1'900));
  EXPECT_FALSE(reply.done());
  turn(milliseconds(200));
  turn();
  EXPECT_THAT(error_of(reply),
              HasSubstr("deadline exceeded after 2000 ms: the server sent no reply"));
  EXPECT_FALSE(open(0));
}

TEST_F(HttpClientTest, a_slow_reply_is_cut_off_at_the_deadline) {
  Reply& reply = get();
  answer(0);
  say(0, ok + "Content-Length: 1000\r\n\r\n");
  for (int count = 0; count < 40 && open(0); ++count) {
    bytes(0, "x");
    turn(seconds(1));
  }
  turn();
  EXPECT_THAT(error_of(reply),
              HasSubstr("deadline exceeded after 30000 ms: the reply is incomplete"));
}

TEST_F(HttpClientTest, destroying_a_request_cancels_it_wherever_it_is) {
  get();
  replies.clear();  // connecting
  turn();
  EXPECT_FALSE(open(0));
  get();
  answer(1);
  replies.clear();  // sent
  turn();
  EXPECT_FALSE(open(1));
  get();
  answer(2);
  say(2, ok + "Content-Length: 9\r\n\r\nabc");
  replies.clear();  // within its reply
  turn();
  turn();
  EXPECT_FALSE(open(2));
  get();
  answer(3);
  bytes(3, hello);
  world_.at_turn = [this] { replies.clear(); };  // in the turn that brings it
  turn();
  world_.at_turn = {};
  turn();
  EXPECT_EQ(http().counters(reactor()).connections, 0u);
  EXPECT_EQ(reactor().links_open(), 0u);
}

TEST_F(HttpClientTest, content_that_the_kernel_reads_outlives_its_request) {
  fetch(Request("PUT", "http://server.test/").content(std::string(20'000, 'x'), "a/b"));
  world_.links[0].kernel = net::Kernel::borrows;
  complete(0);
  turn();
  ASSERT_TRUE(world_.links[0].sending);
  replies.clear();
  complete(0, 10);  // the engine reads the lent bytes
  turn();
  turn();
  EXPECT_FALSE(open(0));
}

// RFC 6750 §5.3: anyone on the way can use a token that is sent in plaintext.
TEST_F(HttpClientTest, a_bearer_token_is_not_sent_in_plaintext_to_another_machine) {
  const auto with_token = [](const std::string& url) {
    return Request(url).field("authorization", "bearer secret-1");
  };
  for (const char* const url : {"http://server.test/", "http://192.0.2.1/", "http://[2001:db8::1]/",
                                "http://localhost.server.test/", "http://128.0.0.1/"}) {
    Reply& refused = fetch(with_token(url));
    EXPECT_THAT(error_of(refused),
                AllOf(HasSubstr("tokens_in_plaintext"), Not(HasSubstr("secret-1"))))
        << url;
  }
  EXPECT_EQ(links(), 0u);
  HttpClientOptions options = test_options();
  options.hosts["localhost"] = options.hosts["a.localhost"] = {"127.0.0.1"};
  use(options);
  for (const char* const url : {"http://localhost/", "http://a.localhost/", "http://127.1.2.3/",
                                "http://[::1]/", "https://server.test/"}) {
    EXPECT_THAT(error_of(fetch(with_token(url))), Not(HasSubstr("tokens_in_plaintext"))) << url;
  }
  options.proxy.url = "http://server.test:3128";
  use(options);
  EXPECT_THAT(error_of(fetch(with_token("http://localhost/"))), HasSubstr("tokens_in_plaintext"))
      << "the proxy is another machine";
  options.proxy.except = {"localhost"};
  use(options);
  EXPECT_THAT(error_of(fetch(with_token("http://localhost/"))),
              Not(HasSubstr("tokens_in_plaintext")))
      << "the proxy does not serve it";
  options.proxy.url.clear();
  options.tokens_in_plaintext = true;
  use(options);
  const std::size_t before = links();
  fetch(with_token("http://server.test/"));
  answer(static_cast<std::uint32_t>(before));
  EXPECT_THAT(take_sent(static_cast<std::uint32_t>(before)), HasSubstr("bearer secret-1"));
}

}  // namespace
}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
