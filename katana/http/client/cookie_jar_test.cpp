#include "katana/http/client/cookie_jar.hpp"

#include "katana/http/client/client_fixture_test.hpp"

namespace katana::client {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t cookie_now_s = 1'700'000'000;

struct CookieJarTest : testing::Test {
  static Url url(const std::string& text) { return *parse_url(text); }
  void set(const std::string& from, Bytes field) { jar.store(url(from), field, cookie_now_s); }
  std::string asked(const std::string& to, std::int64_t later_s = 0) {
    return jar.header(url(to), cookie_now_s + later_s);
  }
  CookieJar jar{{},
                std::make_shared<PublicSuffixes>(PublicSuffixes::parse(
                    "// comment\ncom\norg\ntest\nuk\nco.uk\n*.ck\n!www.ck\ngithub.io\n"))};
};

TEST_F(CookieJarTest, a_cookie_without_a_domain_goes_to_its_host_alone) {
  set("http://example.org/", "a=1");
  EXPECT_EQ(asked("http://example.org/x"), "a=1");
  EXPECT_EQ(asked("http://example.org:81/"), "a=1");
  EXPECT_EQ(asked("http://www.example.org/"), "");
  EXPECT_EQ(asked("http://other.org/"), "");
}

TEST_F(CookieJarTest, a_domain_includes_what_is_below_and_nothing_beside) {
  set("http://www.example.org/", "a=1; Domain=.Example.org");
  EXPECT_EQ(asked("http://example.org/"), "a=1");
  EXPECT_EQ(asked("http://x.www.example.org/"), "a=1");
  EXPECT_EQ(asked("http://badexample.org/"), "");
}

TEST_F(CookieJarTest, who_does_not_belong_to_a_domain_cannot_set_its_cookies) {
  set("http://evil.org/", "a=1; Domain=example.org");
  set("http://example.org/", "b=1; Domain=www.example.org");
  set("http://example.org/", "c=1; Domain=org");
  set("http://192.0.2.1/", "d=1; Domain=0.2.1");
  EXPECT_EQ(jar.size(), 0u);
  EXPECT_EQ(jar.refused(), 4u);
  set("http://localhost/", "e=1; Domain=localhost");
  EXPECT_EQ(asked("http://localhost/"), "e=1");
  EXPECT_EQ(asked("http://x.localhost/"), "");
}

TEST_F(CookieJarTest, a_cookie_for_a_public_suffix_is_refused_or_kept_for_the_host_that_is_one) {
  set("http://a.co.uk/", "a=1; Domain=co.uk");
  set("http://a.co.uk/", "b=1; Domain=.CO.UK");
  set("http://ann.github.io/", "c=1; Domain=github.io");
  set("http://a.b.ck/", "d=1; Domain=b.ck");
  set("http://a.b.ck/", "e=1; Domain=ck");
  EXPECT_EQ(jar.size(), 0u);
  EXPECT_EQ(jar.refused(), 5u);
  set("http://github.io/", "own=1; Domain=github.io");
  EXPECT_EQ(asked("http://github.io/"), "own=1");
  EXPECT_EQ(asked("http://ann.github.io/"), "");
  set("http://www.ck/", "exception=1; Domain=www.ck");
  EXPECT_EQ(asked("http://x.www.ck/"), "exception=1");
  set("http://x.a.co.uk/", "below=1; Domain=a.co.uk");
  EXPECT_EQ(asked("http://y.a.co.uk/"), "below=1");
}

TEST_F(CookieJarTest, without_a_list_each_cookie_is_for_its_host_alone) {
  for (const auto& list : {std::shared_ptr<const PublicSuffixes>(),
                           std::make_shared<const PublicSuffixes>(PublicSuffixes::parse(""))}) {
    CookieJar lonely({}, list);
    lonely.store(url("http://a.co.uk/"), "a=1; Domain=co.uk", cookie_now_s);
    lonely.store(url("http://www.example.org/"), "b=1; Domain=example.org", cookie_now_s);
    EXPECT_EQ(lonely.header(url("http://a.co.uk/"), cookie_now_s), "a=1");
    EXPECT_EQ(lonely.header(url("http://b.co.uk/"), cookie_now_s), "");
    EXPECT_EQ(lonely.header(url("http://www.example.org/"), cookie_now_s), "b=1");
    EXPECT_EQ(lonely.header(url("http://example.org/"), cookie_now_s), "");
    lonely.store(url("http://example.org/"), "c=1; Domain=org", cookie_now_s);
    EXPECT_EQ(lonely.header(url("http://example.org/"), cookie_now_s), "");
  }
}

TEST_F(CookieJarTest, a_cookie_replaces_none_of_another_path_domain_or_name) {
  set("http://a.test/", "a=1; Path=/");
  set("http://a.test/", "a=2; Path=/x");
  set("http://a.test/", "b=3; Path=/");
  EXPECT_EQ(asked("http://a.test/x"), "a=2; a=1; b=3");
  set("http://a.test/", "a=4; Path=/x; Expires=Thu, 01-Jan-1970 00:00:00 GMT");
  EXPECT_EQ(asked("http://a.test/x"), "a=1; b=3");
}

TEST_F(CookieJarTest, any_form_of_a_past_date_removes_a_cookie) {
  for (const char* const date : {"Thu, 01-Jan-1970 00:00:00 GMT",
                                 "Thursday, 01-Jan-70 00:00:00 GMT", "Thu, 1 Jan 1970 00:00:00 GMT",
                                 "thu, 01-jan-1970 00:00:01 gmt", "Thu Jan  1 00:00:00 1970"}) {
    set("http://a.test/", "a=1");
    ASSERT_EQ(jar.size(), 1u);
    set("http://a.test/", "a=gone; Expires=" + std::string(date));
    EXPECT_EQ(jar.size(), 0u) << date;
  }
  set("http://a.test/", "a=1; Expires=no date at all");
  EXPECT_EQ(asked("http://a.test/", 500 * 86'400), "a=1");
}

TEST_F(CookieJarTest, no_cookie_with_a_date_is_kept_for_more_than_400_days) {
  set("http://a.test/", "a=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT");
  set("http://a.test/", "b=1; Max-Age=999999999");
  constexpr std::int64_t most_s = 400LL * 86'400;
  EXPECT_EQ(asked("http://a.test/", most_s - 1), "a=1; b=1");
  EXPECT_EQ(asked("http://a.test/", most_s), "");
}

TEST_F(CookieJarTest, the_last_attribute_of_a_name_counts) {
  set("http://x.a.test/p/q", "a=1; Path=/p; Path=/; Domain=b.test; Domain=a.test");
  EXPECT_EQ(asked("http://a.test/"), "a=1");
  set("http://x.a.test/p/q", "b=1; Path=/; Path=none");
  EXPECT_EQ(asked("http://x.a.test/p/z"), "b=1; a=1");  // the default path
  EXPECT_EQ(asked("http://x.a.test/"), "a=1");
  set("http://a.test/", "c=1; Max-Age=5; Max-Age=nonsense; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(asked("http://a.test/", 4), "a=1; c=1");
  EXPECT_EQ(asked("http://a.test/", 5), "a=1");
}

TEST_F(CookieJarTest, a_cookie_without_tls_does_not_hide_a_secure_one) {
  set("https://a.test/", "s=1; Secure; Path=/login");
  set("http://x.a.test/", "s=evil; Domain=a.test; Path=/login/deep");
  set("http://a.test/", "s=evil; Path=/login");
  EXPECT_EQ(jar.size(), 1u);
  set("http://a.test/", "s=other; Path=/");  // is added behind it
  EXPECT_EQ(asked("https://a.test/login"), "s=1; s=other");
}

TEST_F(CookieJarTest, prefixes_hold_in_any_case_and_ask_for_what_they_promise) {
  for (const char* const refused :
       {"__host-a=1; Secure", "__Host-a=1; Path=/", "__HOST-a=1; Secure; Path=/; Domain=a.test",
        "__Host-a=1; Secure; Path=/x", "__secure-a=1"}) {
    set("https://a.test/", refused);
    EXPECT_EQ(jar.size(), 0u) << refused;
  }
  set("https://a.test/x/", "__Host-a=1; Secure; Path=/");
  EXPECT_EQ(asked("https://a.test/"), "__Host-a=1");
}

TEST_F(CookieJarTest, controls_are_refused_and_attributes_that_are_too_long_ignored) {
  set("http://a.test/", "a=1; Path=/\x01");
  set("http://a.test/", std::string("a=\x7f"));
  set("http://a.test/", "a=\x01; Path=/");
  set("http://a.test/", "a\x1f=1");
  EXPECT_EQ(jar.size(), 0u);
  set("http://a.test/", "a=\xc3\xa9\t1; Path=/" + std::string(1024, 'x'));
  EXPECT_EQ(asked("http://a.test/"), "a=\xc3\xa9\t1");
}

TEST_F(CookieJarTest, paths_match_by_segments_and_the_longer_goes_first) {
  set("http://a.test/x/y", "default=1");
  set("http://a.test/", "root=1; Path=/");
  set("http://a.test/", "long=1; Path=/x/y/");
  EXPECT_EQ(asked("http://a.test/x/y/z?q=/"), "long=1; default=1; root=1");
  EXPECT_EQ(asked("http://a.test/x"), "default=1; root=1");
  EXPECT_EQ(asked("http://a.test/xy"), "root=1");
}

TEST_F(CookieJarTest, secure_cookies_need_tls_both_ways) {
  set("https://a.test/", "s=1; Secure");
  set("http://a.test/", "t=1; Secure");
  set("http://a.test/", "s=stolen");
  EXPECT_EQ(asked("https://a.test/"), "s=1");
  EXPECT_EQ(asked("http://a.test/"), "");
  set("https://a.test/", "__Host-a=1; Secure; Path=/; Domain=a.test");
  set("https://a.test/", "__Secure-a=1");
  EXPECT_EQ(jar.size(), 1u);
}

TEST_F(CookieJarTest, cookies_expire_and_are_replaced) {
  set("http://a.test/", "a=1; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
  set("http://a.test/", "b=1; Expires=Wed, 15 Nov 2023 00:00:00 GMT");
  EXPECT_EQ(asked("http://a.test/"), "a=1; b=1");
  EXPECT_EQ(asked("http://a.test/", 10), "b=1");
  EXPECT_EQ(asked("http://a.test/", 86'400), "");
  set("http://a.test/", "a=2; Max-Age=99999999999999999999");
  EXPECT_EQ(asked("http://a.test/"), "a=2; b=1");
  set("http://a.test/", "a=; Max-Age=0");
  EXPECT_EQ(asked("http://a.test/"), "b=1");
}

TEST_F(CookieJarTest, a_pair_is_cut_at_its_first_equals_sign_and_trimmed) {
  set("http://a.test/", " a \t=\t 1=2 = ; Path=/");
  set("http://a.test/", "b=\"x\";Path=/");
  set("http://a.test/", "c=");
  EXPECT_EQ(asked("http://a.test/"), "a=1=2 =; b=\"x\"; c=");
}

TEST_F(CookieJarTest, attributes_are_cut_at_semicolons_in_any_case_and_unknown_ones_ignored) {
  set("http://x.a.test/", "a=1;DOMAIN=A.Test;;  pAtH = /p ;Foo;Bar=Secure;=x;SameSite=Strict");
  EXPECT_EQ(asked("http://a.test/p"), "a=1");
  EXPECT_EQ(asked("http://a.test/"), "");
  set("http://a.test/", "b=1; Domain=; Domain");
  EXPECT_EQ(asked("http://a.test/"), "b=1");
  EXPECT_EQ(asked("http://x.a.test/"), "");
  set("https://c.test/", "s=1; sEcUrE=no");
  EXPECT_EQ(asked("https://c.test/"), "s=1");
  EXPECT_EQ(asked("http://c.test/"), "");
}

TEST_F(CookieJarTest, a_max_age_below_zero_has_ended_and_what_is_no_number_is_ignored) {
  for (const char* const age : {"-1", "0", "-99999999999999999999"}) {
    set("http://a.test/", "a=1");
    set("http://a.test/", "a=2; Max-Age=" + std::string(age));
    EXPECT_EQ(asked("http://a.test/"), "") << age;
  }
  for (const char* const age : {"", "x", "+5", "5x", "1.5", "0x5"}) {
    set("http://a.test/", "a=1; Max-Age=" + std::string(age));
    EXPECT_EQ(asked("http://a.test/", 500LL * 86'400), "a=1") << age;
  }
}

TEST_F(CookieJarTest, cookies_that_have_expired_leave_the_jar_with_the_next_one) {
  CookieJar small({.cookies_max = 2});
  const Url a = url("http://a.test/");
  small.store(a, "long=1; Max-Age=100", cookie_now_s);
  small.store(a, "short=1; Max-Age=5", cookie_now_s);
  small.store(a, "next=1", cookie_now_s + 5);
  EXPECT_EQ(small.header(a, cookie_now_s + 5), "long=1; next=1") << "the one that had expired went";
}

TEST_F(CookieJarTest, what_is_no_cookie_or_too_large_is_ignored) {
  for (const std::string& field :
       {std::string(), std::string("a"), std::string("=1"), std::string(";"), std::string("a=\x01"),
        "a=" + std::string(4095, 'x')}) {
    set("http://a.test/", field);
  }
  EXPECT_EQ(jar.size(), 0u);
  EXPECT_EQ(jar.refused(), 6u);
}

TEST_F(CookieJarTest, a_cookie_of_the_largest_size_is_kept_and_one_byte_more_is_not) {
  const std::size_t most = CookieLimits().cookie_bytes_max;
  set("http://a.test/", "a=" + std::string(most - 1, 'x'));
  EXPECT_EQ(jar.size(), 0u);
  set("http://a.test/", "a=" + std::string(most - 2, 'x'));
  EXPECT_EQ(jar.size(), 1u);
}

TEST_F(CookieJarTest, a_secure_cookie_is_replaced_by_its_own_site_over_tls_and_not_without_it) {
  set("https://a.test/", "a=1; Secure");
  set("http://a.test/", "a=2");
  EXPECT_EQ(asked("https://a.test/"), "a=1");
  EXPECT_EQ(jar.refused(), 1u);
  set("https://a.test/", "a=3; Secure");
  EXPECT_EQ(asked("https://a.test/"), "a=3");
  EXPECT_EQ(jar.refused(), 1u);
}

TEST(CookieJarLimitsTest, a_full_jar_forgets_what_was_used_longest_ago) {
  CookieJar jar({.cookies_max = 3, .domain_max = 2, .header_bytes_max = 16});
  const Url a = *parse_url("http://a.test/"), b = *parse_url("http://b.test/");
  jar.store(b, "old=1", cookie_now_s);
  jar.store(a, "a=1", cookie_now_s);
  jar.store(a, "b=1", cookie_now_s);
  jar.store(a, "c=1", cookie_now_s);  // evicts a cookie of the same domain
  EXPECT_EQ(jar.header(a, cookie_now_s), "b=1; c=1");
  EXPECT_EQ(jar.header(b, cookie_now_s), "old=1");
  jar.store(b, "new=0123456789", cookie_now_s);  // evicts a cookie of any domain
  EXPECT_EQ(jar.size(), 3u);
  EXPECT_EQ(jar.header(a, cookie_now_s), "c=1");
  EXPECT_EQ(jar.header(b, cookie_now_s), "old=1");  // both would be too long
}

class CookieClientTest : public ClientTest {};

TEST_F(CookieClientTest, a_jar_keeps_cookies_between_requests_and_through_redirects) {
  HttpClientOptions options = test_options();
  options.cookies = std::make_shared<CookieJar>();
  options.redirects_max = 2;
  use(options);
  Reply& reply = get();
  answer(0);
  EXPECT_THAT(take_sent(0), Not(HasSubstr("Cookie")));
  say(0,
      "HTTP/1.1 302 Found\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2; Path=/x\r\nLocation: /x\r\n"
      "Content-Length: 0\r\n\r\n");
  EXPECT_THAT(take_sent(0), HasSubstr("\r\nCookie: b=2; a=1\r\n"));
  say(0, "HTTP/1.1 302 Found\r\nLocation: http://two.test/\r\nContent-Length: 0\r\n\r\n");
  answer(1);
  EXPECT_THAT(take_sent(1), Not(HasSubstr("Cookie")));
  say(1, ok + "Content-Length: 0\r\n\r\n");
  EXPECT_EQ(error_of(reply), "status 200");
  fetch(Request("http://server.test/").field("Cookie", "mine=1"));
  EXPECT_THAT(take_sent(0), HasSubstr("\r\nCookie: mine=1\r\n\r\n"));
}

TEST_F(CookieClientTest, cookies_of_every_final_status_are_kept) {
  HttpClientOptions options = test_options();
  options.cookies = std::make_shared<CookieJar>();
  use(options);
  warm_up();
  std::uint32_t number = 0;
  for (const char* const status : {"200", "204", "304", "401", "404", "500", "503"}) {
    const std::string pair = "c" + std::to_string(++number) + "=" + status;
    get();
    say(0, "HTTP/1.1 " + std::string(status) + " X\r\nSet-Cookie: " + pair +
               "\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(options.cookies->size(), number) << status;
  }
}

TEST_F(CookieClientTest, a_request_has_one_cookie_field) {
  HttpClientOptions options = test_options();
  options.cookies = std::make_shared<CookieJar>();
  const Url server = *parse_url("http://server.test/");
  for (const char* const pair : {"a=1", "b=2", "c=3"}) {
    options.cookies->store(server, pair, cookie_now_s);
  }
  use(options);
  get();
  answer(0);
  const std::string sent_by_jar = take_sent(0);
  EXPECT_THAT(sent_by_jar, HasSubstr("\r\nCookie: a=1; b=2; c=3\r\n"));
  EXPECT_EQ(sent_by_jar.find("Cookie"), sent_by_jar.rfind("Cookie"));
  fetch(Request("http://server.test/").field("Cookie", "x=1"));
  answer(1);
  EXPECT_THAT(take_sent(1), AllOf(HasSubstr("\r\nCookie: x=1\r\n"), Not(HasSubstr("a=1"))));
  Reply& twice =
      fetch(Request("http://server.test/").field("Cookie", "x=1").field("cookie", "y=2"));
  ASSERT_TRUE(twice.done());
  EXPECT_EQ(twice.result().error().code(), Code::invalid_argument);
}

TEST_F(CookieClientTest, without_a_jar_no_cookie_is_kept) {
  warm_up();
  get();
  EXPECT_THAT(take_sent(0), Not(HasSubstr("Cookie")));
  say(0, ok + "Set-Cookie: a=1\r\nContent-Length: 0\r\n\r\n");
  get();
  EXPECT_THAT(take_sent(0), Not(HasSubstr("Cookie")));
}

}  // namespace
}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
