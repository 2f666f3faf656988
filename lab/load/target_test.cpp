#include "lab/load/target.hpp"

#include <gtest/gtest.h>

namespace katana::load {
namespace {

TEST(Url, is_taken_apart) {
  struct Case {
    const char* text;
    const char* host;
    std::uint16_t port;
    const char* authority;
    const char* path;
  };
  const Case cases[] = {
      {"http://a.example", "a.example", 80, "a.example", "/"},
      {"http://a.example:8080/x/y?z=1#part", "a.example", 8080, "a.example:8080", "/x/y?z=1"},
      {"127.0.0.1:9000/", "127.0.0.1", 9000, "127.0.0.1:9000", "/"},
      {"http://[::1]:81/x", "::1", 81, "[::1]:81", "/x"},
      {"http://[::1]", "::1", 80, "[::1]", "/"},
      {"http://a?q=1", "a", 80, "a", "/?q=1"},
      {"https://a/x", "a", 443, "a", "/x"},
      {"https://a:8443", "a", 8443, "a:8443", "/"},
  };
  for (const Case& one : cases) {
    const auto url = parse_url(one.text);
    ASSERT_TRUE(url) << one.text;
    EXPECT_EQ(url->host, one.host);
    EXPECT_EQ(url->port, one.port);
    EXPECT_EQ(url->authority, one.authority);
    EXPECT_EQ(url->path, one.path);
    EXPECT_EQ(url->tls, std::string_view(one.text).starts_with("https"));
  }
}

TEST(Url, that_is_wrong_is_refused_with_its_reason) {
  const std::pair<const char*, const char*> cases[] = {
      {"ftp://a/", "the scheme is neither http nor https"},
      {"https://", "no host"},
      {"http://", "no host"},
      {"http://:80/", "no host"},
      {"http://a:0/", "the port is no number from 1 to 65535"},
      {"http://a:65536/", "the port is no number from 1 to 65535"},
      {"http://a:/", "the port is no number from 1 to 65535"},
      {"http://[::1/", "'[' without ']'"},
      {"http://[::1]x/", "the port is no number from 1 to 65535"},
      {"http://me@a/", "a user name; send it as --header 'Authorization: …'"},
      {"http://a/b c", "a space or control character; write it as %20 and the like"},
      {"http://a/b\r\nX: y", "a space or control character; write it as %20 and the like"},
  };
  for (const auto& [text, why] : cases) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().describe(), std::string("URL '") + text + "': " + why);
  }
}

TEST(Requests, one_url_is_one_request_with_host) {
  const auto requests = make_requests(*parse_url("http://a:81/x"), {}, "");
  ASSERT_TRUE(requests);
  ASSERT_EQ(requests->size(), 1u);
  EXPECT_EQ(requests->front().octets, "GET /x HTTP/1.1\r\nHost: a:81\r\n\r\n");
  EXPECT_EQ(requests->front().closing_octets,
            "GET /x HTTP/1.1\r\nHost: a:81\r\nConnection: close\r\n\r\n");
  EXPECT_FALSE(requests->front().is_head);
}

TEST(Requests, an_end_that_is_not_announced_is_not_in_the_last_request) {
  const RequestSpec spec{.headers = {"X: 1"}, .body = "abc", .announces_close = false};
  const auto requests = make_requests(*parse_url("http://a:81/x"), spec, "");
  ASSERT_TRUE(requests);
  EXPECT_EQ(requests->front().octets,
            "GET /x HTTP/1.1\r\nHost: a:81\r\nX: 1\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_EQ(requests->front().closing_octets, requests->front().octets);
}

TEST(Requests, method_headers_and_body_are_sent_as_given) {
  const RequestSpec spec{.method = "POST", .headers = {"host: b", "X: 1"}, .body = "abc"};
  const auto requests = make_requests(*parse_url("a"), spec, "");
  ASSERT_TRUE(requests);
  EXPECT_EQ(requests->front().octets,
            "POST / HTTP/1.1\r\nhost: b\r\nX: 1\r\nContent-Length: 3\r\n\r\nabc");
}

TEST(Requests, framing_and_connection_of_the_user_are_not_doubled) {
  const RequestSpec spec{.method = "PUT",
                         .headers = {"Transfer-Encoding: chunked", "Connection: close"},
                         .body = "0\r\n\r\n"};
  const auto requests = make_requests(*parse_url("a"), spec, "");
  ASSERT_TRUE(requests);
  EXPECT_EQ(requests->front().octets.find("Content-Length"), std::string::npos);
  EXPECT_EQ(requests->front().closing_octets, requests->front().octets);
}

TEST(Requests, a_list_is_sent_in_its_order) {
  const auto requests =
      make_requests(*parse_url("http://a:81/unused"), {},
                    "# comment\n\n/one\r\nHEAD /two?x\nDELETE http://a:81/three\n");
  ASSERT_TRUE(requests);
  ASSERT_EQ(requests->size(), 3u);
  EXPECT_TRUE((*requests)[0].octets.starts_with("GET /one HTTP/1.1\r\n"));
  EXPECT_TRUE((*requests)[1].octets.starts_with("HEAD /two?x HTTP/1.1\r\n"));
  EXPECT_TRUE((*requests)[1].is_head);
  EXPECT_TRUE((*requests)[2].octets.starts_with("DELETE /three HTTP/1.1\r\n"));
}

TEST(Requests, what_cannot_be_sent_is_refused_with_its_place) {
  const auto refusal = [](const RequestSpec& spec, const char* list) {
    const auto requests = make_requests(*parse_url("http://a/"), spec, list);
    return requests ? std::string("none") : requests.error().describe();
  };
  EXPECT_EQ(refusal({.method = "G T", .headers = {}, .body = {}}, ""),
            "--method 'G T' is no token");
  EXPECT_EQ(refusal({.method = "GET", .headers = {"X"}, .body = {}}, ""),
            "--header 'X' is not 'Name: value'");
  EXPECT_EQ(refusal({.method = "GET", .headers = {"X: a\r\nY: b"}, .body = {}}, ""),
            "--header 'X: a\r\nY: b' is not 'Name: value'");
  EXPECT_EQ(refusal({}, "/x\nhttp://b/"),
            "URL list, line 2, 'http://b/': another server than a; one run loads one server");
  EXPECT_EQ(refusal({}, "https://a:80/"),
            "URL list, line 1, 'https://a:80/': another server than a; one run loads one server");
  EXPECT_EQ(refusal({}, "G@T /x"), "URL list, line 1, 'G@T /x': the method is no token");
  EXPECT_EQ(refusal({}, "# nothing\n"), "the URL list names no URL");
}

TEST(Requests, lines_of_json_are_whole_requests) {
  const auto requests = read_requests(*parse_url("http://a:81/"), {},
                                      R"({"operation":"get","method":"GET","target":"/x?y=1",)"
                                      R"("fields":{"Accept":"a/b"},"content":""})"
                                      "\n\n"
                                      R"({"method":"PUT","target":"/z","content":"{}"})"
                                      "\n");
  ASSERT_TRUE(requests) << requests.error().describe();
  ASSERT_EQ(requests->size(), 2u);
  EXPECT_EQ((*requests)[0].octets, "GET /x?y=1 HTTP/1.1\r\nHost: a:81\r\nAccept: a/b\r\n\r\n");
  EXPECT_EQ((*requests)[1].octets, "PUT /z HTTP/1.1\r\nHost: a:81\r\nContent-Length: 2\r\n\r\n{}");
}

TEST(Requests, a_line_that_is_no_request_is_named) {
  for (const char* const wrong :
       {"{", "{}", "[]", R"({"method":"GET","target":"x"})", R"({"method":"G T","target":"/"})",
        R"({"method":"GET","target":"/ a"})", R"({"method":"GET","target":7})",
        R"({"method":"GET","target":"/","fields":{"A":"b\r\nC: d"}})"}) {
    const auto requests = read_requests(*parse_url("http://a/"), {}, wrong);
    ASSERT_FALSE(requests) << wrong;
    EXPECT_NE(requests.error().describe().find("requests, line 1: "), std::string::npos)
        << requests.error().describe();
  }
  EXPECT_FALSE(read_requests(*parse_url("http://a/"), {}, "\n"));
}

TEST(Resolve, names_the_host_that_has_no_address) {
  const auto address = resolve(*parse_url("http://no-such-host.invalid/"));
  ASSERT_FALSE(address);
  EXPECT_TRUE(address.error().describe().starts_with("host 'no-such-host.invalid' has no address"));
}

TEST(Resolve, understands_both_families) {
  EXPECT_EQ(resolve(*parse_url("127.0.0.1:80"))->storage.ss_family, AF_INET);
  EXPECT_EQ(resolve(*parse_url("[::1]:80"))->storage.ss_family, AF_INET6);
}

}  // namespace
}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
