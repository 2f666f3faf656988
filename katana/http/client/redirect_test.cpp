#include "katana/http/client/redirect.hpp"

#include "katana/http/client/client_fixture_test.hpp"

namespace katana::client {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// RFC 3986 §5.4, the examples that apply to an http URL.
TEST(ResolveReferenceTest, the_examples_of_the_rfc_come_out_as_it_says) {
  const auto base = parse_url("http://a/b/c/d;p?q");
  ASSERT_TRUE(base);
  const std::pair<const char*, const char*> cases[] = {
      {"g:h", "g:h"},
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q"},
      {"g#s", "http://a/b/c/g#s"},
      {";x", "http://a/b/c/;x"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../g", "http://a/g"},
      {"../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {"..g", "http://a/b/c/..g"},
      {"./g/.", "http://a/b/c/g/"},
      {"g/../h", "http://a/b/c/h"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
  };
  for (const auto& [reference, whole] : cases) {
    EXPECT_EQ(resolve_reference(*base, reference), whole) << reference;
  }
}

class RedirectTest : public ClientTest {
 protected:
  RedirectTest() : ClientTest(following()) {}
  static HttpClientOptions following() {
    HttpClientOptions options = test_options();
    options.redirects_max = 3;
    options.secret_fields = {"X-Api-Key"};
    options.tokens_in_plaintext = true;
    return options;
  }
  static std::string redirect(unsigned status, const std::string& location) {
    return "HTTP/1.1 " + std::to_string(status) + " Moved\r\nLocation: " + location +
           "\r\nContent-Length: 0\r\n\r\n";
  }
  // The request that the server of the next hop gets after a redirect. Each hop has a new
  // connection.
  std::string sent_after(Request request, unsigned status, const std::string& location) {
    const auto first = static_cast<std::uint32_t>(links());
    fetch(std::move(request));
    answer(first);
    std::string moved = redirect(status, location);
    moved.insert(moved.size() - 2, "Connection: close\r\n");
    say(first, moved);
    answer(first + 1);
    return take_sent(first + 1);
  }
};

TEST_F(RedirectTest, a_redirect_is_followed_and_the_reply_says_from_where) {
  Reply& reply = get("http://server.test/a/b?c");
  answer(0);
  take_sent(0);
  say(0, redirect(302, "../d"));
  EXPECT_THAT(take_sent(0), testing::StartsWith("GET /d HTTP/1.1\r\nHost: server.test\r\n"));
  say(0, ok + "Content-Length: 2\r\n\r\nok");
  ASSERT_TRUE(reply.done());
  auto result = reply.result();
  ASSERT_TRUE(result) << result.error().describe();
  EXPECT_EQ(result->content(), "ok");
  EXPECT_EQ(result->url(), "http://server.test/d");
  ASSERT_EQ(result->hops().size(), 1u);
  EXPECT_EQ(result->hops()[0].status, 302u);
  EXPECT_EQ(result->hops()[0].url, "http://server.test/a/b?c");
  EXPECT_EQ(http().counters(reactor()).calls, 1u);
}

TEST_F(RedirectTest, raw_characters_of_a_location_are_sent_percent_encoded) {
  const std::pair<const char*, const char*> cases[] = {
      {"/caf\xc3\xa9", "/caf%C3%A9"},
      {"/a b?c d#e f", "/a%20b?c%20d"},
      {"/x|y?q={1}\"<>\\^`", "/x%7Cy?q=%7B1%7D%22%3C%3E%5C%5E%60"},
      {"/%C3%A9%zz", "/%C3%A9%zz"},
      {"http://server.test/\xe2\x82\xac?\xff", "/%E2%82%AC?%FF"},
      {"?\t1", "/start?%091"},
  };
  for (const auto& [location, target] : cases) {
    EXPECT_THAT(sent_after(Request("http://server.test/start"), 302, location),
                testing::StartsWith("GET " + std::string(target) + " HTTP/1.1\r\n"))
        << location;
    replies.clear();
    turn();
  }
  Reply& host = get();
  const auto link = static_cast<std::uint32_t>(links() - 1);
  answer(link);
  say(link, redirect(302, "http://s\xc3\xa9rver.test/"));
  EXPECT_THAT(error_of(host), HasSubstr("redirect: URL \"http://s"));
}

TEST_F(RedirectTest, a_host_that_was_given_is_not_taken_to_another_origin) {
  const auto with_host = [] { return Request("http://server.test/").field("Host", "given.test"); };
  EXPECT_THAT(sent_after(with_host(), 302, "/next"), HasSubstr("\r\nHost: given.test\r\n"));
  EXPECT_THAT(sent_after(with_host(), 302, "http://two.test/"),
              AllOf(HasSubstr("\r\nHost: two.test\r\n"), Not(HasSubstr("given.test"))));
}

TEST_F(RedirectTest, by_default_and_without_location_the_reply_is_the_callers) {
  Reply& unfollowed = fetch(Request("http://server.test/").redirects(0));
  answer(0);
  say(0, redirect(301, "/x"));
  ASSERT_TRUE(unfollowed.done());
  auto result = unfollowed.result();
  EXPECT_EQ(result->status(), 301u);
  EXPECT_EQ(result->url(), "http://server.test/");
  Reply& without = get();
  say(0, "HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(error_of(without), "status 301");
  Reply& other = get();
  say(0, "HTTP/1.1 304 Not Modified\r\nLocation: /x\r\n\r\n");
  EXPECT_EQ(error_of(other), "status 304");
}

TEST_F(RedirectTest, the_method_changes_only_as_the_rfc_says) {
  struct Case {
    unsigned status;
    const char* method;
    const char* next;
  };
  const Case cases[] = {{301, "POST", "GET"},      {302, "POST", "GET"},  {303, "POST", "GET"},
                        {303, "PUT", "GET"},       {303, "HEAD", "HEAD"}, {301, "PUT", "PUT"},
                        {302, "DELETE", "DELETE"}, {307, "POST", "POST"}, {308, "POST", "POST"}};
  for (const Case& each : cases) {
    Request request(each.method, "http://server.test/");
    const bool has_content = Bytes(each.method) != "HEAD";
    if (has_content) request.content("abc", "text/plain");
    const std::string sent_next = sent_after(std::move(request), each.status, "/next");
    EXPECT_THAT(sent_next, testing::StartsWith(std::string(each.next) + " /next HTTP/1.1\r\n"))
        << each.status << each.method;
    const bool keeps = has_content && Bytes(each.next) == each.method;
    EXPECT_EQ(sent_next.ends_with("\r\n\r\nabc"), keeps) << sent_next;
    EXPECT_EQ(sent_next.find("Content-Type") != std::string::npos, keeps) << sent_next;
    EXPECT_EQ(sent_next.find("Content-Length: 3") != std::string::npos, keeps) << sent_next;
    replies.clear();
    turn();
  }
}

TEST_F(RedirectTest, credentials_stay_with_their_origin) {
  const auto with_secrets = [] {
    return Request("http://server.test/")
        .field("Authorization", "Bearer 1")
        .field("cookie", "a=b")
        .field("Proxy-Authorization", "x")
        .field("X-API-Key", "k")
        .field("X-Mine", "m")
        .field("Accept", "a/b")
        .secret("x-mine");
  };
  EXPECT_THAT(sent_after(with_secrets(), 307, "/same"),
              AllOf(HasSubstr("Bearer 1"), HasSubstr("a=b"), HasSubstr("X-Mine: m")));
  replies.clear();
  turn();
  for (const char* foreign : {"http://two.test/", "http://server.test:81/", "//two.test/x"}) {
    EXPECT_THAT(
        sent_after(with_secrets(), 307, foreign),
        AllOf(Not(HasSubstr("Bearer")), Not(HasSubstr("a=b")), Not(HasSubstr("Proxy-")),
              Not(HasSubstr("X-API-Key")), Not(HasSubstr("X-Mine")), HasSubstr("Accept: a/b")))
        << foreign;
    replies.clear();
    turn();
  }
}

TEST_F(RedirectTest, credentials_do_not_come_back_at_a_later_hop) {
  fetch(Request("http://server.test/").field("Authorization", "Bearer 1"));
  answer(0);
  take_sent(0);
  say(0, redirect(302, "http://two.test/"));
  answer(1);
  say(1, redirect(302, "http://server.test/back"));
  EXPECT_THAT(take_sent(0), AllOf(HasSubstr("GET /back "), Not(HasSubstr("Bearer"))));
}

TEST_F(RedirectTest, a_loop_ends_at_redirects_max) {
  Reply& reply = get();
  answer(0);
  for (int hop = 0; hop < 4; ++hop) {
    ASSERT_FALSE(reply.done()) << hop;
    say(0, redirect(302, "/"));
  }
  EXPECT_THAT(error_of(reply), HasSubstr("more than 3 redirects (redirects_max)"));
  EXPECT_EQ(http().counters(reactor()).failures, 1u);
}

TEST_F(RedirectTest, what_must_not_be_followed_is_an_error_that_names_it) {
  const std::pair<const char*, const char*> cases[] = {
      {"ftp://server.test/", "\"ftp://server.test/\" has a scheme other than"},
      {"http://user@two.test/", "user@two.test"},
      {"javascript:alert(1)", "redirect: URL \"javascript:alert(1)\""},
  };
  for (const auto& [location, problem] : cases) {
    Reply& reply = get();
    answer(static_cast<std::uint32_t>(links() - 1));
    say(static_cast<std::uint32_t>(links() - 1), redirect(302, location));
    EXPECT_THAT(error_of(reply),
                AllOf(HasSubstr(problem), testing::StartsWith("GET http://server.test/: ")));
  }
}

TEST_F(RedirectTest, https_does_not_become_http_unless_allowed) {
  const auto from = parse_url("https://server.test/");
  Request request("https://server.test/");
  HttpClientOptions options;
  const auto refused = follow_redirect(request, *from, 302, "http://server.test/", options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::permission_denied);
  EXPECT_THAT(refused.error().describe(), HasSubstr("redirects_to_plaintext"));
  options.redirects_to_plaintext = true;
  EXPECT_TRUE(follow_redirect(request, *from, 302, "http://server.test/", options));
  EXPECT_EQ(request.url(), "http://server.test/");
}

TEST_F(RedirectTest, credentials_and_the_host_of_before_do_not_reach_another_origin) {
  const auto from = parse_url("https://server.test/");
  for (const char* const name :
       {"Authorization", "cookie", "X-API-Key", "Proxy-Authorization", "Host", "X-Auth-Token"}) {
    Request request("https://server.test/");
    request.field(name, "secret").field("Accept", "text/plain");
    Request same = request;
    ASSERT_TRUE(follow_redirect(same, *from, 302, "/other", {}));
    EXPECT_EQ(same.fields().size(), 2u) << name;
    ASSERT_TRUE(follow_redirect(request, *from, 302, "https://other.test/", {}));
    ASSERT_EQ(request.fields().size(), 1u) << name;
    EXPECT_EQ(request.fields()[0].name, "Accept");
  }
}

TEST_F(RedirectTest, errors_show_no_credential_of_a_url) {
  EXPECT_EQ(shown_url("https://a.test/x?page=2&access_token=abc&c%6fde=1&b"),
            "https://a.test/x?page=2&access_token=***&c%6fde=***&b");
  EXPECT_EQ(shown_url("https://user:pass:word@a.test/b@c"), "https://user:***@a.test/b@c");
  EXPECT_EQ(shown_url("https://a.test:8080/"), "https://a.test:8080/");
  EXPECT_EQ(shown_url("/reset?token=abc#x"), "/reset?token=***");
  EXPECT_EQ(shown_url(std::string(600, 'a')).size(), 500u);
  Reply& reply = fetch(Request("http://server.test/?api_key=1"));
  answer(0);
  say(0, redirect(302, "http://user:secret@two.test/?code=abc"));
  EXPECT_THAT(error_of(reply),
              AllOf(Not(HasSubstr("secret")), Not(HasSubstr("abc")), HasSubstr("api_key=***")));
}

TEST_F(RedirectTest, one_deadline_holds_for_all_hops) {
  Reply& reply = fetch(Request("http://server.test/").timeout(seconds(2)));
  answer(0);
  turn(milliseconds(1'500));
  say(0, redirect(302, "/slow"));
  turn(milliseconds(400));
  EXPECT_FALSE(reply.done());
  turn(milliseconds(200));
  turn();
  EXPECT_THAT(error_of(reply),
              AllOf(HasSubstr("deadline exceeded after 2000 ms"),
                    HasSubstr("GET http://server.test/slow (redirected from GET http://server")));
}

}  // namespace
}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
